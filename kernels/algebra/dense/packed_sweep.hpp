// SPDX-License-Identifier: Apache-2.0
// A PackedSweep inverts a symmetric positive semidefinite matrix, stored as a packed lower
// triangle, on cores, by the sweep operator (inverse.hpp explains the method) over blocks of
// pivots. Its steps are of ranges of rows, so that one thread can have a matrix, or all threads
// one.
#pragma once

#include <ossatura/core/base/function.hpp>
#include <ossatura/kernels/algebra/batches/sweep_products.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ossatura::detail {

/// Place of (i, j) in a packed lower triangle.
OSSATURA_FORCEINLINE_FUNCTION std::int64_t packed_place(int i, int j) {
  return i >= j ? std::int64_t(i) * (i + 1) / 2 + j : std::int64_t(j) * (j + 1) / 2 + i;
}

/// The steps of a block of pivots are load, sweep_pivots, scale, update and store, in this order,
/// each over all rows before the next, but that rows may be stored when they are updated.
class PackedSweep {
public:
  static constexpr int width = sweep_width;
  /// Doubles of scratch for n rows: the block, the columns of the pivots by pivot and by row, their
  /// products with the pivots' inverse, and the diagonal.
  static std::size_t scratch_doubles(int n) {
    return std::size_t(width) * width + 2 * std::size_t(width) * std::size_t(sweep_stride(n)) +
           (1 + std::size_t(width)) * std::size_t(n);
  }

  /// Of the matrix a [n (n + 1) / 2]; `scratch` is of this sweep alone, at a multiple of 64 bytes.
  PackedSweep(int n, double* a, double threshold, const SweepProducts& products, double* scratch)
      : n_(n)
      , stride_(sweep_stride(n))
      , threshold_(threshold)
      , products_(&products)
      , a_(a)
      , block_(scratch)
      , panel_(block_ + width * width)
      , scaled_(panel_ + width * stride_)
      , by_row_(scaled_ + width * stride_)
      , diagonal_(by_row_ + width * std::int64_t(n)) {
    for (int i = 0; i < n; ++i)
      diagonal_[i] = a[packed_place(i, i)];
  }

  int size() const { return n_; }
  std::int64_t stride() const { return stride_; }

  /// The pivots' columns in the rows begin .. end - 1 <= stride(): zeros for pivots and rows that
  /// there are not.
  void load(int first, std::int64_t begin, std::int64_t end) const {
    const int used = pivots_from(first);
    for (std::int64_t j = begin; j < std::min<std::int64_t>(end, n_); ++j)
      for (int k = 0; k < width; ++k)
        by_row_[j * width + k] = k < used ? a_[packed_place(int(j), first + k)] : 0;
    for (int k = 0; k < width; ++k)
      for (std::int64_t j = begin; j < end; ++j)
        panel_[k * stride_ + j] = j < n_ ? by_row_[j * width + k] : 0;
  }

  void sweep_pivots(int first) const {
    const int used = pivots_from(first);
    for (int k = 0; k < width; ++k)
      for (int l = 0; l < width; ++l)
        block_[k * width + l] = l < used ? panel_[k * stride_ + first + l] : 0;
    products_->sweep(used, threshold_, diagonal_ + first, block_);
  }

  /// Products of the columns begin .. end - 1, multiples of 16, with the pivots' inverse.
  void scale(std::int64_t begin, std::int64_t end) const {
    products_->transform(block_, panel_, stride_, begin, end, scaled_);
  }

  /// The rows begin .. end - 1 without their part along the pivots.
  void update(int first, int begin, int end) const {
    const int last = first + pivots_from(first);
    if (begin < first)
      products_->subtract(begin, std::min(end, first), by_row_, scaled_, stride_, a_);
    if (end > last)
      products_->subtract(std::max(begin, last), end, by_row_, scaled_, stride_, a_);
  }

  /// What the pivots' rows and columns become, in the rows begin .. end - 1.
  void store(int first, int begin, int end) const {
    const int used = pivots_from(first), last = first + used;
    for (int i = std::max(begin, first); i < end; ++i) {
      double* const row = a_ + packed_place(i, 0);
      if (i >= last) {
        for (int k = 0; k < used; ++k)
          row[first + k] = scaled_[k * stride_ + i];
        continue;
      }
      for (int j = 0; j < first; ++j)
        row[j] = scaled_[(i - first) * stride_ + j];
      for (int j = first; j <= i; ++j)
        row[j] = block_[(i - first) * width + j - first];
    }
  }

private:
  int pivots_from(int first) const { return std::min<int>(n_ - first, width); }

  int n_;
  std::int64_t stride_;
  double threshold_;
  const SweepProducts* products_;
  double* a_;
  double *block_, *panel_, *scaled_, *by_row_, *diagonal_;
};

} // namespace ossatura::detail
