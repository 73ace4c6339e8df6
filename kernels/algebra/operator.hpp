// SPDX-License-Identifier: Apache-2.0
// An operator multiplies vectors with a square matrix. An operator has one of two forms, with the
// same words:
//
//   apply(exec, x, y)        y = A x
//   fuses_updates            whether the operator has apply_then, which takes an update of nodes
//                            into the product (fused_updates/fused.hpp)
//   cost()                   an OperatorCost
//   is_deterministic()       whether products are bitwise the same for any number of threads
//
// The abstract form is the class Operator, for a kind that is chosen at run time; a virtual
// function cannot take an update of any type, so that none of this form fuses updates. The static
// form is any class with `apply` or `apply_then` and `fuses_updates`, on which solvers are
// templates: those of voxels (kernels/bone/operator.hpp) and BlockRows
// (kernels/aggregation/block_rows.hpp). Such a class leaves out what nobody asks it.
#pragma once

#include <ossatura/core/base/vector.hpp>

#include <cstdint>
#include <string>

namespace ossatura {

/// The bytes that an operator keeps and moves, for tables and for the choice among operators.
struct OperatorCost {
  std::int64_t bytes_kept = 0; ///< of its own: beside mesh, moduli and vectors
  double bytes_moved = 0;      ///< least of a product, vectors too, everything from memory once
  double flops = 0;            ///< of a product
};

/// An operator for a mesh and why, in words ("3 shapes for 64000 elements").
template<class Kind>
struct OperatorChoice {
  Kind kind = Kind::automatic;
  std::string reason;
  std::int64_t num_matrices = 0; ///< that elements share; 0: they share none
};

template<class Exec, class Scalar>
class Operator {
public:
  static constexpr bool fuses_updates = false;

  virtual ~Operator() = default;
  /// y = A x; no component is held, unless the class says so. y must not alias x. Does not fence.
  virtual void apply(const Exec& exec, const Array<Scalar, Exec>& x,
                     const Array<Scalar, Exec>& y) const = 0;
  virtual OperatorCost cost() const = 0;
  /// Whether products are bitwise the same for any number of threads and from run to run.
  virtual bool is_deterministic() const = 0;
};

/// The static form of an abstract operator, which must stay: it can be copied and set.
template<class Exec, class Scalar>
struct OperatorReference {
  static constexpr bool fuses_updates = false;
  const Operator<Exec, Scalar>* target = nullptr;

  void apply(const Exec& exec, const Array<Scalar, Exec>& x, const Array<Scalar, Exec>& y) const {
    target->apply(exec, x, y);
  }
};

} // namespace ossatura
