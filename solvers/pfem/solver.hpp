// SPDX-License-Identifier: Apache-2.0
// HierarchicSolver solves linear elasticity with hierarchical hexahedra by conjugate gradients on
// the operators of kernels/pfem/operator.hpp.
//
// The preconditioner whose iterations do not grow with the order is additive: the modes of order 1
// as a coarse space, and for each vertex the modes of all edges, faces and interiors that touch it,
// solved together [1].
// Where elements are thin, order 1 cannot bend without shear, and iterations are many: a factor of
// the whole matrix solves these.
//
// [1] L. Pavarino. Additive Schwarz methods for the p-version finite element method. Numer. Math.
//     66 (1994) 493-515, doi:10.1007/BF01385709.
#pragma once

#include <ossatura/core/base/names.hpp>
#include <ossatura/core/base/precision.hpp>
#include <ossatura/kernels/pfem/operator.hpp>
#include <ossatura/kernels/pfem/stiffness/method.hpp>
#include <ossatura/solvers/krylov/cg.hpp>
#include <ossatura/solvers/pfem/model.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace ossatura {

enum class HierarchicPreconditioner {
  none,
  jacobi,       ///< the diagonal
  vertex_stars, ///< order 1 and vertex stars, additive
  ldlt          ///< a factor of the whole matrix: a direct solve
};

constexpr Names<HierarchicPreconditioner> names_of(HierarchicPreconditioner) {
  return {{HierarchicPreconditioner::none, "none"},
          {HierarchicPreconditioner::jacobi, "jacobi"},
          {HierarchicPreconditioner::vertex_stars, "vertex-stars"},
          {HierarchicPreconditioner::ldlt, "ldlt"}};
}

/// The error in energy up to which a direct solve that rounding ended counts as converged: of thin
/// bodies it leaves more than 1e-8.
inline double direct_bound(double tolerance) {
  return std::max(tolerance, std::min(1000 * tolerance, 1e-5));
}

struct HierarchicSolverOptions {
  HierarchicOperatorKind kind = HierarchicOperatorKind::automatic;
  StiffnessMethod form = StiffnessMethod::automatic;
  HierarchicPreconditioner preconditioner = HierarchicPreconditioner::vertex_stars;
  CgOptions cg{1e-8, 5000};  ///< residuals at free components, relative to |f - K u0| and, where
                             ///< displacements are prescribed, to loads and the forces that move;
                             ///< of a direct solve in the norm of K^-1, which is the error in
                             ///< energy, relative to the first one and the energy norm of u
  bool element_wise = false; ///< the vectors of the iteration element by element, the paper's
                             ///< block-diagonal scheme; with the packed operator, none or jacobi
  Precision precision = Precision::mixed; ///< or fp64; mixed: vertex stars' inverses, formed in
                                          ///< fp64, are kept in fp32
  int most_direct_vertices = 1000; ///< order 1 is solved directly up to as many vertices; above, by
                                   ///< a cycle of smoothed aggregation
  int patience = 200;      ///< iterations of vertex stars after which the matrix is factored, if
                           ///< it fits and takes less time than the iterations to come
  std::int64_t memory = 0; ///< bytes for matrices; 0: what the backend has left
};

/// Bytes that the factor of `ldlt` takes at most while it is made. `held` as of HierarchicSolver.
/// Fences.
template<class Exec>
std::int64_t bytes_of_factor(const Exec& exec, const HierarchicModel<Exec>& model,
                             const std::vector<std::uint8_t>& held);

/// Vectors [num_modes, 3].
template<class Exec>
class HierarchicSolver {
public:
  /// `held` [num_modes]: bit c set where component c is prescribed. Throws std::invalid_argument
  /// for a mask of another length and options that do not go together, UsageError for another
  /// precision, BackendError where matrices do not fit the memory, saying what they take. Fences.
  HierarchicSolver(const Exec& exec, const CurvedHexaMesh& mesh,
                   const HierarchicNumbering& numbering, const HierarchicModel<Exec>& model,
                   const std::vector<std::uint8_t>& held, const HierarchicSolverOptions& options);
  ~HierarchicSolver();

  HierarchicOperatorKind kind() const;
  const std::string& reason() const; ///< why that kind
  OperatorCost cost() const;
  std::string describe() const; ///< of the preconditioner; after a solve, of what ended it

  /// Solves K u = f at free components, from the given u, whose held components are the prescribed
  /// displacements and stay. The result's `in_energy` says which norm its residuals are in.
  /// While the host makes a factor poll_region() may end it, and u is that of the iteration before.
  /// Throws BackendError where a factor that was asked for meets a matrix that is not positive
  /// definite. Fences.
  SolveResult solve(const Exec& exec, const Array<double, Exec>& f, const Array<double, Exec>& u,
                    const IterationObserver& observe = {});

  /// y = K u, all components: reactions. Fences.
  void apply(const Exec& exec, const Array<double, Exec>& u, const Array<double, Exec>& y) const;

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

} // namespace ossatura
