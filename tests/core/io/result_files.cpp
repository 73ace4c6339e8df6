// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/base/log.hpp>
#include <ossatura/core/io/hdf5/file.hpp>
#include <ossatura/core/io/hdf5/vtkhdf.hpp>
#include <ossatura/core/io/parosol/input.hpp>
#include <ossatura/core/io/parosol/output.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/attribute_numbers.hpp"
#include "tests/core/io/mesh/tetra_samples.hpp"
#include "tests/core/io/sample_files.hpp"
#include "tests/core/io/test_directory.hpp"

#include <cmath>
#include <limits>

using namespace ossatura;
using namespace ossatura_test;

namespace {

/// Two voxels side by side: 12 points, 2 hexahedra.
const std::vector<double> points{0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 1, 0, 1, 1, 0, 2, 1, 0,
                                 0, 0, 1, 1, 0, 1, 2, 0, 1, 0, 1, 1, 1, 1, 1, 2, 1, 1};
const std::vector<std::int32_t> cells{0, 1, 4, 3, 6, 7, 10, 9, 1, 2, 5, 4, 7, 8, 11, 10};

ParosolSolution sample_solution(const std::vector<double>& modulus,
                                const std::vector<double>& stress) {
  ParosolSolution solution;
  solution.coordinates = points;
  solution.elements = cells;
  solution.modulus = modulus;
  solution.displacements = points;
  solution.forces = points;
  solution.strain_energy = modulus;
  solution.stress = stress;
  return solution;
}

/// Of the filter of a dataset; 0 where it has none.
int deflate_level_of(const Hdf5Dataset& dataset) {
  const hid_t properties = H5Dget_create_plist(dataset.id());
  unsigned flags = 0, level = 0;
  std::size_t count = 1;
  if (H5Pget_nfilters(properties) > 0)
    REQUIRE(H5Pget_filter_by_id2(properties, H5Z_FILTER_DEFLATE, &flags, &count, &level, 0, nullptr,
                                 nullptr) >= 0);
  CHECK((H5Pget_layout(properties) == H5D_CONTIGUOUS) == (level == 0));
  H5Pclose(properties);
  return int(level);
}

} // namespace

TEST_CASE("lists of grids are of 64-bit numbers where the last offset wants one", "[vtkhdf]") {
  CHECK(has_narrow_indices(0));
  CHECK(has_narrow_indices((std::uint64_t(1) << 31) - 1));
  CHECK_FALSE(has_narrow_indices(std::uint64_t(1) << 31));
  // Hexahedra have a multiple of eight corners: 2^28 of them are the first too many.
  CHECK(has_narrow_indices(8 * ((std::uint64_t(1) << 28) - 1)));
  CHECK_FALSE(has_narrow_indices(std::uint64_t(1) << 32));
}

