// SPDX-License-Identifier: Apache-2.0
// Eigen multiplies with the assembled matrix here, apart from Kokkos, so that nvcc never sees
// Eigen.
#include "bench/host/csr_matrix.hpp"

#include <Eigen/SparseCore>

namespace ossatura::bench {

template<class Scalar>
void multiply_by_eigen(const CsrMatrix<Scalar>& a, int threads, const Scalar* x, Scalar* y) {
  using Sparse = Eigen::SparseMatrix<Scalar, Eigen::RowMajor, int>;
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
  const auto n = Eigen::Index(a.num_rows());
  const Eigen::Map<const Sparse> matrix(n, n, Eigen::Index(a.num_entries()), a.row_begin.data(),
                                        a.column.data(), a.value.data());
  Eigen::setNbThreads(threads);
  Eigen::Map<Vector>(y, n).noalias() = matrix * Eigen::Map<const Vector>(x, n);
}

template void multiply_by_eigen(const CsrMatrix<double>&, int, const double*, double*);
template void multiply_by_eigen(const CsrMatrix<float>&, int, const float*, float*);

} // namespace ossatura::bench
