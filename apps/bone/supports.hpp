// SPDX-License-Identifier: Apache-2.0
// These functions sum reactions over the parts of a load case.
#pragma once

#include "apps/bone/output/results.hpp"
#include <ossatura/kernels/bone/mechanical_test.hpp>
#include <ossatura/kernels/bone/reactions.hpp>

#include <vector>

namespace ossatura {

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
/// without names; one support of all if there would be more than `most`.
std::vector<MovedSupport> sum_by_displacement(const std::vector<HeldNode>& nodes, double edge,
                                              std::size_t most = 8);

} // namespace ossatura
