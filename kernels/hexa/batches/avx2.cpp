// SPDX-License-Identifier: Apache-2.0
// Patch products with AVX2. kernels/CMakeLists.txt has the flags of this source, which are for
// x86-64 alone.
#include <ossatura/kernels/hexa/batches/patch_kernel.hpp>

namespace ossatura::detail {

#if defined(__AVX2__)
namespace {
struct Avx2 {
  static constexpr int register_bytes = 32;
};
} // namespace

const PatchProducts* avx2_patch_products() {
  static constexpr PatchProducts products = make_patch_products<Avx2>();
  return &products;
}
#else
const PatchProducts* avx2_patch_products() {
  return nullptr;
}
#endif

} // namespace ossatura::detail
