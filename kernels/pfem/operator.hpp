// SPDX-License-Identifier: Apache-2.0
// A HierarchicOperator multiplies with the stiffness of hierarchical hexahedra, by any of the
// products.
#pragma once

#include <ossatura/core/base/names.hpp>
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

struct HierarchicOperatorCost {
  std::int64_t bytes_kept = 0;
  double bytes_moved = 0; ///< of one product, besides the vectors
  double flops = 0;
};

template<class Exec>
class HierarchicOperator {
public:
  virtual ~HierarchicOperator() = default;

  /// y = K x, all components. x and y [num_modes, 3] do not alias. Does not fence.
  virtual void apply(const Exec& exec, const Array<double, Exec>& x,
                     const Array<double, Exec>& y) const = 0;
  /// The 3 x 3 blocks on the diagonal of K, [num_modes, 9]. Does not fence.
  virtual void diagonal(const Exec& exec, const Array<double, Exec>& block) const = 0;
  virtual HierarchicOperatorCost cost() const = 0;
  virtual bool is_deterministic() const = 0; ///< the same bits for any number of threads
};

} // namespace ossatura
