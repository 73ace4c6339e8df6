// SPDX-License-Identifier: Apache-2.0
// This product runs conjugate gradients on the spmv of Kokkos Kernels, where the build found the
// library, with the matrix as one of scalars. kokkos_kernels_product.cpp alone includes the
// library's headers.
#pragma once

#include <ossatura/kernels/algebra/operator.hpp>
#include <ossatura/kernels/algebra/sparse/block_matrix.hpp>

#include <memory>

namespace ossatura {

/// A product whose matrix is kept in another form.
template<class Exec>
class MatrixMultiply : public Operator<Exec, double> {
public:
  /// Takes over the values of a matrix with the same pattern. Does not fence.
  virtual void update(const Exec& exec, const BlockMatrix<Exec>& matrix) = 0;
};

/// Whether there is such a product in this build.
bool has_kokkos_kernels();

/// For matrices with the pattern of `matrix`. Throws UsageError where has_kokkos_kernels() is
/// false. Fences.
template<class Exec>
std::unique_ptr<MatrixMultiply<Exec>> make_kokkos_kernels_multiply(const Exec& exec,
                                                                   const BlockMatrix<Exec>& matrix);

} // namespace ossatura
