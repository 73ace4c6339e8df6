// SPDX-License-Identifier: Apache-2.0
// Natural frequencies of designs from dense matrices that plain loops assemble.
#pragma once

#include "tests/reference/dense_cholesky.hpp"
#include <ossatura/core/mesh/solids/shape.hpp>
#include <ossatura/kernels/algebra/dense/small_matrix.hpp>
#include <ossatura/solvers/topopt/problem.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace ossatura::test {

/// Points and weights of Gauss on [-1, 1].
inline std::vector<std::array<double, 2>> four_points() {
  const double root = std::sqrt(30.0), far = std::sqrt(3. / 7 + 2. / 7 * std::sqrt(1.2)),
               near = std::sqrt(3. / 7 - 2. / 7 * std::sqrt(1.2));
  const double of_far = (18 - root) / 36, of_near = (18 + root) / 36;
  return {{-far, of_far}, {-near, of_near}, {near, of_near}, {far, of_far}};
}

/// Points that integrate products of two shape functions, from a cube whose sides are drawn
/// together for triangles.
inline std::vector<SolidQuadraturePoint> product_points(SolidKind kind) {
  const int corners = shape_of(kind).num_corners;
  std::vector<SolidQuadraturePoint> points;
  for (const auto& [r, a] : four_points())
    for (const auto& [s, b] : four_points())
      for (const auto& [t, c] : four_points()) {
        const double u = (1 + r) / 2, v = (1 + s) / 2, w = (1 + t) / 2, weight = a * b * c;
        if (corners == 8)
          points.push_back({{r, s, t}, weight});
        else if (corners == 6)
          points.push_back({{v * (1 - u), u, t}, weight / 4 * (1 - u)});
        else
          points.push_back(
              {{(1 - u) * (1 - v) * w, u, v * (1 - u)}, weight / 8 * (1 - u) * (1 - u) * (1 - v)});
      }
  return points;
}

struct DensePencil {
  std::size_t n = 0;
  std::vector<double> k, m; ///< [n, n]
};

/// Slopes by x, y, z at a point of an element, and the determinant of its Jacobian.
inline double slopes_at(const SolidMesh& mesh, const NodeRange& nodes,
                        const SolidShapeValues& shape,
                        std::array<std::array<double, 3>, most_solid_nodes>& slope) {
  Matrix3 j = zero_matrix(); // dx_c / dr_d
  for (std::size_t a = 0; a < nodes.size(); ++a)
    for (int c = 0; c < 3; ++c)
      for (int d = 0; d < 3; ++d)
        j(c, d) +=
            mesh.point[3 * std::size_t(nodes[a]) + std::size_t(c)] * shape.slope[a][std::size_t(d)];
  const Matrix3 back = inverse(j); // dr_d / dx_c at (d, c)
  for (std::size_t a = 0; a < nodes.size(); ++a)
    for (int c = 0; c < 3; ++c) {
      slope[a][std::size_t(c)] = 0;
      for (int d = 0; d < 3; ++d)
        slope[a][std::size_t(c)] += shape.slope[a][std::size_t(d)] * back(d, c);
    }
  return determinant(j);
}

/// Stiffness and mass of elements of these moduli and mass densities, by plain loops.
inline DensePencil assemble(const SolidMesh& mesh, const std::vector<double>& young,
                            const std::vector<double>& poisson,
                            const std::vector<double>& density) {
  DensePencil dense;
  dense.n = 3 * mesh.num_points();
  dense.k.resize(dense.n * dense.n);
  dense.m.resize(dense.n * dense.n);
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    const NodeRange nodes = mesh.nodes_of(e);
    const double nu = poisson[e], mu = young[e] / 2 / (1 + nu), lambda = 2 * mu * nu / (1 - 2 * nu);
    std::array<std::array<double, 3>, most_solid_nodes> g{};
    for (const SolidQuadraturePoint& at : quadrature_of(mesh.kind[e])) {
      const double volume =
          slopes_at(mesh, nodes, evaluate_shape(mesh.kind[e], at.at), g) * at.weight;
      for (std::size_t a = 0; a < nodes.size(); ++a)
        for (std::size_t b = 0; b < nodes.size(); ++b)
          for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < 3; ++j) {
              double value = lambda * g[a][i] * g[b][j] + mu * g[a][j] * g[b][i];
              for (std::size_t d = 0; i == j && d < 3; ++d)
                value += mu * g[a][d] * g[b][d];
              dense.k[(3 * std::size_t(nodes[a]) + i) * dense.n + 3 * std::size_t(nodes[b]) + j] +=
                  volume * value;
            }
    }
    for (const SolidQuadraturePoint& at : product_points(mesh.kind[e])) {
      const SolidShapeValues shape = evaluate_shape(mesh.kind[e], at.at);
      const double mass = slopes_at(mesh, nodes, shape, g) * at.weight * density[e];
      for (std::size_t a = 0; a < nodes.size(); ++a)
        for (std::size_t b = 0; b < nodes.size(); ++b)
          for (std::size_t i = 0; i < 3; ++i)
            dense.m[(3 * std::size_t(nodes[a]) + i) * dense.n + 3 * std::size_t(nodes[b]) + i] +=
                mass * shape.value[a] * shape.value[b];
    }
  }
  return dense;
}

