// SPDX-License-Identifier: Apache-2.0
// Sweep products with AVX-512. kernels/CMakeLists.txt has the flags of this source, which are for
// x86-64 alone.
#include <ossatura/kernels/algebra/batches/sweep_kernel.hpp>

namespace ossatura::detail {

#if defined(__AVX512F__)
namespace {
struct Avx512 {
  static constexpr int register_bytes = 64;
};
} // namespace

const SweepProducts* avx512_sweep_products() {
  static constexpr SweepProducts products = make_sweep_products<Avx512>();
  return &products;
}
#else
const SweepProducts* avx512_sweep_products() {
  return nullptr;
}
#endif

} // namespace ossatura::detail
