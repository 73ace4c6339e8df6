// SPDX-License-Identifier: Apache-2.0
// Meshes of soft bodies from files: what is read of files written by hand, and what is refused.
#include <ossatura/core/io/mesh/duplicate_elements.hpp>
#include <ossatura/core/io/mesh/element_file.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/mesh/element_samples.hpp"
#include "tests/core/io/replaced.hpp"
#include "tests/core/io/test_directory.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

using namespace ossatura;
using namespace ossatura_test;

namespace {

ElementFile read_elements(const std::string& name, const Bytes& bytes,
                          const ElementFileOptions& options = {}) {
  const TestDirectory directory;
  write_bytes(directory / name, bytes);
  return read_element_mesh(directory / name, options);
}

std::string refusal_of_elements(const std::string& name, const Bytes& bytes) {
  return error_of([&] { read_elements(name, bytes); });
}

void check_two_hexa(const ElementFile& file, std::int64_t num_unused) {
  CHECK(file.mesh.shape == ElementShape::hexa);
  CHECK(file.mesh.point == TwoHexa().point);
  CHECK(file.mesh.node == TwoHexa().hexa);
  CHECK(file.unused_points == num_unused);
}

} // namespace

TEST_CASE("hexahedra are read from every format", "[elements]") {
  check_two_hexa(read_elements("a.msh", sample_gmsh_2_hexa()), 1);
  check_two_hexa(read_elements("a.vtk", sample_vtk_hexa()), 1);
  for (int format = VtuKind::ascii; format <= VtuKind::appended_raw; ++format) {
    VtuKind kind;
    kind.format = decltype(kind.format)(format);
    kind.zlib = format % 2 == 1;
    check_two_hexa(read_elements("a.vtu", sample_vtu_hexa(kind)), 0);
  }
  ElementFileOptions millimetres;
  millimetres.unit = 0.001;
  CHECK(read_elements("a.msh", sample_gmsh_2_hexa(), millimetres).mesh.point[6] == 0.002);
  CHECK(read_elements("a.vtk", sample_vtk_hexa(), millimetres).mesh.point[6] == 0.002);
}

TEST_CASE("tetrahedra are read from every format, beside what else is there", "[elements]") {
  const auto check = [](const std::string& name, const Bytes& bytes) {
    INFO(name << " " << bytes.substr(0, 40));
    const ElementFile file = read_elements(name, bytes);
    CHECK(file.mesh.shape == ElementShape::tetra);
    CHECK(file.mesh.point == TwoTetra().point);
    CHECK(file.mesh.node == TwoTetra().tetra);
    CHECK(file.unused_points == 0);
  };
  for (const Bytes& bytes :
       {sample_gmsh_2(), sample_gmsh_2_binary(true), sample_gmsh_4(), sample_gmsh_4_binary(false)})
    check("a.msh", bytes);
  for (const Bytes& bytes : {sample_vtk(), sample_vtk_binary(), sample_vtk_5(true)})
    check("a.vtk", bytes);
  check("a.vtu", sample_vtu({}));
}

TEST_CASE("triangles are read where there is no volume", "[elements]") {
  const ElementFile file = read_elements("a.msh", sample_gmsh_4_triangles());
  CHECK(file.mesh.shape == ElementShape::triangle);
  CHECK(file.mesh.point == std::vector<double>{0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0.5});
  CHECK(file.mesh.node == std::vector<std::int32_t>{0, 1, 2, 3, 2, 1}); // never turned
  const Bytes vtk = "# vtk DataFile Version 3.0\n\nASCII\nDATASET UNSTRUCTURED_GRID\n"
                    "POINTS 4 float\n0 0 5 1 0 5\n9 9 9 0 1 5\nCELLS 2 7\n2 0 1\n3 0 1 3\n"
                    "CELL_TYPES 2\n3\n5\n";
  const ElementFile one = read_elements("a.vtk", vtk);
  CHECK(one.mesh.node == std::vector<std::int32_t>{0, 1, 2});
  CHECK(one.mesh.point == std::vector<double>{0, 0, 5, 1, 0, 5, 0, 1, 5});
  CHECK(one.unused_points == 1);
}

