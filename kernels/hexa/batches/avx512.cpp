// SPDX-License-Identifier: Apache-2.0
// Patch products with AVX-512. kernels/CMakeLists.txt has the flags of this source, which are for
// x86-64 alone.
#include <ossatura/kernels/hexa/batches/patch_kernel.hpp>

namespace ossatura::detail {

#if defined(__AVX512F__)
namespace {
struct Avx512 {
  static constexpr int register_bytes = 64;
};
} // namespace

const PatchProducts* avx512_patch_products() {
  static constexpr PatchProducts products = make_patch_products<Avx512>();
  return &products;
}
#else
const PatchProducts* avx512_patch_products() {
  return nullptr;
}
#endif

} // namespace ossatura::detail
