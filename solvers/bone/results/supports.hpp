// SPDX-License-Identifier: Apache-2.0
// These functions sum reactions over the parts of a load case.
#pragma once

#include <ossatura/kernels/bone/loads/mechanical_test.hpp>
#include <ossatura/kernels/bone/loads/reactions.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ossatura {

/// What one support feels: the sum over its nodes of the forces that hold them.
struct SupportReaction {
  std::string name; ///< "plate z-", "plate z+", "z-:xyz"
  std::int64_t num_nodes = 0;
  std::array<double, 3> force{0, 0, 0};
  std::array<double, 3> moment{0, 0, 0}; ///< about `centre`
  std::array<double, 3> centre{0, 0, 0}; ///< of the support's nodes; of a turn: what it goes about
  bool is_plate = false;                 ///< across the axis of the test
  int normal = 2;                        ///< across which `contact_area` is: 0 = x, 1 = y, 2 = z
  double contact_area = 0;               ///< of the bone that it touches, mm2
};

/// The reaction of a support, and how it moved.
struct MovedSupport {
  SupportReaction reaction;
  std::array<double, 3> displacement{}; ///< mm, mean over its held nodes, by component
};

/// Sums by region: a held component belongs to the last region that prescribes it, as its
/// displacement does. Pins are left out: they balance nothing but rounding. The moment of a support
/// that turns is about the point that it turns about, else about the centre of its nodes.
std::vector<MovedSupport> sum_by_region(const std::vector<HeldNode>& nodes, double edge,
                                        const std::vector<NamedRegion>& regions);

/// By region where there are any, else by displacement. The nodes know their voxels
/// (list_held_nodes).
std::vector<MovedSupport> sum_supports(const std::vector<HeldNode>& nodes, double edge,
                                       const std::vector<NamedRegion>& regions);

/// Sums over the nodes with the same held components and displacements, for conditions that come
/// without names; over those with the same displacements if there would be more than `most`, as of
/// planes of symmetry that meet, and one support of all if these are too many.
std::vector<MovedSupport> sum_by_displacement(const std::vector<HeldNode>& nodes, double edge,
                                              std::size_t most = 8);

} // namespace ossatura
