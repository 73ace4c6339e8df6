// SPDX-License-Identifier: Apache-2.0
// HexaSolver solves linear elasticity on hexahedra with a modulus for each element, by conjugate
// gradients on one of the operators of kernels/hexa/operator.hpp, with a choice of preconditioners.
#pragma once

#include <ossatura/core/base/names.hpp>
#include <ossatura/core/base/precision.hpp>
#include <ossatura/core/mesh/hexa/model.hpp>
#include <ossatura/kernels/algebra/constraints.hpp>
#include <ossatura/kernels/hexa/arrays.hpp>
#include <ossatura/kernels/hexa/operator.hpp>
#include <ossatura/kernels/hexa/ratios.hpp>
#include <ossatura/solvers/aggregation/options.hpp>
#include <ossatura/solvers/krylov/cg.hpp>
#include <ossatura/solvers/krylov/preconditioner_age.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ossatura {

enum class HexaPreconditioner {
  jacobi,       ///< the diagonal
  block_jacobi, ///< the 3 x 3 blocks of the nodes
  chebyshev,    ///< a polynomial of the matrix scaled by these
  amg           ///< smoothed aggregation (solvers/aggregation/multigrid.hpp)
};

constexpr Names<HexaPreconditioner> names_of(HexaPreconditioner) {
  return {{HexaPreconditioner::jacobi, "jacobi"},
          {HexaPreconditioner::block_jacobi, "block-jacobi"},
          {HexaPreconditioner::chebyshev, "chebyshev"},
          {HexaPreconditioner::amg, "amg"}};
}

struct HexaSolverOptions {
  HexaOperatorKind kind = HexaOperatorKind::automatic;
  HexaPreconditioner preconditioner = HexaPreconditioner::amg;
  Precision precision = Precision::mixed; ///< or fp64
  CgOptions cg{1e-6, 2000}; ///< relative to |f|; the iterations include a second try in fp64
  int chebyshev_degree = 8;
  AggregationOptions aggregation;
  /// What forming the coarse levels of amg costs, in iterations: they serve for other moduli as
  /// long as PreconditionerAge expects that to be cheaper. 0: they are formed for all moduli.
  int forming_cost = 25;
};

/// Poisson's ratios of elements, where they differ.
struct ElementRatios {
  std::vector<double> poisson;       ///< each once
  std::vector<std::uint8_t> of_elem; ///< [num_elem] numbers of these
};

/// What HexaSolver keeps from earlier moduli for the next.
struct HexaPreconditionerState {
  std::vector<double> modulus; ///< [num_elem] that amg was formed for; empty: it will be formed
  PreconditionerAge age;
};

/// Nodes are in the order of the mesh; vectors [num_nodes, 3], zero at held components.
template<class Exec>
class HexaSolver {
public:
  /// Throws std::invalid_argument for a bad mesh (make_hexa_arrays, make_hexa_operator), held nodes
  /// out of range, Poisson's ratio outside (-1, 0.5), UsageError for another precision. `ratios`,
  /// unless empty, count in the place of `poisson`; a product then costs one for each. Fences.
  HexaSolver(const Exec& exec, const ElementMesh& mesh, double poisson,
             const std::vector<HeldComponents>& held, const HexaSolverOptions& options,
             const ElementRatios& ratios = {});
  ~HexaSolver();

  const HexaArrays<Exec>& arrays() const;
  const Constraints<Exec>& held() const;
  UnitLame lame() const;             ///< of elements without a ratio of their own
  HexaRatioPointers ratios() const;  ///< of the others; as long as the solver is there
  HexaOperatorKind kind() const;     ///< never automatic
  const std::string& reason() const; ///< why that kind
  OperatorCost cost() const;         ///< of the operator, springs included
  bool is_deterministic() const;     ///< bitwise repeatable solves
  std::string describe() const;      ///< of the preconditioner: levels and sizes

  /// Residuals relative to |f| that end solves from now on: > 0, < 1.
  void set_tolerance(double tolerance);

  /// Springs [num_nodes, 3] from the components of nodes to the ground, N / m, >= 0: added to the
  /// matrix, a copy. Before set_modulus. Does not fence.
  void set_springs(const Exec& exec, const Array<double, Exec>& spring);

  /// Takes the moduli [num_elem], a copy, and prepares the preconditioner for them: amg may keep
  /// the coarse levels of earlier ones (`forming_cost`). Throws std::invalid_argument unless all
  /// are positive and finite. Fences.
  void set_modulus(const Exec& exec, const Array<double, Exec>& modulus);
  int num_formings() const; ///< of amg so far

  /// For a solver that goes on as this one will, bit by bit, from the next moduli on. Fence; the
  /// second throws std::invalid_argument for another number of moduli.
  HexaPreconditionerState state(const Exec& exec) const;
  void set_state(const Exec& exec, const HexaPreconditionerState& state);

  /// Solves A u = f from the given u, zero at once if f is; residuals are relative to |f|. What f
  /// has at held components does not count, u is made zero there. A mixed iteration that stalls
  /// goes on in fp64, as do those after it until the next moduli; one with coarse levels of earlier
  /// moduli that takes too long goes on with new ones. Throws std::invalid_argument before the
  /// first moduli and for vectors of other lengths. Fences.
  SolveResult solve(const Exec& exec, const Array<double, Exec>& f, const Array<double, Exec>& u,
                    const IterationObserver& observe = {});

  /// Groups of nodes that move as rigid bodies do, free otherwise: solutions have such motions, and
  /// of what f has at these nodes its resultants count. Before solves. Throws std::invalid_argument
  /// as make_rigid_groups does. Fences.
  void set_rigid(const Exec& exec, const std::vector<std::vector<std::int32_t>>& groups,
                 const std::vector<double>& point);

  /// z, near A^-1 r for r and z of admissible displacements: a cycle of the preconditioner for the
  /// present moduli, which counts as an iteration where coarse levels are kept. Throws
  /// std::invalid_argument before the first moduli. Does not fence.
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
