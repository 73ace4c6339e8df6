// SPDX-License-Identifier: Apache-2.0
// Decks of tetrahedra, prisms and second-order elements: what is read, and what is refused by line.
#include "tests/catch.hpp"
#include "tests/core/io/mesh/solid_samples.hpp"
#include "tests/core/io/replaced.hpp"
#include "tests/core/io/test_directory.hpp"
#include <ossatura/core/io/mesh/curved_hexa_file.hpp>
#include <ossatura/core/io/mesh/hexa_file.hpp>

#include <cmath>
#include <numeric>

using namespace ossatura;
using namespace ossatura_test;

namespace {

HexaFile read_deck(const Bytes& bytes, double unit = 1) {
  const TestDirectory directory;
  write_bytes(directory / "a.inp", bytes);
  ElementFileOptions options;
  options.unit = unit;
  return read_hexa_file(directory / "a.inp", options);
}

std::string refusal_of_deck(const Bytes& bytes) {
  return error_of([&] { read_deck(bytes); });
}

/// Of all nodes along x, y and z.
std::array<double, 3> total(const NodeLoads& loads) {
  std::array<double, 3> sum{};
  for (const NodeForce& force : loads.forces)
    for (std::size_t d = 0; d < 3; ++d)
      sum[d] += force.force[d];
  return sum;
}

} // namespace

TEST_CASE("Decks of solids are read with faces, sets and loads", "[solids]") {
  // The pressure acts on a face of the last element: for each kind its corners by hand. Of cells
  // from x = 1 to 2, normals are those of the faces, times their areas.
  struct Case {
    SolidKind kind;
    int face;
    std::array<double, 3> pushed; ///< by a pressure of 1
  };
  for (const Case& one :
       {Case{SolidKind::tetra4, 3, {0, 0, -0.5}}, Case{SolidKind::tetra10, 3, {0, 0, -0.5}},
        Case{SolidKind::prism6, 1, {0, 0, 0.5}}, Case{SolidKind::prism15, 2, {0, 0, -0.5}},
        Case{SolidKind::hexa20, 4, {-1, 0, 0}}, Case{SolidKind::hexa20r, 5, {0, -1, 0}},
        Case{SolidKind::prism6, 4, {0, -1, 0}}}) {
    INFO(name_of(one.kind) << ", face " << one.face);
    const SolidMesh mesh = two_cells(one.kind, one.kind);
    const HexaFile file = read_deck(sample_solids_inp(mesh, one.face));
    const HexaModel& model = file.model;
    REQUIRE(model.solids);
    CHECK(model.mesh.num_elem() == 0);
    CHECK(model.solids->point == mesh.point);
    CHECK(model.solids->node == mesh.node);
    CHECK(model.solids->begin == mesh.begin);
    CHECK(model.solids->kind == mesh.kind);
    CHECK(model.young == 7);
    CHECK(model.poisson == 0.25);
    const std::int32_t last = std::int32_t(mesh.num_elem()) - 1;
    CHECK(model.elem_sets.at("LAST") == std::vector<std::int32_t>{last});
    CHECK(model.elem_sets.at("ALL").size() == mesh.num_elem());
    CHECK(model.node_sets.at("OF_LAST").size() == mesh.nodes_of(std::size_t(last)).size());
    CHECK(model.held.size() == model.node_sets.at("LEFT").size());
    REQUIRE(model.loads.size() == 2);
    // The second step has the first one's pressure, replaced by that of the surface, and a force.
    const auto first = total(model.loads[0]), second = total(model.loads[1]);
    double size = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      size += std::abs(first[d]);
      CHECK(first[d] == Approx(2 * one.pushed[d]).margin(1e-15));
      CHECK(second[d] == Approx(1.5 * first[d] + (d == 1 ? 5 : 0)).margin(1e-15));
    }
    CHECK(size > 0.5);
    const bool noted = !is_second_order(one.kind) || one.kind == SolidKind::hexa20r;
    CHECK(file.notes.size() == (noted ? 1 : 0)); // too stiff, or too soft
  }
}

