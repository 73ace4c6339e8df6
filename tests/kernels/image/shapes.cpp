// SPDX-License-Identifier: Apache-2.0
// Generated bodies voxel by voxel.
#include "tests/backend_test.hpp"
#include "tests/kernels/image/host_values.hpp"
#include <ossatura/kernels/image/shapes.hpp>

#include <cmath>
#include <numeric>

namespace {

using namespace ossatura;
using ossatura::test::host_values;

OSSATURA_BACKEND_TEST("A cube is solid everywhere", "[shapes]") {
  const VoxelArray<TestType> cube = make_cube(TestType(), {3, 4, 5}, 12.5f);
  CHECK(cube.shape[0] == 3);
  CHECK(cube.shape[2] == 5);
  CHECK(host_values(cube) == std::vector<float>(60, 12.5f));
}

OSSATURA_BACKEND_TEST("A ball in three voxels per axis is the seven voxels around the middle",
                      "[shapes]") {
  SphereOptions options;
  options.shape = {3, 3, 3};
  options.radius = 1.2;
  options.modulus = 2;
  const std::vector<float> ball = host_values(make_sphere(TestType(), options));
  for (int z = 0; z < 3; ++z)
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 3; ++x) {
        const int steps = std::abs(x - 1) + std::abs(y - 1) + std::abs(z - 1);
        CHECK(ball[x + 3 * (y + 3 * z)] == (steps <= 1 ? 2.0f : 0.0f));
      }
}

OSSATURA_BACKEND_TEST("A ball with a core has the volumes of two balls", "[shapes]") {
  SphereOptions options;
  options.shape = {61, 60, 62};
  options.modulus = 1;
  options.inner_radius = 20;
  options.inner_modulus = 5.5f;
  options.outer_modulus = 0.25f;
  const std::vector<float> ball = host_values(make_sphere(TestType(), options));
  double shell = 0;
  double core = 0;
  double outside = 0;
  for (float modulus : ball) {
    shell += modulus == 1.0f;
    core += modulus == 5.5f;
    outside += modulus == 0.25f;
  }
  const double pi = Kokkos::numbers::pi;
  CHECK(shell + core + outside == 61. * 60 * 62);
  CHECK(std::abs(core / (4. / 3 * pi * 8000) - 1) < 0.01);
  CHECK(std::abs((shell + core) / (4. / 3 * pi * 27000) - 1) < 0.01);
}

OSSATURA_BACKEND_TEST("A laminate repeats its layers along its axis", "[shapes]") {
  LaminateOptions options;
  options.shape = {7, 8, 9};
  options.layers = {{2, 10}, {1, 0}, {3, 30}};
  const std::vector<float> expected{10, 10, 0, 30, 30, 30, 10, 10, 0};
  for (options.axis = 0; options.axis < 3; ++options.axis) {
    const std::vector<float> laminate = host_values(make_laminate(TestType(), options));
    int wrong = 0;
    for (int z = 0; z < 9; ++z)
      for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 7; ++x) {
          const int along[3] = {x, y, z};
          wrong += laminate[x + 7 * (y + 8 * z)] != expected[along[options.axis]];
        }
    CHECK(wrong == 0);
  }
}

OSSATURA_BACKEND_TEST("Impossible bodies are rejected", "[shapes]") {
  const TestType exec;
  CHECK_THROWS_AS(make_cube(exec, {3, 3, -1}, 1), std::invalid_argument);
  CHECK_THROWS_AS(make_cube(exec, {3, 3, 3}, -1), std::invalid_argument);
  CHECK_THROWS_AS(make_cube(exec, {3, 3, 3}, std::nanf("")), std::invalid_argument);
  SphereOptions sphere;
  sphere.radius = 5;
  sphere.inner_radius = 6;
  CHECK_THROWS_AS(make_sphere(exec, sphere), std::invalid_argument);
  LaminateOptions laminate;
  laminate.axis = 3;
  CHECK_THROWS_AS(make_laminate(exec, laminate), std::invalid_argument);
  laminate.axis = 0;
  laminate.layers = {{0, 1}};
  CHECK_THROWS_AS(make_laminate(exec, laminate), std::invalid_argument);
  laminate.layers.clear();
  CHECK_THROWS_AS(make_laminate(exec, laminate), std::invalid_argument);
}

} // namespace
