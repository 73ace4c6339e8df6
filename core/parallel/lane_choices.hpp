// SPDX-License-Identifier: Apache-2.0
// Lane choices are comparisons, roots and selections lane by lane, for vectors (lanes.hpp) of
// kernels that are compiled for one instruction set each. A mask is what a comparison of vectors
// gives: integers, all bits set where it holds. The results are those of the scalar expressions to
// the bit, and all is inlined, so that the linker cannot mix what is compiled with different flags.
#pragma once

#include <ossatura/core/base/function.hpp>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include <type_traits>

namespace ossatura::detail {

template<class Vector>
using LaneOf = std::remove_cv_t<std::remove_reference_t<decltype(Vector()[0])>>;

template<class Vector>
inline constexpr int num_lanes = int(sizeof(Vector) / sizeof(LaneOf<Vector>));

/// Whether a vector is `bytes` bytes of numbers of type Real.
template<class Vector, class Real, int bytes>
inline constexpr bool
    is_vector_of = std::is_same_v<LaneOf<Vector>, Real>&& int(sizeof(Vector)) == bytes;

template<class Vector>
OSSATURA_FORCEINLINE_FUNCTION Vector broadcast(LaneOf<Vector> value) {
  return Vector{} + value;
}

/// mask ? a : b
template<class Mask, class Vector>
OSSATURA_FORCEINLINE_FUNCTION Vector select(Mask mask, Vector a, Vector b) {
#if defined(__AVX__)
  if constexpr (is_vector_of<Vector, float, 32>)
    return Vector(_mm256_blendv_ps(__m256(b), __m256(a), __m256(mask)));
  else if constexpr (is_vector_of<Vector, double, 32>)
    return Vector(_mm256_blendv_pd(__m256d(b), __m256d(a), __m256d(mask)));
  else
#endif
    return Vector((mask & Mask(a)) | (~mask & Mask(b)));
}

/// a > b ? a : b, which is b where one of them is no number.
template<class Vector>
OSSATURA_FORCEINLINE_FUNCTION Vector larger(Vector a, Vector b) {
#if defined(__AVX__)
  if constexpr (is_vector_of<Vector, float, 32>)
    return Vector(_mm256_max_ps(__m256(a), __m256(b)));
  else if constexpr (is_vector_of<Vector, double, 32>)
    return Vector(_mm256_max_pd(__m256d(a), __m256d(b)));
  else
#endif
#if defined(__SSE2__)
      if constexpr (is_vector_of<Vector, float, 16>)
    return Vector(_mm_max_ps(__m128(a), __m128(b)));
  else if constexpr (is_vector_of<Vector, double, 16>)
    return Vector(_mm_max_pd(__m128d(a), __m128d(b)));
  else
#endif
    return select(a > b, a, b);
}

/// a < b ? a : b, which is b where one of them is no number.
template<class Vector>
OSSATURA_FORCEINLINE_FUNCTION Vector smaller(Vector a, Vector b) {
#if defined(__AVX__)
  if constexpr (is_vector_of<Vector, float, 32>)
    return Vector(_mm256_min_ps(__m256(a), __m256(b)));
  else if constexpr (is_vector_of<Vector, double, 32>)
    return Vector(_mm256_min_pd(__m256d(a), __m256d(b)));
  else
#endif
#if defined(__SSE2__)
      if constexpr (is_vector_of<Vector, float, 16>)
    return Vector(_mm_min_ps(__m128(a), __m128(b)));
  else if constexpr (is_vector_of<Vector, double, 16>)
    return Vector(_mm_min_pd(__m128d(a), __m128d(b)));
  else
#endif
    return select(a < b, a, b);
}

template<class Vector>
OSSATURA_FORCEINLINE_FUNCTION Vector square_root(Vector a) {
#if defined(__AVX512F__)
  if constexpr (is_vector_of<Vector, double, 64>)
    return Vector(_mm512_maskz_sqrt_pd(0xff, __m512d(a))); // the plain one warns in GCC
  else
#endif
#if defined(__AVX__)
      if constexpr (is_vector_of<Vector, float, 32>)
    return Vector(_mm256_sqrt_ps(__m256(a)));
  else if constexpr (is_vector_of<Vector, double, 32>)
    return Vector(_mm256_sqrt_pd(__m256d(a)));
  else
#endif
#if defined(__SSE2__)
      if constexpr (is_vector_of<Vector, float, 16>)
    return Vector(_mm_sqrt_ps(__m128(a)));
  else if constexpr (is_vector_of<Vector, double, 16>)
    return Vector(_mm_sqrt_pd(__m128d(a)));
  else
#endif
  {
    for (int lane = 0; lane < num_lanes<Vector>; ++lane)
      a[lane] = sizeof(LaneOf<Vector>) == 4 ? LaneOf<Vector>(__builtin_sqrtf(float(a[lane])))
                                            : LaneOf<Vector>(__builtin_sqrt(double(a[lane])));
    return a;
  }
}

/// Whether a mask holds for any lane.
template<class Mask>
OSSATURA_FORCEINLINE_FUNCTION bool any_of(Mask mask) {
#if defined(__AVX__)
  if constexpr (sizeof(Mask) == 32)
    return _mm256_testz_si256(__m256i(mask), __m256i(mask)) == 0;
  else
#endif
#if defined(__SSE2__)
      if constexpr (sizeof(Mask) == 16)
    return _mm_movemask_epi8(__m128i(mask)) != 0;
  else
#endif
  {
    LaneOf<Mask> bits = 0;
    for (int lane = 0; lane < num_lanes<Mask>; ++lane)
      bits |= mask[lane];
    return bits != 0;
  }
}

} // namespace ossatura::detail
