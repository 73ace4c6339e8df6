// SPDX-License-Identifier: Apache-2.0
// make_hexa_operator makes any of the operators on hexahedra by its kind.
#pragma once

#include <ossatura/core/mesh/congruence.hpp>
#include <ossatura/kernels/hexa/arrays.hpp>
#include <ossatura/kernels/hexa/operator.hpp>
#include <ossatura/kernels/hexa/patches.hpp>

#include <memory>
#include <optional>

namespace ossatura {

/// What the operators of a mesh have in common, in whatever precision: made where it is empty and
/// first needed.
template<class Exec>
struct HexaOperatorTables {
  std::optional<CongruenceClasses> classes; ///< of the whole mesh
  std::optional<HexaPatches<Exec>> patches; ///< of one kind of operator
};

/// The fastest: congruent where few shapes make up the mesh, whose classes are then `classes`, else
/// recompute. Never an operator whose sums depend on threads.
OperatorChoice<HexaOperatorKind> choose_hexa_operator(const ElementMesh& mesh,
                                                      std::optional<CongruenceClasses>& classes);
inline OperatorChoice<HexaOperatorKind> choose_hexa_operator(const ElementMesh& mesh) {
  std::optional<CongruenceClasses> classes;
  return choose_hexa_operator(mesh, classes);
}

/// `kind` is not automatic, and the same for all that share `tables`. Throws std::invalid_argument
/// for elements without a positive Jacobian at a quadrature point, naming the first one. Fences.
template<class Scalar, class Exec>
std::unique_ptr<HexaOperator<Exec, Scalar>>
make_hexa_operator(const Exec& exec, HexaOperatorKind kind, const ElementMesh& mesh,
                   const HexaArrays<Exec>& arrays, const UnitLame& lame,
                   HexaOperatorTables<Exec>& tables);
template<class Scalar, class Exec>
std::unique_ptr<HexaOperator<Exec, Scalar>>
make_hexa_operator(const Exec& exec, HexaOperatorKind kind, const ElementMesh& mesh,
                   const HexaArrays<Exec>& arrays, const UnitLame& lame) {
  HexaOperatorTables<Exec> tables;
  return make_hexa_operator<Scalar>(exec, kind, mesh, arrays, lame, tables);
}

} // namespace ossatura
