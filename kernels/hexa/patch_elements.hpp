// SPDX-License-Identifier: Apache-2.0
// What operators by patches (patches.hpp) know of an element, and how they multiply with it. `Real`
// is a number or a row of them, one for each of several elements (core/parallel/lanes.hpp). Without
// Kokkos: cores have it compiled for each instruction set (batches/patch_products.hpp).
//
// An element type says what its product needs: `uses_points`, the positions of its nodes;
// `table_size` numbers of the kind of a patch, in `tables` one kind after the other. `teams` is how
// many a multiprocessor should hold at once, by measurement, `teams_of_one_kind` where the table of
// a launch's one kind is an argument of it. `multiply(elem, ...)` takes the first of its elements
// by patch, and calls store(i, f_i), i = 3 a + c for component c of node a.
#pragma once

#include <ossatura/core/parallel/lanes.hpp>
#include <ossatura/kernels/hexa/trilinear_modes.hpp>

#include <cstdint>
#include <utility>

namespace ossatura::detail {

/// Of any shape, from the positions of the nodes.
template<class S>
struct RecomputedElement {
  using Scalar = S;
  static constexpr bool uses_points = true;
  static constexpr int table_size = 0;
  static constexpr int teams = 2;
  Scalar lambda, mu;
  const Scalar* tables = nullptr; ///< none

  template<class Real, class Store>
  OSSATURA_FORCEINLINE_FUNCTION void multiply(std::int64_t, const Scalar*, const Real& modulus,
                                              const Real (&points)[24], const Real (&u)[24],
                                              const Store& store) const {
    Real f[24];
    multiply_hexa(trilinear_modes(points), trilinear_modes(u), Real(lambda) * modulus,
                  Real(mu) * modulus, f);
    for (int i = 0; i < 24; ++i)
      store(i, f[i]);
  }
};

/// Of any shape, from nine factors kept at each Gauss point.
template<class S>
struct PartialElement {
  using Scalar = S;
  static constexpr bool uses_points = false;
  static constexpr int table_size = 0;
  static constexpr int teams = 3;
  Scalar lambda, mu;
  const Scalar* factor; ///< [8 points, 9, stride]
  std::int64_t stride;
  const Scalar* tables = nullptr; ///< none

  template<class Real>
  struct Geometry {
    const Scalar* first;
    std::int64_t stride;

    OSSATURA_FORCEINLINE_FUNCTION void operator()(int g, Real (&c)[3][3]) const {
      for (int i = 0; i < 9; ++i)
        c[i / 3][i % 3] = load_real<Real>(first + (9 * g + i) * stride);
    }
  };
  template<class Real, class Store>
  OSSATURA_FORCEINLINE_FUNCTION void multiply(std::int64_t elem, const Scalar*, const Real& modulus,
                                              const Real (&)[24], const Real (&u)[24],
                                              const Store& store) const {
    Real f[24];
    multiply_hexa_partial(Geometry<Real>{factor + elem, stride}, trilinear_modes(u),
                          Real(lambda) * modulus, Real(mu) * modulus, f);
    for (int i = 0; i < 24; ++i)
      store(i, f[i]);
  }
};

/// As they are loaded.
template<class Scalar>
struct alignas(16) MatrixGroup {
  static constexpr int size = 16 / int(sizeof(Scalar));
  Scalar entry[size];
};

/// The upper triangle of a symmetric n x n matrix by rows, each from its diagonal on and padded so
/// that it begins at 16 bytes: entries before row `row`.
template<class Scalar>
OSSATURA_FORCEINLINE_FUNCTION constexpr int packed_begin(int n, int row) {
  constexpr int size = 16 / int(sizeof(Scalar));
  int begin = 0;
  for (int i = 0; i < row; ++i)
    begin += (n - i + size - 1) / size * size;
  return begin;
}

/// Adds a group of entries of row i of n: each to f_i and, transposed, to f_j.
template<int n, int i, int g, class Scalar, class Real>
OSSATURA_FORCEINLINE_FUNCTION void multiply_group(const Scalar* table, const Real* u, Real* f) {
  using Group = MatrixGroup<Scalar>;
  constexpr int first = i + g * Group::size, at = packed_begin<Scalar>(n, i) + g * Group::size;
  const Group k = *reinterpret_cast<const Group*>(table + at);
  for (int q = 0; q < Group::size; ++q)
    if (first + q < n) {
      f[i] += Real(k.entry[q]) * u[first + q];
      if (first + q != i)
        f[first + q] += Real(k.entry[q]) * u[i];
    }
}

template<int n, int i, class Scalar, class Real, int... g>
OSSATURA_FORCEINLINE_FUNCTION void multiply_row(const Scalar* table, const Real* u, Real* f,
                                                std::integer_sequence<int, g...>) {
  (multiply_group<n, i, g>(table, u, f), ...);
}

template<int n, class Scalar, class Real, int... i>
OSSATURA_FORCEINLINE_FUNCTION void multiply_rows(const Scalar* table, const Real* u, Real* f,
                                                 std::integer_sequence<int, i...>) {
  constexpr int size = MatrixGroup<Scalar>::size;
  (multiply_row<n, i>(table, u, f, std::make_integer_sequence<int, (n - i + size - 1) / size>()),
   ...);
}

/// f += K u, n x n. Written out, so that u and f stay in registers.
template<int n, class Scalar, class Real>
OSSATURA_FORCEINLINE_FUNCTION void multiply_packed(const Scalar* table, const Real* u, Real* f) {
  multiply_rows<n>(table, u, f, std::make_integer_sequence<int, n>());
}

/// The modes in the order of the table: those of one and three factors, then those of two.
OSSATURA_FORCEINLINE_FUNCTION constexpr int table_mode(int k) {
  constexpr int bits[7] = {1, 2, 4, 7, 3, 5, 6};
  return bits[k];
}

/// Entries of a table: of the whole matrix, or of its two blocks.
template<class Scalar, bool centred>
inline constexpr int mode_table_size = centred
                                           ? packed_begin<Scalar>(12, 12) + packed_begin<Scalar>(9,
                                                                                                 9)
                                           : packed_begin<Scalar>(21, 21);

/// Elements of one shape, from the stiffness matrix of the shape in modes.
template<class S, bool centred>
struct CongruentElement {
  using Scalar = S;
  static constexpr bool uses_points = false;
  static constexpr int table_size = mode_table_size<Scalar, centred>;
  static constexpr int teams = sizeof(Scalar) == 8 ? 4 : 5;
  static constexpr int teams_of_one_kind = 6;
  const Scalar* tables; ///< [num_classes, table_size]

  template<class Real, class Store>
  OSSATURA_FORCEINLINE_FUNCTION void multiply(std::int64_t, const Scalar* table,
                                              const Real& modulus, const Real (&)[24],
                                              const Real (&u)[24], const Store& store) const {
    TrilinearModes<Real> modes = trilinear_modes<false>(u);
    Real m[21], g[21], f[24];
    for (int i = 0; i < 21; ++i) {
      m[i] = modes(table_mode(i / 3), i % 3);
      g[i] = Real(0.0);
    }
    if constexpr (centred) {
      multiply_packed<12>(table, m, g);
      multiply_packed<9>(table + packed_begin<Scalar>(12, 12), m + 12, g + 12);
    } else {
      multiply_packed<21>(table, m, g);
    }
    for (int i = 0; i < 21; ++i)
      modes(table_mode(i / 3), i % 3) = g[i];
    trilinear_corners<false>(modes, modulus, f);
    for (int i = 0; i < 24; ++i)
      store(i, f[i]);
  }
};

} // namespace ossatura::detail
