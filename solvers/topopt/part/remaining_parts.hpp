// SPDX-License-Identifier: Apache-2.0
// What void elements leave of a body: whether supports hold all of it, and whether displacements
// strain it.
#pragma once

#include <ossatura/solvers/topopt/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace ossatura {

/// A node that is loaded, or whose displacement counts, on a part that void elements cut off from
/// what holds the body.
struct CutNode {
  enum class Use { force, displacement, output, limit };
  Use use;
  std::size_t which; ///< load case of a force or displacement, or number of a limit
  std::int32_t node;
  std::string motions; ///< rigid ones that nothing holds, such as "along x, about z"
};

/// The first node with a force, that is moved, of the output or of a limited displacement whose
/// part can move freely: of elements which may have material, and of nodes that move as a rigid
/// body, what leads from there to supports and springs leaves it a rigid motion. Void elements cut
/// the body there, and no design carries the force.
std::optional<CutNode> find_cut_node(const DesignProblem& problem);

/// The first element which may have material, and which void elements cut off so.
std::optional<std::size_t> find_floating_element(const DesignProblem& problem);

/// A node of a part that a load case moves as a rigid body.
struct IdleDisplacement {
  std::size_t load_case;
  std::int32_t node;
  bool is_cut; ///< void elements part it from what would strain it
};

/// The first moved node of a part that the displacements of a load case do not strain, because a
/// rigid motion has the values of all that is held there: they would do nothing. A whole body may
/// move so with its supports under other loads.
std::optional<IdleDisplacement> find_idle_displacement(const DesignProblem& problem);

} // namespace ossatura
