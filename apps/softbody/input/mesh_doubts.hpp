// SPDX-License-Identifier: Apache-2.0
// Mesh doubts are warnings about objects and steps that can be solved but may not be what the user
// meant.
#pragma once

#include <ossatura/solvers/softbody/scene.hpp>

namespace ossatura {

/// Logs `mesh-in-parts`, `folded-mesh`, `locking`, `odd-size`, `odd-density` and `odd-modulus`
/// where they apply.
void warn_of_object(const SoftObject& object, const SoftScene& scene);

/// Logs `odd-gravity` and `long-steps` likewise.
void warn_of_motion(const SoftScene& scene, double time_step);

/// Logs `surfaces-intersect` where an object begins inside another, or in its place.
void warn_of_nested(const SoftScene& scene);

} // namespace ossatura
