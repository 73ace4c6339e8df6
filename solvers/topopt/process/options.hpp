// SPDX-License-Identifier: Apache-2.0
// A DesignProcess says how a part is to be made, which a design then has to suit.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

/// Along an axis: 0, 1, 2.
struct ProcessAxis {
  int axis = 2;
  int sense = 1; ///< 1: up the axis, -1: down
};

struct DesignProcess {
  struct Plane {
    int axis = 0;
    double place = 0; ///< m
  };
  struct Rotation {
    int sectors = 2;
    int axis = 2;
    std::array<double, 3> point{}; ///< on the axis, m
  };
  struct Draw {
    ProcessAxis direction;         ///< without a parting plane
    std::optional<double> parting; ///< m: drawn up above the plane and down below
  };

  std::optional<int> extrude;          ///< the same all along this axis
  std::vector<Plane> symmetry;         ///< of the design; loads and supports need not have it
  std::optional<Rotation> rotation;    ///< equal sectors around an axis
  std::optional<Draw> draw;            ///< cast or moulded, without undercuts
  std::optional<ProcessAxis> overhang; ///< built up in this direction, on itself

  /// Whether elements share variables.
  bool links() const { return extrude || !symmetry.empty() || rotation || draw; }
  /// Whether densities are not those that filter and projection make.
  bool shapes() const { return draw || overhang; }
  bool any() const { return links() || shapes(); }
};

/// What of a process contradicts the rest of it, and what to do; empty if nothing does.
std::string describe_conflict(const DesignProcess& process);

/// Elements that are not made as was asked, which passive elements or the body prevent.
struct ProcessFaults {
  std::int64_t undercuts = 0; ///< without material, between material and the parting face
  std::int64_t hanging = 0;   ///< with material, above none
  std::int64_t unlike = 0;    ///< with material where those they should be like have none
  std::int64_t sum() const { return undercuts + hanging + unlike; }
};

} // namespace ossatura
