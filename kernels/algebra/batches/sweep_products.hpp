// SPDX-License-Identifier: Apache-2.0
// Sweep products are what a PackedSweep does with the pivots of a block on cores, with the vector
// instructions of the processor. These functions are compiled once for each instruction set
// (core/machine/instruction_set.hpp) in sources without Kokkos; sums have one order and nothing is
// fused, so that results are the same to the bit with all of them.
#pragma once

#include <ossatura/core/base/function.hpp>
#include <ossatura/core/machine/instruction_set.hpp>

#include <cstdint>

namespace ossatura::detail {

/// Pivots of a block of a dense matrix.
inline constexpr int sweep_width = 32;

/// Numbers of a row of n in `x` and `scaled` below: what is beyond n may be read.
OSSATURA_INLINE_FUNCTION constexpr std::int64_t sweep_stride(std::int64_t n) {
  return (n + 15) / 16 * 16;
}

/// The functions of one instruction set. `stride` is a sweep_stride.
struct SweepProducts {
  /// Sweeps the rows k < used of a symmetric block [sweep_width, sweep_width] whose Cholesky pivot
  /// exceeds threshold * diagonal[k], and clears the others.
  void (*sweep)(int used, double threshold, const double* diagonal, double* block);
  /// out[k stride + j] = -sum_l factor[k sweep_width + l] x[l stride + j], k, l < sweep_width,
  /// begin <= j < end, multiples of 16.
  void (*transform)(const double* factor, const double* x, std::int64_t stride, std::int64_t begin,
                    std::int64_t end, double* out);
  /// a(i, j) -= sum_k factor[i sweep_width + k] scaled[k stride + j], k < sweep_width, in the rows
  /// i = begin .. end - 1 <= stride of a packed lower triangle, j <= i.
  void (*subtract)(int begin, int end, const double* factor, const double* scaled,
                   std::int64_t stride, double* a);
};

/// Null where the program was compiled for processors that cannot have it.
const SweepProducts* baseline_sweep_products();
const SweepProducts* avx2_sweep_products();
const SweepProducts* avx512_sweep_products();

/// Those of instruction_set().
const SweepProducts& sweep_products();

} // namespace ossatura::detail
