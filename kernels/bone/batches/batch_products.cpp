// SPDX-License-Identifier: Apache-2.0
#include <ossatura/kernels/bone/batches/batch_products.hpp>

namespace ossatura::detail {

const BatchProducts& batch_products() {
  return choose_by_instruction_set(baseline_batch_products(), avx2_batch_products(),
                                   avx512_batch_products());
}

} // namespace ossatura::detail
