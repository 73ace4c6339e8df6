// SPDX-License-Identifier: Apache-2.0
// What the readers of meshes make of VTKHDF: of files of this project, and of others' types.
#include <ossatura/core/io/hdf5/vtkhdf.hpp>
#include <ossatura/core/io/mesh/element_file.hpp>
#include <ossatura/core/io/mesh/hexa_file.hpp>
#include <ossatura/core/io/mesh/tetra_file.hpp>
#include <ossatura/core/mesh/generators/tetra_meshes.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/mesh/tetra_samples.hpp"
#include "tests/core/io/sample_files.hpp"
#include "tests/core/io/test_directory.hpp"

using namespace ossatura;
using namespace ossatura_test;

namespace {

/// A grid of two tetrahedra as other programs may write it; each part can be left out or changed.
struct HdfGrid {
  std::string type = "UnstructuredGrid";
  std::vector<std::int64_t> num_points{5}, num_cells{2}, num_corners{8};
  std::vector<float> point = as<float>(TwoTetra().point);
  std::vector<std::uint32_t> corner = as<std::uint32_t>(TwoTetra().tetra);
  std::vector<std::int64_t> offset{0, 4, 8};
  std::vector<std::uint8_t> kind{10, 10};
  std::vector<std::int16_t> tag{7, -2};
  std::vector<std::uint8_t> cell_ghost, point_ghost; ///< vtkGhostType
  bool has_steps = false;

  void write(const std::string& path) const {
    Hdf5File file = Hdf5File::create(path);
    {
      Hdf5Group grid = file.root().create_group("VTKHDF");
      grid.set_attribute("Version", std::vector<std::int64_t>{2, 0});
      grid.set_attribute("Type", type);
      grid.write("NumberOfPoints", {num_points.size()}, num_points.data());
      grid.write("NumberOfCells", {num_cells.size()}, num_cells.data());
      grid.write("NumberOfConnectivityIds", {num_corners.size()}, num_corners.data());
      grid.write("Points", {point.size() / 3, 3}, point.data());
      grid.write("Connectivity", {corner.size()}, corner.data());
      grid.write("Offsets", {offset.size()}, offset.data());
      grid.write("Types", {kind.size()}, kind.data());
      Hdf5Group cells = grid.create_group("CellData");
      cells.write("elemTag", {tag.size()}, tag.data());
      if (!cell_ghost.empty())
        cells.write("vtkGhostType", {cell_ghost.size()}, cell_ghost.data());
      if (!point_ghost.empty())
        grid.create_group("PointData")
            .write("vtkGhostType", {point_ghost.size()}, point_ghost.data());
      if (has_steps)
        grid.create_group("Steps");
    }
    file.close();
  }
  std::string error() const {
    const TestDirectory directory;
    write(directory / "m.vtkhdf");
    return error_of([&] { read_tetra_mesh(directory / "m.vtkhdf"); });
  }
};

} // namespace

TEST_CASE("a file of fields is a mesh of tetrahedra with tags and directions", "[vtkhdf]") {
  const TestDirectory directory;
  const TetraMesh slab = make_slab(2); // enough for several chunks of compressed numbers
  std::vector<std::int32_t> tag(slab.num_tetra());
  std::vector<float> fibre(3 * slab.num_tetra(), 0);
  for (std::size_t e = 0; e < tag.size(); ++e) {
    tag[e] = std::int32_t(e % 3) - 1;
    fibre[3 * e + e % 3] = 1;
  }
  for (const Hdf5Compression compression : {Hdf5Compression::none, Hdf5Compression::fast}) {
    const std::string path = directory / "slab.hdf";
    {
      VtkHdfWriter file(path, compression);
      file.set_mesh(slab.point, slab.tetra, VtkCell::tetra);
      file.cell_data("tag", tag);
      file.cell_data("fibre", fibre, 3);
      file.commit();
    }
    const TetraMesh mesh = read_tetra_mesh(path);
    CHECK(mesh.point == slab.point);
    CHECK(mesh.tetra == slab.tetra);
    CHECK(mesh.tag == tag);
    CHECK(mesh.fibre == fibre);
    TetraFileOptions in_metres;
    in_metres.unit = 1000;
    CHECK(read_tetra_mesh(path, in_metres).point.back() == 1000 * slab.point.back());
  }
}

