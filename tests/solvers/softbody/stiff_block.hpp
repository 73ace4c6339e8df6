// SPDX-License-Identifier: Apache-2.0
// Blocks of a few nodes with springs between all of them, for contact: systems that are dense and
// solved in plain loops.
#pragma once

#include "tests/kernels/factor/dense_factor.hpp"
#include "tests/reference/dense_solve.hpp"
#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/solvers/softbody/contact/solver.hpp>

#include <cmath>

namespace ossatura::test {

/// A box of hexahedra from `corner`, `cells` of them along each axis.
inline SoftObject block_object(const int (&cells)[3], const double (&size)[3],
                               const double (&corner)[3]) {
  SoftObject object;
  object.name = "block";
  object.mesh = make_hexa_box(cells, size);
  for (std::size_t i = 0; i < object.mesh.point.size(); ++i)
    object.mesh.point[i] += corner[i % 3];
  return object;
}

/// Objects numbered one after the other: positions, and A = mass I + springs within each object
/// that resist no motion of the whole. Rows of fixed nodes are those of the identity.
struct BlockSystem {
  std::vector<std::vector<int>> node_of;
  std::vector<double> x;
  std::vector<double> matrix, inverse;

  BlockSystem(const SoftScene& scene, double mass, double spring) {
    std::vector<int> object_of, fixed;
    for (std::size_t k = 0; k < scene.objects.size(); ++k) {
      node_of.emplace_back();
      for (std::size_t i = 0; i < scene.objects[k].mesh.num_points(); ++i) {
        node_of[k].push_back(int(object_of.size()));
        object_of.push_back(int(k));
      }
      x.insert(x.end(), scene.objects[k].mesh.point.begin(), scene.objects[k].mesh.point.end());
      fixed.resize(object_of.size(), 0);
      for (const int i : scene.objects[k].fixed)
        fixed[node_of[k][i]] = 1;
    }
    const int n = int(x.size());
    matrix.assign(n * n, 0.);
    for (int i = 0; i < n; ++i)
      matrix[i * n + i] = mass;
    for (int i = 0; i < n / 3; ++i)
      for (int j = 0; j < i; ++j) {
        if (object_of[i] != object_of[j])
          continue;
        double way[3], square = 0;
        for (int d = 0; d < 3; ++d) {
          way[d] = x[3 * i + d] - x[3 * j + d];
          square += way[d] * way[d];
        }
        for (int d = 0; d < 3; ++d)
          for (int e = 0; e < 3; ++e) {
            const double k = spring * way[d] * way[e] / square;
            matrix[(3 * i + d) * n + 3 * i + e] += k;
            matrix[(3 * j + d) * n + 3 * j + e] += k;
            matrix[(3 * i + d) * n + 3 * j + e] -= k;
            matrix[(3 * j + d) * n + 3 * i + e] -= k;
          }
      }
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (fixed[i / 3] || fixed[j / 3])
          matrix[i * n + j] = i == j;
    inverse = reference::dense_inverse(matrix, n);
  }
  int num_nodes() const { return int(x.size() / 3); }
};

/// x + scale A^-1 force.
inline std::vector<double> corrected(const BlockSystem& system, const std::vector<double>& x,
                                     double scale, const std::vector<double>& force) {
  std::vector<double> result = reference::dense_product(system.inverse, force);
  for (std::size_t i = 0; i < x.size(); ++i)
    result[i] = x[i] + scale * result[i];
  return result;
}

} // namespace ossatura::test
