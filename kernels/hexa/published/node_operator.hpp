// SPDX-License-Identifier: Apache-2.0
// The node operator multiplies with stored element matrices, one thread for a node [1]. The thread
// takes the node's three rows of the matrices of the elements around the node, in ascending order,
// and writes the node whole. Bitwise the same for any number of threads.
//
// [1] S. Schmidt, V. Schulz. A 2589 line topology optimization code written for the graphics card.
//     Comput. Vis. Sci. 14 (2011) 249-256, doi:10.1007/s00791-012-0180-1.
#pragma once

#include <ossatura/kernels/hexa/checked_operator.hpp>
#include <ossatura/kernels/hexa/published/matrices.hpp>

namespace ossatura {

namespace detail {

template<class Exec, class Scalar>
struct ApplyHexaRowsOfNode {
  HexaArrays<Exec> arrays;
  HexaMatrices<Exec, Scalar, 1> matrices;
  ArrayPointer<const double> modulus;
  ArrayPointer<const Scalar> x;
  ArrayPointer<Scalar> y;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    Scalar total[3] = {0, 0, 0};
    for (int s = arrays.around_begin(i); s < arrays.around_begin(i + 1); ++s) {
      const int elem = arrays.around(s) / 8, a = arrays.around(s) % 8;
      Scalar sum[3] = {0, 0, 0};
      for (int b = 0; b < 8; ++b) {
        const std::int64_t from = 3 * std::int64_t(arrays.node_of(elem, b));
        const Scalar u[3] = {x(from), x(from + 1), x(from + 2)};
        for (int r = 0; r < 3; ++r)
          for (int c = 0; c < 3; ++c)
            sum[r] += matrices(elem, 0, 24 * (3 * a + r) + 3 * b + c) * u[c];
      }
      const Scalar scale = Scalar(modulus(elem));
      for (int r = 0; r < 3; ++r)
        total[r] += scale * sum[r];
    }
    for (int r = 0; r < 3; ++r)
      y(3 * i + r) = total[r];
  }
};

} // namespace detail

/// `nbn`
template<class Exec, class Scalar>
class HexaNodeOperator final : public HexaScaledOperator<Exec, Scalar> {
public:
  /// Does not fence.
  HexaNodeOperator(const Exec& exec, const HexaArrays<Exec>& arrays, const UnitLame& lame)
      : HexaScaledOperator<Exec, Scalar>(arrays, 576 * sizeof(Scalar))
      , matrices_(make_hexa_matrices<1, Scalar>(exec, arrays, lame)) {}

  bool is_deterministic() const override { return true; }

  /// The list of elements around nodes, which is of the mesh, moves too.
  OperatorCost cost() const override {
    OperatorCost cost = HexaScaledOperator<Exec, Scalar>::cost();
    cost.bytes_moved += 32.0 * this->arrays_.num_elem + 4.0 * this->arrays_.num_nodes;
    return cost;
  }

protected:
  void multiply(const Exec& exec, const Array<Scalar, Exec>& x,
                const Array<Scalar, Exec>& y) const override {
    Kokkos::parallel_for(
        "ossatura::apply_hexa_rows_of_node", range(exec, this->arrays_.num_nodes),
        detail::ApplyHexaRowsOfNode<Exec, Scalar>{this->arrays_, matrices_, this->modulus_, x, y});
  }

private:
  HexaMatrices<Exec, Scalar, 1> matrices_;
};

} // namespace ossatura
