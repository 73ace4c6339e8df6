// SPDX-License-Identifier: Apache-2.0
// These functions compute volumes of elements and masses of nodes, on the host.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>

#include <cmath>
#include <vector>

namespace ossatura {

/// Volume of an element, m^3; area of a triangle, m^2. A hexahedron's is exact: 2 x 2 x 2 points.
inline double element_volume(const ElementMesh& mesh, std::size_t elem) {
  const int n = nodes_per_elem(mesh.shape);
  const std::int32_t* const node = mesh.node.data() + elem * std::size_t(n);
  const auto x = [&](int a, int c) { return mesh.point[3 * std::size_t(node[a]) + c]; };
  double e[3][3]; // edges, or columns of the Jacobian
  const auto determinant = [&] {
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
           e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
  };
  if (mesh.shape != ElementShape::hexa) {
    for (int k = 0; k + 1 < n; ++k)
      for (int c = 0; c < 3; ++c)
        e[k][c] = x(k + 1, c) - x(0, c);
    if (mesh.shape == ElementShape::tetra)
      return determinant() / 6;
    double area2 = 0;
    for (int c = 0; c < 3; ++c) {
      const int p = (c + 1) % 3, q = (c + 2) % 3;
      const double normal = e[0][p] * e[1][q] - e[0][q] * e[1][p];
      area2 += normal * normal;
    }
    return std::sqrt(area2) / 2;
  }
  double volume = 0;
  for (int g = 0; g < 8; ++g) {
    const double at = 1 / std::sqrt(3.0);
    const double xi[3] = {g & 1 ? at : -at, g & 2 ? at : -at, g & 4 ? at : -at};
    for (auto& row : e)
      row[0] = row[1] = row[2] = 0;
    for (int a = 0; a < 8; ++a) {
      // Corners go around the bottom, then around the top.
      const double s[3] = {a % 4 == 1 || a % 4 == 2 ? 1.0 : -1.0, a % 4 >= 2 ? 1.0 : -1.0,
                           a >= 4 ? 1.0 : -1.0};
      for (int k = 0; k < 3; ++k) {
        const double slope = s[k] / 8 * (1 + s[(k + 1) % 3] * xi[(k + 1) % 3]) *
                             (1 + s[(k + 2) % 3] * xi[(k + 2) % 3]);
        for (int c = 0; c < 3; ++c)
          e[k][c] += slope * x(a, c);
      }
    }
    volume += determinant();
  }
  return volume;
}

/// Mass of each point [num_points], kg: an element's volume times `density` (kg/m^3, of triangles
/// kg/m^2), in equal parts at its nodes.
inline std::vector<double> lumped_mass(const ElementMesh& mesh, double density) {
  std::vector<double> mass(mesh.num_points(), 0.0);
  const std::size_t n = std::size_t(nodes_per_elem(mesh.shape));
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    const double part = density * element_volume(mesh, e) / double(n);
    for (std::size_t a = 0; a < n; ++a)
      mass[std::size_t(mesh.node[n * e + a])] += part;
  }
  return mass;
}

} // namespace ossatura