TEST_CASE("numbers of a grid of VTKHDF may be of any type", "[vtkhdf]") {
  const TestDirectory directory;
  const std::string path = directory / "m.vtkhdf";
  HdfGrid().write(path);
  const TetraMesh mesh = read_tetra_mesh(path);
  CHECK(mesh.point == TwoTetra().point);
  CHECK(mesh.tetra == TwoTetra().tetra);
  CHECK(mesh.tag == std::vector<std::int32_t>{7, -2});
  CHECK(read_element_mesh(path).mesh.node == TwoTetra().tetra);
}

TEST_CASE("cells that VTKHDF marks as not there are refused", "[vtkhdf]") {
  HdfGrid grid;
  grid.cell_ghost = {4, 16};
  grid.point_ghost = {1, 1, 0, 0, 0};
  CHECK(grid.error() == "no error");
  grid.cell_ghost = {0, 1};
  CHECK(says(grid.error(), "cell 1 is a copy of one of another piece (vtkGhostType 1)"));
  grid.cell_ghost = {32, 0};
  CHECK(says(grid.error(), "cell 0 is hidden"));
  grid.cell_ghost = {32};
  CHECK(says(grid.error(), "'vtkGhostType' has 1 numbers for 2 cells"));
  grid.cell_ghost.clear();
  grid.point_ghost = {0, 0, 3, 0, 0};
  CHECK(says(grid.error(), "point 2 is hidden (vtkGhostType 3)"));
}

TEST_CASE("voxels of a file of fields are hexahedra", "[vtkhdf]") {
  const TestDirectory directory;
  const std::string path = directory / "bone.hdf";
  const std::vector<double> points{0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0,
                                   0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1};
  {
    VtkHdfWriter file(path);
    file.set_mesh(points, std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}, VtkCell::voxel);
    file.commit();
  }
  const std::vector<std::int32_t> around{0, 1, 3, 2, 4, 5, 7, 6};
  CHECK(read_element_mesh(path).mesh.node == around);
  CHECK(read_hexa_file(path).model.mesh.node == around);
}

TEST_CASE("what is no mesh of VTKHDF is refused", "[vtkhdf]") {
  const auto says = [](const auto& change, const char* what) {
    HdfGrid grid;
    change(grid);
    const std::string error = grid.error();
    CAPTURE(error);
    CHECK(error.find("m.vtkhdf") != std::string::npos);
    CHECK(error.find(what) != std::string::npos);
  };
  says([](HdfGrid& g) { g.type = "PolyData"; }, "Type is 'PolyData'");
  says([](HdfGrid& g) { g.has_steps = true; }, "steps of time");
  says([](HdfGrid& g) { g.num_points = {3, 2}; }, "several pieces");
  says([](HdfGrid& g) { g.num_cells = {0}; }, "no cells");
  says([](HdfGrid& g) { g.num_points = {-5}; }, "damaged");
  says([](HdfGrid& g) { g.num_points = {6}; }, "Points: are not three coordinates of 6 points");
  says([](HdfGrid& g) { g.num_corners = {9}; }, "Connectivity: is no list of 9 numbers");
  says([](HdfGrid& g) { g.offset = {0, 8}; }, "Offsets: is no list of 3 numbers");
  says([](HdfGrid& g) { g.offset = {1, 4, 8}; }, "the first is 1");
  says([](HdfGrid& g) { g.offset = {0, 9, 8}; }, "damaged");
  says([](HdfGrid& g) { g.kind = {10}; }, "Types: is no list of 2 numbers");
  says([](HdfGrid& g) { g.kind = {10, 200}; }, "type 200");
  says([](HdfGrid& g) { g.corner[3] = 3000000000u; }, "3000000000");
  says([](HdfGrid& g) { g.point[4] = std::nanf(""); }, "point 1 is not finite");
  const TestDirectory directory;
  write_bytes(directory / "m.hdf", "no HDF5");
  CHECK(error_of([&] { read_tetra_mesh(directory / "m.hdf"); }).find("m.hdf") != std::string::npos);
  Hdf5File::create(directory / "n.hdf").close();
  CHECK(error_of([&] { read_tetra_mesh(directory / "n.hdf"); }).find("no group VTKHDF") !=
        std::string::npos);
}
