// SPDX-License-Identifier: Apache-2.0
// A method is a way to form the stiffness matrices of hierarchical hexahedra. All methods give the
// same to rounding.
#pragma once

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

/// All but automatic.
inline constexpr StiffnessMethod all_stiffness_methods[] = {
    StiffnessMethod::ai,        StiffnessMethod::ai_inner,  StiffnessMethod::aii,
    StiffnessMethod::aii_inner, StiffnessMethod::blocked,   StiffnessMethod::sum_factorised,
    StiffnessMethod::affine,    StiffnessMethod::congruent, StiffnessMethod::tensor_cores};

inline const char* name_of(StiffnessMethod method) {
  constexpr const char* names[] = {"auto",    "ai",       "ai-inner", "aii",       "aii-inner",
                                   "blocked", "sum-fact", "affine",   "congruent", "tensor-cores"};
  return names[int(method)];
}

// [1] A. Novikov, I. Kuzmin, N. Nedozhogin, S. Kopysov. Formation of finite element systems on
//     GPGPU (in Russian). Parallel Computational Technologies (PaVT) 2014.

} // namespace ossatura
