// SPDX-License-Identifier: BSD-3-Clause
// Short vectors for kernels that are written once for devices and cores. On a device a thread is
// one lane, and the arithmetic is on scalars; on a core one thread carries all lanes of a row in
// the processor's vector registers.
#pragma once

#include <Kokkos_Core.hpp>

namespace femura {

/// N values, with the arithmetic of a scalar on each. Host only. GNU and Clang vector extension:
/// the compiler maps it to whatever registers the target has.
template<class Scalar, int N>
struct Lanes {
  typedef Scalar Vector __attribute__((vector_size(N * sizeof(Scalar)), aligned(sizeof(Scalar))));
  Vector value;

  Lanes() = default;
  explicit Lanes(Scalar s)
      : value(s - Vector{}) {}

  friend Lanes operator+(Lanes a, Lanes b) { return wrap(a.value + b.value); }
  friend Lanes operator-(Lanes a, Lanes b) { return wrap(a.value - b.value); }
  friend Lanes operator*(Lanes a, Lanes b) { return wrap(a.value * b.value); }
  Lanes& operator+=(Lanes b) { return *this = *this + b; }
  Lanes& operator-=(Lanes b) { return *this = *this - b; }

private:
  static Lanes wrap(Vector v) {
    Lanes result;
    result.value = v;
    return result;
  }
};

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

/// The N values from `first` on; no alignment beyond that of a scalar is needed.
template<int N, class Scalar>
KOKKOS_FORCEINLINE_FUNCTION Pack<Scalar, N> load_pack(const Scalar* first) {
  if constexpr (N == 1) {
    return *first;
  } else {
    Pack<Scalar, N> pack;
    for (int i = 0; i < N; ++i)
      pack.value[i] = first[i];
    return pack;
  }
}

/// Writes N values from `first` on.
template<int N, class Scalar>
KOKKOS_FORCEINLINE_FUNCTION void store_pack(Scalar* first, const Pack<Scalar, N>& pack) {
  if constexpr (N == 1) {
    *first = pack;
  } else {
    for (int i = 0; i < N; ++i)
      first[i] = pack.value[i];
  }
}

} // namespace femura
