// SPDX-License-Identifier: Apache-2.0
// The stiffness matrix of a mesh of hexahedra has 3 x 3 blocks, which these kernels gather row by
// row: the same for any number of threads.
//
//   A_ij = sum over elements e with nodes i = node(e, a) and j = node(e, b) of E_e K_e,ab,
//
// added in ascending order of e. Where the source of K_e gives K_ab = K_ba^T to the last bit, as
// the mesh does, A_ij = A_ji^T to the last bit, too.
#pragma once

#include <ossatura/kernels/algebra/offsets.hpp>
#include <ossatura/kernels/algebra/sparse/graph.hpp>
#include <ossatura/kernels/hexa/arrays.hpp>
#include <ossatura/kernels/hexa/stiffness.hpp>

namespace ossatura {

namespace detail {

/// The neighbours of a node, ascending, in its part of `candidate`, which has 8 places for each of
/// its slots; length(i) counts them.
template<class Exec>
struct CollectNeighbours {
  HexaArrays<Exec> arrays;
  ArrayPointer<int> candidate;
  ArrayPointer<std::int64_t> length;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int begin = arrays.around_begin(i), end = arrays.around_begin(i + 1);
    int* const row = candidate.data + 8 * std::int64_t(begin);
    int count = 0;
    for (int k = begin; k < end; ++k)
      for (int b = 0; b < 8; ++b) {
        const int node = arrays.node_of(arrays.around(k) / 8, b);
        int place = count;
        while (place > 0 && row[place - 1] > node)
          --place;
        if (place > 0 && row[place - 1] == node)
          continue;
        for (int moved = count; moved > place; --moved)
          row[moved] = row[moved - 1];
        row[place] = node;
        ++count;
      }
    length(i) = count;
  }
};

template<class Exec>
struct CopyNeighbours {
  ArrayPointer<const int> around_begin, candidate;
  ArrayPointer<const std::int64_t> row_begin;
  ArrayPointer<int> column;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int* const row = candidate.data + 8 * std::int64_t(around_begin(i));
    for (std::int64_t k = row_begin(i); k < row_begin(i + 1); ++k)
      column(k) = row[k - row_begin(i)];
  }
};

} // namespace detail

/// Which blocks the matrix of a mesh has: rows are nodes, columns the nodes of the elements around
/// them, themselves among these; a node of no element has none. Takes 256 bytes an element while it
/// runs. Fences.
template<class Exec>
Graph<Exec> make_hexa_graph(const Exec& exec, const HexaArrays<Exec>& arrays) {
  Graph<Exec> pattern;
  pattern.num_rows = arrays.num_nodes;
  pattern.row_begin = make_uninitialized<std::int64_t>(exec, std::int64_t(arrays.num_nodes) + 1,
                                                       "ossatura::hexa_blocks::row_begin");
  const auto candidate = make_uninitialized<int>(exec, 64 * std::int64_t(arrays.num_elem),
                                                 "ossatura::hexa_blocks::candidate");
  Kokkos::parallel_for("ossatura::make_hexa_graph::collect", range(exec, arrays.num_nodes),
                       detail::CollectNeighbours<Exec>{arrays, candidate, pattern.row_begin});
  const std::int64_t num_blocks = lengths_to_begins(exec, pattern.row_begin, "blocks");
  pattern.column = make_uninitialized<int>(exec, num_blocks, "ossatura::hexa_blocks::column");
  Kokkos::parallel_for("ossatura::make_hexa_graph::copy", range(exec, arrays.num_nodes),
                       detail::CopyNeighbours<Exec>{arrays.around_begin, candidate,
                                                    pattern.row_begin, pattern.column});
  fence(exec, "ossatura::make_hexa_graph"); // candidate goes
  return pattern;
}