TEST_CASE("a mesh file has the layout of VTKHDF 1.0", "[vtkhdf]") {
  const TestDirectory directory;
  const std::string path = directory / "bone.hdf";
  std::vector<float> energy{1, 2};
  {
    VtkHdfWriter writer(path);
    writer.set_mesh(points, cells, VtkCell::hexahedron);
    writer.point_data("displacement", points, 3, "mm");
    writer.cell_data("SED", energy, 1, "MPa");
    writer.cell_data("stress", ramp<double>(12), 6);
    writer.cell_data("label", std::vector<int>{7, 8});
    writer.set_run({{"version", "1.2"}, {"command", "ossatura bone"}});
    CHECK_FALSE(std::filesystem::exists(path));
    writer.commit();
  }
  CHECK(directory.count() == 1);
  const Hdf5File file = Hdf5File::open(path);
  const Hdf5Group vtk = file.root().group("VTKHDF");
  CHECK(numbers_of(vtk.id(), "Version") == std::vector<std::int64_t>{1, 0});
  CHECK(vtk.text_attribute("Type") == "UnstructuredGrid");
  using Numbers = std::vector<std::int64_t>;
  CHECK(vtk.dataset("NumberOfPoints").read<std::int64_t>() == Numbers{12});
  CHECK(vtk.dataset("NumberOfCells").read<std::int64_t>() == Numbers{2});
  CHECK(vtk.dataset("NumberOfConnectivityIds").read<std::int64_t>() == Numbers{16});
  CHECK(vtk.dataset("Offsets").read<std::int64_t>() == Numbers{0, 8, 16});
  CHECK(vtk.dataset("Types").read<int>() == std::vector<int>{12, 12});
  CHECK(vtk.dataset("Points").read<double>() == points);
  CHECK(vtk.dataset("Connectivity").read<std::int32_t>() == cells);
  CHECK(vtk.dataset("Connectivity").shape() == std::vector<std::uint64_t>{16});
  for (const char* name : {"Offsets", "Connectivity"}) // of one width, as VTK wants them
    CHECK(vtk.dataset(name).value_bytes() == 4);
  const Hdf5Dataset displacement = vtk.group("PointData").dataset("displacement");
  CHECK(displacement.shape() == std::vector<std::uint64_t>{12, 3});
  CHECK(displacement.text_attribute("unit") == "mm");
  CHECK(vtk.group("CellData").dataset("SED").read<float>() == energy);
  CHECK(vtk.group("CellData").dataset("SED").shape() == std::vector<std::uint64_t>{2});
  CHECK(vtk.group("CellData").dataset("stress").shape() == std::vector<std::uint64_t>{2, 6});
  CHECK(vtk.group("CellData").dataset("label").read<int>() == std::vector<int>{7, 8});
  CHECK(vtk.has("FieldData"));
  CHECK(file.root().group("run").text_attribute("command") == "ossatura bone");
}

TEST_CASE("a mesh of tetrahedra has four corners a cell", "[vtkhdf]") {
  const TestDirectory directory;
  const std::string path = directory / "heart.hdf";
  const TwoTetra mesh;
  {
    VtkHdfWriter writer(path);
    writer.set_mesh(mesh.point, mesh.tetra, VtkCell::tetra);
    writer.point_data("time", ramp<float>(5), 1, "ms");
    writer.cell_data("fibre", mesh.fibre, 3);
    CHECK_THROWS_AS(writer.cell_data("tag", ramp<int>(1)), std::invalid_argument);
    writer.commit();
  }
  const Hdf5File file = Hdf5File::open(path);
  const Hdf5Group vtk = file.root().group("VTKHDF");
  using Numbers = std::vector<std::int64_t>;
  CHECK(vtk.dataset("NumberOfPoints").read<std::int64_t>() == Numbers{5});
  CHECK(vtk.dataset("NumberOfCells").read<std::int64_t>() == Numbers{2});
  CHECK(vtk.dataset("NumberOfConnectivityIds").read<std::int64_t>() == Numbers{8});
  CHECK(vtk.dataset("Offsets").read<std::int64_t>() == Numbers{0, 4, 8});
  CHECK(vtk.dataset("Types").read<int>() == std::vector<int>{10, 10});
  CHECK(vtk.dataset("Connectivity").read<std::int32_t>() == mesh.tetra);
  CHECK(vtk.dataset("Points").read<double>() == mesh.point);
  CHECK(vtk.group("PointData").dataset("time").read<float>() == ramp<float>(5));
  CHECK(vtk.group("CellData").dataset("fibre").shape() == std::vector<std::uint64_t>{2, 3});
}

