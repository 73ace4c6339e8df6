// SPDX-License-Identifier: Apache-2.0
// Decks of solid elements for tests of the readers, the damaged-file corpus and the seeds of the
// fuzz targets. Shares nothing with the readers.
#pragma once

#include "tests/core/io/mesh/element_samples.hpp"
#include "tests/solid_meshes.hpp"

#include <sstream>

namespace ossatura_test {

/// As CalculiX reads it: node n + 1, element e + 1, rows of at most 16 numbers, all elements in the
/// set ALL; held at x = 0 (set LEFT), with a pressure of 2 on faces `face` of the elements LAST.
inline Bytes sample_solids_inp(const ossatura::SolidMesh& mesh, int face = 1) {
  std::ostringstream deck;
  deck.precision(17);
  deck << "*HEADING\nsolids\n*NODE\n";
  for (std::size_t n = 0; n < mesh.num_points(); ++n)
    deck << n + 1 << ", " << mesh.point[3 * n] << ", " << mesh.point[3 * n + 1] << ", "
         << mesh.point[3 * n + 2] << '\n';
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    if (e == 0 || mesh.kind[e] != mesh.kind[e - 1])
      deck << "*ELEMENT, TYPE=" << name_of(mesh.kind[e]) << ", ELSET=ALL\n";
    deck << e + 1;
    int count = 1;
    for (const std::int32_t n : mesh.nodes_of(e))
      deck << (count++ % 16 == 0 ? ",\n" : ", ") << n + 1;
    deck << '\n';
  }
  deck << "*NSET, NSET=LEFT\n";
  for (std::size_t n = 0; n < mesh.num_points(); ++n)
    if (mesh.point[3 * n] == 0)
      deck << n + 1 << '\n';
  deck << "*NSET, NSET=OF_LAST, ELSET=LAST\n";
  const std::size_t last = mesh.num_elem();
  const std::string sets = "*ELSET, ELSET=LAST\n" + std::to_string(last) + "\n";
  Bytes text = deck.str();
  text.insert(text.find("*NSET, NSET=OF_LAST"), sets);
  return text + "*MATERIAL, NAME=M\n*ELASTIC\n7., 0.25\n*SOLID SECTION, ELSET=ALL, MATERIAL=M\n" +
         "*SURFACE, NAME=TOP\nLAST, S" + std::to_string(face) + "\n" +
         "*BOUNDARY\nLEFT, 1, 3\n*STEP\n*STATIC\n*DLOAD\nLAST, P" + std::to_string(face) +
         ", 2.\n*END STEP\n*STEP\n*STATIC\n*DSLOAD\nTOP, P, 3.\n*CLOAD\n1, 2, 5.\n*END STEP\n";
}

/// Two cells, the second of other elements.
inline ossatura::SolidMesh two_cells(ossatura::SolidKind kind, ossatura::SolidKind other) {
  return make_solid_box([=](int i) { return i == 0 ? kind : other; }, {2, 1, 1}, {2, 1, 1},
                        [](std::array<double, 3>&) {});
}
inline Bytes sample_tetra_inp() { // face 3 of its last element is of the surface
  return sample_solids_inp(two_cells(ossatura::SolidKind::tetra10, ossatura::SolidKind::tetra10),
                           3);
}
inline Bytes sample_mixed_inp() {
  return sample_solids_inp(two_cells(ossatura::SolidKind::prism15, ossatura::SolidKind::hexa20r));
}

} // namespace ossatura_test
