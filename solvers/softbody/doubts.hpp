// SPDX-License-Identifier: Apache-2.0
// Doubts are warnings about objects and steps that can be solved but may not be what the user
// meant, in words that hold for a scene of a file and for one that a program makes.
#pragma once

#include <ossatura/core/mesh/surface_crossings.hpp>
#include <ossatura/solvers/softbody/scene.hpp>

#include <string>

namespace ossatura {

/// Logs `split-mesh` or else `mesh-in-parts`, `folded-mesh`, `locking`, `odd-size`, `odd-density`,
/// `odd-modulus` and `odd-velocity` where they apply.
void warn_of_object(const SoftObject& object, const SoftScene& scene);

/// Logs `odd-friction`, `odd-gravity` and `long-steps` likewise.
void warn_of_motion(const SoftScene& scene, double time_step);

/// Logs `starts-inside-obstacle` where nodes of an object do.
void warn_of_obstacles(const SoftScene& scene, double time_step);

/// Logs `overstretched` where the largest_stretch() of an object is that of no material, `when`
/// ("at the end").
void warn_of_stretch(const SoftObject& object, double stretch, const std::string& when);

/// Logs `surfaces-intersect` where an object begins inside another, or in its place. Returns
/// whether one does.
bool warn_of_nested(const SoftScene& scene);

/// Logs `surfaces-intersect` of objects that are through each other `when` ("after step 7"), which
/// `is_start` says to be before the first step.
void warn_of_crossing(const SurfaceCrossing& crossing, const SoftScene& scene,
                      const std::string& when, bool is_start);

} // namespace ossatura
