// SPDX-License-Identifier: Apache-2.0
// Matrix-free batches multiply with several hexahedra at a time with the vector instructions of a
// core: an element is a lane. The sums are those of matrix_free/element_sums.hpp. These functions
// are compiled once for each instruction set (core/machine/instruction_set.hpp) in sources without
// Kokkos; multiplications and additions are not fused, so that results are the same to the bit with
// all of them.
#pragma once

#include <ossatura/core/machine/instruction_set.hpp>
#include <ossatura/kernels/pfem/matrix_free/element_sums.hpp>

#include <cstdint>

namespace ossatura::detail {

/// The functions of one instruction set, for plans of one pack a team and of tiles of host_tile.
struct MatrixFreeBatches {
  int lanes; ///< elements at a time
  /// Those from `batch` * lanes on. `scratch`: scratch_bytes(lanes) of the caller alone, at a
  /// multiple of 64 bytes.
  void (*multiply)(const MatrixFreeArrays&, std::int64_t batch, double* scratch);
};

/// Null where the program was compiled for processors that cannot have it.
const MatrixFreeBatches* baseline_matrix_free_batches();
const MatrixFreeBatches* avx2_matrix_free_batches();
const MatrixFreeBatches* avx512_matrix_free_batches();

/// Those of instruction_set().
const MatrixFreeBatches& matrix_free_batches();

} // namespace ossatura::detail