TEST_CASE("meshes of several shapes go to one file", "[vtkhdf]") {
  const TestDirectory directory;
  const std::string path = directory / "scene.hdf";
  const ElementMesh hexa{ElementShape::hexa, points, cells};
  const ElementMesh triangle{ElementShape::triangle, {0, 0, 0, 1, 0, 0, 0, 1, 0}, {0, 1, 2}};
  const ElementMesh tetra{ElementShape::tetra, TwoTetra().point, TwoTetra().tetra};
  std::vector<double> x;
  for (const ElementMesh* mesh : {&hexa, &triangle, &tetra})
    x.insert(x.end(), mesh->point.begin(), mesh->point.end());
  x[1] = -7; // moved
  {
    VtkHdfWriter writer(path);
    CHECK_THROWS_AS(writer.set_elements({&hexa, &tetra}, ConstSpan<double>(x)),
                    std::invalid_argument);
    writer.set_elements({&hexa, &triangle, &tetra}, ConstSpan<double>(x));
    writer.point_data("velocity", x, 3, "m/s");
    writer.commit();
  }
  const Hdf5File file = Hdf5File::open(path);
  const Hdf5Group vtk = file.root().group("VTKHDF");
  CHECK(vtk.dataset("NumberOfPoints").read<int>() == std::vector<int>{20});
  CHECK(vtk.dataset("NumberOfCells").read<int>() == std::vector<int>{5});
  CHECK(vtk.dataset("NumberOfConnectivityIds").read<int>() == std::vector<int>{27});
  CHECK(vtk.dataset("Offsets").read<int>() == std::vector<int>{0, 8, 16, 19, 23, 27});
  CHECK(vtk.dataset("Types").read<int>() == std::vector<int>{12, 12, 5, 10, 10});
  CHECK(vtk.dataset("Points").read<double>() == x);
  const std::vector<int> corner = vtk.dataset("Connectivity").read<int>();
  CHECK(std::vector<int>(corner.begin(), corner.begin() + 16) == cells);
  CHECK(std::vector<int>(corner.begin() + 16, corner.end()) ==
        std::vector<int>{12, 13, 14, 15, 16, 17, 18, 16, 17, 18, 19});
  CHECK(vtk.group("CellData").dataset("object").read<int>() == std::vector<int>{0, 0, 1, 2, 2});
  CHECK(vtk.group("PointData").dataset("velocity").text_attribute("unit") == "m/s");
}

TEST_CASE("a field is written in parts, and no further than its end", "[vtkhdf]") {
  const TestDirectory directory;
  const std::string path = directory / "parts.hdf";
  const std::vector<float> values = ramp<float>(24);
  {
    VtkHdfWriter writer(path, Hdf5Compression::none);
    writer.set_mesh(points, cells, VtkCell::hexahedron);
    {
      Hdf5Field field = writer.point_field<float>("modulus", 2);
      field.append(ConstSpan<float>(values.data(), 10));
      field.append(ConstSpan<float>(values.data() + 10, 14));
      CHECK_THROWS_AS(field.append(ConstSpan<float>(values.data(), 2)), std::invalid_argument);
      CHECK_THROWS_AS(field.append(ConstSpan<float>(values.data(), 5)), std::invalid_argument);
    }
    CHECK_THROWS_AS(writer.point_data("short", ramp<float>(3)), std::invalid_argument);
    writer.commit();
  }
  const Hdf5File file = Hdf5File::open(path);
  const Hdf5Dataset field = file.root().group("VTKHDF").group("PointData").dataset("modulus");
  CHECK(field.shape() == std::vector<std::uint64_t>{12, 2});
  CHECK(field.read<float>() == values);
}

TEST_CASE("a field file has the same values however it is compressed", "[vtkhdf]") {
  const TestDirectory directory;
  const int edge = 40; // of a grid of points, so that a field is some blocks and no whole number
  std::vector<double> grid;
  std::vector<std::int32_t> corners;
  for (int i = 0; i < edge * edge * edge; ++i)
    for (const int x : {i % edge, i / edge % edge, i / edge / edge})
      grid.push_back(0.25 * x);
  for (int i = 0; i < 8 * 20011; ++i)
    corners.push_back(std::int32_t(i * 7919LL % (edge * edge * edge)));
  std::vector<double> size;
  for (const auto mode : name_table<Hdf5Compression>) {
    INFO(mode.name);
    const std::string path = directory / mode.name;
    VtkHdfWriter writer(path, mode);
    writer.set_mesh(grid, corners, VtkCell::voxel);
    writer.point_data("displacement", grid, 3, "mm");
    writer.commit();
    const Hdf5File file = Hdf5File::open(path);
    const Hdf5Group vtk = file.root().group("VTKHDF");
    CHECK(vtk.dataset("Points").read<double>() == grid);
    CHECK(vtk.dataset("Connectivity").read<std::int32_t>() == corners);
    CHECK(vtk.dataset("Offsets").read<int>()[20011] == 8 * 20011);
    CHECK(vtk.dataset("Types").read<int>() == std::vector<int>(20011, 11));
    const Hdf5Dataset displacement = vtk.group("PointData").dataset("displacement");
    CHECK(displacement.read<double>() == grid);
    CHECK(deflate_level_of(displacement) == deflate_level(mode));
    size.push_back(double(std::filesystem::file_size(path)));
  }
  CHECK(size[0] > 3 * size[1]);
  CHECK(size[1] >= size[2]);
}

