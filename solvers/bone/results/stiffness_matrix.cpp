// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/results/stiffness_matrix.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

double asymmetry(const StiffnessMatrix& stiffness) {
  double difference = 0, largest = 0;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) {
      difference = std::max(difference, std::abs(stiffness[i][j] - stiffness[j][i]));
      largest = std::max(largest, std::abs(stiffness[i][j]));
    }
  return largest > 0 ? difference / largest : 0;
}

namespace {

/// Lower Cholesky factor of the symmetric part, or none.
std::optional<StiffnessMatrix> cholesky(const StiffnessMatrix& a) {
  double largest = 0;
  for (std::size_t i = 0; i < 6; ++i)
    largest = std::max(largest, a[i][i]);
  StiffnessMatrix l{};
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j <= i; ++j) {
      double sum = (a[i][j] + a[j][i]) / 2;
      for (int k = 0; k < j; ++k)
        sum -= l[i][k] * l[j][k];
      if (i == j && !(sum > no_stiffness * largest))
        return {};
      l[i][j] = i == j ? std::sqrt(sum) : sum / l[j][j];
    }
  return l;
}

/// Column `column` of the inverse of l lᵀ.
std::array<double, 6> solve_unit(const StiffnessMatrix& l, int column) {
  std::array<double, 6> x{};
  for (int i = 0; i < 6; ++i) {
    double sum = i == column ? 1 : 0;
    for (int k = 0; k < i; ++k)
      sum -= l[i][k] * x[k];
    x[i] = sum / l[i][i];
  }
  for (int i = 5; i >= 0; --i) {
    double sum = x[i];
    for (int k = i + 1; k < 6; ++k)
      sum -= l[k][i] * x[k];
    x[i] = sum / l[i][i];
  }
  return x;
}

} // namespace

std::optional<EngineeringConstants> engineering_constants(const StiffnessMatrix& stiffness) {
  const std::optional<StiffnessMatrix> factor = cholesky(stiffness);
  if (!factor)
    return {};
  EngineeringConstants constants{};
  for (int i = 0; i < 6; ++i) {
    const std::array<double, 6> compliance = solve_unit(*factor, i);
    if (i >= 3) {
      constants.shear[i - 3] = 1 / compliance[i];
      continue;
    }
    constants.young[i] = 1 / compliance[i];
    for (int j = 0; j < 3; ++j)
      constants.poisson[i][j] = j == i ? 0 : -compliance[j] / compliance[i];
  }
  return constants;
}

namespace {

using Axes = std::array<std::array<double, 3>, 3>;

/// The tensor of a symmetric stiffness in Kelvin's notation, where shears have the factor sqrt(2):
/// its norm as a matrix is that of the tensor, and the same in all axes.
StiffnessMatrix to_kelvin(const StiffnessMatrix& stiffness) {
  StiffnessMatrix c{};
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      c[i][j] = (stiffness[i][j] + stiffness[j][i]) / 2 * (i < 3 ? 1 : std::sqrt(2.0)) *
                (j < 3 ? 1 : std::sqrt(2.0));
  return c;
}

StiffnessMatrix from_kelvin(const StiffnessMatrix& c) {
  StiffnessMatrix stiffness{};
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      stiffness[i][j] = c[i][j] / (i < 3 ? 1 : std::sqrt(2.0)) / (j < 3 ? 1 : std::sqrt(2.0));
  return stiffness;
}

/// c in other axes: Q c Q^T, with the orthogonal Q that turns symmetric tensors.
StiffnessMatrix turned(const StiffnessMatrix& c, const Axes& axes) {
  constexpr int first[6] = {0, 1, 2, 0, 1, 2}, second[6] = {0, 1, 2, 1, 2, 0};
  StiffnessMatrix q{}, qc{}, result{};
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) {
      const auto &a = axes[std::size_t(first[i])], &b = axes[std::size_t(second[i])];
      const std::size_t k = std::size_t(first[j]), l = std::size_t(second[j]);
      const double both = (a[k] * b[l] + a[l] * b[k]) / 2;
      q[i][j] = both * (i < 3 ? 1 : std::sqrt(2.0)) * (j < 3 ? 1 : std::sqrt(2.0));
    }
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      for (int k = 0; k < 6; ++k)
        qc[i][j] += q[i][k] * c[k][j];
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      for (int k = 0; k < 6; ++k)
        result[i][j] += qc[i][k] * q[j][k];
  return result;
}

