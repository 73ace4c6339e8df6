// SPDX-License-Identifier: Apache-2.0
// Oracle: linear elasticity on voxels by numerical integration and an assembled matrix, in plain
// loops. Vectors live on the whole lattice of (nx + 1)(ny + 1)(nz + 1) nodes, x fastest, three
// components each; rows of nodes that touch no solid voxel are empty.
#pragma once

#include <array>
#include <cmath>
#include <map>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

namespace reference {

/// The matrix D of isotropic elasticity for the strains xx, yy, zz, xy, yz, zx (shear doubled).
inline std::array<std::array<double, 6>, 6> elasticity(double modulus, double poisson) {
  std::array<std::array<double, 6>, 6> d{};
  const double scale = modulus / ((1 + poisson) * (1 - 2 * poisson));
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j)
      d[i][j] = scale * (i == j ? 1 - poisson : poisson);
    d[3 + i][3 + i] = scale * (1 - 2 * poisson) / 2;
  }
  return d;
}

using ElementMatrix = std::array<std::array<double, 24>, 24>;

/// Integral of B^T D B over a cube of edge h by 2 x 2 x 2 Gauss points. Vertex v at
/// (v & 1, v >> 1 & 1, v >> 2) h.
inline ElementMatrix element_matrix(double modulus, double poisson, double h) {
  const auto d = elasticity(modulus, poisson);
  const double gauss[2] = {0.5 - 0.5 / std::sqrt(3.0), 0.5 + 0.5 / std::sqrt(3.0)};
  ElementMatrix k{};
  for (int point = 0; point < 8; ++point) {
    const double xi[3] = {gauss[point & 1], gauss[point >> 1 & 1], gauss[point >> 2]};
    double b[6][24] = {};
    for (int v = 0; v < 8; ++v) {
      double shape[3], slope[3], gradient[3];
      for (int c = 0; c < 3; ++c) {
        shape[c] = v >> c & 1 ? xi[c] : 1 - xi[c];
        slope[c] = v >> c & 1 ? 1 / h : -1 / h;
      }
      for (int c = 0; c < 3; ++c)
        gradient[c] = slope[c] * shape[(c + 1) % 3] * shape[(c + 2) % 3];
      for (int c = 0; c < 3; ++c) {
        b[c][3 * v + c] = gradient[c];
        b[3 + c][3 * v + c] = gradient[(c + 1) % 3];
        b[3 + c][3 * v + (c + 1) % 3] = gradient[c];
      }
    }
    double d_b[6][24] = {};
    for (int p = 0; p < 6; ++p)
      for (int q = 0; q < 6; ++q)
        for (int j = 0; j < 24; ++j)
          d_b[p][j] += d[p][q] * b[q][j];
    for (int i = 0; i < 24; ++i)
      for (int j = 0; j < 24; ++j) {
        double sum = 0;
        for (int p = 0; p < 6; ++p)
          sum += b[p][i] * d_b[p][j];
        k[i][j] += h * h * h / 8 * sum;
      }
  }
  return k;
}

/// Young's modulus (0 = void) and Poisson's ratio of nx * ny * nz voxels of the given edge.
struct Model {
  std::array<int, 3> shape{};
  std::vector<double> modulus, poisson;
  double edge = 1;

  int num_lattice_nodes() const { return (shape[0] + 1) * (shape[1] + 1) * (shape[2] + 1); }
  int num_dofs() const { return 3 * num_lattice_nodes(); }
  int node(int x, int y, int z) const { return x + (shape[0] + 1) * (y + (shape[1] + 1) * z); }
  std::array<int, 3> site(int node) const {
    const int nx = shape[0] + 1, ny = shape[1] + 1;
    return {node % nx, node / nx % ny, node / nx / ny};
  }
  int voxel(int x, int y, int z) const { return x + shape[0] * (y + shape[1] * z); }
  bool solid(int x, int y, int z) const {
    return x >= 0 && y >= 0 && z >= 0 && x < shape[0] && y < shape[1] && z < shape[2] &&
           modulus[voxel(x, y, z)] > 0;
  }
  /// Whether the node is a corner of a solid voxel.
  bool has_node(int node) const {
    const std::array<int, 3> s = site(node);
    for (int q = 0; q < 8; ++q)
      if (solid(s[0] - (q & 1), s[1] - (q >> 1 & 1), s[2] - (q >> 2)))
        return true;
    return false;
  }
};

/// A model of equal voxels.
inline Model homogeneous(std::array<int, 3> shape, double modulus, double poisson,
                         double edge = 1) {
  const std::size_t n = std::size_t(shape[0]) * shape[1] * shape[2];
  return {shape, std::vector<double>(n, modulus), std::vector<double>(n, poisson), edge};
}

