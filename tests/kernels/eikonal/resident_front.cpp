// SPDX-License-Identifier: Apache-2.0
// What a resident front reads and how it starts, on every backend; its iterations against those of
// front.hpp where the backend has resident grids.
#include "tests/backend_test.hpp"
#include <ossatura/core/mesh/generators/tetra_meshes.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/eikonal/front.hpp>
#include <ossatura/kernels/eikonal/point_stars.hpp>
#include <ossatura/kernels/eikonal/resident_front.hpp>
#include <ossatura/kernels/eikonal/tetra_metric.hpp>
#include <ossatura/kernels/eikonal/times.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

using namespace ossatura;

template<class Exec, class T>
std::vector<T> to_host(const Array<T, Exec>& array) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), array);
  return std::vector<T>(host.data(), host.data() + host.extent(0));
}

/// 9 x 8 x 7 jittered cubes, velocity 1, ready to be solved.
template<class Exec>
struct Box {
  TetraTopology<Exec> topology;
  PointStars<Exec> stars;
  Array<TetraLengths<float>, Exec> lengths;
  RingUpdate<Exec, TetraLengths<float>> update;

  explicit Box(const Exec& exec) {
    const TetraMesh mesh = make_tetra_box({9, 8, 7}, 1, {0, 0, 0}, 0.25, 3);
    const Array<double, Exec> point = upload(exec, "point", mesh.point);
    topology = make_tetra_topology(exec, mesh, point);
    stars = make_point_stars(exec, topology);
    // Any metric will do: what matters is who reads which number.
    std::vector<TetraLengths<float>> metric(mesh.num_tetra());
    for (std::size_t t = 0; t < metric.size(); ++t)
      for (int k = 0; k < 6; ++k)
        metric[t].length[k] = 1 + 0.001f * float((37 * t + 11 * std::size_t(k)) % 97);
    metric[5] = {{-1, -1, -1, -1, -1, -1}};
    lengths = upload(exec, "lengths", metric);
    update = {{},
              topology.tetra,
              lengths,
              {topology.ring.begin, topology.ring.member},
              {stars.begin, stars.neighbour, stars.face}};
    fill_ring_heights(exec, update, 4 * topology.num_tetra());
  }
};

template<class Exec>
void check_ring_metric(const Exec& exec) {
  const Box<Exec> box(exec);
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
/// The times after the iterations of front.hpp, and their number.
std::vector<float> launched_times(const Cuda& exec, const Box<Cuda>& box,
                                  const Array<std::uint32_t, Cuda>& site,
                                  const Array<float, Cuda>& start, int& iterations) {
  const auto front = make_eikonal_front(exec, start.extent(0), site);
  Array<float, Cuda> time[2];
  for (auto& t : time) {
    t = make_uninitialized<float>(exec, start.extent(0), "time");
    Kokkos::deep_copy(exec, t, start);
  }
  int k = 0;
  for (; k < 600; ++k)
    advance_front(exec, box.update, front, time[k % 2], time[1 - k % 2], 1 - 1e-7f,
                  int(box.topology.num_points()), k);
  fence(exec, "test");
  iterations = to_host<Cuda>(front.counter)[std::size_t(EikonalFront<Cuda>::iteration + k % 3)];
  return to_host<Cuda>(time[k % 2]);
}

void check_iterations(const Cuda& exec, int num_sets, int part_size, int launch) {
  INFO(num_sets << " sets, parts of " << part_size << ", " << launch << " iterations a launch");
  using Front = ResidentFront<Cuda, float>;
  const Box<Cuda> box(exec);
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
  const Box<Cuda> box(exec);
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
