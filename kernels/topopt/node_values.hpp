// SPDX-License-Identifier: Apache-2.0
// Values of few nodes are taken from a vector of all and put into one, so that these alone come to
// the host or from it.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <vector>

namespace ossatura {

namespace detail {
template<class Exec>
struct TakeNodeValues {
  Array<int, Exec> node;
  Array<double, Exec> all, taken;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    taken(i) = all(3 * std::int64_t(node(i / 3)) + i % 3);
  }
};

template<class Exec, class T>
struct PutAtNodes {
  Array<int, Exec> node;
  int components;
  Array<T, Exec> value, placed;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int at = node(i / components);
    if (at >= 0)
      placed(std::int64_t(components) * at + i % components) = value(i);
  }
};
} // namespace detail

/// all(node(i), c) [count, 3], `all` [num_nodes, 3]. Fences.
template<class Exec>
std::vector<double> take_at_nodes(const Exec& exec, const Array<int, Exec>& node,
                                  const Array<double, Exec>& all) {
  const std::int64_t count = 3 * std::int64_t(node.extent(0));
  const Array<double, Exec> taken =
      make_uninitialized<double>(exec, count, "ossatura::node_values");
  Kokkos::parallel_for("ossatura::take_at_nodes", range(exec, count),
                       detail::TakeNodeValues<Exec>{node, all, taken});
  return download(exec, taken);
}

/// placed(node(i), c) = values[i, c]; each node once, those below 0 nowhere. Fences.
template<class T, class Exec>
void put_at_nodes(const Exec& exec, const Array<int, Exec>& node, int components,
                  const std::vector<T>& values, const Array<T, Exec>& placed) {
  const Array<T, Exec> value = upload(exec, "ossatura::node_values", values);
  Kokkos::parallel_for("ossatura::put_at_nodes", range(exec, std::int64_t(values.size())),
                       detail::PutAtNodes<Exec, T>{node, components, value, placed});
  fence(exec, "ossatura::put_at_nodes");
}

} // namespace ossatura
