// SPDX-License-Identifier: Apache-2.0
// The VTKHDF file of `ossatura eikonal`, written by the executable and read back.
#include <ossatura/core/io/hdf5/file.hpp>
#include <ossatura/core/mesh/generators/tetra_meshes.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/test_directory.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

using namespace ossatura;
using namespace ossatura_test;

namespace {

int run_ossatura(const std::string& arguments) {
  const std::string command =
      std::string("\"") + OSSATURA_DRIVER + "\" eikonal " + arguments + " -q";
  return std::system((command + " > /dev/null").c_str());
}

std::vector<double> read_dat(const std::string& path) {
  std::ifstream file(path);
  std::vector<double> values;
  for (double value; file >> value;)
    values.push_back(value);
  return values;
}

} // namespace

TEST_CASE("the file of a run has mesh, tags, directions and the times of each set", "[eikonal]") {
  const TestDirectory directory;
  std::ofstream(directory / "s.json") << R"({"a": ["point:0,0,0"], "b": ["point:20,0,0@t=2"]})";
  const std::string path = directory / "f.hdf";
  REQUIRE(run_ossatura("--generate slab:h=1 --sites " + directory / "s.json" + " --hdf " + path +
                       " --dat " + directory / "t.dat") == 0);
  const TetraMesh mesh = make_slab(1);
  const Hdf5File file = Hdf5File::open(path);
  const Hdf5Group vtk = file.root().group("VTKHDF");
  CHECK(vtk.text_attribute("Type") == "UnstructuredGrid");
  CHECK(vtk.dataset("Points").read<double>() == mesh.point);
  CHECK(vtk.dataset("Connectivity").read<std::int32_t>() == mesh.tetra);
  CHECK(vtk.dataset("Types").read<int>() == std::vector<int>(mesh.num_tetra(), 10));
  CHECK(vtk.dataset("Offsets").read<std::int64_t>().back() == std::int64_t(4 * mesh.num_tetra()));
  CHECK(vtk.group("CellData").dataset("tag").read<std::int32_t>() == mesh.tag);
  CHECK(vtk.group("CellData").dataset("fibre").read<float>() == mesh.fibre);
  for (const char* set : {"a", "b"}) {
    const Hdf5Dataset times = vtk.group("PointData").dataset(std::string("activation_time_") + set);
    CHECK(times.text_attribute("unit") == "ms");
    const std::vector<double> values = times.read<double>();
    const std::vector<double> text = read_dat(directory / ("t_" + std::string(set) + ".dat"));
    REQUIRE(values.size() == mesh.num_points());
    REQUIRE(text.size() == values.size());
    for (std::size_t v = 0; v < values.size(); ++v)
      CHECK(values[v] == Approx(text[v]).margin(1e-6));
  }
  CHECK(file.root().group("run").text_attribute("command_line").find("slab:h=1") !=
        std::string::npos);
}

TEST_CASE("a single set's field has the plain name, in the precision of the run", "[eikonal]") {
  const TestDirectory directory;
  REQUIRE(run_ossatura("--generate slab:h=1 --precision double -o " + directory / "out") == 0);
  const Hdf5File file = Hdf5File::open(directory / "out/slab.hdf");
  const Hdf5Dataset times =
      file.root().group("VTKHDF").group("PointData").dataset("activation_time");
  const std::vector<double> values = times.read<double>();
  CHECK(*std::min_element(values.begin(), values.end()) == 0);
  CHECK(*std::max_element(values.begin(), values.end()) > 36.2);
  bool beyond_single = false;
  for (const double value : values)
    beyond_single = beyond_single || value != double(float(value));
  CHECK(beyond_single);
}
