// SPDX-License-Identifier: Apache-2.0
#include <ossatura/kernels/pfem/hexa_batch.hpp>
#include <ossatura/solvers/pfem/orthotropy.hpp>

#include "tests/catch.hpp"

using namespace ossatura;

TEST_CASE("orthotropic moduli invert the compliance", "[pfem]") {
  const Orthotropy moduli{{3, 2, 1}, {0.2, 0.1, 0.3}, {0.5, 0.6, 0.7}};
  const std::vector<double> d = orthotropic_elasticity(moduli);
  // Strains of a stress along each axis, by hand: pairs yz, zx, xy.
  const double compliance[3][3] = {
      {1. / 3, -0.3 / 3, -0.1 / 1}, {-0.3 / 3, 1. / 2, -0.2 / 2}, {-0.1 / 1, -0.2 / 2, 1. / 1}};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      double sum = 0;
      for (int k = 0; k < 3; ++k)
        sum += d[std::size_t(elasticity_entry(i, k))] * compliance[k][j];
      CHECK(sum == Approx(i == j ? 1 : 0).margin(1e-14));
    }
  CHECK(is_positive_definite(d));
  CHECK_FALSE(
      is_positive_definite(orthotropic_elasticity({{1, 1, 1}, {0.9, 0.9, 0.9}, {1, 1, 1}})));
}
