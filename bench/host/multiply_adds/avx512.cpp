// SPDX-License-Identifier: Apache-2.0
// Multiply-adds with AVX-512. bench/CMakeLists.txt has the flags of this source, which are for
// x86-64 alone.
#include "bench/host/multiply_adds/kernel.hpp"

namespace ossatura::bench {

#if defined(__AVX512F__)
const HostMultiplyAdds* avx512_multiply_adds() {
  static constexpr HostMultiplyAdds functions = make_multiply_adds<64>();
  return &functions;
}
#else
const HostMultiplyAdds* avx512_multiply_adds() {
  return nullptr;
}
#endif

} // namespace ossatura::bench
