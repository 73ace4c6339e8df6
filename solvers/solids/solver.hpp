// SPDX-License-Identifier: Apache-2.0
// SolidSolver solves linear elasticity on solid elements of any kinds with a modulus for each, by
// conjugate gradients on the assembled matrix, preconditioned by smoothed aggregation with the six
// rigid motions.
#pragma once

#include <ossatura/core/base/precision.hpp>
#include <ossatura/core/mesh/hexa/model.hpp>
#include <ossatura/kernels/algebra/constraints.hpp>
#include <ossatura/kernels/solids/arrays.hpp>
#include <ossatura/kernels/solids/stiffness.hpp>
#include <ossatura/solvers/aggregation/options.hpp>
#include <ossatura/solvers/krylov/cg.hpp>

#include <memory>
#include <string>
#include <vector>

namespace ossatura {

struct SolidSolverOptions {
  Precision precision = Precision::mixed; ///< of the preconditioner: single; or fp64
  CgOptions cg{1e-6, 2000}; ///< relative to |f|; the iterations include a second try in fp64
  AggregationOptions aggregation;
};

/// Nodes are in the order of the mesh; vectors [num_nodes, 3], zero at held components.
template<class Exec>
class SolidSolver {
public:
  /// Throws std::invalid_argument for a bad mesh (make_solid_arrays), held nodes out of range,
  /// Poisson's ratio outside (-1, 0.5), UsageError for another precision. Fences.
  SolidSolver(const Exec& exec, const SolidMesh& mesh, double poisson,
              const std::vector<HeldComponents>& held, const SolidSolverOptions& options);
  ~SolidSolver();

  const SolidArrays<Exec>& arrays() const;
  const Constraints<Exec>& held() const;
  UnitLame lame() const;
  OperatorCost cost() const;    ///< of a product
  std::string describe() const; ///< of the preconditioner: levels and sizes
  int num_formings() const;     ///< of coarse levels so far

  /// Residuals relative to |f| that end solves from now on: > 0, < 1.
  void set_tolerance(double tolerance);

  /// Springs [num_nodes, 3] from the components of nodes to the ground, N / m, >= 0: added to the
  /// matrix, a copy. Before set_modulus. Does not fence.
  void set_springs(const Exec& exec, const Array<double, Exec>& spring);

  /// Assembles the matrix for moduli [num_elem], and forms the preconditioner. Throws
  /// std::invalid_argument unless all are positive and finite. Fences.
  void set_modulus(const Exec& exec, const Array<double, Exec>& modulus);

  /// Solves A u = f from the given u, zero at once if f is; residuals are relative to |f|. What f
  /// has at held components does not count, u is made zero there. A mixed iteration that stalls
  /// goes on in fp64, as do those after it until the next moduli. Bitwise the same for any number
  /// of threads. Throws std::invalid_argument before the first moduli and for vectors of other
  /// lengths. Fences.
  SolveResult solve(const Exec& exec, const Array<double, Exec>& f, const Array<double, Exec>& u,
                    const IterationObserver& observe = {});

  /// Groups of nodes that move as rigid bodies do, free otherwise: solutions have such motions, and
  /// of what f has at these nodes its resultants count. Before solves. Throws std::invalid_argument
  /// as make_rigid_groups does. Fences.
  void set_rigid(const Exec& exec, const std::vector<std::vector<std::int32_t>>& groups,
                 const std::vector<double>& point);

  /// z, near A^-1 r for r and z of admissible displacements: a cycle of the preconditioner for the
  /// present moduli. Throws std::invalid_argument before the first moduli. Does not fence.
  void precondition(const Exec& exec, const Array<double, Exec>& r,
                    const Array<double, Exec>& z) const;
  /// Makes u the nearest admissible displacements: zero at held components, rigid where groups of
  /// nodes are. Does not fence.
  void make_admissible(const Exec& exec, const Array<double, Exec>& u) const;

  /// y = A u, springs included, at all components. Does not fence.
  void apply(const Exec& exec, const Array<double, Exec>& u, const Array<double, Exec>& y) const;

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

} // namespace ossatura
