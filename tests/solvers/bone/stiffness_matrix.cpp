// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/results/stiffness_matrix.hpp>

#include "tests/catch.hpp"

#include <algorithm>
#include <cmath>

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

TEST_CASE("the axes of an orthotropic stiffness come back from any others", "[stiffness]") {
  EngineeringConstants given{};
  given.young = {1000, 1500, 3000};
  given.shear = {400, 600, 500};
  given.poisson = {{{0, 0.25, 0.1}, {0.375, 0, 0.2}, {0.3, 0.4, 0}}};
  const StiffnessMatrix own = orthotropic(given);
  const OrthotropicAxes same = find_orthotropic_axes(own);
  CHECK(same.departure == 0);
  CHECK(same.axis == decltype(same.axis){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}});

  for (const double turn : {0.2, 0.7, 1.3}) {
    // Turned by Euler's angles; the tensor as such, entry by entry.
    const double s[3] = {std::sin(turn), std::sin(0.5 - turn), std::sin(2 * turn)},
                 c[3] = {std::cos(turn), std::cos(0.5 - turn), std::cos(2 * turn)};
    const double r[3][3] = {
        {c[0] * c[2] - s[0] * c[1] * s[2], s[0] * c[2] + c[0] * c[1] * s[2], s[1] * s[2]},
        {-c[0] * s[2] - s[0] * c[1] * c[2], -s[0] * s[2] + c[0] * c[1] * c[2], s[1] * c[2]},
        {s[0] * s[1], -c[0] * s[1], c[1]}}; // row i: axis i in the image
    constexpr int first[6] = {0, 1, 2, 0, 1, 2}, second[6] = {0, 1, 2, 1, 2, 0},
                  place[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};
    StiffnessMatrix turned{};
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j)
        for (int p = 0; p < 81; ++p) {
          const int k = p % 3, l = p / 3 % 3, m = p / 9 % 3, n = p / 27;
          turned[i][j] += r[k][first[i]] * r[l][second[i]] * r[m][first[j]] * r[n][second[j]] *
                          own[place[k][l]][place[m][n]];
        }
    const OrthotropicAxes found = find_orthotropic_axes(turned);
    CHECK(found.departure < 1e-7);
    for (int i = 0; i < 3; ++i) { // in some order
      double along = 0;
      for (int j = 0; j < 3; ++j)
        along = std::max(along, std::abs(found.axis[i][0] * r[j][0] + found.axis[i][1] * r[j][1] +
                                         found.axis[i][2] * r[j][2]));
      CHECK(along == Approx(1).epsilon(1e-10));
      CHECK(found.axis[i][i] > 0.3); // nearest to the image
    }
    auto constants = engineering_constants(found.stiffness);
    REQUIRE(constants);
    std::sort(constants->young.begin(), constants->young.end());
    for (int i = 0; i < 3; ++i)
      CHECK(constants->young[i] == Approx(given.young[i]).epsilon(1e-6));
    double volume = 0; // right-handed
    for (int i = 0; i < 3; ++i)
      volume += found.axis[0][i] * (found.axis[1][(i + 1) % 3] * found.axis[2][(i + 2) % 3] -
                                    found.axis[1][(i + 2) % 3] * found.axis[2][(i + 1) % 3]);
    CHECK(volume == Approx(1));
  }
}

TEST_CASE("a stiffness without symmetry departs from orthotropy in all axes", "[stiffness]") {
  StiffnessMatrix c{};
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      c[i][j] = (i == j ? 10 : 0) + 1.0 / (1 + std::abs(i - j)) + 0.3 * ((i * j) % 4);
  const OrthotropicAxes found = find_orthotropic_axes(c);
  CHECK(found.departure > 1e-3);
  double in_image = 0, whole = 0;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) {
      const double weight = (i < 3 ? 1 : 2) * (j < 3 ? 1 : 2);
      whole += weight * c[i][j] * c[i][j];
      in_image += i != j && (i >= 3 || j >= 3) ? weight * c[i][j] * c[i][j] : 0;
    }
  CHECK(found.departure < std::sqrt(in_image / whole));
  const OrthotropicAxes image = find_orthotropic_axes(c, 1.001 * std::sqrt(in_image / whole));
  CHECK(image.departure == Approx(std::sqrt(in_image / whole)));
  CHECK(image.axis == decltype(image.axis){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}});
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
