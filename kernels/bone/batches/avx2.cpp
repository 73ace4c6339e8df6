// SPDX-License-Identifier: Apache-2.0
// Batch products with AVX2. kernels/CMakeLists.txt has the flags of this source, which are for
// x86-64 alone.
#include <ossatura/kernels/bone/batches/batch_kernel.hpp>

namespace ossatura::detail {

#if defined(__AVX2__)
namespace {
struct Avx2 {
  static constexpr int register_bytes = 32;
};
} // namespace

const BatchProducts* avx2_batch_products() {
  static constexpr BatchProducts products = make_batch_products<Avx2>();
  return &products;
}
#else
const BatchProducts* avx2_batch_products() {
  return nullptr;
}
#endif

} // namespace ossatura::detail
