// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/mechanics/distribute_load.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace ossatura {

namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

Vector cross_product(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double product_of(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

double length_of(const Vector& a) {
  return std::hypot(a[0], a[1], a[2]);
}

Vector from(const Vector& a, const Vector& b) {
  return {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
}

/// Of a symmetric positive definite matrix.
Vector solve_three(Matrix a, Vector b) {
  for (std::size_t k = 0; k < 3; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < 3; ++i)
      if (std::fabs(a[i][k]) > std::fabs(a[pivot][k]))
        pivot = i;
    std::swap(a[k], a[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < 3; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < 3; ++j)
        a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = 3; k-- > 0;) {
    for (std::size_t j = k + 1; j < 3; ++j)
      b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  return b;
}

/// Arms of nodes from their weighted centroid.
struct Arms {
  std::vector<Vector> arm;
  Vector centre{};
  double weight = 0, longest = 0;
  Vector along{}; ///< of length 1, of the longest

  Arms(const std::vector<double>& point, const std::vector<WeightedNode>& nodes) {
    const auto place = [&](const WeightedNode& one) {
      const double* x = &point[3 * std::size_t(one.node)];
      return Vector{x[0], x[1], x[2]};
    };
    for (const WeightedNode& one : nodes)
      weight += one.weight;
    for (const WeightedNode& one : nodes)
      for (std::size_t c = 0; c < 3; ++c)
        centre[c] += one.weight / weight * place(one)[c];
    for (const WeightedNode& one : nodes) {
      arm.push_back(from(centre, place(one)));
      if (const double length = length_of(arm.back()); length > longest) {
        longest = length;
        for (std::size_t c = 0; c < 3; ++c)
          along[c] = arm.back()[c] / length;
      }
    }
  }
  /// Whether all nodes are on a line, but for rounding.
  bool is_line() const {
    return std::all_of(arm.begin(), arm.end(), [&](const Vector& r) {
      return length_of(cross_product(along, r)) <= 1e-6 * longest;
    });
  }
};

} // namespace

std::vector<NodeForce> distribute_load(const std::vector<double>& point,
                                       const std::vector<WeightedNode>& nodes,
                                       const std::array<double, 3>& reference,
                                       const std::array<double, 3>& force,
                                       const std::array<double, 3>& moment, std::string& problem) {
  problem.clear();
  const Arms arms(point, nodes);
  const Vector way = from(arms.centre, reference);
  Vector about_centre = cross_product(way, force);
  for (std::size_t c = 0; c < 3; ++c)
    about_centre[c] += moment[c];
  // What is nothing but rounding of these is no moment.
  const double noise =
      1e-9 * (length_of(moment) + length_of(force) * (length_of(way) + arms.longest));
  Vector turn{}; // T^-1 M_c
  if (length_of(about_centre) > noise) {
    if (!(arms.longest > 0)) {
      problem = "all nodes are in one place, which cannot take a moment";
      return {};
    }
    Matrix inertia{};
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Vector& r = arms.arm[i];
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b)
          inertia[a][b] += nodes[i].weight * ((a == b ? product_of(r, r) : 0.0) - r[a] * r[b]);
    }
    if (arms.is_line()) {
      if (std::fabs(product_of(about_centre, arms.along)) > noise) {
        problem = "all nodes are on a line, which cannot take a moment about itself";
        return {};
      }
      const double size = inertia[0][0] + inertia[1][1] + inertia[2][2];
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b)
          inertia[a][b] += size * arms.along[a] * arms.along[b];
    }
    turn = solve_three(inertia, about_centre);
  }
  std::vector<NodeForce> forces;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Vector turning = cross_product(turn, arms.arm[i]);
    NodeForce one{nodes[i].node, {}};
    for (std::size_t c = 0; c < 3; ++c)
      one.force[c] = nodes[i].weight * (force[c] / arms.weight + turning[c]);
    forces.push_back(one);
  }
  return forces;
}

} // namespace ossatura
