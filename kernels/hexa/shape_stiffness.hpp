// SPDX-License-Identifier: Apache-2.0
// The stiffness of elements of few shapes (core/mesh/congruence.hpp) is looked up in place of being
// formed anew: 4.6 kB a shape.
#pragma once

#include <ossatura/core/mesh/congruence.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/hexa/stiffness.hpp>

#include <optional>

namespace ossatura {

/// A stiffness source as HexaStiffnessFromMesh is.
template<class Exec>
struct HexaStiffnessFromShapes {
  Array<int, Exec> shape;   ///< [num_elem]; empty: all are of one
  Array<double, Exec> rows; ///< [num_shapes, 8, 8, 9]: row a of blocks K_ab, b, row-major

  KOKKOS_FORCEINLINE_FUNCTION const double* row(int elem, int a) const {
    const std::int64_t of_elem = shape.extent(0) > 0 ? shape(elem) : 0;
    return &rows(72 * (8 * of_elem + a));
  }
  KOKKOS_INLINE_FUNCTION void block_rows(int elem, int a, double (&block)[8][9]) const {
    const double* const own = row(elem, a);
    for (int b = 0; b < 8; ++b)
      for (int k = 0; k < 9; ++k)
        block[b][k] = own[9 * b + k];
  }
  KOKKOS_INLINE_FUNCTION void diagonal_block(int elem, int a, double (&block)[6]) const {
    const double* const own = row(elem, a) + 9 * a;
    for (int c = 0; c < 3; ++c) {
      block[c] = own[4 * c];
      block[3 + c] = own[3 * c + (c + 1) % 3];
    }
  }
};

namespace detail {
template<class Exec>
struct FillShapeRows {
  HexaStiffnessFromMesh<Exec> source;
  Array<int, Exec> first; ///< element of a shape
  Array<double, Exec> rows;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    double block[8][9];
    source.block_rows(first(item / 8), int(item % 8), block);
    for (int k = 0; k < 72; ++k)
      rows(72 * item + k) = block[k / 9][k % 9];
  }
};
} // namespace detail

/// None where shapes are more than caches hold, or count the nodes of an element from another
/// corner than the mesh. Fences.
template<class Exec>
std::optional<HexaStiffnessFromShapes<Exec>>
make_shape_stiffness(const Exec& exec, const HexaArrays<Exec>& arrays, const UnitLame& lame,
                     const CongruenceClasses& classes) {
  constexpr int most_shapes = 256; // 1.2 MB
  const int num_shapes = classes.num_classes();
  if (num_shapes == 0 || num_shapes > most_shapes || !classes.turned_node.empty())
    return std::nullopt;
  HexaStiffnessFromShapes<Exec> source;
  if (num_shapes > 1)
    source.shape = upload(exec, "ossatura::hexa::shape", classes.of_elem);
  source.rows = make_uninitialized<double>(exec, std::int64_t(num_shapes) * 576,
                                           "ossatura::hexa::shape_stiffness");
  const Array<int, Exec> first = upload(exec, "ossatura::hexa::first_of_shape", classes.first);
  Kokkos::parallel_for("ossatura::make_shape_stiffness", range(exec, 8 * std::int64_t(num_shapes)),
                       detail::FillShapeRows<Exec>{{arrays, lame}, first, source.rows});
  fence(exec, "ossatura::make_shape_stiffness"); // `first` goes
  return source;
}

} // namespace ossatura