/// Jacobi's rotations of a symmetric matrix, in place.
inline void make_diagonal(std::vector<double>& small, std::size_t block) {
  for (int sweep = 0; sweep < 40; ++sweep)
    for (std::size_t p = 0; p < block; ++p)
      for (std::size_t q = p + 1; q < block; ++q) {
        const double off = small[p * block + q];
        if (off == 0)
          continue;
        const double angle = 0.5 * std::atan2(2 * off, small[q * block + q] - small[p * block + p]);
        const double c = std::cos(angle), s = std::sin(angle);
        for (std::size_t i = 0; i < block; ++i) {
          const double a = small[i * block + p], b = small[i * block + q];
          small[i * block + p] = c * a - s * b;
          small[i * block + q] = s * a + c * b;
        }
        for (std::size_t i = 0; i < block; ++i) {
          const double a = small[p * block + i], b = small[q * block + i];
          small[p * block + i] = c * a - s * b;
          small[q * block + i] = s * a + c * b;
        }
      }
}

/// The lowest frequencies of the free components: the largest 1 / lambda of K^-1 M, one after the
/// other by the power method, in a space that is free of those before, with plain sums.
inline std::vector<double> dense_frequencies(const DensePencil& all, const std::vector<bool>& held,
                                             int count) {
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < all.n; ++i)
    if (!held[i])
      free.push_back(i);
  const std::size_t n = free.size();
  std::vector<double> k(n * n), m(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      k[i * n + j] = all.k[free[i] * all.n + free[j]];
      m[i * n + j] = all.m[free[i] * all.n + free[j]];
    }
  reference::factorise_dense(k, n);
  // Powers of K^-1 M of a block that is larger, made orthonormal in M after each; then the largest
  // are found in it by Jacobi's rotations.
  const std::size_t block = std::min<std::size_t>(std::size_t(count) + 8, n);
  std::mt19937 random(3);
  std::vector<std::vector<double>> x(block, std::vector<double>(n));
  for (auto& one : x)
    for (double& value : one)
      value = double(random()) / double(random.max()) - 0.5;
  const auto by_mass = [&](const std::vector<double>& v) {
    std::vector<double> y(n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        y[i] += m[i * n + j] * v[j];
    return y;
  };
  const auto inner = [&](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i)
      sum += a[i] * b[i];
    return sum;
  };
  std::vector<double> found(block);
  std::vector<std::vector<double>> mx = x;
  for (int round = 0; round < 40; ++round)
    for (std::size_t p = 0; p < block; ++p) {
      x[p] = by_mass(x[p]);
      reference::solve_factorised(k, x[p]);
      for (int twice = 0; twice < 2; ++twice)
        for (std::size_t q = 0; q < p; ++q) {
          const double along = inner(mx[q], x[p]);
          for (std::size_t i = 0; i < n; ++i)
            x[p][i] -= along * x[q][i];
        }
      mx[p] = by_mass(x[p]);
      const double size = std::sqrt(inner(mx[p], x[p]));
      for (std::size_t i = 0; i < n; ++i) {
        x[p][i] /= size;
        mx[p][i] /= size;
      }
    }
  // x_p . M K^-1 M x_q in the basis, whose first columns are an invariant space by now.
  std::vector<double> small(block * block);
  for (std::size_t p = 0; p < block; ++p) {
    std::vector<double> y = by_mass(x[p]);
    reference::solve_factorised(k, y);
    const std::vector<double> my = by_mass(y);
    for (std::size_t q = 0; q < block; ++q)
      small[p * block + q] = inner(x[q], my);
  }
  make_diagonal(small, block);
  for (std::size_t p = 0; p < block; ++p)
    found[p] = 1 / (2 * Kokkos::numbers::pi * std::sqrt(small[p * block + p]));
  std::sort(found.begin(), found.end());
  found.resize(std::size_t(count));
  return found;
}

inline SolidMesh vibrating_mesh(const DesignProblem& problem) {
  if (problem.solids)
    return *problem.solids;
  SolidMesh mesh;
  mesh.point = problem.mesh.point;
  for (std::size_t e = 0; e < problem.num_elem(); ++e) {
    mesh.kind.push_back(SolidKind::hexa8);
    mesh.node.insert(mesh.node.end(), problem.nodes_of(e).begin(), problem.nodes_of(e).end());
    mesh.begin.push_back(std::int32_t(mesh.node.size()));
  }
  return mesh;
}

/// Those of a design by plain loops; a law p of 3 and a least modulus of 1e-9. `in_single`: moduli
/// are rounded to single precision, as on voxels.
inline std::vector<double> expected_frequencies(const DesignProblem& problem,
                                                const std::vector<double>& density, int count,
                                                bool in_single = false) {
  const SolidMesh mesh = vibrating_mesh(problem);
  std::vector<double> young, poisson, mass;
  for (std::size_t e = 0; e < density.size(); ++e) {
    const HexaMaterial& own = problem.materials[problem.material.empty() ? 0 : problem.material[e]];
    const double rho = density[e];
    const double modulus = own.young * (1e-9 + (1 - 1e-9) * rho * rho * rho);
    young.push_back(in_single ? double(float(modulus)) : modulus);
    poisson.push_back(own.poisson);
    mass.push_back(own.density *
                   (rho >= 0.1 ? rho : 6e5 * std::pow(rho, 6) - 5e6 * std::pow(rho, 7)));
  }
  std::vector<bool> held(3 * mesh.num_points());
  for (const HeldComponents& one : problem.held)
    for (std::size_t c = 0; c < 3; ++c)
      if ((one.components >> c & 1) != 0)
        held[3 * std::size_t(one.node) + c] = true;
  return dense_frequencies(assemble(mesh, young, poisson, mass), held, count);
}

} // namespace ossatura::test
