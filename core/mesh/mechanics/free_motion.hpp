// SPDX-License-Identifier: Apache-2.0
// describe_free_motion tells whether supports hold a body, and otherwise which motion they leave
// free.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>
#include <ossatura/core/mesh/hexa/model.hpp>

#include <string>
#include <vector>

namespace ossatura {

/// Empty if held nodes and springs let no part of the mesh move as a rigid body; else what can
/// move, in words. Parts are elements that share nodes.
std::string describe_free_motion(const ElementMesh& mesh, const std::vector<HeldComponents>& held,
                                 const std::vector<NodeSpring>& springs = {});
std::string describe_free_motion(const SolidMesh& mesh, const std::vector<HeldComponents>& held,
                                 const std::vector<NodeSpring>& springs = {});

} // namespace ossatura
