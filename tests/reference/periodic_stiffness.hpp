// SPDX-License-Identifier: Apache-2.0
// Oracle: the stiffness of a periodic unit cell of voxels, from a dense matrix over its torus; and
// that of a laminate in closed form.
#pragma once

#include "tests/reference/dense_solve.hpp"
#include "tests/reference/voxel_reference.hpp"

namespace reference {

using Stiffness = std::array<std::array<double, 6>, 6>;

/// Nodes of the torus are x + nx (y + ny z), three components each.
inline Stiffness periodic_stiffness(const Model& model) {
  const auto& n = model.shape;
  const std::size_t size = std::size_t(3 * n[0] * n[1] * n[2]);
  std::vector<double> matrix(size * size, 0.);
  std::array<std::vector<double>, 6> force; // K E x at the nodes
  force.fill(std::vector<double>(size, 0.));
  Stiffness c{};
  for (int z = 0; z < n[2]; ++z)
    for (int y = 0; y < n[1]; ++y)
      for (int x = 0; x < n[0]; ++x) {
        const int voxel = model.voxel(x, y, z);
        if (!(model.modulus[voxel] > 0))
          continue;
        const ElementMatrix k =
            element_matrix(model.modulus[voxel], model.poisson[voxel], model.edge);
        std::array<std::size_t, 24> dof;
        std::array<std::array<double, 24>, 6> u; // of unit strains, from the voxel's corner
        for (int v = 0; v < 8; ++v) {
          const int high[3] = {v & 1, v >> 1 & 1, v >> 2};
          const int node =
              (x + high[0]) % n[0] + n[0] * ((y + high[1]) % n[1] + n[1] * ((z + high[2]) % n[2]));
          for (int i = 0; i < 3; ++i) {
            dof[3 * v + i] = std::size_t(3 * node + i);
            for (int p = 0; p < 6; ++p)
              u[p][3 * v + i] = p < 3              ? (i == p ? model.edge * high[i] : 0)
                                : i == p - 3       ? model.edge * high[(p - 2) % 3] / 2
                                : i == (p - 2) % 3 ? model.edge * high[p - 3] / 2
                                                   : 0;
          }
        }
        for (int a = 0; a < 24; ++a)
          for (int b = 0; b < 24; ++b) {
            matrix[dof[a] * size + dof[b]] += k[a][b];
            for (int p = 0; p < 6; ++p) {
              force[p][dof[a]] += k[a][b] * u[p][b];
              for (int q = 0; q < 6; ++q)
                c[p][q] += u[p][a] * k[a][b] * u[q][b];
            }
          }
      }
  const double volume = std::pow(model.edge, 3) * n[0] * n[1] * n[2];
  for (int q = 0; q < 6; ++q) {
    const std::vector<double> w = semidefinite_solve(matrix, force[q]); // less the periodic part
    for (int p = 0; p < 6; ++p) {
      for (std::size_t i = 0; i < size; ++i)
        c[p][q] -= force[p][i] * w[i];
      c[p][q] /= volume;
    }
  }
  return c;
}

/// Layers of equal thickness normal to `axis`, of Young's moduli and Poisson's ratios: G. Backus,
/// J. Geophys. Res. 67 (1962) 4427-4440, eq. 13.
inline Stiffness laminate_stiffness(const std::vector<double>& modulus,
                                    const std::vector<double>& poisson, int axis) {
  double m = 0, lm = 0, g = 0, ig = 0, plane = 0, cross = 0;
  const double part = 1 / double(modulus.size());
  for (std::size_t i = 0; i < modulus.size(); ++i) {
    const double mu = modulus[i] / (2 * (1 + poisson[i])),
                 lambda = 2 * mu * poisson[i] / (1 - 2 * poisson[i]), p = lambda + 2 * mu;
    m += part / p;
    lm += part * lambda / p;
    g += part * mu;
    ig += part / mu;
    plane += part * (p - lambda * lambda / p);
    cross += part * (lambda - lambda * lambda / p);
  }
  Stiffness c{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      c[i][j] = i == axis && j == axis   ? 1 / m
                : i == axis || j == axis ? lm / m
                                         : (i == j ? plane : cross) + lm * lm / m;
  for (int i = 0; i < 3; ++i) // xy, yz, zx
    c[3 + i][3 + i] = i == axis || (i + 1) % 3 == axis ? 1 / ig : g;
  return c;
}

} // namespace reference
