// SPDX-License-Identifier: Apache-2.0
// gather_rows copies the rows of an array in another order, and scatter_rows puts them back.
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

template<class Exec, class T>
struct ScatterRows {
  Array<int, Exec> order;
  int width;
  Array<T, Exec> in, out;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (int k = 0; k < width; ++k)
      out(std::int64_t(order(i)) * width + k) = in(i * width + k);
  }
};

} // namespace detail

/// Row i of `out` becomes row order(i) of `in`, each of `width` entries. Does not fence.
template<class Exec, class T>
void gather_rows(const Exec& exec, const Array<int, Exec>& order, int width,
                 const Array<T, Exec>& in, const Array<T, Exec>& out) {
  Kokkos::parallel_for("ossatura::gather_rows", range(exec, order.extent(0)),
                       detail::GatherRows<Exec, T>{order, width, in, out});
}

/// The same into an array of its own.
template<class Exec, class T>
Array<T, Exec> gather_rows(const Exec& exec, const Array<int, Exec>& order, int width,
                           const Array<T, Exec>& in) {
  const auto out = make_uninitialized<T>(exec, std::int64_t(order.extent(0)) * width, in.label());
  gather_rows(exec, order, width, in, out);
  return out;
}

/// Row order(i) of `out` becomes row i of `in`; `order` has no row twice. Does not fence.
template<class Exec, class T>
void scatter_rows(const Exec& exec, const Array<int, Exec>& order, int width,
                  const Array<T, Exec>& in, const Array<T, Exec>& out) {
  Kokkos::parallel_for("ossatura::scatter_rows", range(exec, order.extent(0)),
                       detail::ScatterRows<Exec, T>{order, width, in, out});
}

} // namespace ossatura
