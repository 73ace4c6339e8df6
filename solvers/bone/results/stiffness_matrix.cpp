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
  StiffnessMatrix l{};
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j <= i; ++j) {
      double sum = (a[i][j] + a[j][i]) / 2;
      for (int k = 0; k < j; ++k)
        sum -= l[i][k] * l[j][k];
      if (i == j && !(sum > 0))
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

} // namespace ossatura
