// SPDX-License-Identifier: Apache-2.0
// Stiffness batches form the matrices of several hexahedra at a time with the vector instructions
// of a core: an element is a lane. The sums are those of stiffness/factorised_sums.hpp. These
// functions are compiled once for each instruction set (core/machine/instruction_set.hpp) in
// sources without Kokkos; multiplications and additions are not fused, so that results are the same
// to the bit with all of them.
#pragma once

#include <ossatura/core/machine/instruction_set.hpp>
#include <ossatura/kernels/pfem/matrix_storage.hpp>
#include <ossatura/kernels/pfem/stiffness/factorised_sums.hpp>

#include <cstddef>
#include <cstdint>

namespace ossatura::detail {

/// Elements as a HexaBatch has them, and where their matrices go.
struct StiffnessBatchInput {
  const SumFactors<0, 0>* factors;
  ArrayPointer<const double> value, derivative; ///< [points, order + 1]
  ArrayPointer<const double> point, weight;     ///< [points]
  ArrayPointer<const double> corner;            ///< [num_elem, 8, 3]
  ArrayPointer<const double> jacobian;          ///< [num_elem, points^3, 9], or none: trilinear
  ArrayPointer<const double> elasticity;        ///< [..., 21]
  std::int64_t elem_stride, point_stride;       ///< of elasticity
  std::int64_t first_elem;                      ///< that of matrix 0
  StiffnessOutput output;
};

/// The functions of one instruction set.
struct StiffnessBatches {
  int lanes; ///< matrices at a time
  /// Doubles of scratch for so many points along an axis.
  std::size_t (*scratch_doubles)(int points);
  /// Forms matrices begin .. end - 1. `scratch` is that of the caller alone.
  void (*form)(const StiffnessBatchInput&, std::int64_t begin, std::int64_t end, double* scratch);
};

/// Null where the program was compiled for processors that cannot have it.
const StiffnessBatches* baseline_stiffness_batches();
const StiffnessBatches* avx2_stiffness_batches();
const StiffnessBatches* avx512_stiffness_batches();

/// Those of instruction_set().
const StiffnessBatches& stiffness_batches();

} // namespace ossatura::detail
