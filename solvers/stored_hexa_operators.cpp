// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"
#include "kernels/hexa_stored_operators.hpp"

namespace femura {

#define FEMURA_INSTANTIATE(Exec)                                                                   \
  template std::unique_ptr<HexaOperator<Exec, double>> make_stored_hexa_operator<double>(          \
      const Exec&, HexaOperatorKind, const ElementMesh&, const HexaArrays<Exec>&,                  \
      const UnitLame&);                                                                            \
  template std::unique_ptr<HexaOperator<Exec, float>> make_stored_hexa_operator<float>(            \
      const Exec&, HexaOperatorKind, const ElementMesh&, const HexaArrays<Exec>&,                  \
      const UnitLame&);
FEMURA_FOR_EACH_BACKEND(FEMURA_INSTANTIATE)
#undef FEMURA_INSTANTIATE

} // namespace femura
