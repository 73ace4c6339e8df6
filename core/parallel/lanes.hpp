// SPDX-License-Identifier: Apache-2.0
// Lanes are the short vectors of kernels that are written once for devices and cores. On a device a
// thread is one lane, and the arithmetic is on scalars; on a core one thread carries all lanes of a
// row in the processor's vector registers.
#pragma once

#include <ossatura/core/base/function.hpp>

namespace ossatura {

/// N values, with the arithmetic of a scalar on each. The GNU and Clang vector extension, which the
/// compiler maps to whatever registers the target has; nvcc, which sees kernels of cores too, does
/// not take that, so its builds have an array. Code for different processors passes a `Target` of
/// its own.
template<class Scalar, int N, class Target = void>
struct Lanes {
#if defined(__CUDACC__)
  Scalar value[N];
#else
  typedef Scalar Vector __attribute__((vector_size(N * sizeof(Scalar)), aligned(sizeof(Scalar))));
  Vector value;
#endif

  Lanes() = default;
  OSSATURA_FORCEINLINE_FUNCTION explicit Lanes(Scalar s) {
    for (int i = 0; i < N; ++i)
      value[i] = s;
  }

#if defined(__CUDACC__)
#define OSSATURA_LANES_OPERATOR(op)                                                                \
  OSSATURA_FORCEINLINE_FUNCTION friend Lanes operator op(const Lanes& a, const Lanes& b) {         \
    Lanes result;                                                                                  \
    for (int i = 0; i < N; ++i)                                                                    \
      result.value[i] = a.value[i] op b.value[i];                                                  \
    return result;                                                                                 \
  }
#else
  // Inlined always: functions for another processor pass vectors in other registers.
#define OSSATURA_LANES_OPERATOR(op)                                                                \
  OSSATURA_FORCEINLINE_FUNCTION friend Lanes operator op(const Lanes& a, const Lanes& b) {         \
    Lanes result;                                                                                  \
    result.value = a.value op b.value;                                                             \
    return result;                                                                                 \
  }
#endif
  OSSATURA_LANES_OPERATOR(+)
  OSSATURA_LANES_OPERATOR(-)
  OSSATURA_LANES_OPERATOR(*)
  OSSATURA_LANES_OPERATOR(/)
#undef OSSATURA_LANES_OPERATOR
  OSSATURA_FORCEINLINE_FUNCTION Lanes& operator+=(const Lanes& b) {
    return *this = *this + b;
  }
  OSSATURA_FORCEINLINE_FUNCTION Lanes& operator-=(const Lanes& b) {
    return *this = *this - b;
  }
};

/// Doubles in a vector register of the processor that this is compiled for: wider Lanes spill. Pass
/// it as a template argument, so that objects compiled for different processors cannot collide.
#if defined(__AVX512F__)
inline constexpr int register_lanes = 8;
#elif defined(__AVX__)
inline constexpr int register_lanes = 4;
#else
inline constexpr int register_lanes = 2;
#endif

namespace detail {
/// Elements that kernels of cores take at a time which are compiled for each instruction set.
inline constexpr int batch_size = 8;
} // namespace detail

/// One lane is the scalar itself.
template<class Scalar, int N>
struct PackOf {
  using type = Lanes<Scalar, N>;
};
template<class Scalar>
struct PackOf<Scalar, 1> {
  using type = Scalar;
};
template<class Scalar, int N>
using Pack = typename PackOf<Scalar, N>::type;

/// The values from `first` on, of which `Real` has one or several; no alignment beyond that of a
/// scalar is needed.
template<class Real, class Scalar>
OSSATURA_FORCEINLINE_FUNCTION Real load_real(const Scalar* first) {
  if constexpr (sizeof(Real) == sizeof(Scalar)) {
    return *first;
  } else {
    Real real;
    for (int i = 0; i < int(sizeof(Real) / sizeof(Scalar)); ++i)
      real.value[i] = first[i];
    return real;
  }
}

/// The N values from `first` on.
template<int N, class Scalar>
OSSATURA_FORCEINLINE_FUNCTION Pack<Scalar, N> load_pack(const Scalar* first) {
  return load_real<Pack<Scalar, N>>(first);
}

/// Writes N values from `first` on.
template<int N, class Scalar>
OSSATURA_FORCEINLINE_FUNCTION void store_pack(Scalar* first, const Pack<Scalar, N>& pack) {
  if constexpr (N == 1) {
    *first = pack;
  } else {
    for (int i = 0; i < N; ++i)
      first[i] = pack.value[i];
  }
}

} // namespace ossatura
