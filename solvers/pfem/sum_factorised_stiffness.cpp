// SPDX-License-Identifier: Apache-2.0
// Sum factorisation is instantiated here, apart from stiffness.cpp, which takes less long to
// compile.
#include <ossatura/kernels/pfem/stiffness/sum_factorised.hpp>

namespace ossatura {

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template void form_sum_factorised<Exec>(const Exec&, const HexaBatch<Exec>&, MatrixStorage,      \
                                          std::int64_t, std::int64_t, const Array<double, Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
