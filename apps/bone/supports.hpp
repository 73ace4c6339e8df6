// SPDX-License-Identifier: BSD-3-Clause
// Reactions summed over the parts of a load case.
#pragma once

#include "kernels/mechanical_test.hpp"
#include "kernels/reactions.hpp"

#include <array>
#include <string>
#include <vector>

namespace femura {

/// What one support does to the specimen.
struct SupportReaction {
  std::string name;
  std::int64_t num_nodes = 0;
  std::array<double, 3> displacement{}; ///< mm, mean over its held nodes, by component
  std::array<double, 3> force{};        ///< N
  std::array<double, 3> moment{};       ///< N mm about `centre`
  std::array<double, 3> centre{};       ///< mm, middle of the box around its nodes
};

/// Sums by region: a held component belongs to the last region that prescribes it, as its
/// displacement does. Pins are left out: they balance nothing but rounding.
std::vector<SupportReaction> sum_by_region(const std::vector<HeldNode>& nodes, double edge,
                                           const std::vector<NamedRegion>& regions);

/// Sums over the nodes with the same held components and displacements, for conditions that come
/// without names; one support of all if there would be more than `most`.
std::vector<SupportReaction> sum_by_displacement(const std::vector<HeldNode>& nodes, double edge,
                                                 std::size_t most = 8);

} // namespace femura
