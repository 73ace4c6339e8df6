// SPDX-License-Identifier: Apache-2.0
// Meshes of files may be in parts that touch and are not joined.
#pragma once

#include <ossatura/core/base/log.hpp>
#include <ossatura/core/mesh/mechanics/coincident_nodes.hpp>

#include <string>

namespace ossatura {

/// Logs `split-mesh` where the nodes of an ElementMesh or SolidMesh of `source` give a doubt.
template<class Mesh>
void warn_of_split_mesh(const std::string& source, const Mesh& mesh) {
  const std::string doubt = describe_coincident(find_coincident_nodes(mesh));
  if (!doubt.empty())
    log_warning("split-mesh", source, ": ", doubt);
}

} // namespace ossatura
