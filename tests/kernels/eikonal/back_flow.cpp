// SPDX-License-Identifier: Apache-2.0
// Weights that go back along arrivals by levels against those of ordered sweeps, of a wave along
// fibres so bent that points hand to each other in circles.
#include "tests/backend_test.hpp"
#include "tests/reference/ordered_flow.hpp"
#include "tests/solvers/eikonal/eikonal_problem.hpp"
#include <ossatura/kernels/eikonal/back_flow.hpp>
#include <ossatura/solvers/eikonal/prepared_mesh.hpp>

namespace {

using namespace ossatura;
using namespace ossatura::test;

/// The arrivals of a wave from point 0, in the order of the mesh.
template<class Exec>
struct Arrivals {
  const Exec& exec;
  TetraMesh mesh = rotating_box();
  detail::PreparedMesh<Exec, double> prepared;
  Array<double, Exec> times, ordered_time, weight;
  Array<Arrival, Exec> arrival;

  static detail::PreparedMesh<Exec, double> prepare(const Exec& exec, const TetraMesh& mesh) {
    const auto point = upload(exec, "point", mesh.point);
    return {exec, mesh, TetraMetric::lengths, point, space_filling_order(exec, point)};
  }

  explicit Arrivals(const Exec& space)
      : exec(space)
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
    Kokkos::parallel_for("arrivals", range(exec, n),
                         detail::FindArrivals<Exec, double>{
                             prepared.tissue, prepared.topology.tetra, ring.begin, ring.member,
                             prepared.stars.face, prepared.topology.point_order,
                             upload(exec, "is_site", is_site), times, arrival});
    fence(exec, "arrivals");
  }

  std::vector<double> by_levels() const {
    const auto& topology = prepared.topology;
    const auto flow = make_zeros<double>(exec, weight.extent(0), "flow");
    BackFlow<Exec>(exec, {topology.tetra, topology.ring.begin, topology.ring.member, arrival},
                   ordered_time)
        .take_back(exec, weight, flow);
    return download(exec, flow);
  }

  std::vector<double> by_sweeps() const {
    return reference::take_back(download(exec, arrival).data(),
                                download(exec, prepared.topology.tetra).data(),
                                download(exec, ordered_time), download(exec, weight));
  }
};

OSSATURA_BACKEND_TEST("Weights go back by levels as by sweeps", "[eikonal][back_flow]") {
  const TestType exec;
  const Arrivals<TestType> arrivals(exec);
  const std::vector<double> levels = arrivals.by_levels(), sweeps = arrivals.by_sweeps();
  CHECK(arrivals.by_levels() == levels);
  double largest = 0;
  for (const double x : sweeps)
    largest = std::max(largest, std::abs(x));
  for (std::size_t i = 0; i < sweeps.size(); ++i)
    CHECK(std::abs(levels[i] - sweeps[i]) < 1e-12 * largest);
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
