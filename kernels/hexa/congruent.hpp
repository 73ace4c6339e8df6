// SPDX-License-Identifier: Apache-2.0
// The congruent operator multiplies with hexahedra of few shapes (core/mesh/congruence.hpp): one
// stiffness matrix a shape, from which elements differ by their modulus alone. A patch has elements
// of one shape, whose matrix is on chip, in modes (trilinear_modes.hpp): K = M^T K' M. The constant
// mode has no stiffness, which leaves 21 x 21 of 24 x 24 entries. A parallelepiped is its own image
// in its centre, so that modes of one or three factors are not coupled with modes of two, which
// leaves 12 x 12 and 9 x 9: 369 operations where 24 x 24 has 576, and 123 numbers to read. An entry
// on or above the diagonal is read once for its two products.
#pragma once

#include <ossatura/core/mesh/congruence.hpp>
#include <ossatura/kernels/hexa/arrays.hpp>
#include <ossatura/kernels/hexa/patches.hpp>
#include <ossatura/kernels/hexa/trilinear_modes.hpp>

#include <memory>
#include <utility>

namespace ossatura {

namespace detail {

/// As they are loaded.
template<class Scalar>
struct alignas(16) MatrixGroup {
  static constexpr int size = 16 / int(sizeof(Scalar));
  Scalar entry[size];
};

/// The upper triangle of a symmetric n x n matrix by rows, each from its diagonal on and padded so
/// that it begins at 16 bytes: entries before row `row`.
template<class Scalar>
KOKKOS_FORCEINLINE_FUNCTION constexpr int packed_begin(int n, int row) {
  constexpr int size = 16 / int(sizeof(Scalar));
  int begin = 0;
  for (int i = 0; i < row; ++i)
    begin += (n - i + size - 1) / size * size;
  return begin;
}

/// Adds a group of entries of row i of n: each to f_i and, transposed, to f_j.
template<int n, int i, int g, class Scalar, class Real>
KOKKOS_FORCEINLINE_FUNCTION void multiply_group(const Scalar* table, const Real* u, Real* f) {
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
KOKKOS_FORCEINLINE_FUNCTION void multiply_row(const Scalar* table, const Real* u, Real* f,
                                              std::integer_sequence<int, g...>) {
  (multiply_group<n, i, g>(table, u, f), ...);
}

template<int n, class Scalar, class Real, int... i>
KOKKOS_FORCEINLINE_FUNCTION void multiply_rows(const Scalar* table, const Real* u, Real* f,
                                               std::integer_sequence<int, i...>) {
  constexpr int size = MatrixGroup<Scalar>::size;
  (multiply_row<n, i>(table, u, f, std::make_integer_sequence<int, (n - i + size - 1) / size>()),
   ...);
}

/// f += K u, n x n. Written out, so that u and f stay in registers.
template<int n, class Scalar, class Real>
KOKKOS_FORCEINLINE_FUNCTION void multiply_packed(const Scalar* table, const Real* u, Real* f) {
  multiply_rows<n>(table, u, f, std::make_integer_sequence<int, n>());
}

/// The modes in the order of the table: those of one and three factors, then those of two.
KOKKOS_FORCEINLINE_FUNCTION constexpr int table_mode(int k) {
  constexpr int bits[7] = {1, 2, 4, 7, 3, 5, 6};
  return bits[k];
}

/// Entries of a table: of the whole matrix, or of its two blocks.
template<class Scalar, bool centred>
inline constexpr int mode_table_size = centred
                                           ? packed_begin<Scalar>(12, 12) + packed_begin<Scalar>(9,
                                                                                                 9)
                                           : packed_begin<Scalar>(21, 21);

template<class Exec, class Scalar, bool centred>
struct CongruentElement {
  static constexpr bool uses_points = false;
  static constexpr int table_size = mode_table_size<Scalar, centred>;
  static constexpr int teams = sizeof(Scalar) == 8 ? 4 : 5; ///< by measurement
  Array<Scalar, Exec> tables;                               ///< [num_classes, table_size]

  template<class Real, class Store>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(std::int64_t, const Scalar* table, const Real& modulus,
                                            const Real (&)[24], const Real (&u)[24],
                                            const Store& store) const {
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

/// A column of the matrix of a class: K'_ij = w_i . K w_j, w_i = M^T e_i / 8.
template<class Exec, class Scalar, bool centred>
struct FormModeTable {
  HexaArrays<Exec> arrays; ///< for the positions alone
  Array<int, Exec> node;   ///< [num_classes, 8] of the element that stands for the class
  UnitLame lame;
  Array<Scalar, Exec> tables;
  Array<double, Exec> coupling; ///< [num_classes, 21] largest entry left out, over the largest

  KOKKOS_FUNCTION static void mode_shape(int i, double (&w)[24]) {
    TrilinearModes<double> unit;
    clear_modes(unit);
    unit(table_mode(i / 3), i % 3) = 1;
    trilinear_corners<false>(unit, 0.125, w);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const std::int64_t kind = item / 21;
    const int j = int(item % 21);
    double x[24], w[24], f[24];
    for (int i = 0; i < 24; ++i) {
      const std::int64_t origin = 3 * std::int64_t(node(8 * kind)) + i % 3;
      x[i] = arrays.point(3 * std::int64_t(node(8 * kind + i / 3)) + i % 3) - arrays.point(origin);
    }
    mode_shape(j, w);
    multiply_hexa(trilinear_modes(x), trilinear_modes(w), lame.lambda, lame.mu, f);
    double largest = 0, dropped = 0;
    for (int i = 0; i < 21; ++i) {
      double entry = 0;
      mode_shape(i, w);
      for (int k = 0; k < 24; ++k)
        entry += w[k] * f[k];
      const bool apart = centred && (i < 12) != (j < 12);
      const double size = entry < 0 ? -entry : entry;
      largest = Kokkos::max(largest, size);
      dropped = apart && size > dropped ? size : dropped;
      if (i <= j && !apart)
        tables(kind * int(mode_table_size<Scalar, centred>) + place(i, j)) = Scalar(entry);
    }
    coupling(item) = dropped / largest;
  }
  KOKKOS_FUNCTION static int place(int i, int j) {
    if (!centred)
      return packed_begin<Scalar>(21, i) + j - i;
    return i < 12 ? packed_begin<Scalar>(12, i) + j - i
                  : packed_begin<Scalar>(12, 12) + packed_begin<Scalar>(9, i - 12) + j - i;
  }
};

template<class Exec, class Scalar, bool centred>
std::unique_ptr<HexaOperator<Exec, Scalar>>
make_congruent_operator(const Exec& exec, const HexaArrays<Exec>& arrays,
                        const HexaPatches<Exec>& patches, const Array<int, Exec>& node,
                        const UnitLame& lame) {
  using Element = CongruentElement<Exec, Scalar, centred>;
  const std::int64_t num_classes = std::int64_t(node.extent(0)) / 8;
  const Array<Scalar, Exec> tables =
      make_zeros<Scalar>(exec, num_classes * Element::table_size, "ossatura::congruent::tables");
  const Array<double, Exec> coupling =
      make_zeros<double>(exec, 21 * num_classes, "ossatura::congruent::coupling");
  Kokkos::parallel_for("ossatura::form_mode_table", range(exec, 21 * num_classes),
                       FormModeTable<Exec, Scalar, centred>{arrays, node, lame, tables, coupling});
  for (double dropped : download(exec, coupling))
    if (dropped > 1e-12)
      return nullptr;
  OperatorCost cost;
  cost.bytes_kept = std::int64_t(tables.extent(0) * sizeof(Scalar));
  cost.bytes_moved = double(cost.bytes_kept);
  // 24 additions a component each way, the matrix, and the modulus.
  cost.flops = 144 + 2 * (centred ? 144 + 81 : 441) + 21;
  return std::make_unique<HexaPatchOperator<Exec, Scalar, Element>>(exec, arrays, patches,
                                                                    Element{tables}, cost);
}

} // namespace detail

/// `patches` are of the layout made with the classes' nodes and kinds. Fences.
template<class Scalar, class Exec>
std::unique_ptr<HexaOperator<Exec, Scalar>>
make_congruent_operator(const Exec& exec, const HexaArrays<Exec>& arrays,
                        const HexaPatches<Exec>& patches, const CongruenceClasses& classes,
                        const UnitLame& lame) {
  std::vector<int> node;
  for (int e : classes.first)
    for (std::size_t a = 0; a < 8; ++a)
      node.push_back(classes.node[8 * std::size_t(e) + a]);
  const Array<int, Exec> nodes = upload(exec, "ossatura::congruent::node", node);
  auto centred =
      detail::make_congruent_operator<Exec, Scalar, true>(exec, arrays, patches, nodes, lame);
  if (centred)
    return centred;
  return detail::make_congruent_operator<Exec, Scalar, false>(exec, arrays, patches, nodes, lame);
}

} // namespace ossatura
