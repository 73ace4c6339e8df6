// SPDX-License-Identifier: Apache-2.0
// Ring arrivals with AVX-512. kernels/CMakeLists.txt has the flags of this source, which are for
// x86-64 alone.
#include <ossatura/kernels/eikonal/batches/arrival_kernel.hpp>

namespace ossatura::detail {

#if defined(__AVX512F__)
namespace {
struct Avx512 {
  static constexpr int register_bytes = 64;
};
} // namespace

const RingArrivals* avx512_ring_arrivals() {
  static constexpr RingArrivals arrivals = make_ring_arrivals<Avx512>();
  return &arrivals;
}
#else
const RingArrivals* avx512_ring_arrivals() {
  return nullptr;
}
#endif

} // namespace ossatura::detail