TEST_CASE("files of a series have what they have in common as if each was written alone",
          "[vtkhdf]") {
  const TestDirectory directory;
  const ElementMesh hexa{ElementShape::hexa, points, cells};
  const ElementMesh tetra{ElementShape::tetra, TwoTetra().point, TwoTetra().tetra};
  std::vector<double> x = hexa.point;
  x.insert(x.end(), tetra.point.begin(), tetra.point.end());
  const std::vector<std::uint8_t> roles = {1, 2, 1, 0};
  int made = 0;
  const auto write = [&](const std::string& name, Hdf5Compression mode, VtkHdfKept* kept) {
    VtkHdfWriter writer(directory / name, mode, kept);
    writer.set_elements({&hexa, &tetra}, ConstSpan<double>(x));
    writer.constant_cell_data<std::uint8_t>(
        "role",
        [&] {
          ++made;
          return roles;
        },
        1, "1");
    writer.commit();
  };
  for (const auto mode : name_table<Hdf5Compression>) {
    INFO(mode.name);
    VtkHdfKept kept;
    made = 0;
    for (int step = 0; step < 3; ++step) {
      x[0] = step;
      write("kept.hdf", mode.value, &kept);
      CHECK(made == (mode.value == Hdf5Compression::none ? step + 1 : 1));
    }
    write("alone.hdf", mode.value, nullptr);
    CHECK(std::filesystem::file_size(directory / "kept.hdf") ==
          std::filesystem::file_size(directory / "alone.hdf"));
    const Hdf5File files[] = {Hdf5File::open(directory / "kept.hdf"),
                              Hdf5File::open(directory / "alone.hdf")};
    const Hdf5Group vtk[] = {files[0].root().group("VTKHDF"), files[1].root().group("VTKHDF")};
    for (const char* name : {"Offsets", "Types", "Connectivity"})
      CHECK(vtk[0].dataset(name).read<int>() == vtk[1].dataset(name).read<int>());
    CHECK(vtk[0].dataset("Points").read<double>() == x);
    const Hdf5Group data = vtk[0].group("CellData");
    CHECK(data.dataset("object").read<int>() == std::vector<int>{0, 0, 1, 1});
    CHECK(data.dataset("role").read<std::uint8_t>() == roles);
    CHECK(data.dataset("role").text_attribute("unit") == "1");
  }
  VtkHdfKept kept;
  VtkHdfWriter first(directory / "mesh.hdf", Hdf5Compression::fast, &kept);
  first.set_mesh(points, cells, VtkCell::hexahedron);
  CHECK_THROWS_AS(first.constant_point_data<float>("short", [] { return ramp<float>(3); }),
                  std::invalid_argument);
  VtkHdfWriter second(directory / "mesh.hdf", Hdf5Compression::fast, &kept);
  second.set_mesh(points, cells, VtkCell::hexahedron);
  second.commit();
  const Hdf5Group vtk = Hdf5File::open(directory / "mesh.hdf").root().group("VTKHDF");
  CHECK(vtk.dataset("Points").read<double>() == points);
  CHECK(vtk.dataset("Connectivity").read<std::int32_t>() == cells);
}

TEST_CASE("nothing half-written stays where a field file is given up", "[vtkhdf]") {
  const TestDirectory directory;
  write_bytes(directory / "bone.hdf", "the last good one");
  {
    VtkHdfWriter writer(directory / "bone.hdf");
    CHECK_THROWS_AS(writer.point_data("u", points, 3), std::invalid_argument);
    CHECK_THROWS_AS(writer.commit(), std::invalid_argument);
    writer.set_mesh(points, cells, VtkCell::voxel);
    CHECK_THROWS_AS(writer.set_mesh(points, cells, VtkCell::voxel), std::invalid_argument);
  }
  CHECK(directory.count() == 1);
  CHECK(read_bytes_of(directory / "bone.hdf") == "the last good one");
  CHECK_THROWS_AS(VtkHdfWriter(directory / "no/such/bone.hdf"), InputError);
  CHECK_THROWS_AS(VtkHdfWriter(directory.path()), InputError);
}

