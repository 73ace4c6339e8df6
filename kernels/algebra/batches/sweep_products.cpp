// SPDX-License-Identifier: Apache-2.0
#include <ossatura/kernels/algebra/batches/sweep_products.hpp>

namespace ossatura::detail {

const SweepProducts& sweep_products() {
  return choose_by_instruction_set(baseline_sweep_products(), avx2_sweep_products(),
                                   avx512_sweep_products());
}

} // namespace ossatura::detail
