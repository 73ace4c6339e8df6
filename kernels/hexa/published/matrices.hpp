// SPDX-License-Identifier: Apache-2.0
// HexaMatrices store the element matrices of hexahedra, all 576 entries, for 1, 8, 24 or 64 threads
// an element. A thread has 576 / Threads entries:
//
//    1  the matrix, row by row
//    8  thread a: the three rows of node a
//   24  thread i: row i
//   64  thread 8 a + b: block (a, b), row-major
//
// On devices entry m of all threads is together, so that neighbouring threads read neighbouring
// numbers whatever their number; on cores the entries of one thread are together.
#pragma once

#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/hexa/stiffness.hpp>

namespace ossatura {

template<class Exec, class Scalar, int Threads>
struct HexaMatrices {
  static_assert(Threads == 1 || Threads == 8 || Threads == 24 || Threads == 64,
                "an element has 1, 8, 24 or 64 threads");
  static constexpr int per_thread = 576 / Threads;

  int num_elem = 0;
  Array<Scalar, Exec> entry; ///< [576 num_elem]

  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t place(int num_elem, int elem, int thread, int m) {
    return BackendTraits<Exec>::is_device
               ? (std::int64_t(m) * num_elem + elem) * Threads + thread
               : (std::int64_t(elem) * Threads + thread) * per_thread + m;
  }
  /// Entry m of a thread.
  KOKKOS_FORCEINLINE_FUNCTION Scalar operator()(int elem, int thread, int m) const {
    return entry(place(num_elem, elem, thread, m));
  }
  /// Entry (i, j) of the matrix.
  KOKKOS_FORCEINLINE_FUNCTION Scalar& at(int elem, int i, int j) const {
    if constexpr (Threads == 64)
      return entry(place(num_elem, elem, 8 * (i / 3) + j / 3, 3 * (i % 3) + j % 3));
    else
      return entry(place(num_elem, elem, (24 * i + j) / per_thread, (24 * i + j) % per_thread));
  }
};

namespace detail {

/// The rows of a node of a matrix; matrices in the order `order`, or that of the mesh where it is
/// null.
template<class Exec, class Scalar, int Threads>
struct FillHexaMatrices {
  HexaStiffnessFromMesh<Exec> source;
  ArrayPointer<const int> order;
  HexaMatrices<Exec, Scalar, Threads> matrices;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const int position = int(item % matrices.num_elem), a = int(item / matrices.num_elem);
    double block[8][9];
    source.block_rows(order.data != nullptr ? order(position) : position, a, block);
    for (int b = 0; b < 8; ++b)
      for (int k = 0; k < 9; ++k)
        matrices.at(position, 3 * a + k / 3, 3 * b + k % 3) = Scalar(block[b][k]);
  }
};

} // namespace detail

/// K_e of the elements for a modulus of 1; matrix p is that of element order(p), or of element p
/// where `order` is empty. Does not fence.
template<int Threads, class Scalar, class Exec>
HexaMatrices<Exec, Scalar, Threads>
make_hexa_matrices(const Exec& exec, const HexaArrays<Exec>& arrays, const UnitLame& lame,
                   const Array<int, Exec>& order = {}) {
  HexaMatrices<Exec, Scalar, Threads> matrices{
      arrays.num_elem, make_uninitialized<Scalar>(exec, 576 * std::int64_t(arrays.num_elem),
                                                  "ossatura::hexa_matrices")};
  Kokkos::parallel_for(
      "ossatura::make_hexa_matrices", range(exec, 8 * std::int64_t(arrays.num_elem)),
      detail::FillHexaMatrices<Exec, Scalar, Threads>{{arrays, lame}, order, matrices});
  return matrices;
}

} // namespace ossatura
