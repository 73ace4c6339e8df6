// SPDX-License-Identifier: Apache-2.0
// Sweep products with AVX2. kernels/CMakeLists.txt has the flags of this source, which are for
// x86-64 alone.
#include <ossatura/kernels/algebra/batches/sweep_kernel.hpp>

namespace ossatura::detail {

#if defined(__AVX2__)
namespace {
struct Avx2 {
  static constexpr int register_bytes = 32;
};
} // namespace

const SweepProducts* avx2_sweep_products() {
  static constexpr SweepProducts products = make_sweep_products<Avx2>();
  return &products;
}
#else
const SweepProducts* avx2_sweep_products() {
  return nullptr;
}
#endif

} // namespace ossatura::detail
