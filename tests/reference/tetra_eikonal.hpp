// SPDX-License-Identifier: Apache-2.0
// Oracle: activation times on a mesh in plain loops, from gradients instead of paths: in a
// tetrahedron the gradient g of the linear times has g . D g = 1, and its characteristic D g must
// come in through the face opposite to the vertex. Where it does not, the three edges of the face
// are searched by golden sections. Vertices are taken in order of their time and again where one
// falls, until nothing does.
#pragma once

#include "tests/reference/tetra_update.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

namespace reference {

using Matrix3 = std::array<std::array<double, 3>, 3>;

inline Matrix3 inverse(const Matrix3& a) {
  Matrix3 b;
  double determinant = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) { // cofactors, transposed
      const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      b[j][i] = a[i1][j1] * a[i2][j2] - a[i1][j2] * a[i2][j1];
    }
    determinant += a[0][i] * b[i][0];
  }
  for (auto& row : b)
    for (double& entry : row)
      entry /= determinant;
  return b;
}

/// D of three velocities: along `fibre`, along the part of `sheet` across it, along the normal of
/// both. Directions of any length; a sheet of zero makes `velocity[1]` hold across the fibre, a
/// fibre of zero makes `velocity[0]` hold everywhere.
inline Matrix3 velocity_tensor(const std::array<double, 3>& velocity, std::array<double, 3> fibre,
                               std::array<double, 3> sheet) {
  const auto dot = [](const auto& a, const auto& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  };
  const auto normalise = [&](auto& a) {
    const double length = std::sqrt(dot(a, a));
    for (double& component : a)
      component /= length > 0 ? length : 1;
    return length > 0;
  };
  double across = velocity[0], beyond = velocity[0]; // of the sheet, and of what is left
  if (normalise(fibre)) {
    across = beyond = velocity[1];
    const double along = dot(fibre, sheet);
    for (int axis = 0; axis < 3; ++axis)
      sheet[axis] -= along * fibre[axis];
    if (normalise(sheet))
      beyond = velocity[2];
  }
  Matrix3 D;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      D[i][j] = (i == j ? beyond * beyond : 0) +
                (velocity[0] * velocity[0] - beyond * beyond) * fibre[i] * fibre[j] +
                (across * across - beyond * beyond) * sheet[i] * sheet[j];
  return D;
}

struct TetraEikonal {
  std::vector<std::array<double, 3>> point;
  std::vector<std::array<int, 4>> tetra;
  std::vector<Matrix3> D; ///< of each tetrahedron

  /// Times at all points from {vertex, time}; infinity where no wave comes.
  std::vector<double> solve(const std::vector<std::pair<int, double>>& sites) const {
    std::vector<std::vector<int>> ring(point.size());
    for (std::size_t e = 0; e < tetra.size(); ++e)
      for (const int v : tetra[e])
        ring[v].push_back(int(e));
    std::vector<double> time(point.size(), std::numeric_limits<double>::infinity());
    using Entry = std::pair<double, int>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> open;
    for (const auto& [vertex, start] : sites)
      if (start < time[vertex]) {
        time[vertex] = start;
        open.push({start, vertex});
      }
    while (!open.empty()) {
      const auto [start, vertex] = open.top();
      open.pop();
      if (start > time[vertex]) // it fell since, and is in the queue once more
        continue;
      for (const int e : ring[vertex])
        for (int corner = 0; corner < 4; ++corner) {
          const int target = tetra[e][corner];
          // No arrival is before all three; but it may be before that of `vertex`.
          double first = time[target];
          for (const int other : tetra[e])
            first = std::min(first, time[other]);
          if (target == vertex || first == time[target])
            continue;
          const double arrival = update(e, corner, time);
          if (arrival < time[target] * (1 - 4e-16)) {
            time[target] = arrival;
            open.push({arrival, target});
          }
        }
    }
    return time;
  }

  /// Arrival at a corner of tetrahedron e from the times at the other three.
  double update(int e, int corner, const std::vector<double>& time) const {
    const std::array<double, 3>& x = point[tetra[e][corner]];
    double base_time[3];
    Matrix3 edge; // rows: from the corner to the others
    for (int n = 0; n < 3; ++n) {
      const int other = tetra[e][(corner + 1 + n) % 4];
      base_time[n] = time[other];
      for (int axis = 0; axis < 3; ++axis)
        edge[n][axis] = point[other][axis] - x[axis];
    }
    const double infinity = std::numeric_limits<double>::infinity();
    if (base_time[0] < infinity && base_time[1] < infinity && base_time[2] < infinity) {
      const double through = through_face(edge, base_time, D[e]);
      if (through < infinity)
        return through;
    }
    return over_edges(edge, base_time, D[e]);
  }

private:
  /// From edge * g = base_time - t: g = u - t w. Infinity where the characteristic misses the face.
  static double through_face(const Matrix3& edge, const double (&base_time)[3], const Matrix3& D) {
    const Matrix3 to_gradient = inverse(edge);
    const double origin = base_time[0]; // keeps the digits of differences
    double u[3], w[3];
    for (int i = 0; i < 3; ++i) {
      u[i] = w[i] = 0;
      for (int n = 0; n < 3; ++n) {
        u[i] += to_gradient[i][n] * (base_time[n] - origin);
        w[i] += to_gradient[i][n];
      }
    }
    double uu = 0, uw = 0, ww = 0;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        uu += u[i] * D[i][j] * u[j];
        uw += u[i] * D[i][j] * w[j];
        ww += w[i] * D[i][j] * w[j];
      }
    const double discriminant = uw * uw - ww * (uu - 1);
    if (!(discriminant > 0))
      return std::numeric_limits<double>::infinity();
    const double t = (uw + std::sqrt(discriminant)) / ww; // the later root: the wave comes in
    for (int n = 0; n < 3; ++n) {
      double weight = 0; // of base point n in -D g
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          weight -= to_gradient[i][n] * D[i][j] * (u[j] - t * w[j]);
      if (weight < 0)
        return std::numeric_limits<double>::infinity();
    }
    return origin + t;
  }

  static double over_edges(const Matrix3& edge, const double (&base_time)[3], const Matrix3& D) {
    const Matrix3 G_rows = inverse(D);
    double G[3][3];
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        G[i][j] = G_rows[i][j];
    double least = std::numeric_limits<double>::infinity();
    for (int a = 0; a < 3; ++a) {
      const int b = (a + 1) % 3;
      if (!(base_time[a] < least) && !(base_time[b] < least))
        continue; // both infinite, or too late for anything
      const bool have_a = base_time[a] < 1e300, have_b = base_time[b] < 1e300;
      const auto arrival = [&](double part) {
        double v[3];
        for (int axis = 0; axis < 3; ++axis)
          v[axis] = (1 - part) * edge[a][axis] + part * edge[b][axis];
        const double start = have_a && have_b ? (1 - part) * base_time[a] + part * base_time[b]
                                              : base_time[have_a ? a : b];
        return start + metric_length(G, v);
      };
      if (have_a && have_b)
        least = std::min(least, golden_section(arrival));
      else
        least = std::min(least, arrival(have_a ? 0 : 1));
    }
    return least;
  }
};

} // namespace reference
