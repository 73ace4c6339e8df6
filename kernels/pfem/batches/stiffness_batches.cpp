// SPDX-License-Identifier: Apache-2.0
#include <ossatura/kernels/pfem/batches/stiffness_batches.hpp>

namespace ossatura::detail {

const StiffnessBatches& stiffness_batches() {
  return choose_by_instruction_set(baseline_stiffness_batches(), avx2_stiffness_batches(),
                                   avx512_stiffness_batches());
}

} // namespace ossatura::detail
