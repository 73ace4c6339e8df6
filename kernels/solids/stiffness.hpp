// SPDX-License-Identifier: Apache-2.0
// The stiffness matrix of a mesh of solids has 3 x 3 blocks, which these kernels gather row by row:
// the same for any number of threads. With g_a the gradient of shape function a and the weights w
// at the quadrature points of element e,
//
//   A_ij = sum over e with i = node(e, a), j = node(e, b) of E_e sum of w K(g_a, g_b),
//   K(a, b) = lambda a b^T + mu (b a^T + (a . b) 1),
//
// added in ascending order of e; A_ij = A_ji^T to the last bit.
#pragma once

#include <ossatura/kernels/algebra/sparse/collect_rows.hpp>
#include <ossatura/kernels/hexa/operator.hpp>
#include <ossatura/kernels/solids/arrays.hpp>

namespace ossatura {

namespace detail {

template<class Exec>
struct SolidColumns {
  static constexpr int usual = 64;
  SolidArrays<Exec> arrays;

  template<class Found>
  KOKKOS_FUNCTION void add_row(int row, Found& found) const {
    for (int s = arrays.around_begin(row); s < arrays.around_begin(row + 1); ++s) {
      const int e = arrays.elem(arrays.around(s));
      for (int slot = arrays.begin(e); slot < arrays.begin(e + 1); ++slot)
        found.add(arrays.node(slot));
    }
  }
};

/// A row of blocks.
template<class Exec>
struct AssembleSolidRow {
  SolidArrays<Exec> arrays;
  UnitLame lame;
  ArrayPointer<const double> modulus;
  ArrayPointer<const std::int64_t> row_begin;
  ArrayPointer<const int> column;
  ArrayPointer<double> value;

  KOKKOS_FUNCTION void add_block(std::int64_t e, int a, int b, double* block) const {
    const std::int64_t n3 = 3 * std::int64_t(arrays.num_slots(e));
    const double* const slope = arrays.slope.data() + arrays.slope_begin(e);
    double sum[9] = {};
    for (int q = 0; q < arrays.num_points(e); ++q) {
      const double* const ga = slope + n3 * q + 3 * a;
      const double* const gb = slope + n3 * q + 3 * b;
      const double weight = arrays.weight(arrays.point_begin(e) + q);
      const double shear = lame.mu * (ga[0] * gb[0] + ga[1] * gb[1] + ga[2] * gb[2]);
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
          sum[3 * r + c] += weight * (lame.lambda * (ga[r] * gb[c]) + lame.mu * (gb[r] * ga[c]) +
                                      (r == c ? shear : 0));
    }
    for (int k = 0; k < 9; ++k)
      block[k] += modulus(e) * sum[k];
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t begin = row_begin(i), end = row_begin(i + 1);
    for (std::int64_t k = 9 * begin; k < 9 * end; ++k)
      value(k) = 0;
    for (int s = arrays.around_begin(i); s < arrays.around_begin(i + 1); ++s) {
      const int slot = arrays.around(s), e = arrays.elem(slot);
      const int first = arrays.begin(e), a = slot - first;
      for (int b = 0; b < arrays.num_slots(e); ++b)
        add_block(e, a, b,
                  value.data + 9 * find_column(column.data, begin, end, arrays.node(first + b)));
    }
  }
};

} // namespace detail

/// Which blocks the matrix of a mesh has: rows are nodes, columns the nodes of the elements around
/// them, themselves among these; a node of no element has none. Fences.
template<class Exec>
Graph<Exec> make_solid_graph(const Exec& exec, const SolidArrays<Exec>& arrays) {
  return collect_rows(exec, arrays.num_nodes, detail::SolidColumns<Exec>{arrays});
}

/// Fills `value` [num_blocks, 9], row-major blocks in the order of the graph, with the matrix of
/// the mesh for `modulus` [num_elem]; nothing is held. Throws std::invalid_argument for arrays of
/// other lengths. Does not fence.
template<class Exec>
void assemble_solid_blocks(const Exec& exec, const SolidArrays<Exec>& arrays, const UnitLame& lame,
                           const Array<double, Exec>& modulus, const Graph<Exec>& graph,
                           const Array<double, Exec>& value) {
  OSSATURA_REQUIRE(std::int64_t(modulus.extent(0)) == arrays.num_elem,
                   modulus.extent(0) << " moduli for " << arrays.num_elem << " elements");
  OSSATURA_REQUIRE(graph.num_rows == arrays.num_nodes &&
                       std::int64_t(value.extent(0)) == 9 * graph.num_entries(),
                   value.extent(0) << " numbers for " << graph.num_entries() << " blocks in "
                                   << graph.num_rows << " rows");
  Kokkos::parallel_for(
      "ossatura::assemble_solid_blocks", range(exec, arrays.num_nodes),
      detail::AssembleSolidRow<Exec>{arrays, lame, modulus, graph.row_begin, graph.column, value});
}

} // namespace ossatura