namespace detail {

/// Where scalar (r, c) of block k is in a row of blocks begin .. end.
struct RowsOfBlocks {
  static KOKKOS_FORCEINLINE_FUNCTION std::int64_t place(std::int64_t, std::int64_t, std::int64_t k,
                                                        int r, int c) {
    return 9 * k + 3 * r + c;
  }
};
/// Stores a row of blocks as three rows of scalars.
struct RowsOfScalars {
  static KOKKOS_FORCEINLINE_FUNCTION std::int64_t place(std::int64_t begin, std::int64_t end,
                                                        std::int64_t k, int r, int c) {
    return 9 * begin + 3 * (r * (end - begin) + (k - begin)) + c;
  }
};

/// A row of blocks.
template<class Exec, class Source, class Scalar, class Order>
struct AssembleHexaRow {
  HexaArrays<Exec> arrays;
  Source source;
  ArrayPointer<const double> modulus;
  ArrayPointer<const std::int64_t> row_begin;
  ArrayPointer<const int> column;
  ArrayPointer<Scalar> value;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t begin = row_begin(i), end = row_begin(i + 1);
    for (std::int64_t k = 9 * begin; k < 9 * end; ++k)
      value(k) = 0;
    for (int s = arrays.around_begin(i); s < arrays.around_begin(i + 1); ++s) {
      const int elem = arrays.around(s) / 8;
      double block[8][9];
      source.block_rows(elem, arrays.around(s) % 8, block);
      const double scale = modulus(elem);
      for (int b = 0; b < 8; ++b) {
        const std::int64_t k = find_column(column.data, begin, end, arrays.node_of(elem, b));
        for (int r = 0; r < 3; ++r)
          for (int c = 0; c < 3; ++c)
            value(Order::place(begin, end, k, r, c)) += Scalar(scale * block[b][3 * r + c]);
      }
    }
  }
};

template<class Order, class Exec, class Source, class Scalar>
void assemble_hexa_rows(const Exec& exec, const HexaArrays<Exec>& arrays, const Source& source,
                        const Array<double, Exec>& modulus, const Graph<Exec>& pattern,
                        const Array<Scalar, Exec>& value) {
  OSSATURA_REQUIRE(std::int64_t(modulus.extent(0)) == arrays.num_elem,
                   modulus.extent(0) << " moduli for " << arrays.num_elem << " elements");
  OSSATURA_REQUIRE(pattern.num_rows == arrays.num_nodes, "a pattern of "
                                                             << pattern.num_rows << " rows for "
                                                             << arrays.num_nodes << " nodes");
  OSSATURA_REQUIRE(std::int64_t(value.extent(0)) == 9 * pattern.num_entries(),
                   value.extent(0) << " numbers for " << pattern.num_entries() << " blocks");
  Kokkos::parallel_for("ossatura::assemble_hexa_blocks", range(exec, arrays.num_nodes),
                       AssembleHexaRow<Exec, Source, Scalar, Order>{
                           arrays, source, modulus, pattern.row_begin, pattern.column, value});
}

} // namespace detail

/// Fills `value` [num_blocks, 9], row-major blocks in the order of the pattern, with the matrix of
/// the mesh for `modulus` [num_elem]; nothing is held. `source` has K_e for a modulus of 1:
///
///     KOKKOS_FUNCTION void block_rows(int elem, int a, double (&block)[8][9]) const;
///
/// gives block[b] = K_e,ab, row-major, from what is in the memory of Exec. Products are in double;
/// the sum of a block is in Scalar. Throws std::invalid_argument for arrays of other lengths. Does
/// not fence.
template<class Scalar, class Exec, class Source>
void assemble_hexa_blocks(const Exec& exec, const HexaArrays<Exec>& arrays, const Source& source,
                          const Array<double, Exec>& modulus, const Graph<Exec>& pattern,
                          const Array<Scalar, Exec>& value) {
  detail::assemble_hexa_rows<detail::RowsOfBlocks>(exec, arrays, source, modulus, pattern, value);
}

/// The same with K_e formed anew from the mesh for Lame's constants `lame`.
template<class Scalar, class Exec>
void assemble_hexa_blocks(const Exec& exec, const HexaArrays<Exec>& arrays, const UnitLame& lame,
                          const Array<double, Exec>& modulus, const Graph<Exec>& pattern,
                          const Array<Scalar, Exec>& value) {
  assemble_hexa_blocks<Scalar>(exec, arrays, HexaStiffnessFromMesh<Exec>{arrays, lame}, modulus,
                               pattern, value);
}

} // namespace ossatura
