// SPDX-License-Identifier: Apache-2.0
// This file makes the preconditioners of HexaSolver other than multigrid, in one precision. Not for
// users.
#pragma once

#include <ossatura/kernels/hexa/diagonal.hpp>
#include <ossatura/kernels/hexa/shape_stiffness.hpp>
#include <ossatura/solvers/hexa/solver.hpp>
#include <ossatura/solvers/krylov/polynomial_smoother.hpp>
#include <ossatura/solvers/krylov/preconditioner.hpp>

namespace ossatura::detail {

/// The mesh and moduli that make the matrix.
template<class Exec>
struct HexaStiffness {
  HexaArrays<Exec> arrays;
  UnitLame lame;
  HexaRatios<Exec> ratios; ///< where they differ
  Constraints<Exec> held;
  Array<double, Exec> modulus;                         ///< [num_elem]
  Array<double, Exec> spring;                          ///< [num_nodes, 3] of the diagonal, or empty
  std::optional<HexaStiffnessFromShapes<Exec>> shapes; ///< where elements have few

  /// use(source) with the stiffness source of the elements.
  template<class Use>
  void with_source(const Use& use) const {
    if (shapes)
      use(*shapes);
    else
      use(HexaStiffnessFromMesh<Exec>{arrays, lame, ratios.pointers()});
  }
  template<class Scalar>
  void invert_blocks(const Exec& exec, bool couplings, const Array<Scalar, Exec>& inverse) const {
    with_source([&](const auto& source) {
      invert_hexa_blocks(exec, arrays, source, modulus, spring, held.mask, couplings, inverse);
    });
  }
  std::int64_t num_dofs() const { return 3 * std::int64_t(arrays.num_nodes); }
};

/// Scaling by the inverse of the diagonal or of its blocks, and polynomials of the matrix with it.
template<class Exec, class Scalar>
class HexaPolynomialCycle final : public Preconditioner<Exec, Scalar> {
public:
  HexaPolynomialCycle(HexaPreconditioner kind, int degree)
      : kind_(kind)
      , degree_(degree) {}
  /// For a matrix whose product is `product`, which stays until the next call. Fences.
  void prepare(const Exec& exec, const HexaStiffness<Exec>& stiffness,
               const Operator<Exec, Scalar>& product);
  Array<Scalar, Exec> apply(const Exec& exec, const Array<Scalar, Exec>& b) override;

private:
  HexaPreconditioner kind_;
  int degree_;
  const Operator<Exec, Scalar>* product_ = nullptr;
  BlockJacobi<Exec, Scalar> jacobi_;
  Array<std::uint8_t, Exec> held_;
  Array<Scalar, Exec> x_, next_, scratch_;
  std::vector<double> weights_;
};

} // namespace ossatura::detail
