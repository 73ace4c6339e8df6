// SPDX-License-Identifier: Apache-2.0
// Batch products multiply eight elements at a time with the vector instructions of a core: an
// element is a lane.
//
// The displacements of the corners are loaded node by node and transposed into lanes, and the
// forces are transposed back and added node by node. These functions are compiled once for each
// instruction set (core/machine/instruction_set.hpp) in sources without Kokkos, whatever else the
// program is compiled for. Eight elements are a batch, and the order of additions is the same, for
// all of them, and multiplications and additions are not fused: results are the same to the bit on
// every processor.
#pragma once

#include <ossatura/core/base/function.hpp>
#include <ossatura/core/machine/instruction_set.hpp>

#include <cstdint>

namespace ossatura::detail {

/// Lame's constants of elements and the vector that is multiplied.
template<class Scalar>
struct BatchInput {
  const float *lambda, *mu;      ///< by number of an element
  Scalar lambda_scale, mu_scale; ///< times the edge
  const Scalar* x;               ///< [3 num_nodes]
  std::int64_t num_nodes;
};

/// y += sum A_e x over `count` elements by their lowest nodes, which number them, ascending, and
/// distances [count][7] from there to their other corners, the last the longest. As in a lattice,
/// no two elements have a node at the same corner. y [3 num_nodes] must not alias x.
template<class Scalar, class Offset>
using AddOffsetElements = void(const BatchInput<Scalar>&, const int* lowest, const Offset* distance,
                               int count, Scalar* y);

/// sum += A_e x over `count` cells e = cell[i] with corners corner[8 e + v], at num_owned nodes
/// from `first` on. `sum` [4 (num_owned + 1)] has three numbers for each of these; the fourth and
/// the last four take what has no meaning.
template<class Scalar>
using AddCells = void(const BatchInput<Scalar>&, const int* corner, const int* cell, int count,
                      int first, int num_owned, Scalar* sum);

template<class Scalar>
struct BatchFunctions {
  AddOffsetElements<Scalar, std::uint8_t>* add_short;
  AddOffsetElements<Scalar, std::uint16_t>* add_medium;
  AddOffsetElements<Scalar, std::int32_t>* add_long;
  AddCells<Scalar>* add_cells;

  OSSATURA_INLINE_FUNCTION auto* add(const std::uint8_t*) const { return add_short; }
  OSSATURA_INLINE_FUNCTION auto* add(const std::uint16_t*) const { return add_medium; }
  OSSATURA_INLINE_FUNCTION auto* add(const std::int32_t*) const { return add_long; }
};

/// The functions of one instruction set.
struct BatchProducts {
  BatchFunctions<float> in_float;
  BatchFunctions<double> in_double;

  const BatchFunctions<float>& of(float) const { return in_float; }
  const BatchFunctions<double>& of(double) const { return in_double; }
};

/// Null where the program was compiled for processors that cannot have it.
const BatchProducts* baseline_batch_products();
const BatchProducts* avx2_batch_products();
const BatchProducts* avx512_batch_products();

/// Those of instruction_set().
const BatchProducts& batch_products();

} // namespace ossatura::detail
