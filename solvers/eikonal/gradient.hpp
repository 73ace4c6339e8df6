// SPDX-License-Identifier: Apache-2.0
// The adjoint of activation times: weights of points go back along their arrivals until they are at
// sites, and tetrahedra that they pass gather what their velocities change. All of it is done on
// the backend, in one order for any number of threads.
#pragma once

#include <ossatura/core/base/require.hpp>
#include <ossatura/kernels/algebra/gather_rows.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/eikonal/back_flow.hpp>
#include <ossatura/solvers/eikonal/prepared_mesh.hpp>
#include <ossatura/solvers/eikonal/solver.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <type_traits>
#include <vector>

namespace ossatura::detail {

template<class Exec>
struct MarkSites {
  Array<int, Exec> site;
  Array<std::uint8_t, Exec> is_site; ///< [num_points]
  KOKKOS_FUNCTION void operator()(std::int64_t k) const { is_site(site(k)) = 1; }
};

/// Times and weights in the order of the topology; what never has a time has no weight.
template<class Exec, class Real>
struct OrderWeights {
  Array<int, Exec> point_order;
  Array<Real, Exec> time;
  Array<double, Exec> weight;
  Array<double, Exec> ordered_time, ordered_weight;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int v = point_order(i);
    ordered_time(i) = double(time(v));
    ordered_weight(i) = Kokkos::isfinite(double(time(v))) ? weight(v) : 0;
  }
};

/// The entries `index` of an array. Fences.
template<class T, class Exec>
std::vector<T> entries(const Exec& exec, const Array<T, Exec>& array,
                       const std::vector<int>& index) {
  return download(exec,
                  gather_rows(exec, upload(exec, "ossatura::eikonal::index", index), 1, array));
}

/// Throws InputError for times that are off by more than those of a solve to that tolerance.
template<class Real>
void require_own_times(double off, double tolerance) {
  constexpr double most = std::is_same_v<Real, double> ? 1e-3 : 5e-2; // of flat tetrahedra
  if (off <= std::max(most, 10 * tolerance))
    return;
  std::ostringstream text;
  text << "the gradient of activation times: these are not the times of these sites and "
          "velocities";
  if (std::isfinite(off))
    text << ", whose waves arrive otherwise by up to " << 100 * off << " %";
  fail<InputError>(text.str(), ": solve for them, and take the times of that");
}

/// EikonalSolver::gradient(), for the mesh in the order of its topology, and times that were solved
/// for to that tolerance; `place` [num_points] of each point of the mesh in that order.
template<class Exec, class Real>
std::vector<double>
activation_gradient(const Exec& exec, const PreparedMesh<Exec, Real>& mesh,
                    const std::vector<int>& place, const std::vector<EikonalSite>& sites,
                    double tolerance, const Array<Real, Exec>& times,
                    const Array<double, Exec>& weight, const Array<double, Exec>& by_velocity) {
  const TetraTopology<Exec>& topology = mesh.topology;
  const std::int64_t n = topology.num_points();
  std::vector<int> vertices;
  for (const EikonalSite& site : sites)
    vertices.push_back(int(site.vertex));
  const std::vector<Real> site_times = entries(exec, times, vertices);
  const double origin = time_origin(sites);
  const auto starts = [&](std::size_t k) {
    return site_times[k] == own_time<Real>(sites[k].time, origin);
  };
  std::vector<int> started;
  for (std::size_t k = 0; k < sites.size(); ++k)
    if (starts(k))
      started.push_back(place[std::size_t(sites[k].vertex)]);

  constexpr std::int64_t bytes_a_point = 160; // of what is taken below, and of small things
  ScratchMemory<Exec> scratch(exec, bytes_a_point * n + (1 << 16), "ossatura::eikonal::gradient");
  const auto is_site = scratch.template take_zeros<std::uint8_t>(n);
  Kokkos::parallel_for("ossatura::mark_sites", range(exec, started.size()),
                       MarkSites<Exec>{upload(exec, "ossatura::eikonal::site", started), is_site});
  const auto arrival = scratch.template take<Arrival>(n);
  double off = 0;
  Kokkos::parallel_reduce("ossatura::find_arrivals", range(exec, n),
                          FindArrivals<Exec, Real>{mesh.tissue, topology.tetra, topology.ring.begin,
                                                   topology.ring.member, mesh.stars.face,
                                                   topology.point_order, is_site, times, origin,
                                                   arrival},
                          Kokkos::Max<double>(off));
  for (std::size_t k = 0; k < sites.size(); ++k)
    if (!starts(k) && !(site_times[k] < own_time<Real>(sites[k].time, origin)))
      off = std::numeric_limits<double>::infinity(); // no wave is later than its own site
  require_own_times<Real>(off, tolerance);
  const auto ordered_time = scratch.template take<double>(n);
  const auto ordered_weight = scratch.template take<double>(n);
  const auto flow = scratch.template take<double>(n);
  Kokkos::parallel_for(
      "ossatura::order_weights", range(exec, n),
      OrderWeights<Exec, Real>{topology.point_order, times, weight, ordered_time, ordered_weight});
  BackFlow<Exec>(exec, {topology.tetra, topology.ring.begin, topology.ring.member, arrival},
                 ordered_time, ordered_weight, scratch)
      .take_back(exec, flow);
  Kokkos::parallel_for("ossatura::gather_by_velocity", range(exec, topology.num_tetra()),
                       GatherByVelocity<Exec>{mesh.tissue, topology.tetra, topology.tetra_order,
                                              arrival, flow, by_velocity});
  const std::vector<double> at_started = entries(exec, flow, started);
  fence(exec, "ossatura::EikonalSolver::gradient");
  std::vector<double> by_site;
  for (std::size_t k = 0, next = 0; k < sites.size(); ++k)
    by_site.push_back(starts(k) ? at_started[next++] : 0);
  return by_site;
}

} // namespace ossatura::detail
