// SPDX-License-Identifier: Apache-2.0
// make_hierarchic_operator makes any of the operators on hierarchical hexahedra by its kind.
#pragma once

#include <ossatura/kernels/pfem/operator.hpp>
#include <ossatura/kernels/pfem/stiffness/method.hpp>

#include <cstdint>
#include <memory>

namespace ossatura {

/// Shared where few shapes and materials make up the mesh; else, where stored matrices fit `memory`
/// (bytes) and are cheaper than matrix-free, bsr on devices and packed on cores; else matrix-free.
template<class Exec>
OperatorChoice<HierarchicOperatorKind>
choose_hierarchic_operator(const Exec& exec, const HierarchicModel<Exec>& model,
                           std::int64_t memory);

/// How many matrices `shared` keeps. Throws std::invalid_argument for elements that share none.
/// Fences.
template<class Exec>
std::int64_t count_shared_matrices(const Exec& exec, const HierarchicModel<Exec>& model);

/// The share of the bytes `left` (0: unknown) that is for matrices: vertex stars need the rest.
std::int64_t memory_for_matrices(std::int64_t left);

/// `kind` is not automatic. `form`: how matrices are formed. `model`'s arrays are kept. Fences.
template<class Exec>
std::unique_ptr<HierarchicOperator<Exec>>
make_hierarchic_operator(const Exec& exec, HierarchicOperatorKind kind,
                         const HierarchicModel<Exec>& model,
                         StiffnessMethod form = StiffnessMethod::automatic);

} // namespace ossatura
