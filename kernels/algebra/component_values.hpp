// SPDX-License-Identifier: Apache-2.0
// One component of vectors [num_nodes, 3] goes to a vector [num_nodes] and back, where all three
// at a time would take too much memory.
#pragma once

#include <ossatura/core/base/vector.hpp>

namespace ossatura {

namespace detail {
template<class Exec, bool puts>
struct MoveComponent {
  int component;
  Array<double, Exec> one, all;
  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    if (puts)
      all(3 * node + component) = one(node);
    else
      one(node) = all(3 * node + component);
  }
};
} // namespace detail

/// one(node) = all(node, component). Does not fence.
template<class Exec>
void take_component(const Exec& exec, int component, const Array<double, Exec>& all,
                    const Array<double, Exec>& one) {
  Kokkos::parallel_for("ossatura::take_component", range(exec, one.extent(0)),
                       detail::MoveComponent<Exec, false>{component, one, all});
}

/// all(node, component) = one(node). Does not fence.
template<class Exec>
void put_component(const Exec& exec, int component, const Array<double, Exec>& one,
                   const Array<double, Exec>& all) {
  Kokkos::parallel_for("ossatura::put_component", range(exec, one.extent(0)),
                       detail::MoveComponent<Exec, true>{component, one, all});
}

} // namespace ossatura
