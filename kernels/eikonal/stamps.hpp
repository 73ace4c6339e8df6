// SPDX-License-Identifier: Apache-2.0
// A stamp says in which iteration of the fast iterative method a point is evaluated: 2 * iteration
// + changed. A point is in the active set of the iteration of its stamp, and the last bit says that
// its time changed in the iteration before. So no set has to be cleared.
#pragma once

#include <ossatura/core/base/vector.hpp>

namespace ossatura {

namespace stamp {

constexpr int never = -1;

/// Lower stamps are those of points outside the active set of the iteration.
KOKKOS_FORCEINLINE_FUNCTION int entered(int iteration) {
  return 2 * iteration;
}
KOKKOS_FORCEINLINE_FUNCTION int changed(int iteration) {
  return 2 * iteration + 1;
}
KOKKOS_FORCEINLINE_FUNCTION int iteration_of(int stamp) {
  return stamp >> 1;
}
KOKKOS_FORCEINLINE_FUNCTION bool has_changed(int stamp) {
  return (stamp & 1) != 0;
}

} // namespace stamp

namespace detail {

template<class Exec>
struct StampSites {
  Array<std::uint32_t, Exec> site;
  Array<int, Exec> stamps;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { stamps(site(i)) = stamp::changed(0); }
};

} // namespace detail

/// Stamps of `num_times` points before iteration 0, which begins at the sites. Does not fence.
template<class Exec>
Array<int, Exec> make_stamps(const Exec& exec, std::int64_t num_times,
                             const Array<std::uint32_t, Exec>& site) {
  const auto stamps = make_uninitialized<int>(exec, num_times, "ossatura::eikonal::stamp");
  Kokkos::deep_copy(exec, stamps, int(stamp::never));
  Kokkos::parallel_for("ossatura::eikonal::stamp_sites", range(exec, site.extent(0)),
                       detail::StampSites<Exec>{site, stamps});
  return stamps;
}

} // namespace ossatura
