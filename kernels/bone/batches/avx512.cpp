// SPDX-License-Identifier: Apache-2.0
// Batch products with AVX-512. kernels/CMakeLists.txt has the flags of this source, which are for
// x86-64 alone.
#include <ossatura/kernels/bone/batches/batch_kernel.hpp>

namespace ossatura::detail {

#if defined(__AVX512F__)
namespace {
struct Avx512 {
  static constexpr int register_bytes = 64;
};
} // namespace

const BatchProducts* avx512_batch_products() {
  static constexpr BatchProducts products = make_batch_products<Avx512>();
  return &products;
}
#else
const BatchProducts* avx512_batch_products() {
  return nullptr;
}
#endif

} // namespace ossatura::detail
