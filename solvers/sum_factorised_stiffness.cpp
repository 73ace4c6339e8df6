// SPDX-License-Identifier: Apache-2.0
// Apart from element_stiffness.cpp, which takes less long to compile.
#include "kernels/stiffness_sum_factorised.hpp"

namespace femura {

#define FEMURA_INSTANTIATE(Exec)                                                                   \
  template void form_sum_factorised<Exec>(const Exec&, const HexaBatch<Exec>&, MatrixStorage,      \
                                          std::int64_t, std::int64_t, const Array<double, Exec>&);
FEMURA_FOR_EACH_BACKEND(FEMURA_INSTANTIATE)
#undef FEMURA_INSTANTIATE

} // namespace femura
