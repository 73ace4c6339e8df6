// SPDX-License-Identifier: Apache-2.0
// The preconditioners of HexaSolver in one precision. Not for users.
#pragma once

#include "solvers/hexa_solver.hpp"
#include "solvers/hexa_system.hpp"
#include "solvers/polynomial_smoother.hpp"

#include <memory>

namespace femura::detail {

/// z = M b, M symmetric positive definite, both zero at held components.
template<class Exec, class Scalar>
class HexaCycle {
public:
  virtual ~HexaCycle() = default;
  /// Takes a matrix; its operator stays where it is until the next call. Fences.
  virtual void prepare(const Exec& exec, const HexaStiffness<Exec>& stiffness,
                       const HexaSystem<Exec, Scalar>& system) = 0;
  /// Returns z, which the next call overwrites. b must not alias it. Does not fence.
  virtual Array<Scalar, Exec> apply(const Exec& exec, const Array<Scalar, Exec>& b) = 0;
};

/// Scaling by the inverse of the diagonal or of its blocks, and polynomials of the matrix with it.
template<class Exec, class Scalar>
class HexaPolynomialCycle final : public HexaCycle<Exec, Scalar> {
public:
  HexaPolynomialCycle(HexaPreconditioner kind, int degree)
      : kind_(kind)
      , degree_(degree) {}
  void prepare(const Exec& exec, const HexaStiffness<Exec>& stiffness,
               const HexaSystem<Exec, Scalar>& system) override;
  Array<Scalar, Exec> apply(const Exec& exec, const Array<Scalar, Exec>& b) override;

private:
  HexaPreconditioner kind_;
  int degree_;
  HexaSystem<Exec, Scalar> system_;
  BlockJacobi<Exec, Scalar> jacobi_;
  Array<std::uint8_t, Exec> held_;
  Array<Scalar, Exec> x_, next_, scratch_;
  std::vector<double> weights_;
};

} // namespace femura::detail
