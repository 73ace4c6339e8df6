// SPDX-License-Identifier: Apache-2.0
// Ring arrivals with AVX2. kernels/CMakeLists.txt has the flags of this source, which are for
// x86-64 alone.
#include <ossatura/kernels/eikonal/batches/arrival_kernel.hpp>

namespace ossatura::detail {

#if defined(__AVX2__)
namespace {
struct Avx2 {
  static constexpr int register_bytes = 32;
};
} // namespace

const RingArrivals* avx2_ring_arrivals() {
  static constexpr RingArrivals arrivals = make_ring_arrivals<Avx2>();
  return &arrivals;
}
#else
const RingArrivals* avx2_ring_arrivals() {
  return nullptr;
}
#endif

} // namespace ossatura::detail
