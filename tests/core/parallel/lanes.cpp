// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include <ossatura/core/parallel/lanes.hpp>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define OSSATURA_TEST_AVX2
#endif

namespace {

using namespace ossatura;

/// In registers that the build's own processor may lack. What is not inlined here passes its
/// vectors elsewhere, and they are lost.
#if defined(OSSATURA_TEST_AVX2)
__attribute__((target("avx2"), optimize("O0")))
#endif
void combine(const float* a, const float* b, float* result) {
  const Pack<float, 8> x = load_pack<8>(a), y = load_pack<8>(b);
  Pack<float, 8> sum = x * y - x / y + y;
  sum += x;
  sum -= Pack<float, 8>(0.5f);
  store_pack<8>(result, sum);
}

} // namespace

TEST_CASE("Lanes for another processor need no optimisation", "[lanes]") {
#if defined(OSSATURA_TEST_AVX2)
  if (!__builtin_cpu_supports("avx2"))
    return;
#endif
  float a[8], b[8], result[8];
  for (int i = 0; i < 8; ++i) {
    a[i] = float(i + 1);
    b[i] = float(1 << i);
  }
  combine(a, b, result);
  for (int i = 0; i < 8; ++i) // exact: quotients are by powers of two
    CHECK(result[i] == a[i] * b[i] - a[i] / b[i] + b[i] + a[i] - 0.5f);
}
