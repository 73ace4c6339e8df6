// SPDX-License-Identifier: Apache-2.0
// The matrix of HexaSolver: an operator and springs, with what both are made of.
#pragma once

#include "kernels/constraints.hpp"
#include "kernels/hexa_diagonal.hpp"
#include "kernels/hexa_operator.hpp"

namespace femura {

/// What the matrix of a mesh of hexahedra is made of.
template<class Exec>
struct HexaStiffness {
  HexaArrays<Exec> arrays;
  UnitLame lame;
  Constraints<Exec> held;
  Array<double, Exec> modulus; ///< [num_elem]
  Array<double, Exec> spring;  ///< [num_nodes, 3] of the diagonal, or empty

  std::int64_t num_dofs() const { return 3 * std::int64_t(arrays.num_nodes); }
};

/// Its product in one precision, an operator for apply_then (node_update.hpp).
template<class Exec, class Scalar>
struct HexaSystem {
  static constexpr bool fuses_updates = false;

  const HexaOperator<Exec, Scalar>* matrix = nullptr;
  Array<Scalar, Exec> spring; ///< or empty

  /// y = A x at all components. Does not fence.
  void apply(const Exec& exec, const Array<Scalar, Exec>& x, const Array<Scalar, Exec>& y) const {
    matrix->apply(exec, x, y);
    if (spring.extent(0) > 0)
      add_diagonal_product(exec, spring, x, y);
  }
};

} // namespace femura
