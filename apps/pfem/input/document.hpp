// SPDX-License-Identifier: Apache-2.0
// A document states an elastic body of hexahedra of high order as users write it, checked as far as
// a check is possible without the mesh. SI units.
#pragma once

#include "apps/driver/options/changes.hpp"
#include "apps/driver/problem/mesh_selection.hpp"
#include <ossatura/kernels/pfem/hexa_batch.hpp>
#include <ossatura/solvers/pfem/model.hpp>
#include <ossatura/solvers/pfem/solver.hpp>

#include <array>
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
struct PfemSource {
  enum class Kind { file, generator } kind = Kind::file;
  std::string file;      ///< as it is opened
  double unit = 1;       ///< m per unit of the file
  std::string generator; ///< one of pfem_generator_names()
  // Of generators; each has defaults of its own.
  std::optional<std::array<int, 3>> cells;          ///< of a box
  std::optional<std::array<double, 3>> size, shear; ///< m; m / m
  std::optional<double> distort;                    ///< part of an edge
  std::optional<int> along, across, up;             ///< elements of a sphere or a cylinder
  std::optional<double> inner, outer, height;       ///< m
  std::uint64_t seed = 0;                           ///< of the distortion
};

struct PfemSupport {
  MeshSelection where;
  std::uint8_t components = 7;          ///< bit c: component c is held
  std::array<double, 3> displacement{}; ///< m, of held components
};

struct PfemLoad {
  enum class Kind {
    pressure,  ///< N / m^2, value[0], against the outward normal
    traction,  ///< N / m^2
    force,     ///< N on every vertex
    body_force ///< N / m^3, everywhere
  } kind = Kind::pressure;
  MeshSelection where;
  std::array<double, 3> value{};
  std::string place;
};

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
  std::vector<PfemMaterialPart> materials; ///< later ones win
  /// In the place of what a mesh file has. A generator's give way to either.
  std::optional<std::vector<PfemSupport>> supports;
  std::optional<std::vector<PfemLoad>> loads;
  /// Each puts what the problem says in the place of a default.
  Changes<PfemOptions> changes;
};

} // namespace ossatura