TEST_CASE("a series lists its steps", "[vtkhdf]") {
  const TestDirectory directory;
  write_vtk_series(directory / "a.hdf.series", {{"a_0.hdf", 0}, {"a \"1\".hdf", 0.1}});
  CHECK(read_bytes_of(directory / "a.hdf.series") ==
        "{\n  \"file-series-version\": \"1.0\",\n  \"files\": [\n"
        "    {\"name\": \"a_0.hdf\", \"time\": 0},\n"
        "    {\"name\": \"a \\\"1\\\".hdf\", \"time\": 0.10000000000000001}\n  ]\n}\n");
}

TEST_CASE("ParOSol results join the input file, once however often they are written", "[parosol]") {
  const TestDirectory directory;
  const std::string path = directory / "bone.h5";
  write_parosol(path);
  const std::vector<double> modulus{1000.9, 5000};
  const std::vector<double> stress = ramp<double>(12);
  for (int i = 0; i < 3; ++i)
    write_parosol_output(path, sample_solution(modulus, stress), {{"command", "ossatura bone"}});
  CHECK(directory.count() == 1);
  CHECK(read_parosol(path).displacements.size() == 2); // the input is still there
  const Hdf5File file = Hdf5File::open(path);
  const Hdf5Group mesh = file.root().group("Mesh");
  const Hdf5Group solution = file.root().group("Solution");
  CHECK(mesh.dataset("Coordinates").shape() == std::vector<std::uint64_t>{12, 3});
  const std::vector<int> elements = mesh.dataset("Elements").read<int>();
  REQUIRE(elements.size() == 16);
  CHECK(elements[0] == 1); // ParOSol counts from 1
  CHECK(elements[15] == 11);
  CHECK(mesh.dataset("Material IDs").read<int>() == std::vector<int>{1000, 5000});
  CHECK(mesh.dataset("Material IDs").shape() == std::vector<std::uint64_t>{2, 1});
  CHECK(solution.dataset("Nodal displacements").read<double>() == points);
  CHECK(solution.dataset("Nodal forces").shape() == std::vector<std::uint64_t>{12, 3});
  CHECK(solution.dataset("SED").shape() == std::vector<std::uint64_t>{2, 1});
  CHECK(solution.dataset("Element stress").read<double>() == stress);
  CHECK_FALSE(solution.has("Element strain"));
  CHECK(file.root().group("run").text_attribute("command") == "ossatura bone");
}

TEST_CASE("ParOSol results are the same however they are compressed", "[parosol]") {
  const TestDirectory directory;
  constexpr std::size_t voxels = 3000;
  std::vector<std::int32_t> elements(8 * voxels);
  for (std::size_t i = 0; i < elements.size(); ++i)
    elements[i] = std::int32_t(i % (2 * voxels));
  const std::vector<double> of_nodes = ramp<double>(6 * voxels), of_voxels = ramp<double>(voxels);
  ParosolSolution solution;
  solution.coordinates = solution.displacements = solution.forces = of_nodes;
  solution.elements = elements;
  solution.modulus = solution.strain_energy = of_voxels;
  solution.strain = of_nodes;
  std::vector<double> size;
  for (const auto mode : name_table<Hdf5Compression>) {
    INFO(mode.name);
    const std::string path = directory / mode.name;
    write_parosol(path);
    for (int i = 0; i < 2; ++i) // replaced once
      write_parosol_output(path, solution, {}, mode);
    CHECK(read_parosol(path).displacements.size() == 2); // of the input
    const Hdf5File file = Hdf5File::open(path);
    const Hdf5Group results = file.root().group("Solution");
    CHECK(results.dataset("Nodal forces").read<double>() == of_nodes);
    CHECK(results.dataset("Element strain").read<double>() == of_nodes);
    CHECK(results.dataset("SED").shape() == std::vector<std::uint64_t>{voxels, 1});
    CHECK(deflate_level_of(results.dataset("SED")) == deflate_level(mode));
    const std::vector<std::int32_t> read =
        file.root().group("Mesh").dataset("Elements").read<std::int32_t>();
    CHECK(read[0] == 1);
    CHECK(read[8 * voxels - 1] == elements.back() + 1);
    size.push_back(double(std::filesystem::file_size(path)));
  }
  CHECK(size[0] > 2 * size[1]);
  CHECK(size[1] >= size[2]);
}

