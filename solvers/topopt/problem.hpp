// SPDX-License-Identifier: Apache-2.0
// A DesignProblem states a topology optimisation: a body of hexahedra, supports, loads, and where
// material may be. Host memory.
#pragma once

#include <ossatura/core/mesh/design_role.hpp>
#include <ossatura/core/mesh/hexa/model.hpp>

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

struct DesignProblem {
  ElementMesh mesh; ///< of ElementShape::hexa
  double young = 1, poisson = 0.3;
  std::vector<HeldComponents> held;
  std::vector<DesignLoadCase> cases; ///< at least one
  std::vector<DesignRole> role;      ///< [num_elem], or empty: all free
  std::vector<MirrorPlane> mirrors;
  // Of compliant mechanisms alone: the displacement sum of direction . u at `output` is maximised.
  std::vector<NodeForce> output;
  std::vector<NodeSpring> springs;
};

} // namespace ossatura
