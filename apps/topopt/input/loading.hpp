// SPDX-License-Identifier: Apache-2.0
// This file turns parts of a mesh into load cases and mechanisms: forces on nodes, outputs and
// springs.
#pragma once

#include "apps/driver/problem/mesh_selector.hpp"
#include "apps/topopt/input/model.hpp"
#include <ossatura/core/mesh/hexa/model.hpp>

namespace ossatura {

/// The components of each node that are held.
class HeldMask {
public:
  explicit HeldMask(std::size_t num_nodes)
      : mask_(num_nodes) {}

  void hold(std::int32_t node, unsigned components) {
    std::uint8_t& mask = mask_[std::size_t(node)];
    mask = std::uint8_t(mask | components);
  }
  bool has(std::int32_t node, int component) const {
    return (mask_[std::size_t(node)] >> component & 1) != 0;
  }
  std::vector<HeldComponents> list() const {
    std::vector<HeldComponents> held;
    for (std::size_t i = 0; i < mask_.size(); ++i)
      if (mask_[i] != 0)
        held.push_back({std::int32_t(i), mask_[i]});
    return held;
  }

private:
  std::vector<std::uint8_t> mask_;
};

/// Adds the load cases of the mesh, which are moved out of it, then those of the problem. Throws
/// InputError where there is none, and for forces that do nothing or that only void would carry.
void add_cases(const ProblemDocument& document, HexaModel& hexa, const MeshSelector& select,
               const HeldMask& held, TopoptModel& model);

/// Adds outputs and springs. Throws InputError for an output that cannot move.
void add_mechanism(const ProblemDocument& document, const MeshSelector& select,
                   const HeldMask& held, TopoptModel& model);

} // namespace ossatura
