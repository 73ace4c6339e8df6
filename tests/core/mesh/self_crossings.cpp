// SPDX-License-Identifier: Apache-2.0
// Self-crossings of surfaces against all pairs of edges and triangles, and what threads make of
// surfaces: the same bits, whatever their number.
#include "tests/catch.hpp"
#include "tests/core/io/io_threads.hpp"
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/core/mesh/iso_surface.hpp>
#include <ossatura/core/mesh/lattice_body.hpp>
#include <ossatura/core/mesh/surface/self_crossings.hpp>
#include <ossatura/core/mesh/surface/smooth_surface.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <random>
#include <set>
#include <tuple>
#include <vector>

namespace {

using namespace ossatura;
using Point = std::array<double, 3>;
using Crossings = std::set<std::tuple<int, int, int>>;

/// T. Möller, B. Trumbore, J. Graphics Tools 2 (1997) 21-28: where on the segment, and in the
/// triangle.
bool meets(const Point& p, const Point& q, const Point& a, const Point& b, const Point& c) {
  const auto minus = [](const Point& x, const Point& y) {
    return Point{x[0] - y[0], x[1] - y[1], x[2] - y[2]};
  };
  const auto cross = [](const Point& x, const Point& y) {
    return Point{x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]};
  };
  const auto dot = [](const Point& x, const Point& y) {
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
  };
  const Point way = minus(q, p), one = minus(b, a), other = minus(c, a), from = minus(p, a);
  const Point across = cross(way, other), turned = cross(from, one);
  const double scale = dot(one, across);
  const double u = dot(from, across) / scale, v = dot(way, turned) / scale,
               t = dot(other, turned) / scale;
  return u > 0 && v > 0 && u + v < 1 && t > 0 && t < 1;
}

Crossings all_pairs(const TriangleSurface& surface) {
  Crossings found;
  const auto at = [&](int v) -> const Point& { return surface.vertex[std::size_t(v)]; };
  for (const auto& own : surface.triangle)
    for (std::size_t k = 0; k < 3; ++k) {
      const int from = own[k], to = own[(k + 1) % 3];
      if (from > to)
        continue;
      for (std::size_t i = 0; i < surface.triangle.size(); ++i) {
        const auto& [a, b, c] = surface.triangle[i];
        if (from != a && from != b && from != c && to != a && to != b && to != c &&
            meets(at(from), at(to), at(a), at(b), at(c)))
          found.insert({from, to, int(i)});
      }
    }
  return found;
}

ElementMesh box_of(std::size_t cells) {
  return make_hexa_box({int(cells), int(cells), int(cells)}, {1, 1, 1});
}

/// Of the elements of a box that begin in a ball.
TriangleSurface ball(std::size_t cells) {
  const ElementMesh mesh = box_of(cells);
  std::vector<double> density;
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    const double* x = &mesh.point[3 * std::size_t(mesh.node[8 * e])];
    density.push_back(std::hypot(x[0] - 0.47, x[1] - 0.5, x[2] - 0.51) < 0.4 ? 1 : 0);
  }
  return iso_surface(mesh, node_means(mesh, density), 0.5);
}

void shake(TriangleSurface& surface, double size) {
  std::mt19937 random(5);
  for (Point& vertex : surface.vertex)
    for (double& x : vertex)
      x += size * (2.0 * random() / random.max() - 1);
}

} // namespace

TEST_CASE("Crossings are those of all pairs of edges and triangles", "[self_crossings]") {
  for (const double size : {1e-3, 0.02, 0.1, 0.5}) {
    TriangleSurface surface = ball(7);
    shake(surface, size);
    // A triangle across the others, whose box has nearly all cells.
    surface.triangle.push_back({0, int(surface.vertex.size() / 2), int(surface.vertex.size() - 1)});
    const Crossings expected = all_pairs(surface);
    for (const int threads : {1, 3}) {
      const ossatura_test::IoThreads chosen(threads);
      INFO("shaken by " << size << ", " << threads << " threads");
      const std::vector<SelfCrossing> found = find_self_crossings(surface);
      CHECK(std::is_sorted(found.begin(), found.end()));
      Crossings all;
      for (const SelfCrossing& one : found)
        all.insert({one.from, one.to, one.triangle});
      CHECK(all.size() == found.size());
      CHECK(all == expected);
      CHECK((size < 0.1 || found.size() > 1000));
    }
  }
}

TEST_CASE("Threads make the same surface", "[self_crossings]") {
  TriangleSurface smooth;
  std::vector<SelfCrossing> crossings;
  for (const int threads : {1, 7}) {
    const ossatura_test::IoThreads chosen(threads);
    TriangleSurface surface = ball(33);
    REQUIRE(surface.vertex.size() > 10000);
    shake(surface, 0.01);
    const std::vector<SelfCrossing> found = find_self_crossings(surface);
    surface = smooth_surface(std::move(surface), 5, {0, 0, 0, 1, 1, 1}).surface;
    if (threads == 1) {
      smooth = surface;
      crossings = found;
    }
    CHECK(surface.vertex == smooth.vertex);
    CHECK(surface.triangle == smooth.triangle);
    CHECK(std::equal(
        found.begin(), found.end(), crossings.begin(), crossings.end(),
        [](const SelfCrossing& a, const SelfCrossing& b) { return !(a < b) && !(b < a); }));
  }
  CHECK(!crossings.empty());
}

TEST_CASE("Means at nodes are sums over the elements in their order", "[self_crossings]") {
  ElementMesh mesh = box_of(51);
  std::mt19937 random(11);
  for (double& x : mesh.point)
    x += 1e-3 * random() / double(random.max());
  // Elements in any order, so that every thread meets nodes of every other.
  std::vector<std::size_t> order(mesh.num_elem());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::shuffle(order.begin(), order.begin() + 20000, random);
  const std::vector<std::int32_t> node = mesh.node;
  std::vector<double> value;
  for (std::size_t e = 0; e < order.size(); ++e) {
    std::copy_n(node.begin() + std::ptrdiff_t(8 * order[e]), 8,
                mesh.node.begin() + std::ptrdiff_t(8 * e));
    value.push_back(double(random()) / random.max());
  }
  std::vector<double> first;
  for (const int threads : {1, 2, 5}) {
    const ossatura_test::IoThreads chosen(threads);
    const std::vector<double> means = node_means(mesh, value);
    if (threads == 1)
      first = means;
    CHECK(means == first);
  }
  // All volumes are nearly the same.
  std::vector<double> sum(mesh.num_points()), count(sum.size());
  for (std::size_t a = 0; a < mesh.node.size(); ++a) {
    sum[std::size_t(mesh.node[a])] += value[a / 8];
    ++count[std::size_t(mesh.node[a])];
  }
  double most = 0;
  for (std::size_t n = 0; n < sum.size(); ++n)
    most = std::max(most, std::abs(first[n] - sum[n] / count[n]));
  CHECK(most < 0.1);
  CHECK(most > 0);
}