TEST_CASE("ParOSol results go to a new file as well, and never over something else", "[parosol]") {
  const TestDirectory directory;
  const std::vector<double> modulus{1000, 5000};
  write_parosol_output(directory / "new.h5", sample_solution(modulus, {}));
  CHECK(Hdf5File::open(directory / "new.h5").root().has("Solution"));
  write_bytes(directory / "notes.txt", "keep me");
  CHECK_SAYS(error_of([&] {
               write_parosol_output(directory / "notes.txt", sample_solution(modulus, {}));
             }),
             "notes.txt", "not an HDF5 file");
  CHECK(read_bytes_of(directory / "notes.txt") == "keep me");
  CHECK_THROWS_AS(write_parosol_output(directory.path(), sample_solution(modulus, {})), InputError);
  CHECK_THROWS_AS(write_parosol_output(directory / "a.h5", sample_solution({1}, {})),
                  std::invalid_argument);
  CHECK(directory.count() == 2);
}

namespace {
/// The codes of warnings while it lives.
class Warnings {
public:
  Warnings()
      : before_(set_log_sink([this](const LogMessage& message) {
        if (!message.code.empty())
          heard_.push_back(message.code + ": " + message.text);
      })) {}
  ~Warnings() { set_log_sink(before_); }
  const std::vector<std::string>& heard() const { return heard_; }

private:
  std::vector<std::string> heard_;
  LogSink before_;
};

/// The status in a file of one field, and the warnings while it was written.
std::string status_with(const std::vector<double>& field, bool nan_is_mark, std::size_t warnings) {
  const TestDirectory directory;
  const Warnings heard;
  {
    VtkHdfWriter writer(directory / "a.hdf");
    writer.set_mesh(points, cells, VtkCell::hexahedron);
    {
      Hdf5Field times = writer.point_field<double>("time");
      if (nan_is_mark)
        times.take_nan_as_mark();
      times.append(field);
    }
    writer.point_data("fine", points, 3);
    writer.set_run("status", "converged");
    writer.commit();
  }
  CHECK(heard.heard().size() == warnings);
  for (const std::string& text : heard.heard()) {
    CHECK_THAT(text, ContainsSubstring("not-finite: "));
    CHECK_THAT(text, ContainsSubstring("a.hdf: /VTKHDF/PointData/time"));
  }
  return Hdf5File::open(directory / "a.hdf").root().group("run").text_attribute("status");
}
} // namespace

TEST_CASE("a field that is not finite is told, and so is the status of its file", "[vtkhdf]") {
  std::vector<double> field(12, 1.0);
  field[3] = -1; // a mark
  CHECK(status_with(field, false, 0) == "converged");
  for (const double bad : {std::nan(""), double(INFINITY), -double(INFINITY)}) {
    field[11] = bad;
    CHECK(status_with(field, false, 1) == "not finite");
    CHECK(status_with(field, true, std::isnan(bad) ? 0 : 1) ==
          (std::isnan(bad) ? "converged" : "not finite"));
  }
  field[11] = std::numeric_limits<double>::max();
  CHECK(status_with(field, false, 0) == "converged");
}

TEST_CASE("a ParOSol output that is not finite is told", "[parosol_output]") {
  const TestDirectory directory;
  for (const double modulus : {1000.0, double(INFINITY)}) {
    const Warnings heard;
    write_parosol_output(directory / "a.h5",
                         sample_solution({modulus, 1000}, std::vector<double>(12, 1.0)),
                         {{"status", "converged"}});
    CHECK(heard.heard().size() == (modulus == 1000 ? 0 : 1));
    CHECK(Hdf5File::open(directory / "a.h5").root().group("run").text_attribute("status") ==
          (modulus == 1000 ? "converged" : "not finite"));
  }
}
