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

namespace ossatura {

namespace detail {

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
  using Element = CongruentElement<Scalar, centred>;
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
  return std::make_unique<HexaPatchOperator<Exec, Element>>(exec, arrays, patches,
                                                            Element{tables.data()}, tables, cost);
}

} // namespace detail

/// `patches` are of the layout made with the classes' nodes and kinds. Fences.
template<class Scalar, class Exec>
std::unique_ptr<HexaOperator<Exec, Scalar>>
make_congruent_operator(const Exec& exec, const HexaArrays<Exec>& arrays,
                        const HexaPatches<Exec>& patches, const CongruenceClasses& classes,
                        const UnitLame& lame) {
  const Array<int, Exec> nodes = upload(exec, "ossatura::congruent::node", classes.first_node);
  auto centred =
      detail::make_congruent_operator<Exec, Scalar, true>(exec, arrays, patches, nodes, lame);
  if (centred)
    return centred;
  return detail::make_congruent_operator<Exec, Scalar, false>(exec, arrays, patches, nodes, lame);
}

} // namespace ossatura
