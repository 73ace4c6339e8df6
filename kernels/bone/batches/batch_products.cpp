// SPDX-License-Identifier: Apache-2.0
#include <ossatura/kernels/bone/batches/batch_products.hpp>

namespace ossatura::detail {

const BatchProducts& batch_products() {
  const InstructionSet set = instruction_set();
  const BatchProducts* products = nullptr;
  if (set >= InstructionSet::avx512)
    products = avx512_batch_products();
  if (products == nullptr && set >= InstructionSet::avx2)
    products = avx2_batch_products();
  return products != nullptr ? *products : *baseline_batch_products();
}

} // namespace ossatura::detail
