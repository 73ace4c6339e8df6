// SPDX-License-Identifier: Apache-2.0
// Resampled images against sums over all old voxels.
#include "tests/backend_test.hpp"
#include "tests/kernels/image/host_values.hpp"
#include <ossatura/kernels/image/resample.hpp>

#include <cmath>
#include <random>

namespace {

using namespace ossatura;
using ossatura::test::device_image;
using ossatura::test::host_values;
using Shape = std::array<int, 3>;
using Edges = std::array<double, 3>;

std::vector<float> random_values(Shape shape) {
  std::mt19937 random(7);
  const int count = shape[0] * shape[1] * shape[2];
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values)
    value = float(random() % 2000) / 4;
  return values;
}

/// How much the new voxel i of edge `h` takes of the old voxel j of n of edge `e`.
double share(int n, double e, double h, int i, int j) {
  if (h > e) { // the mean of what it covers, in mm
    const double begin = i * h, end = std::min((i + 1) * h, n * e);
    return std::max(0.0, std::min(end, (j + 1) * e) - std::max(begin, j * e)) / (end - begin);
  }
  const double centre = std::clamp((i + 0.5) * h, e / 2, (n - 0.5) * e); // the hat function of j
  return std::max(0.0, 1 - std::abs(centre - (j + 0.5) * e) / e);
}

double expected(const std::vector<float>& values, Shape shape, const Edges& edges, double h, int x,
                int y, int z) {
  double sum = 0;
  std::size_t i = 0;
  for (int c = 0; c < shape[2]; ++c)
    for (int b = 0; b < shape[1]; ++b)
      for (int a = 0; a < shape[0]; ++a)
        sum += share(shape[0], edges[0], h, x, a) * share(shape[1], edges[1], h, y, b) *
               share(shape[2], edges[2], h, z, c) * double(values[i++]);
  return sum;
}

} // namespace

OSSATURA_BACKEND_TEST("cubes take what lies between boxes, or the mean of what they cover",
                      "[resample]") {
  const TestType exec;
  const Shape shape{7, 5, 6};
  const std::vector<float> values = random_values(shape);
  for (const Edges edges : {Edges{0.7, 0.7, 1.25}, Edges{1, 1, 1}, Edges{0.3, 2, 0.9}})
    for (const double h : {0.25, 0.5, 0.7, 1.0, 1.3, 2.6, 40.0}) {
      INFO(edges[0] << " " << edges[1] << " " << edges[2] << " to " << h);
      const auto image = device_image(exec, shape, values);
      const auto found = resample(exec, image, edges, h, Resampling::blend);
      const std::vector<float> host = host_values(found);
      std::size_t i = 0;
      for (int z = 0; z < found.shape[2]; ++z)
        for (int y = 0; y < found.shape[1]; ++y)
          for (int x = 0; x < found.shape[0]; ++x, ++i)
            REQUIRE(std::abs(double(host[i]) - expected(values, shape, edges, h, x, y, z)) < 1e-3);
      for (int d = 0; d < 3; ++d)
        CHECK(std::abs(found.shape[d] * h - shape[std::size_t(d)] * edges[std::size_t(d)]) <=
              (found.shape[d] == 1 ? h : h / 2 + 1e-9));
    }
}

OSSATURA_BACKEND_TEST("voxels of the same edge keep their values to the bit", "[resample]") {
  const TestType exec;
  for (const Shape shape : {Shape{7, 5, 6}, Shape{1, 9, 2}, Shape{1, 1, 1}}) {
    const std::vector<float> values = random_values(shape);
    const auto image = device_image(exec, shape, values);
    for (const double edge : {0.082, 1.0 / 3, 1.0})
      for (const Resampling kind : {Resampling::blend, Resampling::nearest})
        CHECK(host_values(resample(exec, image, {edge, edge, edge}, edge, kind)) == values);
  }
}

OSSATURA_BACKEND_TEST("labels stay labels", "[resample]") {
  const TestType exec;
  const Shape shape{6, 5, 4};
  const Edges edges{0.5, 0.75, 1.25};
  std::vector<float> values = random_values(shape);
  for (float& value : values)
    value = std::floor(value / 50);
  const auto image = device_image(exec, shape, values);
  for (const double h : {0.2, 0.5, 0.8, 1.5}) {
    const auto found = resample(exec, image, edges, h, Resampling::nearest);
    const std::vector<float> host = host_values(found);
    std::size_t i = 0;
    for (int z = 0; z < found.shape[2]; ++z)
      for (int y = 0; y < found.shape[1]; ++y)
        for (int x = 0; x < found.shape[0]; ++x, ++i) {
          const auto old = [&](int d, int at) {
            const int j = int(std::floor((at + 0.5) * h / edges[std::size_t(d)]));
            return std::min(j, shape[std::size_t(d)] - 1);
          };
          REQUIRE(host[i] ==
                  values[std::size_t(old(0, x) + shape[0] * (old(1, y) + shape[1] * old(2, z)))]);
        }
  }
}

OSSATURA_BACKEND_TEST("a part of an image is not resampled", "[resample]") {
  const TestType exec;
  const auto image = device_image(exec, {4, 4, 4}, random_values({4, 4, 4}));
  const auto part = take_planes(exec, image, {1, 3});
  CHECK_THROWS_AS(resample(exec, part, {1, 1, 1}, 0.5, Resampling::blend), std::invalid_argument);
}
