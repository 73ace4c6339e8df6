// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/sparse/aggregates.hpp>

#include <ossatura/core/machine/processors.hpp>
#include <ossatura/core/sparse/inverse_map.hpp>

#include "tests/catch.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <stdexcept>

namespace {

using namespace ossatura;

struct Lattice {
  HostGraph<> graph;
  std::vector<double> point;
};

/// n^3 nodes, neighbours of those around them, numbered at random.
Lattice make_lattice(int n) {
  std::vector<int> name(std::size_t(n * n * n));
  std::iota(name.begin(), name.end(), 0);
  std::mt19937 random(3);
  std::shuffle(name.begin(), name.end(), random);
  Lattice lattice;
  lattice.point.resize(3 * name.size());
  std::vector<std::vector<int>> rows(name.size());
  const auto at = [&](int x, int y, int z) { return name[std::size_t((x * n + y) * n + z)]; };
  for (int x = 0; x < n; ++x)
    for (int y = 0; y < n; ++y)
      for (int z = 0; z < n; ++z) {
        const std::size_t i = std::size_t(at(x, y, z));
        const double place[3] = {x + 10.0, 2.0 * y, z - 3.0};
        std::copy_n(place, 3, &lattice.point[3 * i]);
        for (int a = std::max(0, x - 1); a <= std::min(n - 1, x + 1); ++a)
          for (int b = std::max(0, y - 1); b <= std::min(n - 1, y + 1); ++b)
            for (int c = std::max(0, z - 1); c <= std::min(n - 1, z + 1); ++c)
              rows[i].push_back(at(a, b, c));
      }
  lattice.graph.row_begin.push_back(0);
  for (std::vector<int>& row : rows) {
    std::sort(row.begin(), row.end());
    lattice.graph.column.insert(lattice.graph.column.end(), row.begin(), row.end());
    lattice.graph.row_begin.push_back(std::int64_t(lattice.graph.column.size()));
  }
  return lattice;
}

TEST_CASE("aggregates are neighbourhoods of about 27 nodes that cover what is active",
          "[aggregation]") {
  const int n = 13;
  const Lattice lattice = make_lattice(n);
  std::vector<std::uint8_t> active(std::size_t(n * n * n), 1);
  std::size_t num_active = active.size();
  for (std::size_t i = 0; i < active.size(); ++i)
    if (lattice.point[3 * i] == 10) { // a face
      active[i] = 0;
      --num_active;
    }
  const Aggregates aggregates = make_aggregates(lattice.graph, active);
  std::vector<int> size(std::size_t(aggregates.count), 0);
  std::vector<double> low(3 * size.size(), 1e9), high(3 * size.size(), -1e9);
  for (std::size_t i = 0; i < active.size(); ++i) {
    REQUIRE((aggregates.of[i] >= 0) == bool(active[i]));
    if (!active[i])
      continue;
    const std::size_t a = std::size_t(aggregates.of[i]);
    ++size[a];
    for (std::size_t c = 0; c < 3; ++c) {
      low[3 * a + c] = std::min(low[3 * a + c], lattice.point[3 * i + c]);
      high[3 * a + c] = std::max(high[3 * a + c], lattice.point[3 * i + c]);
    }
  }
  CHECK(*std::min_element(size.begin(), size.end()) >= 8);
  const double mean = double(num_active) / aggregates.count;
  CHECK(mean > 18);
  CHECK(mean < 45);
  for (std::size_t i = 0; i < low.size(); ++i) // in cells: at most 2 on each side of the middle
    CHECK((high[i] - low[i]) / (i % 3 == 1 ? 2 : 1) <= 4);
}

TEST_CASE("aggregates of cells cover what is active, the same by any number of threads",
          "[aggregation]") {
  const int n = 25;
  const Lattice lattice = make_lattice(n);
  std::vector<std::uint8_t> active(std::size_t(n * n * n), 1);
  for (std::size_t i = 0; i < active.size(); i += 97)
    active[i] = 0;
  const Aggregates whole = make_aggregates(lattice.graph, active);
  const int before = io_threads();
  for (const int rows_of_cell : {1, 200, 2000, n * n * n - 1}) {
    set_io_threads(1);
    const Aggregates alone =
        make_aggregates(lattice.graph, active, lattice.point.data(), rows_of_cell);
    set_io_threads(5);
    const Aggregates cells =
        make_aggregates(lattice.graph, active, lattice.point.data(), rows_of_cell);
    CHECK(cells.count == alone.count);
    CHECK(cells.of == alone.of);
    CHECK(cells.count > 0.7 * whole.count);
    CHECK(cells.count < 1.3 * whole.count);
    std::vector<int> size(std::size_t(cells.count), 0);
    for (std::size_t i = 0; i < active.size(); ++i) {
      REQUIRE((cells.of[i] >= 0) == bool(active[i]));
      if (active[i])
        ++size[std::size_t(cells.of[i])];
    }
    CHECK(*std::min_element(size.begin(), size.end()) > 0);
  }
  set_io_threads(before);
  // As many rows as one cell takes, or no places: the same as without cells.
  CHECK(make_aggregates(lattice.graph, active, lattice.point.data(), n * n * n).of == whole.of);
  const std::vector<double> one_place(3 * active.size(), 2.5);
  const Aggregates together = make_aggregates(lattice.graph, active, one_place.data(), 100);
  CHECK(together.of == whole.of);
}

TEST_CASE("inverse maps have each index once, in order", "[aggregation]") {
  std::mt19937 random(5);
  const int num_targets = 40;
  std::vector<int> map(5000);
  for (int& target : map)
    target = int(random() % (num_targets + 1)) - 1;
  const int before = io_threads();
  for (const int threads : {1, 4}) {
    set_io_threads(threads);
    const HostGraph<> inverse = invert_map(map, num_targets);
    REQUIRE(inverse.num_rows() == num_targets);
    std::vector<int> index;
    for (int j = 0; j < num_targets; ++j) {
      CHECK(inverse.row_begin[std::size_t(j)] == std::int64_t(index.size()));
      for (std::size_t i = 0; i < map.size(); ++i)
        if (map[i] == j)
          index.push_back(int(i));
    }
    CHECK(inverse.column == index);
  }
  set_io_threads(before);
}

TEST_CASE("marks of another length and cells without rows are refused", "[aggregation]") {
  const Lattice lattice = make_lattice(2);
  const std::vector<std::uint8_t> active(8, 1);
  CHECK_THROWS_AS(make_aggregates(lattice.graph, {1, 1}), std::invalid_argument);
  CHECK_THROWS_AS(make_aggregates(lattice.graph, active, lattice.point.data(), 0),
                  std::invalid_argument);
}

} // namespace
