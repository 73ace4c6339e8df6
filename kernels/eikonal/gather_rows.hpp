// SPDX-License-Identifier: Apache-2.0
// gather_rows copies the rows of an array in another order.
#pragma once

#include <ossatura/core/base/vector.hpp>

namespace ossatura {

namespace detail {

template<class Exec, class T>
struct GatherRows {
  Array<int, Exec> order;
  int width;
  Array<T, Exec> in, out;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (int k = 0; k < width; ++k)
      out(i * width + k) = in(std::int64_t(order(i)) * width + k);
  }
};

} // namespace detail

/// Row i of the result is row order(i) of `in`, each of `width` entries. Does not fence.
template<class Exec, class T>
Array<T, Exec> gather_rows(const Exec& exec, const Array<int, Exec>& order, int width,
                           const Array<T, Exec>& in) {
  const std::int64_t rows = order.extent(0);
  const auto out = make_uninitialized<T>(exec, rows * width, in.label());
  Kokkos::parallel_for("ossatura::gather_rows", range(exec, rows),
                       detail::GatherRows<Exec, T>{order, width, in, out});
  return out;
}

} // namespace ossatura
