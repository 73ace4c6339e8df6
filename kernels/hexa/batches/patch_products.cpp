// SPDX-License-Identifier: Apache-2.0
#include <ossatura/kernels/hexa/batches/patch_products.hpp>

namespace ossatura::detail {

const PatchProducts& patch_products() {
  return choose_by_instruction_set(baseline_patch_products(), avx2_patch_products(),
                                   avx512_patch_products());
}

} // namespace ossatura::detail
