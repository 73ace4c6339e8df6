// SPDX-License-Identifier: Apache-2.0
// The adjoint of activation times: weights of points go back along their arrivals, from late points
// to early ones, until they are at sites. On the way they pass tetrahedra, whose velocities they
// depend on. The arrivals are found, and tetrahedra gather, on the backend; the way back, a few
// additions for each point, is the host's, in one order for any number of threads.
#pragma once

#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/eikonal/arrival.hpp>
#include <ossatura/solvers/eikonal/prepared_mesh.hpp>
#include <ossatura/solvers/eikonal/solver.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace ossatura::detail {

/// What goes through each point, and what has come to rest at it: [num_points] each.
struct TimeFlow {
  std::vector<double> through, resting;
};

/// Takes `weight` [num_points] back. A wave along bent fibres may come through a face with a vertex
/// that is later than the point; then a part of the weight is left for another sweep. Throws
/// std::runtime_error where weights go in circles, as they do not where times are converged.
inline TimeFlow take_back(const Arrival* arrival, const TetraPoints* tetra,
                          const std::vector<double>& time, std::vector<double> weight) {
  const std::size_t n = weight.size();
  TimeFlow flow{std::vector<double>(n), std::vector<double>(n)};
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return time[std::size_t(a)] != time[std::size_t(b)]
               ? time[std::size_t(a)] > time[std::size_t(b)]
               : a < b;
  });
  double all = 0;
  for (const double w : weight)
    all += std::abs(w);
  constexpr int most_sweeps = 1000;
  constexpr double negligible = 1e-14; // of all weights
  double left = all;
  for (int sweep = 0; sweep < most_sweeps && left > negligible * all; ++sweep) {
    for (const int i : order) {
      const double w = weight[std::size_t(i)];
      if (w == 0)
        continue;
      weight[std::size_t(i)] = 0;
      const Arrival& from = arrival[i];
      if (from.tetra < 0) {
        flow.resting[std::size_t(i)] += w;
        continue;
      }
      flow.through[std::size_t(i)] += w;
      for (int k = 0, c = 0; k < 4; ++k)
        if (k != from.corner)
          weight[std::size_t(tetra[from.tetra].point[k])] += w * from.weight[c++];
    }
    left = 0;
    for (const double w : weight)
      left += std::abs(w);
  }
  if (left > negligible * all)
    fail<std::runtime_error>(
        "the gradient of activation times does not end: are these the times of "
        "these sites and velocities, solved to the tolerance?");
  return flow;
}

/// EikonalSolver::gradient(), for the mesh in the order of its topology; `place` [num_points] of
/// each point of the mesh in that.
template<class Exec, class Real>
std::vector<double>
activation_gradient(const Exec& exec, const PreparedMesh<Exec, Real>& mesh,
                    const std::vector<int>& place, const std::vector<EikonalSite>& sites,
                    const Array<Real, Exec>& times, const Array<double, Exec>& weight,
                    const Array<double, Exec>& by_velocity) {
  const TetraTopology<Exec>& topology = mesh.topology;
  const std::size_t n = std::size_t(topology.num_points());
  const std::vector<Real> time = download(exec, times);
  const std::vector<double> given = download(exec, weight);
  std::vector<std::uint8_t> is_site(n);
  const double origin = time_origin(sites);
  const auto starts = [&](const EikonalSite& site) {
    return time[std::size_t(site.vertex)] == own_time<Real>(site.time, origin);
  };
  for (const EikonalSite& site : sites)
    if (starts(site))
      is_site[std::size_t(place[std::size_t(site.vertex)])] = 1;

  const auto arrival =
      Array<Arrival, Exec>(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing,
                                              std::string("ossatura::eikonal::arrival")),
                           n);
  Kokkos::parallel_for("ossatura::find_arrivals", range(exec, std::int64_t(n)),
                       FindArrivals<Exec, Real>{
                           mesh.tissue, topology.tetra, topology.ring.begin, topology.ring.member,
                           mesh.stars.face, topology.point_order,
                           upload(exec, "ossatura::eikonal::is_site", is_site), times, arrival});
  std::vector<double> ordered_time(n), ordered_weight(n);
  for (std::size_t v = 0; v < n; ++v) {
    const std::size_t i = std::size_t(place[v]);
    ordered_time[i] = double(time[v]);
    ordered_weight[i] = std::isfinite(double(time[v])) ? given[v] : 0; // infinity stays infinity
  }
  const TimeFlow flow =
      take_back(host_view(exec, arrival).data(), host_view(exec, topology.tetra).data(),
                ordered_time, std::move(ordered_weight));
  Kokkos::parallel_for(
      "ossatura::gather_by_velocity", range(exec, topology.num_tetra()),
      GatherByVelocity<Exec>{mesh.tissue, topology.tetra, topology.tetra_order, arrival,
                             upload(exec, "ossatura::eikonal::flow", flow.through), by_velocity});
  fence(exec, "ossatura::EikonalSolver::gradient");
  std::vector<double> by_site;
  for (const EikonalSite& site : sites)
    by_site.push_back(starts(site) ? flow.resting[std::size_t(place[std::size_t(site.vertex)])]
                                   : 0);
  return by_site;
}

} // namespace ossatura::detail
