// SPDX-License-Identifier: Apache-2.0
// A MeshSelection states which nodes or elements of a mesh a problem means, as users write it.
#pragma once

#include <ossatura/core/mesh/box.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ossatura {

/// Nodes, or elements by their centres.
struct MeshSelection {
  enum class Kind {
    numbers,
    set,     ///< of the mesh
    box,     ///< surface included
    plane,   ///< x[axis] = value
    sphere,  ///< at the distance `value` from the origin
    cylinder ///< at the distance `value` from the z axis
  } kind = Kind::numbers;
  std::vector<std::int32_t> numbers;
  std::string set;
  Box box{}; ///< m
  int axis = 0;
  double value = 0;  ///< m
  std::string place; ///< where it stands, for messages
};

} // namespace ossatura
