// SPDX-License-Identifier: Apache-2.0
// What the update of a vertex from one tetrahedron must satisfy, for any function that computes it:
// update(tetra, target) is the arrival at that corner from the times at the other three; the time
// of the target itself counts for nothing.
#pragma once

#include "tests/catch.hpp"
#include "tests/reference/tetra_update.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace ossatura::test {

struct TimedTetra {
  double vertex[4][3];
  double metric[3][3]; ///< G, the inverse of the square of velocity
  double time[4];

  double squared_edge(int a, int b) const {
    double edge[3];
    for (int axis = 0; axis < 3; ++axis)
      edge[axis] = vertex[b][axis] - vertex[a][axis];
    return product(edge, edge);
  }
  double product(const double (&a)[3], const double (&b)[3]) const {
    double sum = 0;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        sum += a[i] * metric[i][j] * b[j];
    return sum;
  }
  double longest_edge() const {
    double square = 0;
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < a; ++b)
        square = std::max(square, squared_edge(a, b));
    return std::sqrt(square);
  }
  /// The same, with corner order[n] as the n-th.
  TimedTetra permuted(const int (&order)[4]) const {
    TimedTetra result = *this;
    for (int n = 0; n < 4; ++n) {
      result.time[n] = time[order[n]];
      std::copy(vertex[order[n]], vertex[order[n]] + 3, result.vertex[n]);
    }
    return result;
  }
};

