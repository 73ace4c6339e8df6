// SPDX-License-Identifier: Apache-2.0
// Turned images against interpolation by hat functions on the host, and turns by right angles
// against exchanged indices.
#include "tests/backend_test.hpp"
#include "tests/kernels/image/host_values.hpp"
#include <ossatura/kernels/image/moments.hpp>
#include <ossatura/kernels/image/turn.hpp>

#include <cmath>
#include <random>

namespace {

using namespace ossatura;
using ossatura::test::device_image;
using ossatura::test::host_values;
using Triple = std::array<double, 3>;

std::vector<float> random_greys(std::array<int, 3> shape) {
  std::mt19937 random(11);
  std::vector<float> values(std::size_t(shape[0] * shape[1] * shape[2]));
  for (float& value : values)
    value = float(random() % 2000) / 4;
  return values;
}

Triple turned_by(const Rotation& r, const Triple& v) {
  Triple found{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t d = 0; d < 3; ++d)
      found[i] += r[3 * i + d] * v[d];
  return found;
}

Rotation turned_back(const Rotation& r) {
  return {r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]};
}

/// The old image at a point, mm from its centre, by the hat functions of all of its voxels.
double by_hats(const std::vector<float>& values, std::array<int, 3> shape, const Triple& edges,
               const Triple& point) {
  Triple at{};
  for (std::size_t d = 0; d < 3; ++d)
    at[d] = std::clamp(point[d] / edges[d] + 0.5 * shape[d] - 0.5, 0.0, shape[d] - 1.0);
  double sum = 0;
  std::size_t i = 0;
  for (int z = 0; z < shape[2]; ++z)
    for (int y = 0; y < shape[1]; ++y)
      for (int x = 0; x < shape[0]; ++x, ++i)
        sum += std::max(0.0, 1 - std::abs(at[0] - x)) * std::max(0.0, 1 - std::abs(at[1] - y)) *
               std::max(0.0, 1 - std::abs(at[2] - z)) * double(values[i]);
  return sum;
}

} // namespace

OSSATURA_BACKEND_TEST("a turned image lies linearly between the old voxels", "[turn]") {
  const TestType exec;
  const std::array<int, 3> shape{5, 4, 6};
  const std::vector<float> values = random_greys(shape);
  const auto image = device_image(exec, shape, values);
  const Rotation rotation =
      compose(rotation_about({0.2, -1, 0.4}, 37), rotation_about({0, 0, 2}, 200));
  for (const Triple edges : {Triple{1, 1, 1}, Triple{0.7, 0.7, 1.25}})
    for (const double edge : {0.7, 1.0, 1.5}) {
      INFO(edges[2] << " to " << edge);
      const TurnedGrid grid = make_turned_grid(image.shape, edges, edge, rotation);
      const auto found = turn_image(exec, image, grid, Resampling::blend);
      const auto solid = turn_image(exec, image, grid, Resampling::blend);
      clear_beside(exec, grid, solid);
      const std::vector<float> blend = host_values(found), cleared = host_values(solid),
                               label =
                                   host_values(turn_image(exec, image, grid, Resampling::nearest));
      const int n = int(std::ceil(edge / std::min(edge, edges[0]) - 1e-3));
      std::size_t i = 0, inside = 0;
      for (int z = 0; z < found.shape[2]; ++z)
        for (int y = 0; y < found.shape[1]; ++y)
          for (int x = 0; x < found.shape[0]; ++x, ++i) {
            const auto old = [&](double a, double b, double c) {
              return turned_by(turned_back(rotation), {edge * (x + a - 0.5 * found.shape[0]),
                                                       edge * (y + b - 0.5 * found.shape[1]),
                                                       edge * (z + c - 0.5 * found.shape[2])});
            };
            double sum = 0;
            for (int k = 0; k < n * n * n; ++k) {
              const int a = k % n, b = k / n % n, c = k / (n * n);
              sum +=
                  by_hats(values, shape, edges, old((a + 0.5) / n, (b + 0.5) / n, (c + 0.5) / n));
            }
            REQUIRE(std::abs(double(blend[i]) - sum / (n * n * n)) < 1e-3);
            const Triple centre = old(0.5, 0.5, 0.5);
            bool is_inside = true;
            std::size_t nearest = 0, stride = 1;
            for (std::size_t d = 0; d < 3; ++d) {
              const double half = 0.5 * shape[d];
              is_inside = is_inside && std::abs(centre[d] / edges[d]) <= half;
              nearest += stride * std::size_t(std::clamp(std::floor(centre[d] / edges[d] + half),
                                                         0.0, shape[d] - 1.0));
              stride *= std::size_t(shape[d]);
            }
            inside += is_inside;
            REQUIRE(cleared[i] == (is_inside ? blend[i] : 0));
            REQUIRE(label[i] == values[nearest]);
          }
      // As many voxels as the old image has room for, but for those cut by its sides.
      const double room =
          edges[0] * edges[1] * edges[2] * double(values.size()) / (edge * edge * edge);
      CHECK(std::abs(double(inside) / room - 1) < 0.2);
    }
}