TEST_CASE("Decks of solids have units, mixed kinds and other names", "[solids]") {
  const SolidMesh mesh = two_cells(SolidKind::hexa8, SolidKind::prism6);
  const HexaFile file = read_deck(sample_solids_inp(mesh), 0.001);
  REQUIRE(file.model.solids);
  CHECK(file.model.solids->kind == mesh.kind);
  CHECK(file.model.solids->point[3] == 0.001);
  CHECK(file.model.young == Approx(7e6));
  const HexaFile renamed = read_deck(replaced(sample_tetra_inp(), "TYPE=C3D10", "TYPE=C3D10M"));
  REQUIRE(renamed.model.solids);
  REQUIRE(renamed.notes.size() == 1);
  CHECK(renamed.notes[0] == "elements of type C3D10M are solved as C3D10");
  // All hexa8 is the mesh of hexahedra that it was.
  const HexaFile plain =
      read_deck(sample_solids_inp(two_cells(SolidKind::hexa8, SolidKind::hexa8)));
  CHECK_FALSE(plain.model.solids);
  CHECK(plain.model.mesh.num_elem() == 2);
}

TEST_CASE("Bad decks of solids are refused by line or element", "[solids]") {
  const Bytes tetra = sample_tetra_inp(), mixed = sample_mixed_inp();
  const std::size_t row = tetra.find("\n1, ", tetra.find("*ELEMENT")) + 1;
  const Bytes element = tetra.substr(row, tetra.find('\n', row) - row);
  const std::string line =
      "line " +
      std::to_string(std::count(tetra.begin(), tetra.begin() + std::ptrdiff_t(row), '\n') + 1);
  CHECK_SAYS(refusal_of_deck(replaced(tetra, element, element + ", 3")), "a.inp", line, "element 1",
             "C3D10", "more than 10 nodes");
  CHECK_SAYS(refusal_of_deck(replaced(tetra, element, element + "000")), line, "element 1",
             "not among the nodes");
  const Bytes alone = replaced(tetra, element + "\n", element.substr(0, element.size() - 4) + "\n");
  CHECK_SAYS(refusal_of_deck(alone), "a.inp"); // a node of the next row, or too few
  CHECK_SAYS(refusal_of_deck(replaced(tetra, "LAST, P3, 2.", "LAST, P5, 2.")), "face 5",
             "a tetrahedron", "faces 1 to 4");
  CHECK_SAYS(refusal_of_deck(replaced(tetra, "LAST, S3", "LAST, S6")), "face 6", "1 to 4");
  CHECK_SAYS(refusal_of_deck(replaced(tetra, "TYPE=C3D10", "TYPE=C3D5")), "C3D5", "C3D10");

  SolidMesh bad = two_cells(SolidKind::tetra10, SolidKind::tetra10);
  std::swap(bad.node[0], bad.node[1]);
  CHECK_SAYS(refusal_of_deck(sample_solids_inp(bad)), "a.inp: element 1", "inside out");
  bad = two_cells(SolidKind::tetra4, SolidKind::tetra4);
  std::swap(bad.node[4], bad.node[5]);
  CHECK_SAYS(refusal_of_deck(sample_solids_inp(bad)), "element 2", "inside out");
  bad = two_cells(SolidKind::hexa20, SolidKind::hexa20);
  for (std::size_t i = 0; i < bad.point.size(); i += 3) // mid-nodes at x = 0.5 to 0.1
    if (bad.point[i] == 0.5)
      bad.point[i] = 0.1;
  CHECK_SAYS(refusal_of_deck(sample_solids_inp(bad)), "element 1", "in part inside out",
             "mid-nodes in the middle");
  bad = two_cells(SolidKind::prism6, SolidKind::prism6);
  const std::vector<std::int32_t> again(bad.nodes_of(1).begin(), bad.nodes_of(1).end());
  bad.add(SolidKind::prism6, again.data());
  CHECK_SAYS(refusal_of_deck(sample_solids_inp(bad)), "element 5 has the same corners as element 2",
             "twice");
  bad = two_cells(SolidKind::hexa8, SolidKind::hexa20);
  CHECK_SAYS(refusal_of_deck(sample_solids_inp(bad)), "element 2 and element 1", "mid-nodes");

  const TestDirectory directory;
  write_bytes(directory / "a.inp", mixed);
  CHECK_SAYS(error_of([&] { read_curved_hexa_file(directory / "a.inp"); }), "a.inp",
             "hexahedra of eight nodes");
}
