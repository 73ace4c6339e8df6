// SPDX-License-Identifier: Apache-2.0
// The factor L D L^T of the matrix of all modes, after nested dissection, solves what iterations do
// not: thin plates and shells, whose bending the modes of order 1 cannot follow (locking), and
// nearly incompressible bodies. Not for users.
#pragma once

#include <ossatura/kernels/factor/supernode_solve.hpp>
#include <ossatura/kernels/pfem/operator.hpp>
#include <ossatura/kernels/pfem/stiffness/method.hpp>

#include <memory>
#include <string>
#include <vector>

namespace ossatura::detail {

/// What a factor takes, from its pattern alone.
struct FactorCost {
  std::int64_t bytes = 0; ///< at most, while it is made
  double flops = 0;       ///< of its elimination
};

template<class Exec>
class ModeFactor {
public:
  /// Orders the modes; `held` [num_modes]. Throws std::invalid_argument where 31 bits do not count
  /// the blocks. Fences.
  ModeFactor(const Exec& exec, const HierarchicModel<Exec>& model,
             const std::vector<std::uint8_t>& held);

  FactorCost cost() const;

  /// Returns whether the matrix is positive definite: if not, the factor is that of another one.
  /// On the host poll_region() may end it. Fences.
  bool make(const Exec& exec, StiffnessMethod form);

  /// z [num_modes, 3] of r, zero at held components, as r is; the next call overwrites it. Does not
  /// fence.
  Array<double, Exec> apply(const Exec& exec, const Array<double, Exec>& r);

  std::string describe() const; ///< "factor of 7035 components, 0.03 GB"

private:
  HierarchicModel<Exec> model_;
  std::vector<std::uint8_t> held_;
  std::vector<int> row_begin_, column_; ///< in the order of elimination, without held modes
  std::vector<int> order_;              ///< [num_modes], new -> old
  FactorPattern pattern_;
  std::unique_ptr<SupernodeSolve<Exec>> solve_;
  Array<int, Exec> mode_; ///< order_
  Array<double, Exec> ordered_, z_;
};

/// x += y, free of aliasing. Does not fence.
template<class Exec>
void add_correction(const Exec& exec, const Array<double, Exec>& y, const Array<double, Exec>& x);

} // namespace ossatura::detail