OSSATURA_BACKEND_TEST("a turn by a right angle exchanges indices to the bit", "[turn]") {
  const TestType exec;
  const std::array<int, 3> shape{5, 4, 7};
  const std::vector<float> values = random_greys(shape);
  const auto image = device_image(exec, shape, values);
  const double edge = 0.082;
  for (const double degrees : {0.0, 90.0, 180.0, 270.0, -90.0})
    for (std::size_t axis = 0; axis < 3; ++axis) {
      Triple about{};
      about[axis] = 1;
      const Rotation rotation = rotation_about(about, degrees);
      const TurnedGrid grid = make_turned_grid(image.shape, {edge, edge, edge}, edge, rotation);
      for (const Resampling kind : {Resampling::blend, Resampling::nearest}) {
        const auto found = turn_image(exec, image, grid, kind);
        clear_beside(exec, grid, found);
        const std::vector<float> host = host_values(found);
        REQUIRE(host.size() == values.size());
        std::size_t i = 0;
        for (int z = 0; z < shape[2]; ++z)
          for (int y = 0; y < shape[1]; ++y)
            for (int x = 0; x < shape[0]; ++x, ++i) {
              const Triple at =
                  turned_by(rotation, {x + 0.5 - 0.5 * shape[0], y + 0.5 - 0.5 * shape[1],
                                       z + 0.5 - 0.5 * shape[2]});
              std::size_t place = 0, stride = 1;
              for (std::size_t d = 0; d < 3; ++d) {
                place += stride * std::size_t(at[d] + 0.5 * found.shape[d] - 0.5 + 1e-9);
                stride *= std::size_t(found.shape[d]);
              }
              REQUIRE(host[place] == values[i]);
            }
      }
    }
}

OSSATURA_BACKEND_TEST("the long axis of a slanted bar is found", "[turn]") {
  const TestType exec;
  const std::array<int, 3> shape{40, 36, 24};
  const Triple edges{0.5, 0.5, 1};
  const Rotation rotation = compose(rotation_about({1, 0, 0}, 20), rotation_about({0, 1, 0}, -65));
  std::vector<float> values;
  for (int z = 0; z < shape[2]; ++z)
    for (int y = 0; y < shape[1]; ++y)
      for (int x = 0; x < shape[0]; ++x) { // 15 x 8 x 4 mm, the longest along the turned z
        const Triple at =
            turned_by(turned_back(rotation),
                      {edges[0] * (x - 20.0), edges[1] * (y - 17.0), edges[2] * (z - 11.5)});
        values.push_back(std::abs(at[0]) < 4 && std::abs(at[1]) < 2 && std::abs(at[2]) < 7.5);
      }
  const auto found = find_principal_axes(exec, device_image(exec, shape, values), edges);
  REQUIRE(found);
  for (const auto& [n, axis] : {std::pair<std::size_t, Triple>{0, {0, 0, 1}}, {2, {0, 1, 0}}}) {
    const Triple expected = turned_by(rotation, axis);
    double cosine = 0;
    for (std::size_t d = 0; d < 3; ++d)
      cosine += expected[d] * found->axis[n][d];
    CHECK(std::abs(cosine) > std::cos(1.0 / 57.3)); // within a degree
  }
  CHECK(found->spread[0] == Approx(15 / std::sqrt(12.0)).epsilon(0.02));
  CHECK(found->spread[1] == Approx(8 / std::sqrt(12.0)).epsilon(0.03));
  CHECK(found->spread[2] == Approx(4 / std::sqrt(12.0)).epsilon(0.05));
  const std::vector<float> none(values.size(), 0.0f);
  CHECK_FALSE(find_principal_axes(exec, device_image(exec, shape, none), edges));
}

TEST_CASE("rotations are right-handed, and say their axis and angle", "[turn]") {
  CHECK(rotation_about({0, 0, 3}, 90) == Rotation{0, -1, 0, 1, 0, 0, 0, 0, 1});
  CHECK(rotation_about({1, 0, 0}, -270) == Rotation{1, 0, 0, 0, 0, -1, 0, 1, 0});
  for (const double degrees : {0.0, 1e-3, 33.0, 90.0, 179.0, 180.0}) {
    const AxisAndAngle found = axis_and_angle(rotation_about({1, -2, 2}, degrees));
    CHECK(found.degrees == Approx(degrees).margin(1e-9));
    const double sign = found.axis[0] < 0 ? -1 : 1; // a half turn has two axes
    if (degrees > 0)
      CHECK(sign * found.axis[1] == Approx(-2.0 / 3).epsilon(1e-6));
    CHECK((sign == 1 || degrees == 180));
  }
  const Triple from{0.6, 0, 0.8}, to{0, 1, 0};
  const Triple turned = turned_by(rotation_between(from, to), from);
  for (std::size_t d = 0; d < 3; ++d)
    CHECK(turned[d] == Approx(to[d]).margin(1e-15));
  CHECK_THROWS_AS(rotation_about({0, 0, 0}, 5), std::invalid_argument);
}

TEST_CASE("principal axes of a covariance are its eigenvectors", "[turn]") {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    const Rotation r = compose(rotation_about({1, 2, 3}, double(random() % 360)),
                               rotation_about({-1, 0, 2}, double(random() % 360)));
    const Triple spread{5, round % 3 == 0 ? 5.0 : 2.0, round % 5 == 0 ? 0 : 1.0};
    std::array<double, 9> covariance{};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t d = 0; d < 3; ++d)
        for (std::size_t k = 0; k < 3; ++k)
          covariance[3 * i + d] += r[3 * i + k] * r[3 * d + k] * spread[k] * spread[k];
    const PrincipalAxes found = principal_axes(covariance);
    for (std::size_t n = 0; n < 3; ++n) {
      CHECK(found.spread[n] == Approx(spread[n]).margin(1e-6));
      for (std::size_t i = 0; i < 3; ++i) {
        double product = 0;
        for (std::size_t d = 0; d < 3; ++d)
          product += covariance[3 * i + d] * found.axis[n][d];
        CHECK(product == Approx(spread[n] * spread[n] * found.axis[n][i]).margin(1e-12));
      }
    }
  }
}
