// SPDX-License-Identifier: Apache-2.0
// The oracles of activation times against each other and against published values.
#include "tests/kernels/eikonal/local_update_cases.hpp"
#include "tests/reference/eikonal_exact.hpp"
#include "tests/reference/tetra_eikonal.hpp"

#include <cmath>

using namespace ossatura::test;

namespace {

/// The update of the global oracle, by gradients, against the one by paths.
double gradient_update(const TimedTetra& tetra, int target) {
  reference::TetraEikonal problem;
  std::vector<double> time;
  reference::Matrix3 G;
  for (int n = 0; n < 4; ++n) {
    problem.point.push_back({tetra.vertex[n][0], tetra.vertex[n][1], tetra.vertex[n][2]});
    time.push_back(tetra.time[n]);
  }
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      G[i][j] = tetra.metric[i][j];
  problem.tetra = {{0, 1, 2, 3}};
  problem.D = {reference::inverse(G)};
  return problem.update(0, target, time);
}

} // namespace

TEST_CASE("the oracles of a tetrahedron's update agree", "[eikonal]") {
  check_regular_tetra(gradient_update, 1e-15);
  check_random_tetra(gradient_update, 1e-12, 4000);
  check_permutations(gradient_update, 1e-12);
  check_unreached(gradient_update, 1e-9); // weights of 1e10
  check_causality(gradient_update, 1e-12);
}

TEST_CASE("the times in closed form have the published digits", "[eikonal]") {
  using namespace reference;
  CHECK(linear_speed_time(0.3, 0.05, {10, 0, 0}) == Approx(30.339445).margin(6e-7));
  CHECK(linear_speed_time(0.3, 0.05, {10, 10, 0}) == Approx(40.085735).margin(6e-7));
  CHECK(linear_speed_time(0.3, 0.05, {0, 0, 10}) == Approx(19.616585).margin(6e-7));
  CHECK(linear_speed_time(0.3, 0.05, {10, 10, 10}) == Approx(31.873581).margin(6e-7));
  CHECK(two_half_spaces_time(0.3, 0.6, 1, 5, -1) == Approx(14.106836).margin(6e-7));
  CHECK(two_half_spaces_time(0.3, 0.6, 1, 2, -1) == Approx(6.666667).margin(6e-7));
  CHECK(two_half_spaces_time(0.3, 0.6, 1, 5, 1) == Approx(11.405777).margin(6e-7));
  // the refracted time is the direct one where both are at the interface
  CHECK(two_half_spaces_time(0.3, 0.6, 1, 0.2, 1e-12) ==
        Approx(two_half_spaces_time(0.3, 0.6, 1, 0.2, 0)));
}

// Monodomain times of the slab with a grid of 0.1 mm and steps of 0.01 ms, of the benchmark of
// Niederer et al. (2011), at the corners and the centre.
TEST_CASE("the slab's closed form fits the published activation times", "[eikonal]") {
  const std::array<double, 3> at[9] = {{0, 0, 0}, {0, 7, 0},  {20, 7, 0}, {20, 0, 0},    {0, 0, 3},
                                       {0, 7, 3}, {20, 0, 3}, {20, 7, 3}, {10, 3.5, 1.5}};
  const double published[9] = {1.3, 30.1, 42.9, 31.9, 9.1, 31.5, 33.0, 43.8, 19.9};
  for (int n = 0; n < 9; ++n)
    CHECK(std::abs(1.995 + reference::slab_time(0.617, 0.195, at[n]) - published[n]) < 0.735);
  CHECK(reference::slab_time(0.6, 0.3, at[7]) == Approx(36.2189).margin(6e-5));
  CHECK(reference::slab_time(0.6, 0.3, at[8]) == Approx(15.6569).margin(6e-5));
}
