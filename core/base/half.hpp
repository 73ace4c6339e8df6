// SPDX-License-Identifier: Apache-2.0
// Half precision (IEEE 754 binary16) is a storage format here, on every backend. Kokkos' half_t is
// a float where the build has no GPU: such a half would store twice as much there, and round
// otherwise.
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <cstring>

#if defined(__CUDACC__)
#include <cuda_fp16.h>
#endif

namespace ossatura {

/// Converts to and from float; rounds to the nearest, ties to even. No arithmetic.
class Half {
public:
  Half() = default;
  KOKKOS_INLINE_FUNCTION explicit Half(double value)
      : Half(float(value)) {}
  KOKKOS_INLINE_FUNCTION explicit Half(float value)
      : bits_(encode(value)) {}
  KOKKOS_INLINE_FUNCTION operator float() const { return decode(bits_); }

  /// The nearest finite one: what is too large becomes the largest; NaN stays.
  KOKKOS_INLINE_FUNCTION static Half within_range(float value) {
    constexpr float largest = 65504;
    return Half(Kokkos::clamp(value, -largest, largest));
  }

private:
#if defined(__CUDA_ARCH__)
  KOKKOS_INLINE_FUNCTION static std::uint16_t encode(float value) {
    return __half_as_ushort(__float2half_rn(value));
  }
  KOKKOS_INLINE_FUNCTION static float decode(std::uint16_t bits) {
    return __half2float(__ushort_as_half(bits));
  }
#else
  KOKKOS_INLINE_FUNCTION static std::uint16_t encode(float value) {
    std::uint32_t word;
    std::memcpy(&word, &value, sizeof word);
    const std::uint32_t sign = word >> 16 & 0x8000u, magnitude = word & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
      return std::uint16_t(sign | 0x7e00u); // not a number
    if (magnitude >= 0x477ff000u)
      return std::uint16_t(sign | 0x7c00u); // rounds to infinity
    if (magnitude < 0x38800000u) {
      // Subnormal: adding 1/2 leaves the multiple of 2^-24 in the low bits, rounded.
      float shifted;
      std::memcpy(&shifted, &magnitude, sizeof shifted);
      shifted += 0.5f;
      std::memcpy(&word, &shifted, sizeof word);
      return std::uint16_t(sign | (word - 0x3f000000u));
    }
    const std::uint32_t odd = magnitude >> 13 & 1u;
    return std::uint16_t(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
  }
  KOKKOS_INLINE_FUNCTION static float decode(std::uint16_t bits) {
    const std::uint32_t sign = std::uint32_t(bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
    float value;
    if (magnitude < 0x0400u) {
      value = float(magnitude) * 0x1p-24f;
      return sign ? -value : value;
    }
    const std::uint32_t word =
        sign | (magnitude >= 0x7c00u ? 0x7f800000u | (magnitude & 0x3ffu) << 13
                                     : (magnitude << 13) + 0x38000000u);
    std::memcpy(&value, &word, sizeof value);
    return value;
  }
#endif
  std::uint16_t bits_;
};

} // namespace ossatura
