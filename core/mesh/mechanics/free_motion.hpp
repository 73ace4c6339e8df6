// SPDX-License-Identifier: Apache-2.0
// describe_free_motion tells whether supports hold a body, and otherwise which motion they leave
// free; is_rigid_motion whether those that are moved move it as a whole.
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

/// Whether a rigid motion has the displacements of all held components, those held at zero among
/// them, but for a millionth: they strain nothing then.
bool is_rigid_motion(const std::vector<double>& point, const std::vector<NodeDisplacement>& held);

} // namespace ossatura
