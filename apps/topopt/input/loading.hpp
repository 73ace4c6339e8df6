// SPDX-License-Identifier: Apache-2.0
// This file turns parts of a mesh into load cases and mechanisms: forces on nodes, outputs and
// springs.
#pragma once

#include "apps/topopt/input/model.hpp"
#include "apps/topopt/input/place_selector.hpp"
#include <ossatura/core/mesh/hexa/model.hpp>

#include <map>

namespace ossatura {

/// The components of each node that are held.
class HeldMask {
public:
  void hold(std::int32_t node, unsigned components) {
    std::uint8_t& mask = mask_[node];
    mask = std::uint8_t(mask | components);
  }
  bool has(std::int32_t node, int component) const {
    const auto found = mask_.find(node);
    return found != mask_.end() && (found->second >> component & 1) != 0;
  }
  /// Nodes ascend.
  std::vector<HeldComponents> list() const {
    std::vector<HeldComponents> held;
    for (const auto& [node, components] : mask_)
      if (components != 0)
        held.push_back({node, components});
    return held;
  }

private:
  std::map<std::int32_t, std::uint8_t> mask_; ///< of few among many nodes
};

/// Displacements of the cases of a document, [cases], whose components become held. Throws
/// InputError for components that are held otherwise, or that one case moves in two ways.
std::vector<std::vector<NodeDisplacement>>
find_displacements(const ProblemDocument& document, const PlaceSelector& select, HeldMask& held);

/// Adds the load cases of the mesh, which are moved out of it, then those of the problem. Throws
/// InputError where there is none, and for forces that do nothing or that only void would carry.
/// `displacements` are those of the document's cases.
void add_cases(const ProblemDocument& document, HexaModel& hexa, const PlaceSelector& select,
               const HeldMask& held,
               const std::vector<std::vector<NodeDisplacement>>& displacements, TopoptModel& model);

/// Throws InputError for supports of nodes that only void elements have.
void check_supported_nodes(const ProblemDocument& document, const PlaceSelector& select,
                           const DesignProblem& problem);

/// Adds outputs and springs. Throws InputError for an output that cannot move, springs that do
/// nothing, and nodes that only void elements have.
void add_mechanism(const ProblemDocument& document, const PlaceSelector& select,
                   const HeldMask& held, TopoptModel& model);

/// Adds the limits, after the load cases. Throws InputError for load cases that are not there, and
/// for nodes that cannot move or that only void elements have.
void add_limits(const ProblemDocument& document, const PlaceSelector& select, const HeldMask& held,
                TopoptModel& model);

} // namespace ossatura