TEST_CASE("elements that are inside out are turned", "[elements]") {
  const Bytes gmsh = replaced(sample_gmsh_2(), "1 10 2 3 4\n", "1 2 10 3 4\n");
  CHECK(read_elements("a.msh", gmsh).mesh.node ==
        std::vector<std::int32_t>{1, 0, 3, 2, 1, 2, 3, 4});
  const Bytes vtk = replaced(sample_vtk_hexa(), "8 1 2 5 4 7 8 11 10", "8 7 8 11 10 1 2 5 4");
  check_two_hexa(read_elements("a.vtk", vtk), 1);
  // A voxel of negative height becomes one of positive height.
  const ElementFile voxel = read_elements(
      "a.vtk", replaced(sample_vtk_hexa(), "8 0 1 3 4 6 7 9 10", "8 6 7 9 10 0 1 3 4"));
  check_two_hexa(voxel, 1);
}

TEST_CASE("a distorted hexahedron is read, one that is folded is not", "[elements]") {
  const Bytes text = sample_vtk_hexa();
  CHECK(read_elements("a.vtk", replaced(text, "0 1 1 1 1 1 2 1 1", "0 1 1 1 1 1 1.8 0.7 0.8"))
            .mesh.num_elem() == 2);
  CHECK_SAYS(
      refusal_of_elements("a.vtk", replaced(text, "0 1 1 1 1 1 2 1 1", "0 1 1 1 1 1 0 0 -1")),
      "a.vtk: line 14: cell 2", "in part inside out", "smooth");
  // At one corner alone, and flat there.
  for (const char* corner : {"0 1 1 1 1 1 1.3 0.6 0.7", "0 1 1 1 1 1 1 1 1"})
    CHECK_SAYS(refusal_of_elements("a.vtk", replaced(text, "0 1 1 1 1 1 2 1 1", corner)), "cell 2",
               "in part inside out or flat");
  // Nodes in the order of a voxel.
  CHECK_SAYS(
      refusal_of_elements("a.vtk", replaced(text, "8 1 2 5 4 7 8 11 10", "8 1 2 4 5 7 8 10 11")),
      "cell 2", "around the bottom");
}

TEST_CASE("elements without volume or with a node twice are refused", "[elements]") {
  const Bytes gmsh = sample_gmsh_2();
  CHECK_SAYS(refusal_of_elements("a.msh", replaced(gmsh, "5 1 1 1.5", "5 1 -1 1")),
             "a.msh: line 21", "the element", "tetrahedron has no volume", "remove");
  CHECK_SAYS(refusal_of_elements("a.msh", replaced(gmsh, "2 2 3 4 5", "2 2 3 4 2")),
             "a.msh: line 21", "a node twice");
  // A triangle beside the tetrahedra may be anything.
  CHECK(read_elements("a.msh", replaced(gmsh, "0 1 10 2 3\n", "0 1 2 2 3\n")).mesh.num_elem() == 2);
  CHECK_SAYS(
      refusal_of_elements("a.msh", replaced(sample_gmsh_4_triangles(), "1 1 0.5", "0.5 0.5 0")),
      "a.msh: line 22", "triangle has no area");
  CHECK_SAYS(refusal_of_elements(
                 "a.msh", replaced(sample_gmsh_2_hexa(), "2 3 6 5 8 9 12 11", "2 3 6 5 2 3 6 5")),
             "a.msh: line 26", "hexahedron has a node twice");
  const Bytes binary = sample_gmsh_2_binary(false);
  CHECK_SAYS(refusal_of_elements("a.msh", replaced(binary, number(1.5), number(-1.0))),
             "a.msh: byte", "the tetrahedron has no volume");
}

