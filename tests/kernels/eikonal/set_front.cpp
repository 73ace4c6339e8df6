// SPDX-License-Identifier: Apache-2.0
// How a front of sets starts and ends, on every backend; its iterations against those of front.hpp
// where the backend has resident grids.
#include "tests/backend_test.hpp"
#include "tests/kernels/eikonal/front_box.hpp"
#include <ossatura/kernels/eikonal/set_front.hpp>

#include <algorithm>

namespace {

using namespace ossatura;
using namespace ossatura::test;

/// Room for `groups` groups of sets of `num_points` points, in parts of two blocks.
template<class Real, class Exec>
SetFront<Exec, Real> front_without_grid(const Exec& exec, int num_points, int groups) {
  SetFront<Exec, Real> front;
  front.num_items = std::int64_t(groups) * num_points;
  front.num_blocks = 2;
  front.part_size = 3;
  front.queue = make_zeros<std::uint32_t>(exec, front.num_queues * front.queue_size(), "queue");
  front.length = make_uninitialized<int>(exec, 2 * front.num_blocks + 4, "length");
  front.point = make_uninitialized<SetsOfPoint>(exec, front.num_items, "point");
  for (auto& t : front.time)
    t = make_uninitialized<Real>(exec, front.num_items * front.sets, "time");
  front.arrivals = make_uninitialized<unsigned>(exec, 1, "arrivals");
  front.state = make_uninitialized<std::uint64_t>(exec, front.num_states, "state");
  return front;
}

template<class Real, class Exec>
void check_start_and_end(const Exec& exec) {
  using Front = SetFront<Exec, Real>;
  constexpr int n = 5, sets = Front::sets, num_sets = 2 * sets + 3;
  // Sets of the second group and of the third, at points 1, 1, 4 and 0; one of the first.
  const std::vector<std::uint32_t> site = {3, sets * n + 1, (sets + 2) * n + 1, (sets + 1) * n + 4,
                                           (2 * sets + 1) * n};
  std::vector<Real> start(num_sets * n);
  for (std::size_t i = 0; i < start.size(); ++i)
    start[i] = Real(i) / 7;
  const auto time = upload(exec, "time", start);
  const Front front = front_without_grid<Real>(exec, n, 2);
  restart_front(exec, front, upload(exec, "site", site), time, n, sets);
  fence(exec, "test");

  const auto point = to_host<Exec>(front.point);
  for (int i = 0; i < 2 * n; ++i) {
    INFO("item " << i);
    const std::uint32_t expected = i == 1 ? 0x0505u : i == 4 ? 0x0202u : i == n ? 0x0202u : 0;
    CHECK(point[std::size_t(i)].field(0) == expected);
    for (const int k : {1, 2, 3})
      CHECK(point[std::size_t(i)].field(k) == 0);
  }
  const auto queue = to_host<Exec>(front.queue);
  std::vector<std::uint32_t> items(queue.begin() + 6, queue.begin() + 9);
  std::sort(items.begin(), items.end());
  CHECK(items == std::vector<std::uint32_t>{1, 4, n});
  CHECK(to_host<Exec>(front.length) == std::vector<int>{0, 0, 0, 0, 3, 0, 0, 0});
  CHECK(to_host<Exec>(front.state) == std::vector<std::uint64_t>{0, 3, 0, 0});
  for (const auto& side_by_side : front.time) {
    const auto t = to_host<Exec>(side_by_side);
    CHECK(t[std::size_t(sets * 2 + 1)] == start[(sets + 1) * n + 2]);
    CHECK(t[std::size_t(sets * (n + 4) + 2)] == start[(2 * sets + 2) * n + 4]);
    CHECK(t[std::size_t(sets * (n + 4) + 3)] == unreached_time<Real>); // of no set
  }

  Kokkos::deep_copy(exec, time, Real(-1));
  store_times(exec, front, 7, time, n, sets);
  fence(exec, "test");
  const auto stored = to_host<Exec>(time);
  CHECK(std::vector<Real>(stored.begin(), stored.begin() + sets * n) ==
        std::vector<Real>(sets * n, Real(-1)));
  CHECK(std::equal(stored.begin() + sets * n, stored.end(), start.begin() + sets * n));
}

OSSATURA_BACKEND_TEST("A front of sets has the times of its sets", "[eikonal]") {
  check_start_and_end<float>(TestType());
  check_start_and_end<double>(TestType());
}

#if defined(KOKKOS_ENABLE_CUDA)
/// `num_sets` sets, `groups` groups of them at once.
void check_sets(const Cuda& exec, int num_sets, int groups, int part_size, int launch) {
  INFO(num_sets << " sets, " << groups << " groups at once, parts of " << part_size << ", "
                << launch << " iterations a launch");
  using Front = SetFront<Cuda, float>;
  const FrontBox<Cuda> box(exec);
  const int n = int(box.topology.num_points());
  const auto ring = make_ring_metric<float>(exec, n, box.topology.num_tetra());
  fill_ring_metric(exec, box.update, ring);
  // Sets in pairs begin at the same points.
  std::vector<std::uint32_t> site;
  for (int set = 0; set < num_sets; ++set)
    for (int k = 0; k <= set % 3; ++k)
      site.push_back(std::uint32_t(set * n + (set / 2 * 97 + k * 211) % n));
  const auto sites = upload(exec, "site", site);
  const auto start = make_uninitialized<float>(exec, std::int64_t(num_sets) * n, "start");
  Kokkos::deep_copy(exec, start, unreached_time<float>);
  std::vector<float> site_time;
  for (const std::uint32_t s : site)
    site_time.push_back(0.3f * float(s % 7));
  scatter_sites(exec, sites, upload(exec, "site_time", site_time), start);
  int iterations = 0;
  const auto expected = launched_times(exec, box, sites, start, iterations);
  const Front front = make_set_front<float>(exec, std::int64_t(groups) * n, part_size);
  REQUIRE(front.num_blocks > 0);
  for (int round = 0; round < 2; ++round) { // the second in arrays that were used
    const auto time = make_uninitialized<float>(exec, start.extent(0), "time");
    Kokkos::deep_copy(exec, time, start);
    int most = 0;
    for (int set = 0; set < num_sets; set += groups * Front::sets) {
      restart_front(exec, front, sites, time, n, set);
      std::vector<std::uint64_t> state = to_host<Cuda>(front.state);
      REQUIRE(state[Front::count] > 0);
      while (state[Front::count] > 0) {
        const int k = int(state[Front::iteration]);
        REQUIRE(k < iterations);
        advance_set_front(exec, box.update, ring, front, 1 - 1e-7f, n, k, k + launch);
        fence(exec, "test");
        state = to_host<Cuda>(front.state);
      }
      most = std::max(most, int(state[Front::iteration]));
      store_times(exec, front, int(state[Front::iteration]), time, n, set);
    }
    CHECK(most == iterations);
    CHECK(to_host<Cuda>(time) == expected);
  }
}

TEST_CASE("A front of sets does what launches do (cuda)", "[eikonal][cuda]") {
  const Cuda exec;
  if (!has_resident_grids(exec)) { // who then keeps launches
    CHECK(make_set_front<float>(exec, 10).num_blocks == 0);
    return;
  }
  check_sets(exec, 1, 1, 0, 1000);
  check_sets(exec, 8, 1, 1, 1000); // nearly all goes to the part for all blocks
  check_sets(exec, 11, 1, 2, 1);
  check_sets(exec, 24, 3, 0, 7);
  check_sets(exec, 200, 25, 3, 1000); // more points at once than warps have groups of lanes
}
#endif

} // namespace
