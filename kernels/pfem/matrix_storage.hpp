// SPDX-License-Identifier: Apache-2.0
// Stiffness matrices of elements are kept one after the other, packed or full.
#pragma once

#include <ossatura/core/base/names.hpp>
#include <ossatura/core/parallel/array_pointer.hpp>

#include <cstdint>

namespace ossatura {

enum class MatrixStorage {
  packed, ///< the lower triangle row by row: (i, j), j <= i, at i (i + 1) / 2 + j
  full    ///< row-major
};

constexpr Names<MatrixStorage> names_of(MatrixStorage) {
  return {{MatrixStorage::packed, "packed"}, {MatrixStorage::full, "full"}};
}

/// Numbers a matrix of n rows takes. Row and column 3 a + c are component c of mode a.
OSSATURA_INLINE_FUNCTION constexpr std::int64_t matrix_entries(MatrixStorage storage,
                                                               std::int64_t n) {
  return storage == MatrixStorage::packed ? n * (n + 1) / 2 : n * n;
}

namespace detail {
/// Where the matrices of a range of elements go.
struct StiffnessOutput {
  ArrayPointer<double> matrix;
  std::int64_t entries; ///< of one
  int num_dofs;
  bool packed;

  template<class View>
  StiffnessOutput(const View& array, MatrixStorage storage, int dofs)
      : matrix(array)
      , entries(matrix_entries(storage, dofs))
      , num_dofs(dofs)
      , packed(storage == MatrixStorage::packed) {}

  /// Entry (i, j), j <= i, of matrix k, and what mirrors it.
  OSSATURA_FORCEINLINE_FUNCTION void set(std::int64_t k, int i, int j, double x) const {
    double* const to = matrix.data + k * entries;
    if (packed) {
      to[std::int64_t(i) * (i + 1) / 2 + j] = x;
    } else {
      to[std::int64_t(i) * num_dofs + j] = x;
      to[std::int64_t(j) * num_dofs + i] = x;
    }
  }

  /// Block K_ab, row-major, or its transpose as block (b, a) if a < b.
  OSSATURA_FORCEINLINE_FUNCTION void set_block(std::int64_t k, int a, int b,
                                               const double (&block)[9]) const {
    for (int c = 0; c < 3; ++c)
      for (int d = 0; d < 3; ++d) {
        const int i = 3 * a + c, j = 3 * b + d;
        if (a > b || (a == b && c >= d))
          set(k, i, j, block[3 * c + d]);
        else if (a < b)
          set(k, j, i, block[3 * c + d]);
      }
  }
};
} // namespace detail

} // namespace ossatura
