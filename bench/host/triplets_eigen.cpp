// SPDX-License-Identifier: Apache-2.0
// Eigen assembles triplets here, apart from Kokkos, so that nvcc never sees Eigen.
#include "bench/host/triplets_eigen.hpp"

#include <Eigen/SparseCore>

namespace ossatura::bench {

struct EigenAssembly::Implementation {
  std::vector<Eigen::Triplet<double, int>> triplets;
  Eigen::SparseMatrix<double, Eigen::RowMajor, int> matrix;
};

EigenAssembly::EigenAssembly(int num_rows, const std::vector<int>& i, const std::vector<int>& j)
    : implementation_(std::make_unique<Implementation>()) {
  implementation_->matrix.resize(num_rows, num_rows);
  implementation_->triplets.reserve(i.size());
  for (std::size_t k = 0; k < i.size(); ++k)
    implementation_->triplets.emplace_back(i[k], j[k], 0.0);
}

EigenAssembly::~EigenAssembly() = default;

void EigenAssembly::collect(const double* value) {
  for (Eigen::Triplet<double, int>& triplet : implementation_->triplets)
    triplet = {triplet.row(), triplet.col(), *value++};
}

void EigenAssembly::compress() {
  implementation_->matrix.setFromTriplets(implementation_->triplets.begin(),
                                          implementation_->triplets.end());
}

void EigenAssembly::multiply(const double* x, double* y) const {
  const Eigen::Index n = implementation_->matrix.rows();
  Eigen::Map<Eigen::VectorXd>(y, n).noalias() =
      implementation_->matrix * Eigen::Map<const Eigen::VectorXd>(x, n);
}

std::vector<double> EigenAssembly::values() const {
  const auto& matrix = implementation_->matrix;
  return std::vector<double>(matrix.valuePtr(), matrix.valuePtr() + matrix.nonZeros());
}

} // namespace ossatura::bench
