// SPDX-License-Identifier: Apache-2.0
// Multiply-adds of every processor of the family.
#include "bench/host/multiply_adds/kernel.hpp"

namespace ossatura::bench {

const HostMultiplyAdds* baseline_multiply_adds() {
  static constexpr HostMultiplyAdds functions = make_multiply_adds<16>();
  return &functions;
}

} // namespace ossatura::bench
