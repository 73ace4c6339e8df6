// SPDX-License-Identifier: Apache-2.0
// These functions gather the times around a point and mark the tetrahedra that can lower its own,
// eight at a time where a processor looks up lanes by their numbers.
#pragma once

#include <ossatura/kernels/eikonal/packed_face.hpp>

#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace ossatura::detail {

/// More neighbours of a point are not gathered.
inline constexpr int max_star = 32;

/// Tetrahedra to be solved, one after the other: the times of the face, the entry in the rings, and
/// the arrival once it is known.
template<class Target, class Real>
struct MarkedTetra {
  static constexpr int capacity = 512, margin = 16; ///< `margin` is written beyond, or read
  alignas(64) Real ta[capacity + margin];
  alignas(64) Real tb[capacity + margin], tc[capacity + margin], arrival[capacity + margin];
  alignas(64) int entry[capacity + margin];
  int size = 0;
};

/// A part of a ring around a point.
template<class Real>
struct RingPart {
  const std::uint32_t* face;
  const int* member;
  int count;
  const Real* time; ///< [max_star] of the neighbours
  int num_neighbours;
  Real current;
};

/// Appends the tetrahedra of a part that may lower the time. One by one.
template<class Target, class Real>
OSSATURA_FORCEINLINE_FUNCTION void mark_each(const RingPart<Real>& ring,
                                             MarkedTetra<Target, Real>& marked) {
  const Real* const t = ring.time;
  int n = marked.size;
  for (int e = 0; e < ring.count; ++e) {
    const std::uint32_t face = ring.face[e];
    const Real ta = t[face_place(face, 0)], tb = t[face_place(face, 1)],
               tc = t[face_place(face, 2)];
    const Real tab = tb < ta ? tb : ta, first = tc < tab ? tc : tab;
    // Without a branch: two in five would be taken, at random.
    marked.ta[n] = ta;
    marked.tb[n] = tb;
    marked.tc[n] = tc;
    marked.entry[n] = ring.member[e];
    n += first + Real(unpack_height(face)) < ring.current ? 1 : 0;
  }
  marked.size = n;
}

#if defined(__AVX2__)

/// Numbers of the lanes of a mask, then zeros: 8 bytes for each of 256 masks.
struct LaneNumbers {
  alignas(64) std::uint8_t of_mask[256][8];

  constexpr LaneNumbers()
      : of_mask() {
    for (int mask = 0; mask < 256; ++mask) {
      int n = 0;
      for (int lane = 0; lane < 8; ++lane)
        if ((mask >> lane & 1) != 0)
          of_mask[mask][n++] = std::uint8_t(lane);
    }
  }
};
inline constexpr LaneNumbers lane_numbers;

/// All bits in lanes 0 .. count - 1.
OSSATURA_FORCEINLINE_FUNCTION __m256i first_lanes(int count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/// Times of up to 8 `groups` neighbours, in vectors of eight.
template<int groups>
struct StarTimes {
  __m256 time[groups];

  OSSATURA_FORCEINLINE_FUNCTION explicit StarTimes(const float* times) {
    for (int g = 0; g < groups; ++g)
      time[g] = _mm256_load_ps(times + 8 * g);
  }

  /// Those at the places in bits 0 to 4 of each lane, of which an instruction reads three.
  OSSATURA_FORCEINLINE_FUNCTION __m256 operator()(__m256i place) const {
    const __m256 bit3 = _mm256_castsi256_ps(_mm256_slli_epi32(place, 28));
    const auto pair = [&](int g) __attribute__((always_inline)) {
      return _mm256_blendv_ps(_mm256_permutevar8x32_ps(time[g], place),
                              _mm256_permutevar8x32_ps(time[g + 1], place), bit3);
    };
    if constexpr (groups == 2)
      return pair(0);
    else
      return _mm256_blendv_ps(pair(0), pair(2), _mm256_castsi256_ps(_mm256_slli_epi32(place, 27)));
  }
};

template<int groups, class Target>
OSSATURA_FORCEINLINE_FUNCTION void mark_eights(const RingPart<float>& ring,
                                               MarkedTetra<Target, float>& marked) {
  const StarTimes<groups> times(ring.time);
  const __m256 current = _mm256_set1_ps(ring.current);
  int n = marked.size;
  for (int e = 0; e < ring.count; e += 8) {
    const __m256i lanes = first_lanes(ring.count - e);
    const __m256i face = _mm256_maskload_epi32(reinterpret_cast<const int*>(ring.face) + e, lanes);
    const __m256i member = _mm256_maskload_epi32(ring.member + e, lanes);
    const __m256 ta = times(face), tb = times(_mm256_srli_epi32(face, 7)),
                 tc = times(_mm256_srli_epi32(face, 14));
    const __m256 first = _mm256_min_ps(tc, _mm256_min_ps(tb, ta));
    const __m256 height = _mm256_castsi256_ps(
        _mm256_and_si256(_mm256_srli_epi32(face, 1), _mm256_set1_epi32(0x7ff00000)));
    const __m256 lower =
        _mm256_and_ps(_mm256_cmp_ps(_mm256_add_ps(first, height), current, _CMP_LT_OQ),
                      _mm256_castsi256_ps(lanes));
    const unsigned mask = unsigned(_mm256_movemask_ps(lower));
    const __m256i number = _mm256_cvtepu8_epi32(
        _mm_loadl_epi64(reinterpret_cast<const __m128i*>(lane_numbers.of_mask[mask])));
    _mm256_storeu_ps(marked.ta + n, _mm256_permutevar8x32_ps(ta, number));
    _mm256_storeu_ps(marked.tb + n, _mm256_permutevar8x32_ps(tb, number));
    _mm256_storeu_ps(marked.tc + n, _mm256_permutevar8x32_ps(tc, number));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(marked.entry + n),
                        _mm256_permutevar8x32_epi32(member, number));
    n += __builtin_popcount(mask);
  }
  marked.size = n;
}
#endif

/// star[j] = time[neighbour[j]], j < count; what follows up to a multiple of eight has no meaning.
template<class Target, class Real>
OSSATURA_FORCEINLINE_FUNCTION void gather_star(const Real* time, const int* neighbour, int count,
                                               Real* star) {
#if defined(__AVX2__)
  if constexpr (sizeof(Real) == 4) {
    for (int j = 0; j < count; j += 8) {
      const __m256i lanes = first_lanes(count - j);
      const __m256i number = _mm256_maskload_epi32(neighbour + j, lanes);
      _mm256_store_ps(star + j, _mm256_mask_i32gather_ps(_mm256_setzero_ps(), time, number,
                                                         _mm256_castsi256_ps(lanes), 4));
    }
  } else
#endif
    for (int j = 0; j < count; ++j)
      star[j] = time[neighbour[j]];
}

template<class Target, class Real>
OSSATURA_FORCEINLINE_FUNCTION void mark_tetra(const RingPart<Real>& ring,
                                              MarkedTetra<Target, Real>& marked) {
#if defined(__AVX2__)
  if constexpr (sizeof(Real) == 4) {
    if (ring.num_neighbours <= 16)
      mark_eights<2>(ring, marked);
    else
      mark_eights<4>(ring, marked);
  } else
#endif
    mark_each(ring, marked);
}

} // namespace ossatura::detail
