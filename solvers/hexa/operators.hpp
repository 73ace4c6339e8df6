// SPDX-License-Identifier: Apache-2.0
// make_hexa_operator makes any of the operators on hexahedra by its kind.
#pragma once

#include <ossatura/kernels/hexa/arrays.hpp>
#include <ossatura/kernels/hexa/operator.hpp>

#include <memory>

namespace ossatura {

/// The fastest: congruent where few shapes make up the mesh, else recompute. Never an operator
/// whose sums depend on threads.
OperatorChoice<HexaOperatorKind> choose_hexa_operator(const ElementMesh& mesh);

/// `kind` is not automatic. Throws std::invalid_argument for elements without a positive Jacobian
/// at a quadrature point, naming the first one. Fences.
template<class Scalar, class Exec>
std::unique_ptr<HexaOperator<Exec, Scalar>>
make_hexa_operator(const Exec& exec, HexaOperatorKind kind, const ElementMesh& mesh,
                   const HexaArrays<Exec>& arrays, const UnitLame& lame);

} // namespace ossatura
