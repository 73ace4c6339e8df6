// SPDX-License-Identifier: Apache-2.0
#include <ossatura/kernels/eikonal/batches/ring_arrivals.hpp>

namespace ossatura::detail {

const RingArrivals& ring_arrivals() {
  return choose_by_instruction_set(baseline_ring_arrivals(), avx2_ring_arrivals(),
                                   avx512_ring_arrivals());
}

} // namespace ossatura::detail
