// SPDX-License-Identifier: Apache-2.0
// A HierarchicOperator multiplies with the stiffness of hierarchical hexahedra, by any of the
// products.
#pragma once

#include <ossatura/core/base/names.hpp>
#include <ossatura/kernels/algebra/operator.hpp>
#include <ossatura/kernels/pfem/hexa_batch.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

enum class HierarchicOperatorKind {
  automatic,   ///< by the order, the shapes and the memory
  packed,      ///< element by element, a packed matrix each
  bsr,         ///< assembled, 3 x 3 blocks
  matrix_free, ///< sums along one axis after the other, from the vertices
  shared       ///< element by element, one matrix for elements of one shape
};

constexpr Names<HierarchicOperatorKind> names_of(HierarchicOperatorKind) {
  return {{HierarchicOperatorKind::automatic, "auto"},
          {HierarchicOperatorKind::packed, "packed"},
          {HierarchicOperatorKind::bsr, "bsr"},
          {HierarchicOperatorKind::matrix_free, "matrix-free"},
          {HierarchicOperatorKind::shared, "shared"}};
}

/// A mesh of hierarchical hexahedra on a backend: its elements by order.
template<class Exec>
struct HierarchicModel {
  std::int32_t num_modes = 0; ///< vectors are [num_modes, 3]
  std::vector<HexaBatch<Exec>> batch;
};

/// Vectors are [num_modes, 3].
template<class Exec>
class HierarchicOperator : public Operator<Exec, double> {
public:
  /// The 3 x 3 blocks on the diagonal of K, [num_modes, 9]. Does not fence.
  virtual void diagonal(const Exec& exec, const Array<double, Exec>& block) const = 0;
};

} // namespace ossatura
