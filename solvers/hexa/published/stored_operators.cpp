// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/base/backend.hpp>
#include <ossatura/kernels/hexa/published/stored_operators.hpp>

namespace ossatura {

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template std::unique_ptr<HexaOperator<Exec, double>> make_stored_hexa_operator<double>(          \
      const Exec&, HexaOperatorKind, const ElementMesh&, const HexaArrays<Exec>&,                  \
      const UnitLame&);                                                                            \
  template std::unique_ptr<HexaOperator<Exec, float>> make_stored_hexa_operator<float>(            \
      const Exec&, HexaOperatorKind, const ElementMesh&, const HexaArrays<Exec>&,                  \
      const UnitLame&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
