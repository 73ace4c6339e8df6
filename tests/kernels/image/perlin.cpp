// SPDX-License-Identifier: Apache-2.0
// Synthetic bone against the textbook definition of gradient noise, and its promises.
#include "tests/backend_test.hpp"
#include "tests/kernels/image/host_values.hpp"
#include <ossatura/kernels/image/perlin.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

using namespace ossatura;
using ossatura::test::host_values;

/// Gradient noise at a point as in the textbook: eight dot products, trilinear in the fades.
double noise(std::uint64_t seed, const double (&p)[3]) {
  const detail::NoiseGradients gradients = detail::noise_gradients();
  int cell[3];
  double t[3];
  double fade[3];
  for (int d = 0; d < 3; ++d) {
    cell[d] = int(std::floor(p[d]));
    t[d] = p[d] - cell[d];
    fade[d] = std::pow(t[d], 3) * (6 * t[d] * t[d] - 15 * t[d] + 10);
  }
  double sum = 0;
  for (int corner = 0; corner < 8; ++corner) {
    const int at[3] = {corner & 1, corner >> 1 & 1, corner >> 2};
    const int g = detail::gradient_number(seed, cell[0] + at[0], cell[1] + at[1], cell[2] + at[2]);
    double weight = 1;
    double dot = 0;
    for (int d = 0; d < 3; ++d) {
      weight *= at[d] ? fade[d] : 1 - fade[d];
      dot += double(gradients[g][d]) / detail::noise_one * (t[d] - at[d]);
    }
    sum += weight * dot;
  }
  return sum;
}

double level_at(const PerlinOptions& options, int x, int y, int z) {
  const double centre[3] = {x + 0.5, y + 0.5, z + 0.5};
  const double scale[3] = {0.95, 0.99, 0.90};
  const double shift[3] = {33.3, 42.42, 314.314};
  double p[3];
  double q[3];
  for (int d = 0; d < 3; ++d) {
    p[d] = centre[d] / options.feature + 0.5;
    q[d] = centre[d] / options.feature * scale[d] + shift[d];
  }
  return std::max(std::abs(noise(options.seed, p)), std::abs(noise(options.seed, q)));
}

OSSATURA_BACKEND_TEST("Perlin bone is gradient noise of the textbook at every voxel", "[perlin]") {
  PerlinOptions options;
  options.shape = {23, 17, 11};
  options.feature = 5.25;
  options.seed = 7;
  const std::vector<float> level = host_values(perlin_level(TestType(), options));
  double worst = 0;
  for (int z = 0; z < 11; ++z)
    for (int y = 0; y < 17; ++y)
      for (int x = 0; x < 23; ++x)
        worst =
            std::max(worst, std::abs(level[x + 23 * (y + 17 * z)] - level_at(options, x, y, z)));
  CHECK(worst < 2e-6); // 24 fractional bits through three interpolations
}

OSSATURA_BACKEND_TEST("Perlin bone is bitwise the same on every backend", "[perlin]") {
  PerlinOptions options;
  options.shape = {61, 40, 33};
  options.feature = 9;
  options.seed = 0xfedcba9876543210u;
  const auto reference = host_values(perlin_level(Kokkos::DefaultHostExecutionSpace(), options));
  CHECK(host_values(perlin_level(TestType(), options)) == reference);
  options.seed += 1;
  CHECK(host_values(perlin_level(TestType(), options)) != reference);
}

OSSATURA_BACKEND_TEST("Refining shape and feature together gives the same Perlin bone",
                      "[perlin]") {
  PerlinOptions coarse;
  coarse.shape = {12, 10, 8};
  coarse.feature = 3.5;
  PerlinOptions fine = coarse;
  for (int& n : fine.shape)
    n *= 3;
  fine.feature *= 3;
  const std::vector<float> a = host_values(perlin_level(TestType(), coarse));
  const std::vector<float> b = host_values(perlin_level(TestType(), fine));
  double worst = 0;
  for (int z = 0; z < 8; ++z)
    for (int y = 0; y < 10; ++y)
      for (int x = 0; x < 12; ++x) // the centre of a coarse voxel is that of its middle fine one
        worst =
            std::max<double>(worst, std::abs(a[x + 12 * (y + 10 * z)] -
                                             b[3 * x + 1 + 36 * (3 * y + 1 + 30 * (3 * z + 1))]));
  CHECK(worst < 2e-6);
}

OSSATURA_BACKEND_TEST("Perlin bone fills the published part of its box", "[perlin]") {
  PerlinOptions options;
  options.shape = {150, 150, 150};
  options.feature = 8;
  options.modulus = 17;
  const PerlinBone<TestType> bone = make_perlin_bone(TestType(), options);
  std::int64_t solid = 0;
  std::int64_t other = 0;
  for (float value : host_values(bone.modulus)) {
    solid += value == 17.0f;
    other += value != 17.0f && value != 0.0f;
  }
  CHECK(other == 0);
  CHECK(solid == bone.num_solid);
  // The mesh "perlin1" of the paper: 30.3 of 550^3 voxels in millions at a threshold of 0.25.
  CHECK(std::abs(double(solid) / (150. * 150 * 150) - 0.182) < 0.01);
}

OSSATURA_BACKEND_TEST("Perlin bone meets a wanted solid fraction to the voxel", "[perlin]") {
  PerlinOptions options;
  options.shape = {40, 41, 42};
  options.feature = 7;
  for (double fraction : {0.0001, 0.1, 0.3, 0.999, 1.0}) {
    options.fraction = fraction;
    const PerlinBone<TestType> bone = make_perlin_bone(TestType(), options);
    // Equal noise in two voxels can cost a voxel more than rounding does.
    CHECK(std::abs(double(bone.num_solid) - fraction * 40 * 41 * 42) <= 2);
    options.fraction = 0;
    options.threshold = bone.threshold;
    CHECK(make_perlin_bone(TestType(), options).num_solid == bone.num_solid);
  }
}

OSSATURA_BACKEND_TEST("Perlin bone of impossible options is rejected", "[perlin]") {
  PerlinOptions options;
  options.feature = 0.5;
  CHECK_THROWS_AS(make_perlin_bone(TestType(), options), std::invalid_argument);
  options.feature = 8;
  options.fraction = 1.5;
  CHECK_THROWS_AS(make_perlin_bone(TestType(), options), std::invalid_argument);
  options.fraction = 0;
  options.threshold = -1;
  CHECK_THROWS_AS(make_perlin_bone(TestType(), options), std::invalid_argument);
  options.threshold = 0.25;
  options.shape = {4, 0, 4};
  CHECK_THROWS_AS(make_perlin_bone(TestType(), options), std::invalid_argument);
}

} // namespace
