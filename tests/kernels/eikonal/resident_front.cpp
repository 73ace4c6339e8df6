// SPDX-License-Identifier: Apache-2.0
// What a resident front reads and how it starts, on every backend; its iterations against those of
// front.hpp where the backend has resident grids.
#include "tests/backend_test.hpp"
#include "tests/kernels/eikonal/front_box.hpp"
#include <ossatura/kernels/eikonal/resident_front.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

using namespace ossatura;
using namespace ossatura::test;

template<class Exec>
void check_ring_metric(const Exec& exec) {
  const FrontBox<Exec> box(exec);
  const std::int64_t n = box.topology.num_points(), num_tetra = box.topology.num_tetra();
  const auto ring = make_ring_metric<float>(exec, n, num_tetra);
  fill_ring_metric(exec, box.update, ring);
  fence(exec, "test");
  const auto entry = to_host<Exec>(ring.entry);
  const auto head = to_host<Exec>(ring.point);
  const auto lengths = to_host<Exec>(box.lengths);
  const auto member = to_host<Exec>(box.topology.ring.member);
  const auto ring_begin = to_host<Exec>(box.topology.ring.begin);
  const auto star_begin = to_host<Exec>(box.stars.begin);
  const auto neighbour = to_host<Exec>(box.stars.neighbour);
  const auto face = to_host<Exec>(box.stars.face);
  REQUIRE(std::int64_t(entry.size()) == 4 * num_tetra);
  int wrong = 0, longer = 0;
  for (std::size_t e = 0; e < entry.size(); ++e) {
    const FaceProducts<float> f =
        face_products(lengths[std::size_t(member[e] >> 2)], member[e] & 3);
    const FaceProducts<float>& g = entry[e].products;
    wrong += f.uu != g.uu || f.vv != g.vv || f.ww != g.ww || f.uv != g.uv || f.uw != g.uw ||
             f.vw != g.vw || face[e] != entry[e].face;
  }
  for (std::size_t i = 0; i < head.size(); ++i) {
    const RingAndStar& r = head[i].range;
    wrong += r.ring_begin != ring_begin[i] || r.ring_end != ring_begin[i + 1] ||
             r.star_begin != star_begin[i] || r.star_end != star_begin[i + 1];
    longer += r.star_end - r.star_begin > StarHead::num_neighbours;
    for (int k = 0; k < StarHead::num_neighbours; ++k)
      wrong += head[i].neighbour[k] !=
               (r.star_begin + k < r.star_end ? neighbour[std::size_t(r.star_begin + k)] : -1);
    for (int k = 0; k < StarHead::num_faces; ++k)
      wrong += r.ring_begin + k < r.ring_end
                   ? head[i].face[k] != face[std::size_t(r.ring_begin + k)]
                   : !std::isinf(unpack_height(head[i].face[k]));
  }
  CHECK(wrong == 0);
  CHECK(longer == 0); // cubes of six tetrahedra: 14 neighbours
}

OSSATURA_BACKEND_TEST("A ring metric has the numbers of rings and stars", "[eikonal]") {
  check_ring_metric(TestType());
}

#if defined(KOKKOS_ENABLE_CUDA)
void check_iterations(const Cuda& exec, int num_sets, int part_size, int launch) {
  INFO(num_sets << " sets, parts of " << part_size << ", " << launch << " iterations a launch");
  using Front = ResidentFront<Cuda, float>;
  const FrontBox<Cuda> box(exec);
  const int n = int(box.topology.num_points());
  const auto ring = make_ring_metric<float>(exec, n, box.topology.num_tetra());
  fill_ring_metric(exec, box.update, ring);
  std::vector<std::uint32_t> site;
  for (int set = 0; set < num_sets; ++set)
    for (int k = 0; k <= set % 3; ++k)
      site.push_back(std::uint32_t(set * n + (set * 97 + k * 211) % n));
  const auto sites = upload(exec, "site", site);
  const auto start = make_uninitialized<float>(exec, std::int64_t(num_sets) * n, "start");
  Kokkos::deep_copy(exec, start, unreached_time<float>);
  scatter_sites(exec, sites, make_zeros<float>(exec, std::int64_t(site.size()), "zero"), start);
  int iterations = 0;
  const auto expected = launched_times(exec, box, sites, start, iterations);
  const Front front = make_resident_front<float>(exec, std::int64_t(num_sets) * n, part_size);
  REQUIRE(front.num_blocks > 0);
  for (int round = 0; round < 2; ++round) { // the second in arrays that were used
    const auto time = make_uninitialized<float>(exec, start.extent(0), "time");
    Kokkos::deep_copy(exec, time, start);
    restart_front(exec, front, sites, time);
    std::vector<std::uint64_t> state = to_host<Cuda>(front.state);
    CHECK(state[Front::count] == site.size());
    while (state[Front::count] > 0) {
      const int k = int(state[Front::iteration]);
      REQUIRE(k < iterations);
      advance_resident_front(exec, box.update, ring, front, time, 1 - 1e-7f, n, k, k + launch);
      fence(exec, "test");
      state = to_host<Cuda>(front.state);
      REQUIRE(int(state[Front::iteration]) == std::min(k + launch, iterations));
    }
    CHECK(to_host<Cuda>(iterations % 2 == 1 ? front.new_time : time) == expected);
  }
}

void check_empty(const Cuda& exec) {
  using Front = ResidentFront<Cuda, double>;
  const FrontBox<Cuda> box(exec);
  const int n = int(box.topology.num_points());
  const auto ring = make_ring_metric<double>(exec, n, 0);
  const Front front = make_resident_front<double>(exec, n);
  REQUIRE(front.num_blocks > 0);
  const auto time = make_zeros<double>(exec, n, "time");
  restart_front(exec, front, Array<std::uint32_t, Cuda>(), time);
  advance_resident_front(exec, box.update, ring, front, time, 1., n, 0, 100);
  fence(exec, "test");
  CHECK(to_host<Cuda>(front.state) == std::vector<std::uint64_t>(Front::num_states, 0));
}

TEST_CASE("A resident front does what launches do (cuda)", "[eikonal][cuda]") {
  const Cuda exec;
  if (!has_resident_grids(exec)) { // who then keeps launches
    CHECK(make_resident_front<float>(exec, 10).num_blocks == 0);
    return;
  }
  check_iterations(exec, 1, 0, 1000);
  check_iterations(exec, 1, 1, 1000); // nearly all goes to the part for all blocks
  check_iterations(exec, 3, 2, 1);
  check_iterations(exec, 24, 0, 7);
  check_iterations(exec, 200, 3, 1000); // more points at once than lanes in groups of 8
  check_empty(exec);
}
#endif

} // namespace
