// SPDX-License-Identifier: Apache-2.0
// Assembly by Eigen is compared with the maps; host memory, no Kokkos.
#pragma once

#include <memory>
#include <vector>

namespace ossatura::bench {

/// Triplets of a square matrix of scalars that are assembled again and again.
class EigenAssembly {
public:
  EigenAssembly(int num_rows, const std::vector<int>& i, const std::vector<int>& j);
  ~EigenAssembly();

  /// Writes the values [num_triplets] into the list of triplets.
  void collect(const double* value);
  /// setFromTriplets from that list, row-major, on one thread.
  void compress();
  /// y = A x on one thread.
  void multiply(const double* x, double* y) const;
  /// Values row by row, columns ascending.
  std::vector<double> values() const;

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

} // namespace ossatura::bench
