// SPDX-License-Identifier: Apache-2.0
// Batch products for every processor of the family.
#include <ossatura/kernels/bone/batches/batch_kernel.hpp>

namespace ossatura::detail {

namespace {
struct Baseline {
  static constexpr int register_bytes = 16;
};
} // namespace

const BatchProducts* baseline_batch_products() {
  static constexpr BatchProducts products = make_batch_products<Baseline>();
  return &products;
}

} // namespace ossatura::detail
