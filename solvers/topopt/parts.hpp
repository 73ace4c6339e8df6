// SPDX-License-Identifier: Apache-2.0
// The parts of a design are its connected pieces; these functions tell which pieces carry load.
#pragma once

#include <ossatura/core/mesh/iso_surface.hpp>
#include <ossatura/solvers/topopt/problem.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

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