TEST_CASE("an element that is there twice is refused, in any order of its nodes", "[elements]") {
  std::vector<std::int32_t> node;
  std::mt19937 random(5);
  for (int elem = 0; elem < 3000; ++elem) {
    std::set<std::int32_t> nodes;
    while (nodes.size() < 4)
      nodes.insert(std::int32_t(random() % 400));
    std::vector<std::int32_t> order(nodes.begin(), nodes.end());
    std::shuffle(order.begin(), order.end(), random);
    node.insert(node.end(), order.begin(), order.end());
  }
  // The oracle: sets of nodes, one after the other.
  std::map<std::set<std::int32_t>, std::size_t> seen;
  std::optional<DuplicateElement> expected;
  for (std::size_t elem = 0; elem < 3000 && !expected; ++elem) {
    const std::set<std::int32_t> nodes(node.begin() + std::ptrdiff_t(4 * elem),
                                       node.begin() + std::ptrdiff_t(4 * elem + 4));
    const auto [entry, is_new] = seen.try_emplace(nodes, elem);
    if (!is_new)
      expected = DuplicateElement{entry->second, elem};
  }
  REQUIRE_FALSE(expected);
  CHECK_FALSE(find_duplicate_element(node, 4));
  for (const std::size_t first : {std::size_t(0), std::size_t(1234), std::size_t(2999)}) {
    std::vector<std::int32_t> more = node;
    for (const std::size_t k : {2u, 0u, 3u, 1u})
      more.push_back(node[4 * first + k]);
    const auto found = find_duplicate_element(more, 4);
    REQUIRE(found);
    CHECK(found->first == first);
    CHECK(found->second == 3000);
  }
  std::vector<std::int32_t> twice = node; // the earlier second one, whichever part it is in
  for (const std::size_t first : {std::size_t(2500), std::size_t(17), std::size_t(1600)})
    twice.insert(twice.end(), node.begin() + std::ptrdiff_t(4 * first),
                 node.begin() + std::ptrdiff_t(4 * first + 4));
  const auto earliest = find_duplicate_element(twice, 4);
  REQUIRE(earliest);
  CHECK(earliest->first == 2500);
  CHECK(earliest->second == 3000);
  CHECK_FALSE(find_duplicate_element({}, 3));
  CHECK_FALSE(find_duplicate_element({0, 1, 2, 1, 2, 3}, 3));

  CHECK_SAYS(refusal_of_elements("a.msh", replaced(sample_gmsh_2_hexa(), "1 2 3 6 5 8 9 12 11\n",
                                                   "1 2 5 4 1 8 11 10 7\n")),
             "a.msh: line 26", "same nodes", "line 25", "number 0 and number 1", "remove one");
  CHECK_SAYS(refusal_of_elements("a.vtk", replaced(sample_vtk_hexa(), "8 1 2 5 4 7 8 11 10\n",
                                                   "8 0 1 4 3 6 7 10 9\n")),
             "a.vtk", "cell 2", "same nodes", "cell 0");
  CHECK_SAYS(
      refusal_of_elements("a.msh", replaced(sample_gmsh_4_triangles(), "4 3 2\n", "3 1 2\n")),
      "a.msh", "same nodes");
}

