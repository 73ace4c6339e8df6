// SPDX-License-Identifier: Apache-2.0
// The vertex matrix is the part of the stiffness matrix of hierarchical hexahedra that belongs to
// their vertices, the matrix of order 1, as 3 x 3 blocks in the graph of the mesh.
#pragma once

#include <ossatura/kernels/algebra/sparse/graph.hpp>
#include <ossatura/kernels/hexa/arrays.hpp>
#include <ossatura/kernels/pfem/stars/matrices.hpp>

namespace ossatura {

namespace detail {

template<class Exec>
struct AddToVertexRows {
  HexaArrays<Exec> arrays;
  ArrayPointer<const std::int64_t> row_begin;
  ArrayPointer<const int> column, batch_place;
  ArrayPointer<const double> matrix;
  std::int64_t begin, end, entries;
  int vertex_mode[8];
  ArrayPointer<double> value;

  /// A row of blocks.
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (int s = arrays.around_begin(i); s < arrays.around_begin(i + 1); ++s) {
      const int elem = arrays.around(s) / 8, a = arrays.around(s) % 8;
      const int at = batch_place(elem);
      if (at < begin || at >= end)
        continue;
      const double* const own = matrix.data + (at - begin) * entries;
      for (int b = 0; b < 8; ++b) {
        const std::int64_t k =
            find_column(column.data, row_begin(i), row_begin(i + 1), arrays.node_of(elem, b));
        for (int c = 0; c < 3; ++c)
          for (int d = 0; d < 3; ++d) {
            const int r = 3 * vertex_mode[a] + c, t = 3 * vertex_mode[b] + d;
            const int high = Kokkos::max(r, t), low = Kokkos::min(r, t);
            value(9 * k + 3 * c + d) += own[std::int64_t(high) * (high + 1) / 2 + low];
          }
      }
    }
  }
};

template<class Exec>
struct SpreadVertexRows {
  std::int64_t n;
  ArrayPointer<const std::int64_t> row_begin;
  ArrayPointer<const int> column;
  ArrayPointer<const std::uint8_t> held;
  ArrayPointer<const double> value;
  ArrayPointer<double> dense;

  /// A scalar row.
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t row = i / 3;
    const int c = int(i % 3);
    if (held(row) >> c & 1)
      return;
    for (std::int64_t k = row_begin(row); k < row_begin(row + 1); ++k)
      for (int d = 0; d < 3; ++d)
        if (!(held(column(k)) >> d & 1))
          dense(n * i + 3 * std::int64_t(column(k)) + d) = value(9 * k + 3 * c + d);
  }
};

} // namespace detail

/// Adds what the elements have to `value` [num_blocks, 9]. vertex_mode[a]: the mode of vertex a in
/// the order of hierarchic_modes. Does not fence.
template<class Exec>
void add_to_vertex_matrix(const Exec& exec, const HexaArrays<Exec>& arrays,
                          const Graph<Exec>& graph, const int (&vertex_mode)[8],
                          const ElementMatrices<Exec>& elements, const Array<double, Exec>& value) {
  detail::AddToVertexRows<Exec> rows{arrays,
                                     graph.row_begin,
                                     graph.column,
                                     elements.batch_place,
                                     elements.matrix,
                                     elements.begin,
                                     elements.end,
                                     matrix_entries(MatrixStorage::packed, elements.num_dofs),
                                     {},
                                     value};
  for (int a = 0; a < 8; ++a)
    rows.vertex_mode[a] = vertex_mode[a];
  Kokkos::parallel_for("ossatura::add_to_vertex_matrix", range(exec, arrays.num_nodes), rows);
}

/// The matrix [n, n], n = 3 num_nodes, with zero rows and columns where `held`. Does not fence.
template<class Exec>
Array<double, Exec> dense_vertex_matrix(const Exec& exec, const Graph<Exec>& graph,
                                        const Array<std::uint8_t, Exec>& held,
                                        const Array<double, Exec>& value) {
  const std::int64_t n = 3 * std::int64_t(graph.num_rows);
  const auto dense = make_zeros<double>(exec, n * n, "ossatura::dense_vertex_matrix");
  Kokkos::parallel_for(
      "ossatura::dense_vertex_matrix", range(exec, n),
      detail::SpreadVertexRows<Exec>{n, graph.row_begin, graph.column, held, value, dense});
  return dense;
}

} // namespace ossatura
