// SPDX-License-Identifier: Apache-2.0
// Sweep products for every processor of the family.
#include <ossatura/kernels/algebra/batches/sweep_kernel.hpp>

namespace ossatura::detail {

namespace {
struct Baseline {
  static constexpr int register_bytes = 16;
};
} // namespace

const SweepProducts* baseline_sweep_products() {
  static constexpr SweepProducts products = make_sweep_products<Baseline>();
  return &products;
}

} // namespace ossatura::detail