inline const TimedTetra regular_tetra = {{{0, 0, 0},
                                          {1, 0, 0},
                                          {0.5, 0.8660254037844386, 0},
                                          {0.5, 0.2886751345948129, 0.816496580927726}},
                                         {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                         {0, 0, 0, 0}};

/// The least arrival over the face opposite to the target.
inline double oracle_update(const TimedTetra& tetra, int target) {
  double base[3][3], time[3];
  for (int n = 0; n < 3; ++n) {
    const int corner = (target + 1 + n) % 4;
    time[n] = tetra.time[corner];
    std::copy(tetra.vertex[corner], tetra.vertex[corner] + 3, base[n]);
  }
  return reference::brute_force_update(base, time, tetra.vertex[target], tetra.metric);
}

/// Random tetrahedra with random metrics (velocities of 0.2 to 1 along random axes).
class RandomTetra {
public:
  explicit RandomTetra(unsigned seed)
      : random_(seed) {}

  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  /// Corners in the unit cube, of at least this volume; times 0.
  TimedTetra operator()(double least_volume = 1e-3) {
    TimedTetra tetra = {};
    do {
      for (auto& vertex : tetra.vertex)
        for (double& component : vertex)
          component = uniform(0, 1);
    } while (volume(tetra) < least_volume);
    double axes[2][3];
    double weight[3];
    for (double& w : weight)
      w = std::pow(uniform(0.2, 1), -2);
    for (auto& axis : axes)
      do
        for (double& component : axis)
          component = uniform(-1, 1);
      while (norm(axis) < 0.1);
    scale(axes[0], 1 / norm(axes[0]));
    const double along = dot(axes[0], axes[1]);
    for (int i = 0; i < 3; ++i)
      axes[1][i] -= along * axes[0][i];
    scale(axes[1], 1 / norm(axes[1]));
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        tetra.metric[i][j] = (i == j ? weight[2] : 0) +
                             (weight[0] - weight[2]) * axes[0][i] * axes[0][j] +
                             (weight[1] - weight[2]) * axes[1][i] * axes[1][j];
    return tetra;
  }

private:
  static double dot(const double (&a)[3], const double (&b)[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  }
  static double norm(const double (&a)[3]) { return std::sqrt(dot(a, a)); }
  static void scale(double (&a)[3], double by) {
    for (double& component : a)
      component *= by;
  }
  static double volume(const TimedTetra& tetra) {
    double e[3][3];
    for (int n = 0; n < 3; ++n)
      for (int i = 0; i < 3; ++i)
        e[n][i] = tetra.vertex[n + 1][i] - tetra.vertex[0][i];
    return std::abs(e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) +
                    e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
                    e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
           6;
  }

  std::mt19937_64 random_;
};

/// The worst difference from the oracle, in parts of the arrival (or the longest edge).
template<class Update>
double update_error(const Update& update, const TimedTetra& tetra, int target) {
  const double expected = oracle_update(tetra, target);
  const double error = std::abs(update(tetra, target) - expected);
  // std::max would drop NaN.
  return error <= 1e300 ? error / std::max(expected, tetra.longest_edge()) : 1e300;
}

/// Times 0 at the base of a regular tetrahedron of edge 1: its height, from and to each corner.
template<class Update>
void check_regular_tetra(const Update& update, double tolerance) {
  for (int target = 0; target < 4; ++target)
    CHECK(std::abs(update(regular_tetra, target) - std::sqrt(2.0 / 3)) < tolerance);
  TimedTetra later = regular_tetra;
  for (double& time : later.time)
    time += 3;
  CHECK(std::abs(update(later, 3) - (3 + std::sqrt(2.0 / 3))) < 4 * tolerance);
}

/// Equal times, those of a plane wave, moderate and large differences (p2 >= 1).
template<class Update>
void check_random_tetra(const Update& update, double tolerance, int count = 8000) {
  RandomTetra random(1);
  double worst[4] = {};
  for (int n = 0; n < count; ++n) {
    TimedTetra tetra = random();
    const int kind = n % 4, target = n / 4 % 4;
    const double length = tetra.longest_edge(), start = random.uniform(0, 5);
    const double direction[3] = {random.uniform(-1, 1), random.uniform(-1, 1),
                                 random.uniform(-1, 1)};
    for (int corner = 0; corner < 4; ++corner) {
      tetra.time[corner] = start;
      if (kind == 1)
        for (int axis = 0; axis < 3; ++axis)
          tetra.time[corner] += direction[axis] * (tetra.vertex[corner][axis] + 1);
      if (kind == 2)
        tetra.time[corner] += random.uniform(0, 0.5) * length;
      if (kind == 3)
        tetra.time[corner] += random.uniform(0, 4) * length;
    }
    if (kind == 1) { // not negative
      const double least = *std::min_element(tetra.time, tetra.time + 4);
      for (double& time : tetra.time)
        time -= std::min(least, 0.0);
    }
    worst[kind] = std::max(worst[kind], update_error(update, tetra, target));
  }
  for (const double error : worst)
    CHECK(error < tolerance);
}

/// All orders of the corners, odd ones with a negative determinant, give the same.
template<class Update>
void check_permutations(const Update& update, double tolerance) {
  RandomTetra random(2);
  for (int n = 0; n < 200; ++n) {
    TimedTetra tetra = random();
    for (double& time : tetra.time)
      time = n % 2 == 0 ? 1 : 1 + random.uniform(0, 0.7) * tetra.longest_edge();
    const double expected = update(tetra, 3);
    double worst = 0;
    int order[4] = {0, 1, 2, 3};
    do {
      const int target = int(std::find(order, order + 4, 3) - order);
      const double difference = std::abs(update(tetra.permuted(order), target) - expected);
      worst = std::max(worst, difference <= 1e300 ? difference : 1e300);
    } while (std::next_permutation(order, order + 4));
    CHECK(worst < tolerance * std::max(expected, tetra.longest_edge()));
  }
}

/// Flat tetrahedra: the target close to the plane of its base, or two opposite edges that almost
/// meet, down to a flatness of `flattest`, and at last exactly flat ones.
template<class Update>
void check_slivers(const Update& update, double tolerance, double flattest) {
  RandomTetra random(3);
  for (int n = 0; n < 400; ++n) {
    TimedTetra tetra = random();
    const double flatness = n % 8 == 0 ? 0 : std::pow(flattest, random.uniform(0, 1));
    if (n % 2 == 0) {
      for (auto& vertex : tetra.vertex)
        vertex[2] *= flatness;
    } else { // a square's diagonals
      const double height = flatness;
      const TimedTetra sliver = {{{0, 0, 0}, {1, 1, 0}, {1, 0, height}, {0, 1, height}},
                                 {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                 {}};
      std::copy(&sliver.vertex[0][0], &sliver.vertex[0][0] + 12, &tetra.vertex[0][0]);
    }
    for (double& time : tetra.time)
      time = n % 3 == 0 ? 0 : random.uniform(0, 0.5);
    for (int target = 0; target < 4; ++target)
      CHECK(update_error(update, tetra, target) < tolerance);
  }
}

/// Corners with a time of 1e10 are as if they were not there.
template<class Update>
void check_unreached(const Update& update, double tolerance) {
  RandomTetra random(4);
  for (int n = 0; n < 400; ++n) {
    TimedTetra tetra = random();
    const unsigned reached = 1 + n % 7; // bits of the base's corners
    for (double& time : tetra.time)
      time = random.uniform(0, 2);
    for (int corner = 0; corner < 3; ++corner)
      if ((reached >> corner & 1) == 0)
        tetra.time[corner] = 1e10;
    CHECK(update_error(update, tetra, 3) < tolerance);
  }
  TimedTetra alone = random();
  for (double& time : alone.time)
    time = 1e10;
  for (int target = 0; target < 4; ++target) {
    const double arrival = update(alone, target);
    CHECK(arrival >= 1e10);
    CHECK(arrival <= std::numeric_limits<double>::max());
  }
}

/// Times grow with those of the base, by no more than these do, and never lie before all of them.
template<class Update>
void check_causality(const Update& update, double tolerance) {
  RandomTetra random(5);
  for (int n = 0; n < 400; ++n) {
    TimedTetra tetra = random();
    for (double& time : tetra.time)
      time = random.uniform(0, 1) * tetra.longest_edge();
    const double slack = tolerance * tetra.longest_edge();
    const double arrival = update(tetra, 3);
    CHECK(arrival >= *std::min_element(tetra.time, tetra.time + 3) - slack);
    const int corner = n % 3;
    const double delay = random.uniform(0, 0.3);
    tetra.time[corner] += delay;
    const double delayed = update(tetra, 3);
    CHECK(delayed >= arrival - slack);
    CHECK(delayed <= arrival + delay + slack);
  }
}

} // namespace ossatura::test
