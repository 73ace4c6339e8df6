// SPDX-License-Identifier: Apache-2.0
// A DesignProblem states a topology optimisation: a body of elements, supports, loads, and where
// material may be. Host memory.
#pragma once

#include <ossatura/core/base/names.hpp>
#include <ossatura/core/mesh/design_role.hpp>
#include <ossatura/core/mesh/hexa/model.hpp>
#include <ossatura/core/mesh/lattice_body.hpp>
#include <ossatura/core/mesh/solids/shape.hpp>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

struct DesignLoadCase {
  NodeLoads loads;
  double weight = 1; ///< in the objective
};

/// The plane x[axis] = place, of which the body is on one side: filters see its mirror image, too.
struct MirrorPlane {
  int axis; ///< 0, 1, 2
  double place;
};

/// How planes of mirrors are held, which modes of the whole part are in other ways
/// (frequencies/families.hpp).
struct MirrorSupports {
  std::vector<HeldComponents> held;                ///< without the mirrors
  std::vector<std::vector<std::int32_t>> on_plane; ///< [mirrors] nodes
};

enum class DesignLimitKind {
  compliance,   ///< f . u of a load case, or the sum of weight f . u, J
  displacement, ///< sum of direction . u in a load case, m
  stress,       ///< largest relaxed von Mises stress of free elements, Pa
  mass,         ///< of all elements, kg
  frequency     ///< lowest natural frequency, Hz, at least
};

constexpr Names<DesignLimitKind> names_of(DesignLimitKind) {
  return {{DesignLimitKind::compliance, "compliance"},
          {DesignLimitKind::displacement, "displacement"},
          {DesignLimitKind::stress, "stress"},
          {DesignLimitKind::mass, "mass"},
          {DesignLimitKind::frequency, "frequency"}};
}

/// What a design is held to beside the volume, at most `limit` (solvers/topopt/limits/limits.hpp).
struct DesignLimit {
  DesignLimitKind kind = DesignLimitKind::compliance;
  double limit = 0;      ///< > 0
  int load_case = -1;    ///< -1: the sum (compliance), all (stress); displacements are of one
  bool at_least = false; ///< of displacements and frequencies alone: at least `limit`
  std::vector<NodeForce> direction{}; ///< of displacements, [m] = sum of these times u
};

struct DesignProblem {
  ElementMesh mesh; ///< of ElementShape::hexa
  /// In the place of the mesh, which is empty then: for designs on voxels. Numbers of nodes and
  /// elements are those of the lattice.
  std::shared_ptr<const LatticeBody> lattice{};
  double young = 1, poisson = 0.3;       ///< of all elements, or of the first material
  std::vector<HexaMaterial> materials{}; ///< of elements; empty: young and poisson are of all
  std::vector<std::uint8_t> material{};  ///< [num_elem] numbers of these; empty: all the first
  std::vector<HeldComponents> held;
  std::vector<DesignLoadCase> cases; ///< at least one
  /// Nodes of parts that do not bend and are not modelled: each list moves as a rigid body, free
  /// otherwise, and takes the resultants of the forces on its nodes.
  std::vector<std::vector<std::int32_t>> rigid{};
  std::vector<DesignRole> role; ///< [num_elem], or empty: all free
  std::vector<MirrorPlane> mirrors;
  std::optional<MirrorSupports> mirror_supports{}; ///< of natural frequencies with mirrors alone
  std::vector<DesignLimit> limits{};               ///< with the volume, at most max_mma_constraints
  // Of compliant mechanisms alone: the displacement sum of direction . u at `output` is maximised.
  std::vector<NodeForce> output;
  std::vector<NodeSpring> springs;
  /// In the place of the mesh, which is empty then: where some elements are no hexa8.
  std::shared_ptr<const SolidMesh> solids{};

  std::size_t num_elem() const {
    return lattice  ? std::size_t(lattice->num_elem())
           : solids ? solids->num_elem()
                    : mesh.num_elem();
  }
  std::size_t num_nodes() const {
    return lattice ? std::size_t(lattice->num_nodes()) : points().size() / 3;
  }
  /// [num_nodes, 3] of the mesh or the solids.
  const std::vector<double>& points() const { return solids ? solids->point : mesh.point; }
  /// Of the mesh or the solids.
  NodeRange nodes_of(std::size_t elem) const {
    if (solids)
      return solids->nodes_of(elem);
    const auto n = std::size_t(nodes_per_elem(mesh.shape));
    return {mesh.node.data() + n * elem, mesh.node.data() + n * (elem + 1)};
  }
  /// The mean of the corners of an element of the mesh or the solids, m.
  std::array<double, 3> centre_of(std::size_t elem) const {
    if (solids)
      return ossatura::centre_of(*solids, elem);
    std::array<double, 3> centre{};
    for (const std::int32_t n : nodes_of(elem))
      for (std::size_t d = 0; d < 3; ++d)
        centre[d] += mesh.point[3 * std::size_t(n) + d] / 8;
    return centre;
  }
  bool has_body_loads() const {
    for (const DesignLoadCase& one : cases)
      if (!one.loads.body.empty())
        return true;
    return false;
  }
  bool has_temperatures() const {
    for (const DesignLoadCase& one : cases)
      if (!one.loads.warming.empty())
        return true;
    return false;
  }
  /// Whether loads change with the design.
  bool has_loads_of_design() const { return has_body_loads() || has_temperatures(); }
  /// The box around all nodes.
  Box bounds() const { return lattice ? lattice->bounds() : bounding_box(points()); }
  std::array<double, 3> point(std::int32_t node) const {
    if (lattice)
      return lattice->point(lattice->node().place(node));
    const double* x = &points()[3 * std::size_t(node)];
    return {x[0], x[1], x[2]};
  }
};

} // namespace ossatura
