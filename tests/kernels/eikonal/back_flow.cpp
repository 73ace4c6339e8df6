// SPDX-License-Identifier: Apache-2.0
// Weights that go back along arrivals by levels against those of ordered sweeps, of a wave along
// fibres so bent that points hand to each other in circles.
#include "tests/backend_test.hpp"
#include "tests/reference/ordered_flow.hpp"
#include "tests/solvers/eikonal/eikonal_problem.hpp"
#include <ossatura/kernels/eikonal/back_flow.hpp>
#include <ossatura/solvers/eikonal/prepared_mesh.hpp>

#include <random>
#include <utility>

namespace {

using namespace ossatura;
using namespace ossatura::test;

/// The arrivals of a wave from point 0, in the order of the mesh.
template<class Exec>
struct Arrivals {
  const Exec& exec;
  TetraMesh mesh;
  detail::PreparedMesh<Exec, double> prepared;
  Array<double, Exec> times, ordered_time, weight;
  Array<Arrival, Exec> arrival;

  static detail::PreparedMesh<Exec, double> prepare(const Exec& exec, const TetraMesh& mesh) {
    const auto point = upload(exec, "point", mesh.point);
    return {exec, mesh, TetraMetric::lengths, point, space_filling_order(exec, point)};
  }

  explicit Arrivals(const Exec& space, TetraMesh of_wave = rotating_box())
      : exec(space)
      , mesh(std::move(of_wave))
      , prepared(prepare(exec, mesh)) {
    const std::int64_t n = std::int64_t(mesh.num_points());
    EikonalOptions options;
    options.tolerance = 1e-15;
    options.deterministic = true;
    EikonalSolver<Exec, double> solver(exec, mesh, rotating_box_velocities, options);
    times = make_zeros<double>(exec, n, "times");
    solver.solve(exec, {{{0, 0.0}}}, times);
    prepared.set_velocities(exec, rotating_box_velocities);
    const std::vector<int> order = download(exec, prepared.topology.point_order);
    const std::vector<double> host_times = download(exec, times);
    std::vector<double> ordered, given;
    std::vector<std::uint8_t> is_site;
    for (const int v : order) {
      ordered.push_back(host_times[std::size_t(v)]);
      given.push_back(v % 5 == 0 ? -1 : 0.25 * double(v % 7));
      is_site.push_back(v == 0);
    }
    ordered_time = upload(exec, "time", ordered);
    weight = upload(exec, "weight", given);
    arrival = Array<Arrival, Exec>("arrival", n);
    const auto& ring = prepared.topology.ring;
    double off = 1;
    Kokkos::parallel_reduce("arrivals", range(exec, n),
                            detail::FindArrivals<Exec, double>{
                                prepared.tissue, prepared.topology.tetra, ring.begin, ring.member,
                                prepared.stars.face, prepared.topology.point_order,
                                upload(exec, "is_site", is_site), times, 0, arrival},
                            Kokkos::Max<double>(off));
    CHECK(off < 1e-3); // of times that are converged
    fence(exec, "arrivals");
  }

  std::vector<double> by_levels() const {
    const auto& topology = prepared.topology;
    const auto flow = make_zeros<double>(exec, weight.extent(0), "flow");
    ScratchMemory<Exec> scratch(exec, 1 << 12, "scratch"); // several blocks
    BackFlow<Exec>(exec, {topology.tetra, topology.ring.begin, topology.ring.member, arrival},
                   ordered_time, weight, scratch)
        .take_back(exec, flow);
    return download(exec, flow);
  }

  std::vector<double> by_sweeps() const {
    return reference::take_back(download(exec, arrival).data(),
                                download(exec, prepared.topology.tetra).data(),
                                download(exec, ordered_time), download(exec, weight));
  }
};

template<class Exec>
void check_by_levels(const Arrivals<Exec>& arrivals) {
  const std::vector<double> levels = arrivals.by_levels(), sweeps = arrivals.by_sweeps();
  CHECK(arrivals.by_levels() == levels);
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < sweeps.size(); ++i) {
    largest = std::max(largest, std::abs(sweeps[i]));
    difference = std::max(difference, std::abs(levels[i] - sweeps[i]));
  }
  CHECK(difference < 1e-12 * largest);
}

OSSATURA_BACKEND_TEST("Weights go back by levels as by sweeps", "[eikonal][back_flow]") {
  const TestType exec;
  check_by_levels(Arrivals<TestType>(exec));
}

OSSATURA_BACKEND_TEST("Weights go back along a cable, whose levels are many for its points",
                      "[eikonal][back_flow]") {
  const TestType exec;
  check_by_levels(Arrivals<TestType>(exec, make_tetra_box({1200, 1, 1}, 1)));
}

// Circles of any size, those included that are not found or too large to be solved by themselves.
OSSATURA_BACKEND_TEST("Weights go back by levels from arrivals through any face",
                      "[eikonal][back_flow]") {
  const TestType exec;
  const int every = GENERATE(200, 20, 3, 1); // how many points between those that are changed
  Arrivals<TestType> arrivals(exec);
  const auto& ring = arrivals.prepared.topology.ring;
  const std::vector<int> begin = download(exec, ring.begin), member = download(exec, ring.member);
  std::vector<Arrival> host = download(exec, arrivals.arrival);
  std::mt19937 random(7);
  const auto below = [&](int n) { return int(random() % unsigned(n)); };
  for (std::size_t i = 0; i < host.size(); i += std::size_t(1 + below(2 * every - 1))) {
    const int entry = member[std::size_t(begin[i] + below(begin[i + 1] - begin[i]))];
    host[i] = {entry >> 2, entry & 3, {}, {}};
    for (double& part : host[i].weight)
      part = 0.1 * below(4); // nothing of some, and not all: no circle is without an end
  }
  arrivals.arrival = upload(exec, "arrival", host);
  check_by_levels(arrivals);
}

OSSATURA_BACKEND_TEST("Weights in a circle without an end are refused", "[eikonal][back_flow]") {
  const TestType exec;
  Arrivals<TestType> arrivals(exec);
  std::vector<Arrival> host = download(exec, arrivals.arrival);
  const std::vector<TetraPoints> tetra = download(exec, arrivals.prepared.topology.tetra);
  const int a = tetra[0].point[0], b = tetra[0].point[1];
  host[std::size_t(a)] = {0, 0, {1, 0, 0}, {}}; // all that a has goes to b, and back
  host[std::size_t(b)] = {0, 1, {1, 0, 0}, {}};
  arrivals.arrival = upload(exec, "arrival", host);
  CHECK_THROWS_WITH(arrivals.by_levels(), ContainsSubstring("does not end"));
  CHECK_THROWS_WITH(arrivals.by_sweeps(), ContainsSubstring("does not end"));
}

} // namespace
