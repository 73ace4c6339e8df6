// SPDX-License-Identifier: Apache-2.0
// The matrix of all modes is assembled from the matrices of elements. Not for users.
#pragma once

#include <ossatura/kernels/algebra/sparse/block_matrix.hpp>
#include <ossatura/kernels/pfem/operator.hpp>
#include <ossatura/kernels/pfem/stiffness/method.hpp>

namespace ossatura::detail {

/// [num_modes] rows of 3 x 3 blocks, both triangles, nothing held. Throws std::invalid_argument
/// where 31 bits do not count the blocks. Fences.
template<class Exec>
BlockMatrix<Exec> assemble_modes(const Exec& exec, const HierarchicModel<Exec>& model,
                                 StiffnessMethod form);

} // namespace ossatura::detail