/// Voxels that are solid with probability `density`; moduli spread evenly on a logarithmic scale
/// over [1, contrast], rounded to float, Poisson's ratios over [low_poisson, high_poisson]. With no
/// voxel hit, the first one is solid.
inline Model random_model(std::array<int, 3> shape, double density, double contrast,
                          double low_poisson, double high_poisson, unsigned seed, double edge = 1) {
  Model model = homogeneous(shape, 0, 0, edge);
  std::mt19937 random(seed);
  // Not std::uniform_real_distribution: its values differ between standard libraries.
  const auto uniform = [&] { return random() / 4294967296.0; };
  bool any = false;
  for (std::size_t i = 0; i < model.modulus.size(); ++i) {
    const double lot = uniform(), magnitude = uniform(), ratio = uniform();
    model.modulus[i] = lot < density ? double(float(std::pow(contrast, magnitude))) : 0;
    model.poisson[i] = double(float(low_poisson + (high_poisson - low_poisson) * ratio));
    any = any || lot < density;
  }
  if (!any)
    model.modulus[0] = 1;
  return model;
}

/// Uniform numbers in [-1, 1) at the nodes of the model, 0 elsewhere: 3 per lattice node.
inline std::vector<double> random_vector(const Model& model, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> x(model.num_dofs());
  for (int i = 0; i < model.num_dofs(); ++i) {
    const double value = random() / 2147483648.0 - 1;
    x[i] = model.has_node(i / 3) ? value : 0;
  }
  return x;
}

struct SparseMatrix {
  std::vector<std::vector<std::pair<int, double>>> row;

  std::vector<double> operator*(const std::vector<double>& x) const {
    std::vector<double> y(row.size());
    for (std::size_t i = 0; i < row.size(); ++i)
      for (const auto& [column, value] : row[i])
        y[i] += value * x[column];
    return y;
  }
  double diagonal(int i) const {
    for (const auto& [column, value] : row[i])
      if (column == i)
        return value;
    return 0;
  }
};

/// The stiffness matrix of a model, without constraints.
inline SparseMatrix assemble(const Model& model) {
  std::vector<std::map<int, double>> row(model.num_dofs());
  for (int z = 0; z < model.shape[2]; ++z)
    for (int y = 0; y < model.shape[1]; ++y)
      for (int x = 0; x < model.shape[0]; ++x) {
        if (!model.solid(x, y, z))
          continue;
        const int voxel = model.voxel(x, y, z);
        const ElementMatrix k =
            element_matrix(model.modulus[voxel], model.poisson[voxel], model.edge);
        int dof[24];
        for (int i = 0; i < 24; ++i) {
          const int v = i / 3;
          dof[i] = 3 * model.node(x + (v & 1), y + (v >> 1 & 1), z + (v >> 2)) + i % 3;
        }
        for (int i = 0; i < 24; ++i)
          for (int j = 0; j < 24; ++j)
            row[dof[i]][dof[j]] += k[i][j];
      }
  SparseMatrix matrix;
  for (const auto& entries : row)
    matrix.row.emplace_back(entries.begin(), entries.end());
  return matrix;
}

inline double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum += x[i] * y[i];
  return sum;
}

/// Euclidean norm of x - y over that of y.
inline double relative_difference(const std::vector<double>& x, const std::vector<double>& y) {
  double difference = 0;
  for (std::size_t i = 0; i < y.size(); ++i)
    difference += (x[i] - y[i]) * (x[i] - y[i]);
  return std::sqrt(difference / dot(y, y));
}

/// The displacements u with K u = f at the components that are not held, u as given at those that
/// are, by conjugate gradients with the inverse diagonal until the residual is 1e-13 of its first
/// value. Empty rows count as held. Throws if that takes more than 20 n steps.
inline std::vector<double> solve(const SparseMatrix& k, std::vector<char> held,
                                 const std::vector<double>& f, std::vector<double> u) {
  const int n = int(k.row.size());
  for (int i = 0; i < n; ++i)
    held[i] = held[i] || k.row[i].empty();
  std::vector<double> r = k * u, z(n), p(n);
  for (int i = 0; i < n; ++i)
    r[i] = held[i] ? 0 : f[i] - r[i];
  const double goal = 1e-26 * dot(r, r);
  double rz = 0;
  for (int step = 0; step < 20 * n; ++step) {
    if (dot(r, r) <= goal)
      return u;
    for (int i = 0; i < n; ++i)
      z[i] = held[i] ? 0 : r[i] / k.diagonal(i);
    const double next = dot(r, z);
    for (int i = 0; i < n; ++i)
      p[i] = z[i] + (step > 0 ? next / rz * p[i] : 0);
    rz = next;
    const std::vector<double> q = k * p;
    double pq = 0;
    for (int i = 0; i < n; ++i)
      pq += held[i] ? 0 : p[i] * q[i];
    for (int i = 0; i < n; ++i) {
      u[i] += rz / pq * p[i];
      r[i] -= held[i] ? 0 : rz / pq * q[i];
    }
  }
  throw std::runtime_error("the oracle's conjugate gradients do not converge");
}

} // namespace reference
