// SPDX-License-Identifier: Apache-2.0
// Tentative prolongators by their definition: orthonormal columns that carry the rigid motions.
#include "tests/backend_test.hpp"
#include "tests/kernels/image/host_values.hpp"
#include <ossatura/kernels/aggregation/tentative.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <random>
#include <stdexcept>

namespace {

using namespace ossatura;
using ossatura::test::host_values;

/// Points in the box 0 to 4, -6 to 2, 7 to 9.
std::vector<double> scattered_points(std::size_t count) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> part(0, 1);
  std::vector<double> point;
  for (std::size_t i = 0; i < count; ++i)
    point.insert(point.end(), {4 * part(random), -6 + 8 * part(random), 7 + 2 * part(random)});
  return point;
}

constexpr Box box = {0, -6, 7, 4, 2, 9};

/// Motion k of component c at x: translations, then rotations about the axes through the centre.
double rigid_motion(const double* x, int c, int k) {
  const double arm[3] = {(x[0] - 2) / 4, (x[1] + 2) / 4, (x[2] - 8) / 4};
  if (k < 3)
    return c == k;
  double axis[3] = {0, 0, 0};
  axis[k - 3] = 1;
  const int d = (c + 1) % 3, e = (c + 2) % 3;
  return axis[d] * arm[e] - axis[e] * arm[d];
}

int count_bits(unsigned bits) {
  int ones = 0;
  for (; bits; bits &= bits - 1)
    ++ones;
  return ones;
}

OSSATURA_BACKEND_TEST("Rigid modes are the motions of a rigid body, zero where it is held",
                      "[aggregation]") {
  const TestType exec;
  const std::vector<double> point = scattered_points(50);
  std::vector<std::uint8_t> held(50, 0);
  held[5] = 7;
  held[9] = 2;
  const std::vector<double> mode = host_values(
      rigid_modes(exec, upload(exec, "test::point", point), box, upload(exec, "test::held", held)));
  REQUIRE(mode.size() == 18 * 50);
  for (std::size_t i = 0; i < 50; ++i)
    for (int c = 0; c < 3; ++c)
      for (int k = 0; k < 6; ++k)
        CHECK(mode[18 * i + std::size_t(6 * c + k)] ==
              Approx(held[i] >> c & 1 ? 0 : rigid_motion(&point[3 * i], c, k)).margin(1e-15));
}

OSSATURA_BACKEND_TEST("Tentative prolongators are orthonormal and carry the rigid motions",
                      "[aggregation]") {
  const TestType exec;
  constexpr std::size_t num_rows = 300;
  std::vector<std::uint8_t> held(num_rows, 0);
  held[5] = 7;
  held[9] = 2;
  const auto modes = rigid_modes(exec, upload(exec, "test::point", scattered_points(num_rows)), box,
                                 upload(exec, "test::held", held));
  const std::vector<double> before = host_values(modes);
  // One node alone, which has no rotations; two, which have no rotation about their axis; one
  // without an aggregate; an aggregate of more nodes than there are lanes.
  std::vector<int> of;
  for (int i = 0; i < int(num_rows); ++i)
    of.push_back(i == 0 ? 0 : i <= 2 ? 1 : i == 3 ? -1 : i < 30 ? 2 : i < 100 ? 3 : 4 + i % 2);
  constexpr std::size_t count = 6;
  const auto made =
      make_tentative_prolongator(exec, upload(exec, "test::aggregate", of), int(count), 3, modes);
  const std::vector<double> value = host_values(made.value), r = host_values(made.coarse_modes);
  const std::vector<std::uint8_t> dropped = host_values(made.dropped);
  CHECK(count_bits(dropped[0]) == 3);
  CHECK(count_bits(dropped[1]) == 1);
  for (std::size_t a = 2; a < count; ++a)
    CHECK(dropped[a] == 0);
  double gram[count][6][6] = {};
  for (std::size_t i = 0; i < num_rows; ++i)
    for (std::size_t c = 0; c < 3; ++c) {
      const double* const row = &value[18 * i + 6 * c];
      for (std::size_t j = 0; j < 6; ++j) {
        if (of[i] < 0) {
          CHECK(row[j] == 0);
          continue;
        }
        const std::size_t a = std::size_t(of[i]);
        double product = 0;
        for (std::size_t k = 0; k < 6; ++k) {
          product += row[k] * r[36 * a + 6 * k + j];
          gram[a][j][k] += row[j] * row[k];
        }
        REQUIRE(product == Approx(before[18 * i + 6 * c + j]).margin(1e-12));
      }
    }
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t j = 0; j < 6; ++j)
      for (std::size_t k = 0; k < 6; ++k)
        CHECK(gram[a][j][k] == Approx(j == k && !(dropped[a] >> j & 1) ? 1.0 : 0.0).margin(1e-12));

  // A coarser level, whose rows are the columns of this one.
  const std::vector<int> coarse_of{0, 0, 1, 1, 1, 0};
  const auto coarse = make_tentative_prolongator(exec, upload(exec, "test::aggregate", coarse_of),
                                                 2, 6, made.coarse_modes);
  const std::vector<double> q = host_values(coarse.value), s = host_values(coarse.coarse_modes);
  for (std::size_t i = 0; i < 36 * count; ++i) {
    const std::size_t row = i / 6, a = std::size_t(coarse_of[row / 6]);
    double product = 0;
    for (std::size_t k = 0; k < 6; ++k)
      product += q[6 * row + k] * s[36 * a + 6 * k + i % 6];
    REQUIRE(product == Approx(r[i]).margin(1e-12));
  }
}

OSSATURA_BACKEND_TEST("Modes of other lengths are refused", "[aggregation]") {
  const TestType exec;
  const auto point = upload(exec, "test::point", std::vector<double>(6, 1));
  const auto held = upload(exec, "test::held", std::vector<std::uint8_t>(1, 0));
  CHECK_THROWS_AS(rigid_modes(exec, point, box, held), std::invalid_argument);
  const auto of = upload(exec, "test::aggregate", std::vector<int>{0});
  CHECK_THROWS_AS(make_tentative_prolongator(exec, of, 1, 3, point), std::invalid_argument);
}

} // namespace
