// SPDX-License-Identifier: Apache-2.0
// The vertex space solves for the modes of order 1 of hierarchical hexahedra, the coarse space:
// with the dense inverse of their matrix where they are few, else by a cycle of smoothed
// aggregation. Not for users.
#pragma once

#include <ossatura/kernels/algebra/constraints.hpp>
#include <ossatura/kernels/algebra/sparse/graph.hpp>
#include <ossatura/kernels/hexa/arrays.hpp>
#include <ossatura/kernels/pfem/stars/matrices.hpp>
#include <ossatura/solvers/aggregation/multigrid.hpp>

#include <memory>
#include <string>
#include <vector>

namespace ossatura::detail {

template<class Exec>
class VertexSpace {
public:
  /// `held` [num_points]. At most `most_direct` vertices are solved directly. Fences.
  VertexSpace(const Exec& exec, const ElementMesh& mesh, const std::vector<std::uint8_t>& held,
              int most_direct);

  /// Adds the elements' part to the matrix. Does not fence.
  void add(const Exec& exec, HexaSpace space, int order, const ElementMatrices<Exec>& elements);
  /// When all elements have been added. Fences.
  void prepare(const Exec& exec);
  /// z [num_points, 3] of b, zero at held components; the next call overwrites it. Does not fence.
  Array<double, Exec> apply(const Exec& exec, const Array<double, Exec>& b);

  std::string describe() const; ///< "1000 vertices, direct"

private:
  HexaArrays<Exec> arrays_;
  Constraints<Exec> held_;
  bool direct_;
  Graph<Exec> graph_;
  Array<double, Exec> value_; ///< the matrix; not kept if it is solved directly
  Array<double, Exec> inverse_, z_;
  std::shared_ptr<const AggregationHierarchy<Exec>> hierarchy_;
  /// A BlockOperator, known to the source alone: tests/checks/registered_kernels.py says
  /// why.
  std::unique_ptr<Operator<Exec, double>> product_;
  std::unique_ptr<AggregationMultigrid<Exec, double>> multigrid_;
};

} // namespace ossatura::detail
