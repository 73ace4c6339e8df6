// SPDX-License-Identifier: Apache-2.0
// Two hexahedra of second order as Gmsh writes them, for tests of the reader, the damaged-file
// corpus and the seeds of the fuzz targets. Shares nothing with the readers.
#pragma once

#include "tests/core/io/sample_files.hpp"

#include <array>
#include <map>
#include <string>
#include <vector>

namespace ossatura_test {

struct SecondOrderSample {
  int version = 4; ///< 2 (format 2.2) or 4 (4.1)
  int nodes_per_elem = 27;
  bool mirrored = false; ///< bottom and top of the second element exchanged

  using Point = std::array<double, 3>;

  /// Where the point (x, y, z) of the boxes [0, 1]^3 and [1, 2] x [0, 1]^2 goes: 20 nodes hold
  /// monomials of superlinear degree 2, 27 all triquadratic ones.
  Point deformed(const Point& at) const {
    const double x = at[0], y = at[1], z = at[2];
    Point to = {x + 0.05 * y * y * z + 0.02 * x * z * z, y + 0.03 * x * x * y * z - 0.02 * x,
                z - 0.04 * x * y * y + 0.01 * x * y * z * z};
    if (nodes_per_elem == 27) {
      to[0] += 0.02 * x * x * y * y * z * z;
      to[1] -= 0.03 * x * x * z * z;
      to[2] += 0.01 * x * y * y * z * z;
    }
    return to;
  }

  Bytes text() const {
    // Gmsh reference manual, "Node ordering": in halves of an edge.
    static const int node[27][3] = {
        {0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0}, {0, 0, 2}, {2, 0, 2}, {2, 2, 2},
        {0, 2, 2}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 1, 0}, {2, 0, 1}, {1, 2, 0},
        {2, 2, 1}, {0, 2, 1}, {1, 0, 2}, {0, 1, 2}, {2, 1, 2}, {1, 2, 2}, {1, 1, 0},
        {1, 0, 1}, {0, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {1, 1, 1}};
    std::map<std::array<int, 3>, int> tag; // of the places used, ascending by x, y, z
    for (int elem = 0; elem < 2; ++elem)
      for (int k = 0; k < nodes_per_elem; ++k)
        tag[{node[k][0] + 2 * elem, node[k][1], node[k][2]}] = 0;
    int next = 10;
    Bytes tags, points, lines;
    for (auto& [place, number] : tag) {
      number = next += 3;
      const Point x = deformed({place[0] / 2.0, place[1] / 2.0, place[2] / 2.0});
      const Bytes at = digits(x[0]) + " " + digits(x[1]) + " " + digits(x[2]) + "\n";
      tags += std::to_string(number) + "\n";
      points += at;
      lines += std::to_string(number) + " " + at;
    }
    Bytes elem[2];
    for (int e = 0; e < 2; ++e)
      for (int k = 0; k < nodes_per_elem; ++k) {
        const int up = e == 1 && mirrored ? 2 - node[k][2] : node[k][2];
        elem[e] += " " + std::to_string(tag.at({node[k][0] + 2 * e, node[k][1], up}));
      }
    Bytes wall; // x = 0, in Gmsh's order of quadrangles
    static const int of_wall[9][2] = {{0, 0}, {2, 0}, {2, 2}, {0, 2}, {1, 0},
                                      {2, 1}, {1, 2}, {0, 1}, {1, 1}};
    for (int k = 0; k < (nodes_per_elem == 27 ? 9 : 8); ++k)
      wall += " " + std::to_string(tag.at({0, of_wall[k][0], of_wall[k][1]}));

    const Bytes hexa = nodes_per_elem == 27 ? "12" : "17",
                quad = nodes_per_elem == 27 ? "10" : "16";
    const Bytes names = "$PhysicalNames\n2\n2 2 \"the wall\"\n3 3 \"solid\"\n$EndPhysicalNames\n";
    const auto count = std::to_string(tag.size() + 1);
    if (version == 2)
      return "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n" + names + "$Nodes\n" + count + "\n5 9 9 9\n" +
             lines + "$EndNodes\n$Elements\n4\n1 " + quad + " 2 2 1" + wall + "\n2 " + hexa +
             " 2 3 1" + elem[0] + "\n3 " + hexa + " 2 3 1" + elem[1] + "\n4 " + hexa + " 2 4 1" +
             elem[1] + "\n$EndElements\n";
    return "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n" + names +
           "$Entities\n0 0 1 2\n1 0 0 0 0 1 1 1 2 0\n1 0 0 0 1 1 1 1 3 0\n"
           "2 1 0 0 2 1 1 2 3 4 0\n$EndEntities\n$Nodes\n1 " +
           count + " 5 999\n3 1 0 " + count + "\n5\n" + tags + "9 9 9\n" + points +
           "$EndNodes\n$Elements\n3 3 1 3\n2 1 " + quad + " 1\n1" + wall + "\n3 1 " + hexa +
           " 1\n2" + elem[0] + "\n3 2 " + hexa + " 1\n3" + elem[1] + "\n$EndElements\n";
  }

private:
  /// In full precision.
  static Bytes digits(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
  }
};

} // namespace ossatura_test
