// SPDX-License-Identifier: Apache-2.0
// A BlockOperator multiplies with an assembled matrix of 3 x 3 blocks.
#pragma once

#include <ossatura/kernels/algebra/sparse/block_multiply.hpp>

namespace ossatura {

/// An assembled matrix in rows of 3 x 3 blocks; refers to graph and numbers. A row is summed in one
/// thread on cores and over lanes in a fixed order on devices.
template<class Exec, class Scalar>
class BlockOperator final : public Operator<Exec, Scalar> {
public:
  BlockOperator() = default;
  /// `value` [num_blocks, 9].
  BlockOperator(const Graph<Exec>& graph, const Array<Scalar, Exec>& value)
      : graph_(graph)
      , value_(value) {}

  const Array<Scalar, Exec>& value() const { return value_; }
  void apply(const Exec& exec, const Array<Scalar, Exec>& x,
             const Array<Scalar, Exec>& y) const override {
    detail::multiply_block_rows<BackendTraits<Exec>::is_device>(
        exec, detail::BlockMultiply<Exec, Scalar, std::int64_t>{
                  graph_.num_rows, graph_.row_begin.data(), graph_.column.data(), value_.data(),
                  x.data(), y.data()});
  }
  OperatorCost cost() const override {
    return cost_of_rows<Scalar, std::int64_t, 3>(graph_.num_entries(), graph_.num_rows);
  }
  bool is_deterministic() const override { return true; }

private:
  Graph<Exec> graph_;
  Array<Scalar, Exec> value_;
};

} // namespace ossatura