/// Sum of the squares of what orthotropy forbids.
double forbidden(const StiffnessMatrix& c) {
  double sum = 0;
  for (int i = 0; i < 6; ++i)
    for (int j = 3; j < 6; ++j)
      if (i != j)
        sum += (i < 3 ? 2 : 1) * c[i][j] * c[i][j];
  return sum;
}

/// The axes turned by an angle about axis `about`.
Axes turned_about(const Axes& axes, int about, double angle) {
  const std::size_t a = std::size_t(about + 1) % 3, b = std::size_t(about + 2) % 3;
  Axes result = axes;
  for (std::size_t d = 0; d < 3; ++d) {
    result[a][d] = std::cos(angle) * axes[a][d] + std::sin(angle) * axes[b][d];
    result[b][d] = std::cos(angle) * axes[b][d] - std::sin(angle) * axes[a][d];
  }
  return result;
}

/// Turns about one axis after the other, each time as far as is best, until nothing is gained: the
/// best of equal angles in a quarter turn, then between its neighbours by golden sections.
Axes descend(const StiffnessMatrix& c, Axes axes, int sweeps) {
  constexpr int num_angles = 16;
  constexpr double quarter = 1.5707963267948966, golden = 0.6180339887498949;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    const double before = forbidden(turned(c, axes));
    for (int about = 0; about < 3; ++about) {
      const auto value = [&](double angle) {
        return forbidden(turned(c, turned_about(axes, about, angle)));
      };
      double best = 0, least = value(0);
      for (int k = 1; k < num_angles; ++k)
        if (const double found = value(quarter * k / num_angles); found < least) {
          least = found;
          best = quarter * k / num_angles;
        }
      double low = best - quarter / num_angles, high = best + quarter / num_angles;
      for (int step = 0; step < 40; ++step) {
        const double a = high - golden * (high - low), b = low + golden * (high - low);
        (value(a) < value(b) ? high : low) = value(a) < value(b) ? b : a;
      }
      if (value((low + high) / 2) < least)
        best = (low + high) / 2;
      axes = turned_about(axes, about, best);
    }
    if (before - forbidden(turned(c, axes)) <= 1e-12 * before)
      break;
  }
  return axes;
}

/// The order and signs of axes, right-handed, that lie nearest to those of the image.
Axes nearest_order(const Axes& axes) {
  constexpr std::size_t orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1},
                                        {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  Axes nearest = axes;
  double most = -4;
  for (const auto& order : orders) {
    Axes ordered;
    double trace = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      ordered[i] = axes[order[i]];
      if (ordered[i][i] < 0)
        for (double& x : ordered[i])
          x = -x;
      trace += ordered[i][i];
    }
    const auto& [a, b, last] = ordered;
    const double volume = (a[1] * b[2] - a[2] * b[1]) * last[0] +
                          (a[2] * b[0] - a[0] * b[2]) * last[1] +
                          (a[0] * b[1] - a[1] * b[0]) * last[2];
    if (volume < 0) { // the axis that is least along its own turns round
      std::size_t least = 0;
      for (std::size_t i = 1; i < 3; ++i)
        if (ordered[i][i] < ordered[least][least])
          least = i;
      trace -= 2 * ordered[least][least];
      for (double& x : ordered[least])
        x = -x;
    }
    if (trace > most + 1e-9) {
      most = trace;
      nearest = ordered;
    }
  }
  return nearest;
}

} // namespace

OrthotropicAxes find_orthotropic_axes(const StiffnessMatrix& stiffness, double enough) {
  const StiffnessMatrix c = to_kelvin(stiffness);
  double norm = 0;
  for (const auto& row : c)
    for (const double entry : row)
      norm += entry * entry;
  const Axes image{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  Axes best = image;
  double least = forbidden(turned(c, image));
  if (least <= enough * enough * norm)
    return {image, from_kelvin(c), norm > 0 ? std::sqrt(least / norm) : 0};
  // Starts: eighths of half a turn about each of the axes; few sweeps find the best valley.
  constexpr double eighth = 0.39269908169872414;
  for (int k = 0; k < 64; ++k) {
    Axes start = image;
    for (int about = 0, rest = k; about < 3; ++about, rest /= 4)
      start = turned_about(start, about, eighth * (rest % 4));
    const Axes found = descend(c, start, 4);
    if (const double value = forbidden(turned(c, found)); value < least * (1 - 1e-6)) {
      least = value;
      best = found;
    }
  }
  best = nearest_order(descend(c, best, 200));
  const StiffnessMatrix turned_c = turned(c, best);
  return {best, from_kelvin(turned_c), norm > 0 ? std::sqrt(forbidden(turned_c) / norm) : 0};
}

} // namespace ossatura
