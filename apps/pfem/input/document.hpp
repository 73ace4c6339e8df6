// SPDX-License-Identifier: Apache-2.0
// A document states an elastic body of hexahedra of high order as users write it, checked as far as
// a check is possible without the mesh. SI units.
#pragma once

#include "apps/driver/options/changes.hpp"
#include <ossatura/kernels/pfem/hexa_batch.hpp>
#include <ossatura/solvers/pfem/generators.hpp>
#include <ossatura/solvers/pfem/model.hpp>
#include <ossatura/solvers/pfem/solver.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

/// The discretisation of a body and the solution of its system.
struct PfemOptions {
  HexaSpace space = HexaSpace::trunk;
  HierarchicOptions discretisation;
  bool points_given = false; ///< the quadrature is what the user wants, not a default
  HierarchicSolverOptions solver;
};

/// A member of the solver's options within those of a problem.
template<class... Members>
auto of_pfem_solver(Members... members) {
  return member_of(&PfemOptions::solver, members...);
}

/// Vectors element by element, with what goes with them.
inline void choose_element_wise(PfemOptions& options) {
  options.solver.element_wise = true;
  options.solver.kind = HierarchicOperatorKind::packed;
  options.solver.preconditioner = HierarchicPreconditioner::jacobi;
}

/// Quadrature by a rule, or with so many points along each axis.
inline void choose_rule(QuadratureRule rule, PfemOptions& options) {
  options.discretisation.rule = rule;
  options.discretisation.points = 0;
  options.points_given = true;
}
inline void choose_points(int points, PfemOptions& options) {
  options.discretisation.points = points;
  options.points_given = true;
}

/// Where the hexahedra come from.
struct PfemSource : PfemGenerator {
  enum class Kind { file, generator } kind = Kind::file;
  std::string file;       ///< as it is opened
  double unit = 1;        ///< m per unit of the file
  bool says_unit = false; ///< else it is taken for m
};

/// Throws InputError, "WHERE `key` ...", for sizes that the generator does not have and for an
/// inner radius that is not less than the outer one. Keys begin with `dashes`, or are quoted where
/// that is empty.
void check_generator(const PfemGenerator& source, const std::string& where,
                     const std::string& dashes);

inline constexpr int default_pfem_order = 4;
inline constexpr double default_pfem_poisson = 0.3;

struct PfemMaterial {
  std::optional<double> young, poisson; ///< where it is isotropic
  std::vector<double> elasticity;       ///< [21], or empty: by these
};

struct PfemMaterialPart {
  MeshSelection elements;
  PfemMaterial material;
};

/// Orders of the elements: `by_elem`, else `by_set` over `all`.
struct PfemOrders {
  std::optional<int> all;
  std::vector<std::pair<MeshSelection, int>> by_set;
  std::vector<std::uint8_t> by_elem;
  std::string place;
};

struct PfemDocument {
  std::string file; ///< for messages: the problem, or the mesh, or the name of the generator
  PfemSource mesh;
  PfemOrders orders;
  PfemMaterial material;                   ///< of elements without another
  std::string material_option;             ///< that gave it a modulus, or empty
  bool is_material_of_options = false;     ///< alone: the problem has none
  std::vector<PfemMaterialPart> materials; ///< later ones win
  /// In the place of what a mesh file has. A generator's give way to either.
  std::optional<std::vector<PfemSupport>> supports;
  std::optional<std::vector<PfemLoad>> loads;
  /// Each puts what the problem says in the place of a default.
  Changes<PfemOptions> changes;
};

} // namespace ossatura
