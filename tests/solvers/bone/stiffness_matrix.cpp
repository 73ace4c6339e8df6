// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/results/stiffness_matrix.hpp>

#include "tests/catch.hpp"

using namespace ossatura;

namespace {

/// Orthotropic compliance, inverted block by block: the normal part by cofactors.
StiffnessMatrix orthotropic(const EngineeringConstants& c) {
  double s[3][3];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      s[i][j] = i == j ? 1 / c.young[i] : -c.poisson[i][j] / c.young[i];
  const auto minor = [&s](int i, int j) {
    const int a = (i + 1) % 3, b = (i + 2) % 3, d = (j + 1) % 3, e = (j + 2) % 3;
    return s[a][d] * s[b][e] - s[a][e] * s[b][d];
  };
  const double determinant = s[0][0] * minor(0, 0) + s[0][1] * minor(0, 1) + s[0][2] * minor(0, 2);
  StiffnessMatrix stiffness{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j)
      stiffness[i][j] = minor(j, i) / determinant;
    stiffness[3 + i][3 + i] = c.shear[i];
  }
  return stiffness;
}

} // namespace

TEST_CASE("engineering constants of an orthotropic stiffness come back", "[stiffness]") {
  EngineeringConstants given{};
  given.young = {1000, 1500, 3000};
  given.shear = {400, 600, 500};
  const double nu[3] = {0.25, 0.2, 0.1}; // xy, yz, zx
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3;
    given.poisson[i][j] = nu[i];
    given.poisson[j][i] = nu[i] * given.young[j] / given.young[i];
  }
  const StiffnessMatrix stiffness = orthotropic(given);
  CHECK(asymmetry(stiffness) < 1e-14);
  const auto found = engineering_constants(stiffness);
  REQUIRE(found.has_value());
  for (int i = 0; i < 3; ++i) {
    CHECK(found->young[i] == Approx(given.young[i]));
    CHECK(found->shear[i] == Approx(given.shear[i]));
    for (int j = 0; j < 3; ++j)
      CHECK(found->poisson[i][j] == Approx(given.poisson[i][j]).margin(1e-12));
  }
}

TEST_CASE("an indefinite stiffness has no engineering constants", "[stiffness]") {
  StiffnessMatrix stiffness{};
  CHECK_FALSE(engineering_constants(stiffness).has_value());
  for (int i = 0; i < 6; ++i)
    stiffness[i][i] = i == 4 ? -1 : 1;
  CHECK_FALSE(engineering_constants(stiffness).has_value());
}

TEST_CASE("asymmetry is relative to the largest entry", "[stiffness]") {
  StiffnessMatrix stiffness{};
  stiffness[0][0] = 10;
  stiffness[0][1] = 2;
  stiffness[1][0] = 1;
  CHECK(asymmetry(stiffness) == Approx(0.1));
}
