// SPDX-License-Identifier: Apache-2.0
// Values at points near others, against a search through all of them.
#include "tests/backend_test.hpp"
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/topopt/near_values.hpp>

#include <algorithm>
#include <cmath>
#include <random>

namespace {

using namespace ossatura;
using Values = std::vector<double>;

Values random_numbers(std::size_t n, double low, double high, unsigned seed) {
  std::mt19937 random(seed);
  Values values(n);
  for (double& value : values)
    value = low + (high - low) * (double(random()) / double(random.max()));
  return values;
}

double distance_of(const Values& a, std::size_t i, const Values& b, std::size_t j) {
  return std::hypot(a[3 * i] - b[3 * j], a[3 * i + 1] - b[3 * j + 1], a[3 * i + 2] - b[3 * j + 2]);
}

/// By sorting all points.
double shepard(const Values& point, const Values& size, const Values& value, const Values& to,
               std::size_t i) {
  std::vector<std::pair<double, std::size_t>> near;
  for (std::size_t j = 0; j < size.size(); ++j)
    near.emplace_back(distance_of(point, j, to, i), j);
  std::sort(near.begin(), near.end());
  near.resize(std::min<std::size_t>(near.size(), 9));
  const auto [nearest, first] = near.front();
  if (nearest < 1e-9 || nearest > size[first])
    return value[first];
  const double radius = near.back().first;
  double sum = 0, weights = 0;
  for (const auto& [d, j] : near) {
    const double weight = std::pow(1 / d - 1 / radius, 2);
    sum += weight * value[j];
    weights += weight;
  }
  return sum / weights;
}

template<class Exec>
Values interpolate(const Exec& exec, const Values& point, const Values& size, const Values& value,
                   const Values& to, double width) {
  return download(exec, interpolate_near(exec,
                                         make_near_sources(exec, upload(exec, "point", point),
                                                           upload(exec, "size", size),
                                                           upload(exec, "value", value), width),
                                         upload(exec, "to", to)));
}

OSSATURA_BACKEND_TEST("Values between random points are those of a search through all",
                      "[near_values]") {
  const TestType exec;
  for (const std::size_t count : {std::size_t(1), std::size_t(5), std::size_t(300)}) {
    const Values point = random_numbers(3 * count, 0, 1, 3), value = random_numbers(count, 0, 1, 5),
                 size = random_numbers(count, 0.02, 0.3, 7),
                 to = random_numbers(600, -0.4, 1.4, 11);
    for (const double width : {0.01, 0.2, 3.0}) {
      INFO(count << " points in cells of " << width);
      const Values found = interpolate(exec, point, size, value, to, width);
      REQUIRE(found.size() == 200);
      for (std::size_t i = 0; i < found.size(); ++i)
        if (std::fabs(found[i] - shepard(point, size, value, to, i)) > 1e-12)
          CHECK(found[i] == Approx(shepard(point, size, value, to, i)).epsilon(1e-12));
    }
    CHECK(interpolate(exec, point, size, value, point, 0.2) == value);
  }
}

OSSATURA_BACKEND_TEST("Values on a lattice do not depend on which of the points as far are taken",
                      "[near_values]") {
  const TestType exec;
  Values point, value, size;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 5; ++j)
      for (int i = 0; i < 6; ++i) {
        point.insert(point.end(), {double(i), double(j), double(k)});
        value.push_back(0.1 * i + 0.02 * j + 0.003 * k);
        size.push_back(0.87);
      }
  // Corners of eight cells, middles of edges, quarters; then far off.
  const Values to = {2.5, 1.5, 1.5, 2.5, 1, 1, 2.25, 1.25, 1.25, 50, -40, 1};
  const Values found = interpolate(exec, point, size, value, to, 1);
  CHECK(found[0] == Approx(0.25 + 0.03 + 0.0045).epsilon(1e-14));
  CHECK(found[1] == Approx(0.25 + 0.02 + 0.003).epsilon(1e-14));
  CHECK(found[3] == value[35]);
  Values turned_point, turned_value;
  for (std::size_t i = value.size(); i-- > 0;) {
    turned_point.insert(turned_point.end(), {point[3 * i], point[3 * i + 1], point[3 * i + 2]});
    turned_value.push_back(value[i]);
  }
  const Values turned = interpolate(exec, turned_point, size, turned_value, to, 1);
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(turned[i] == Approx(found[i]).epsilon(1e-13));
}

} // namespace
