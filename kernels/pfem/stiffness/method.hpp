// SPDX-License-Identifier: Apache-2.0
// A method is a way to form the stiffness matrices of hierarchical hexahedra. All methods give the
// same to rounding.
#pragma once

#include <ossatura/core/base/names.hpp>

namespace ossatura {

enum class StiffnessMethod {
  automatic,      ///< choose_stiffness_method (solvers/pfem/stiffness.hpp)
  ai,             ///< a thread an element, points outermost, the matrix summed in memory [1]
  ai_inner,       ///< the same with the points innermost
  aii,            ///< a thread a point: parts summed over the points of an element afterwards [1]
  aii_inner,      ///< a thread an entry of the matrix, points innermost
  blocked,        ///< tiles of 3 x 3 blocks from scalar gradients at the points
  sum_factorised, ///< sums along one axis after the other, on the modes that there are
  affine,         ///< nine reference matrices; for parallelepipeds with one material each
  congruent,      ///< one matrix for all elements of one shape and material
  tensor_cores    ///< sum_factorised with matrix instructions; on devices that have them
};

constexpr Names<StiffnessMethod> names_of(StiffnessMethod) {
  return {{StiffnessMethod::automatic, "auto"},
          {StiffnessMethod::ai, "ai", is_published},
          {StiffnessMethod::ai_inner, "ai-inner", is_published},
          {StiffnessMethod::aii, "aii", is_published},
          {StiffnessMethod::aii_inner, "aii-inner", is_published},
          {StiffnessMethod::blocked, "blocked"},
          {StiffnessMethod::sum_factorised, "sum-fact"},
          {StiffnessMethod::affine, "affine"},
          {StiffnessMethod::congruent, "congruent"},
          {StiffnessMethod::tensor_cores, "tensor-cores"}};
}
inline constexpr Names<StiffnessMethod> all_stiffness_methods =
    name_table<StiffnessMethod>.without(StiffnessMethod::automatic);

// [1] A. Novikov, I. Kuzmin, N. Nedozhogin, S. Kopysov. Formation of finite element systems on
//     GPGPU (in Russian). Parallel Computational Technologies (PaVT) 2014.

} // namespace ossatura
