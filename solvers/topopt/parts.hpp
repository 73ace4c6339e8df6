// SPDX-License-Identifier: Apache-2.0
// The parts of a design are its connected pieces; these functions tell which pieces carry load.
#pragma once

#include <ossatura/core/mesh/iso_surface.hpp>
#include <ossatura/solvers/topopt/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

/// A node that is loaded, or whose displacement counts, on a part that void elements cut off from
/// what holds the body.
struct CutNode {
  enum class Use { force, output, limit };
  Use use;
  std::size_t which; ///< load case of a force, or number of a limit
  std::int32_t node;
  std::string motions; ///< rigid ones that nothing holds, such as "along x, about z"
};

/// The first node with a force, of the output or of a limited displacement whose part can move
/// freely: of elements which may have material, and of nodes that move as a rigid body, what leads
/// from there to supports and springs leaves it a rigid motion. Void elements cut the body there,
/// and no design carries the force.
std::optional<CutNode> find_cut_node(const DesignProblem& problem);

/// The first element which may have material, and which void elements cut off so.
std::optional<std::size_t> find_floating_element(const DesignProblem& problem);

/// Parts that join no load, or output of a mechanism, to a support. A part has what its nodes have;
/// where by that none joins any, what is on the elements of its nodes, because densities fade
/// towards loads. Weight and temperature load every node; where each load case has forces or
/// imposed displacements, too, a part has to join one of these.
struct LooseParts {
  std::vector<bool> loose; ///< [num_parts], all false unless `joined`
  bool joined = false;     ///< whether a part joins a load to a support
  /// Of each load case the share of its forces (where it has none, of what it moves) that acts
  /// farther than an element from all parts that are not loose; of mechanisms the output is the
  /// last.
  std::vector<double> beside;
};

/// supported: nodes that are held otherwise than by mirrors; none where all supports count.
LooseParts find_loose_parts(const DesignProblem& problem,
                            const std::vector<std::int32_t>& supported, const SolidParts& solid);

/// Volumes of parts, [num_parts], in m^3.
std::vector<double> part_volumes(const SolidParts& solid);

/// The surface without the parts that are loose, and without vertices of these alone.
TriangleSurface without_parts(const SolidParts& solid, const std::vector<bool>& loose);

} // namespace ossatura
