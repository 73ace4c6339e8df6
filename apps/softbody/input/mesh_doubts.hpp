// SPDX-License-Identifier: Apache-2.0
// Mesh doubts are warnings about objects that can be solved but may not be what the user meant.
#pragma once

#include <ossatura/solvers/softbody/scene.hpp>

namespace ossatura {

/// Logs `mesh-in-parts` and `locking` where they apply.
void warn_of_object(const SoftObject& object);

} // namespace ossatura
