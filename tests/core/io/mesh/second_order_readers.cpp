// SPDX-License-Identifier: Apache-2.0
// Meshes of second order from files: the maps of hexahedra of 20 and 27 nodes, what is kept of
// their nodes and sets, and what is refused.
#include <ossatura/core/io/mesh/curved_hexa_file.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/mesh/hexa_samples.hpp"
#include "tests/core/io/mesh/second_order_samples.hpp"
#include "tests/core/io/replaced.hpp"
#include "tests/core/io/test_directory.hpp"

#include <cmath>
#include <random>

using namespace ossatura;
using namespace ossatura_test;

namespace {

using Members = std::vector<std::int32_t>;
using Sets = std::map<std::string, Members>;

CurvedHexaFile read_curved(const std::string& name, const Bytes& bytes, double unit = 1) {
  const TestDirectory directory;
  write_bytes(directory / name, bytes);
  ElementFileOptions options;
  options.unit = unit;
  return read_curved_hexa_file(directory / name, options);
}

std::string refusal_of_curved(const Bytes& bytes) {
  return error_of([&] { read_curved("a.msh", bytes); });
}

/// Line `number`, from 1, of a text.
Bytes line_of(const Bytes& text, int number) {
  std::size_t begin = 0;
  for (; number > 1; --number)
    begin = text.find('\n', begin) + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

/// From the map of a file at random points to what the sample was made with.
double largest_error(const CurvedHexaFile& file, const SecondOrderSample& sample, double unit) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> inside(-1, 1);
  double largest = 0;
  for (int elem = 0; elem < 2; ++elem)
    for (int k = 0; k < 20; ++k) {
      const double xi[3] = {inside(random), inside(random), inside(random)};
      double x[3], jacobian[9];
      file.geometry.map->evaluate(elem, xi, x, jacobian);
      const auto expected =
          sample.deformed({elem + (1 + xi[0]) / 2, (1 + xi[1]) / 2, (1 + xi[2]) / 2});
      for (std::size_t axis = 0; axis < 3; ++axis)
        largest = std::max(largest, std::abs(x[axis] - unit * expected[axis]) / unit);
    }
  return largest;
}

} // namespace

TEST_CASE("hexahedra of 20 and 27 nodes become maps between their vertices", "[second_order]") {
  for (const int version : {2, 4})
    for (const int nodes_per_elem : {20, 27})
      for (const bool mirrored : {false, true}) {
        SecondOrderSample sample;
        sample.version = version;
        sample.nodes_per_elem = nodes_per_elem;
        sample.mirrored = mirrored;
        CAPTURE(version, nodes_per_elem, mirrored);
        const double unit = mirrored ? 0.001 : 1;
        const CurvedHexaFile file = read_curved("a.msh", sample.text(), unit);
        REQUIRE(file.geometry.map != nullptr);
        CHECK(largest_error(file, sample, unit) < 1e-14);
        const ElementMesh& mesh = file.model.mesh;
        // Ascending by x, y, z in the file.
        CHECK(mesh.node == Members{0, 4, 6, 2, 1, 5, 7, 3, 4, 8, 10, 6, 5, 9, 11, 7});
        REQUIRE(mesh.num_points() == 12);
        for (std::size_t p = 0; p < 12; ++p) {
          const std::size_t plane = p / 4, row = p / 2 % 2;
          const auto x = sample.deformed({double(plane), double(row), double(p % 2)});
          for (std::size_t axis = 0; axis < 3; ++axis)
            CHECK(std::abs(mesh.point[3 * p + axis] - unit * x[axis]) <= 1e-15 * unit);
        }
        CHECK(file.geometry.mesh.point == mesh.point);
        CHECK(file.geometry.mesh.node == mesh.node);
        CHECK(file.model.node_sets == Sets{{"the wall", {0, 1, 2, 3}}});
        CHECK(file.model.elem_sets == Sets{{"solid", {0, 1}}, {"4", {1}}});
        CHECK(file.unused_points == 1);
      }
}

TEST_CASE("hexahedra of first order have no map", "[second_order]") {
  const CurvedHexaFile gmsh = read_curved("a.msh", sample_gmsh_2_groups());
  CHECK(gmsh.geometry.map == nullptr);
  CHECK(gmsh.geometry.mesh.node == TwoHexa().hexa);
  CHECK(gmsh.model.mesh.point == TwoHexa().point);
  CHECK(gmsh.model.elem_sets == Sets{{"solid", {0, 1}}, {"right", {1}}});
  CHECK(gmsh.unused_points == 1);
  const CurvedHexaFile abaqus = read_curved("a.inp", sample_cae_inp());
  CHECK(abaqus.geometry.map == nullptr);
  CHECK(abaqus.geometry.mesh.node == TwoHexa().hexa);
  CHECK(abaqus.model.loads.size() == 1);
  CHECK(abaqus.notes.size() == 1);
}

TEST_CASE("bad meshes of second order are refused", "[second_order]") {
  SecondOrderSample sample;
  sample.version = 2;
  sample.nodes_per_elem = 20;
  const Bytes text = sample.text();
  const int first = 48; // line of the first hexahedron
  const Bytes hexa = line_of(text, first);
  REQUIRE(hexa.substr(0, 5) == "2 17 ");
  const auto check = [&](const Bytes& from, const Bytes& to, const auto&... parts) {
    INFO(from << " -> " << to);
    CHECK_SAYS(refusal_of_curved(replaced(text, from, to)), "a.msh", parts...);
  };
  check(line_of(text, first + 1), "3 5 2 3 1 37 58 64 43 40 61 67 46", "line 49", "type 5",
        "after type 17", "one type");
  check(hexa, "2 4 2 3 1 13 37 22 16", "line 48", "tetrahedra", "first and second order");
  check(hexa, "2 6 2 3 1 13 37 22 16 40 25", "line 48", "prisms");
  check(hexa, "2 92 2 3 1", "line 48", "third-order");
  check(hexa.substr(hexa.rfind(' ')), " 14", "line 48", "node 14");
  const Bytes vertices = hexa.substr(10, hexa.find(' ', 11) - 10);
  check(hexa.substr(0, 10) + vertices + " ", hexa.substr(0, 10) + " 19 ", "element 2", "twice");
  // A middle node of an edge moved beyond the vertex.
  check("\n16 0 0 0.5\n", "\n16 0 0 2.5\n", "line 48: element 2", "inside out");
  CHECK_SAYS(error_of([&] {
               const TestDirectory directory;
               write_bytes(directory / "a.msh", text);
               read_hexa_file(directory / "a.msh");
             }),
             "line 48", "first order");
  CHECK_SAYS(refusal_of_curved(replaced(text, "\n16 0 ", "\n16 1e308 ")), "a.msh", "element 2");
  CHECK_THROWS_AS(read_curved("a.msh", text, 0), std::invalid_argument);
  CHECK_SAYS(error_of([] { read_curved("a.stl", "solid"); }), "a.stl", "by its name");
}
