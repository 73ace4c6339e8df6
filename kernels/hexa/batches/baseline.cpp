// SPDX-License-Identifier: Apache-2.0
// Patch products for every processor of the family.
#include <ossatura/kernels/hexa/batches/patch_kernel.hpp>

namespace ossatura::detail {

namespace {
struct Baseline {
  static constexpr int register_bytes = 16;
};
} // namespace

const PatchProducts* baseline_patch_products() {
  static constexpr PatchProducts products = make_patch_products<Baseline>();
  return &products;
}

} // namespace ossatura::detail