TEST_CASE("other elements and mixed shapes are refused by name", "[elements]") {
  const Bytes hexa = sample_gmsh_2_hexa();
  CHECK_SAYS(refusal_of_elements(
                 "a.msh", replaced(hexa, "5 5 2 0 1 2 3 6 5 8 9 12 11", "5 4 2 0 1 2 3 6 8")),
             "a.msh: line 26", "one of the tetrahedra", "before are hexahedra");
  CHECK_SAYS(refusal_of_elements(
                 "a.msh", replaced(hexa, "5 5 2 0 1 2 3 6 5 8 9 12 11", "5 6 2 0 1 2 3 6 8 9 12")),
             "a.msh: line 26", "type 6, prisms", "tetrahedra and hexahedra");
  const Bytes triangles = replaced(sample_gmsh_4_triangles(), "2 1 2 2\n2 1 2 3\n3 4 3 2\n",
                                   "2 1 3 2\n2 1 2 3 4\n3 4 3 2 1\n");
  CHECK_SAYS(refusal_of_elements("a.msh", triangles), "a.msh: line 21", "type 3, quadrangles",
             "triangles of first order");
  CHECK_SAYS(refusal_of_elements("a.vtk", replaced(sample_vtk_hexa(), "11\n9\n12", "11\n9\n71")),
             "cell 2", "type 71, Lagrange tetrahedron");
  CHECK_SAYS(refusal_of_elements("a.vtk", replaced(sample_vtk_hexa(), "11\n9\n12", "11\n9\n10")),
             "cell 2", "tetrahedron of 8 points", "has 4");
  CHECK_SAYS(refusal_of_elements("a.vtk", replaced(sample_vtk_hexa(), "11\n9\n12", "11\n9\n99")),
             "cell 2", "type 99", "not known");
  CHECK_SAYS(
      refusal_of_elements("a.msh", replaced(sample_gmsh_4_triangles(),
                                            "2 3 1 3\n1 1 1 1\n1 1 2\n2 1 2 2\n2 1 2 3\n3 4 3 2\n",
                                            "1 1 1 1\n1 1 1 1\n1 1 2\n")),
      "a.msh", "no tetrahedra, hexahedra or triangles");
}

TEST_CASE("element files that are none are refused", "[elements]") {
  const TestDirectory directory;
  CHECK_SAYS(error_of([&] { read_element_mesh(directory / "a.vtu"); }), "a.vtu", "no such file");
  CHECK_SAYS(error_of([&] { read_element_mesh(directory / "a.stl"); }), "a.stl", "no such file");
  CHECK_SAYS(refusal_of_elements("a.stl", "solid"), "a.stl", "by its name", ".msh", ".vtu");
  CHECK_SAYS(refusal_of_elements("a.msh", sample_vtk_hexa()), "a.msh", "$MeshFormat");
  CHECK_SAYS(refusal_of_elements("a.vtk", replaced(sample_vtk_hexa(), "9 9 9", "9 9 nan")), "a.vtk",
             "finite");
  CHECK_SAYS(refusal_of_elements("a.vtk", replaced(sample_vtk_hexa(), "8 11 10", "8 11 13")),
             "a.vtk: line 14: cell 2", "point 13 of 13");
  CHECK_SAYS(refusal_of_elements("a.msh", replaced(sample_gmsh_2_hexa(), "9 12 11", "9 12 55")),
             "a.msh: line 26", "node 55");
  for (const double unit : {0.0, -1.0, std::nan("")}) {
    ElementFileOptions options;
    options.unit = unit;
    CHECK_THROWS_AS(read_elements("a.vtk", sample_vtk_hexa(), options), std::invalid_argument);
  }
}

TEST_CASE("the meshes of the shared data are read without their unused points", "[elements]") {
  const char* shared = std::getenv("OSSATURA_SHARED_DATA");
  if (shared == nullptr) {
    SUCCEED("skipped: OSSATURA_SHARED_DATA is not set");
    return;
  }
  const struct {
    std::size_t num_elem, num_points;
    std::int64_t num_unused;
  } raptor[] = {{8418, 2993, 3}, {12580, 4103, 1}, {19409, 5990, 2}};
  for (const auto& expected : raptor) {
    const ElementFile file = read_element_mesh(std::string(shared) + "/softbody/raptorTetra_" +
                                               std::to_string(expected.num_elem) + ".vtu");
    CHECK(file.mesh.shape == ElementShape::tetra);
    CHECK(file.mesh.num_elem() == expected.num_elem);
    CHECK(file.mesh.num_points() == expected.num_points);
    CHECK(file.unused_points == expected.num_unused);
  }
}
