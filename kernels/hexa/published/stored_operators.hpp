// SPDX-License-Identifier: Apache-2.0
// make_stored_hexa_operator makes the operators on hexahedra that store matrices, by their kind.
#pragma once

#include <ossatura/kernels/hexa/published/assembled_operator.hpp>
#include <ossatura/kernels/hexa/published/element_operator.hpp>
#include <ossatura/kernels/hexa/published/node_operator.hpp>
#include <ossatura/kernels/hexa/published/symmetric_operator.hpp>
#include <ossatura/kernels/hexa/published/thread_operator.hpp>

#include <memory>

namespace ossatura {

/// Null for the kinds that store no matrix. `mesh` is that of `arrays`; its elements have positive
/// Jacobians (least_hexa_jacobian). Fences.
template<class Scalar, class Exec>
std::unique_ptr<HexaOperator<Exec, Scalar>>
make_stored_hexa_operator(const Exec& exec, HexaOperatorKind kind, const ElementMesh& mesh,
                          const HexaArrays<Exec>& arrays, const UnitLame& lame) {
  std::unique_ptr<HexaOperator<Exec, Scalar>> made;
  switch (kind) {
  case HexaOperatorKind::ebe:
    made = std::make_unique<HexaElementOperator<Exec, Scalar>>(exec, arrays, lame);
    break;
  case HexaOperatorKind::ebe_colour:
    made = std::make_unique<HexaColourOperator<Exec, Scalar>>(exec, mesh, arrays, lame);
    break;
  case HexaOperatorKind::nbn:
    made = std::make_unique<HexaNodeOperator<Exec, Scalar>>(exec, arrays, lame);
    break;
  case HexaOperatorKind::ebe8:
    made = std::make_unique<HexaThreadOperator<Exec, Scalar, 8>>(exec, arrays, lame);
    break;
  case HexaOperatorKind::ebe24:
    made = std::make_unique<HexaThreadOperator<Exec, Scalar, 24>>(exec, arrays, lame);
    break;
  case HexaOperatorKind::ebe64:
    made = std::make_unique<HexaThreadOperator<Exec, Scalar, 64>>(exec, arrays, lame);
    break;
  case HexaOperatorKind::ebe_sym:
    made = std::make_unique<HexaSymmetricOperator<Exec, Scalar>>(exec, arrays, lame);
    break;
  case HexaOperatorKind::csr:
    made = std::make_unique<HexaCsrOperator<Exec, Scalar>>(exec, arrays, lame);
    break;
  case HexaOperatorKind::bsr:
    made = std::make_unique<HexaBlockOperator<Exec, Scalar>>(exec, arrays, lame);
    break;
  default:
    break;
  }
  fence(exec, "ossatura::make_stored_hexa_operator");
  return made;
}

} // namespace ossatura
