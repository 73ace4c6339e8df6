// SPDX-License-Identifier: Apache-2.0
// Ring arrivals for every processor of the family.
#include <ossatura/kernels/eikonal/batches/arrival_kernel.hpp>

namespace ossatura::detail {

namespace {
struct Baseline {
  static constexpr int register_bytes = 16;
};
} // namespace

const RingArrivals* baseline_ring_arrivals() {
  static constexpr RingArrivals arrivals = make_ring_arrivals<Baseline>();
  return &arrivals;
}

} // namespace ossatura::detail
