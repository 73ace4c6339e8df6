// SPDX-License-Identifier: Apache-2.0
// Sites of several sets as the times that an iteration starts from.
#pragma once

#include <ossatura/core/base/require.hpp>
#include <ossatura/kernels/eikonal/times.hpp>
#include <ossatura/solvers/eikonal/solver.hpp>

#include <cmath>
#include <map>
#include <vector>

namespace ossatura::detail {

template<class Real>
struct StartSites {
  std::vector<std::uint32_t> index; ///< into times [sets, num_points], ascending
  std::vector<Real> time;           ///< of each, from the origin of its set
  std::vector<double> origin;       ///< [sets] of the times, which kernels want not below 0
};

/// Throws std::invalid_argument for no set, a set without a site, more times than 31 bits number,
/// and for sites at no point of `num_points` or at no time.
template<class Real>
void check_sites(const std::vector<std::vector<EikonalSite>>& sets, std::int64_t num_points) {
  OSSATURA_REQUIRE(!sets.empty(), "no set of sites");
  OSSATURA_REQUIRE(std::int64_t(sets.size()) * num_points < std::int64_t(1) << 31,
                   sets.size() << " sets of " << num_points << " points: solve fewer at once");
  for (const auto& set : sets) {
    OSSATURA_REQUIRE(!set.empty(), "a set without a site");
    const double origin = time_origin(set);
    for (const EikonalSite& site : set) {
      OSSATURA_REQUIRE(site.vertex >= 0 && site.vertex < num_points,
                       "site at vertex " << site.vertex);
      OSSATURA_REQUIRE(std::abs(site.time) < double(unreached_time<Real>) &&
                           site.time - origin < double(unreached_time<Real>),
                       "site at time " << site.time);
    }
  }
}

/// The earliest site of each point. place(vertex) in [0, num_points), or -1 where it is left out.
template<class Real, class Place>
StartSites<Real> list_sites(const std::vector<std::vector<EikonalSite>>& sets,
                            std::int64_t num_points, const Place& place) {
  StartSites<Real> sites;
  std::map<std::uint32_t, Real> earliest;
  for (std::size_t set = 0; set < sets.size(); ++set) {
    sites.origin.push_back(time_origin(sets[set]));
    for (const EikonalSite& s : sets[set]) {
      const int point = place(s.vertex);
      if (point < 0)
        continue;
      const std::uint32_t index = std::uint32_t(std::int64_t(set) * num_points + point);
      const Real time = Real(s.time - sites.origin.back());
      const auto [found, fresh] = earliest.try_emplace(index, time);
      if (!fresh && time < found->second)
        found->second = time;
    }
  }
  for (const auto& [index, time] : earliest) {
    sites.index.push_back(index);
    sites.time.push_back(time);
  }
  return sites;
}

/// Times [num_times] before the first iteration. Does not fence.
template<class Real, class Exec>
Array<Real, Exec> make_start_times(const Exec& exec, std::int64_t num_times,
                                   const Array<std::uint32_t, Exec>& site,
                                   const Array<Real, Exec>& site_time) {
  const auto time = make_uninitialized<Real>(exec, num_times, "ossatura::eikonal::time");
  Kokkos::deep_copy(exec, time, unreached_time<Real>);
  scatter_sites(exec, site, site_time, time);
  return time;
}

} // namespace ossatura::detail
