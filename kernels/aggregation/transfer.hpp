// SPDX-License-Identifier: Apache-2.0
// These kernels move vectors between the levels of smoothed aggregation.
#pragma once

#include <ossatura/core/parallel/warp_sum.hpp>
#include <ossatura/kernels/aggregation/products.hpp>

namespace ossatura {

namespace detail {
template<int height, class Scalar>
struct Prolongate {
  ArrayPointer<std::int64_t> begin;
  ArrayPointer<int> column;
  ArrayPointer<Scalar> p, coarse, x;

  /// A component of a row.
  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const std::int64_t row = item / height;
    const int r = int(item % height);
    Scalar sum = 0;
    for (std::int64_t e = begin(row); e < begin(row + 1); ++e) {
      const std::int64_t from = 6 * std::int64_t(column(e));
      for (int c = 0; c < 6; ++c)
        sum += p(6 * (height * e + r) + c) * coarse(from + c);
    }
    x(item) += sum;
  }
};
} // namespace detail

/// x [num_rows, height] += P coarse [count, 6]. Does not fence.
template<int height, class Exec, class Scalar>
void prolongate(const Exec& exec, const AggregationArrays<Exec>& level,
                const Array<Scalar, Exec>& p, const Array<Scalar, Exec>& coarse,
                const Array<Scalar, Exec>& x) {
  Kokkos::parallel_for("ossatura::prolongate", range(exec, x.extent(0)),
                       detail::Prolongate<height, Scalar>{level.prolongator.row_begin,
                                                          level.prolongator.column, p, coarse, x});
}

namespace detail {
template<int height, class Exec, class Scalar>
struct Restrict {
  static constexpr int lanes = BackendTraits<Exec>::is_device ? 32 : 1;
  ArrayPointer<std::int64_t> begin;
  ArrayPointer<int> column, entry;
  ArrayPointer<Scalar> p, r, coarse;

  /// A lane of an aggregate.
  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const std::int64_t aggregate = item / lanes;
    const int lane = int(item % lanes);
    Scalar sum[6] = {};
    for (std::int64_t k = begin(aggregate) + lane; k < begin(aggregate + 1); k += lanes)
      for (int j = 0; j < height; ++j) {
        const Scalar value = r(height * std::int64_t(column(k)) + j);
        const std::int64_t from = 6 * (height * std::int64_t(entry(k)) + j);
        for (int c = 0; c < 6; ++c)
          sum[c] += p(from + c) * value;
      }
    for (int c = 0; c < 6; ++c) {
      const Scalar whole = warp_sum<lanes>(sum[c]);
      if (lane == 0)
        coarse(6 * aggregate + c) = whole;
    }
  }
};
} // namespace detail

/// coarse [count, 6] = P^T r [num_rows, height]. Does not fence.
template<int height, class Exec, class Scalar>
void restrict_residual(const Exec& exec, const AggregationArrays<Exec>& level,
                       const Array<Scalar, Exec>& p, const Array<Scalar, Exec>& r,
                       const Array<Scalar, Exec>& coarse) {
  using Functor = detail::Restrict<height, Exec, Scalar>;
  Kokkos::parallel_for(
      "ossatura::restrict_residual",
      range(exec, std::int64_t(level.restriction.num_rows) * Functor::lanes),
      Functor{level.restriction.row_begin, level.restriction.column, level.entry, p, r, coarse});
}

} // namespace ossatura
