// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/pfem/orthotropy.hpp>

#include <ossatura/kernels/pfem/hexa_batch.hpp>

#include <cmath>

namespace ossatura {

std::vector<double> orthotropic_elasticity(const Orthotropy& moduli) {
  const auto& [young, poisson, shear] = moduli;
  // The compliance of normal stresses, inverted by its cofactors.
  double s[3][3];
  for (std::size_t i = 0; i < 3; ++i)
    s[i][i] = 1 / young[i];
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t i = (k + 1) % 3, j = (k + 2) % 3;
    s[i][j] = s[j][i] = -poisson[k] / young[i];
  }
  double cofactor[3][3];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      cofactor[i][j] = s[i1][j1] * s[i2][j2] - s[i1][j2] * s[i2][j1];
    }
  const double det = s[0][0] * cofactor[0][0] + s[0][1] * cofactor[0][1] + s[0][2] * cofactor[0][2];
  if (!(det != 0 && std::isfinite(det)))
    return {};
  std::vector<double> d(elasticity_entries);
  for (int i = 0; i < 3; ++i) {
    for (int j = i; j < 3; ++j)
      d[std::size_t(elasticity_entry(i, j))] = cofactor[i][j] / det;
    d[std::size_t(elasticity_entry(3 + i, 3 + i))] = shear[std::size_t(i)];
  }
  return d;
}

bool is_positive_definite(const std::vector<double>& elasticity) {
  // Cholesky's factorisation, D = L L^T.
  double l[6][6];
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j <= i; ++j) {
      double sum = elasticity[std::size_t(elasticity_entry(i, j))];
      for (int k = 0; k < j; ++k)
        sum -= l[i][k] * l[j][k];
      if (i == j && !(sum > 0))
        return false;
      l[i][j] = i == j ? std::sqrt(sum) : sum / l[j][j];
    }
  return true;
}

} // namespace ossatura
