// SPDX-License-Identifier: Apache-2.0
// Mesh doubts are warnings about objects that can be solved but may not be what the user meant.
#pragma once

#include <ossatura/solvers/softbody/scene.hpp>

namespace ossatura {

/// Parts of a mesh that share no node.
int count_parts(const ElementMesh& mesh);

/// Poisson's ratio of small deformations, whatever the law.
double poisson_ratio(const SoftMaterial& material);

/// Logs `mesh-in-parts` and `locking` where they apply.
void warn_of_object(const SoftObject& object);

} // namespace ossatura
