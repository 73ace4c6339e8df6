// SPDX-License-Identifier: Apache-2.0
// Second-order hexahedra of Gmsh have 20 or 27 nodes; second_order_points gives the 27 points of
// their triquadratic maps.
#pragma once

#include <ossatura/core/pfem/hexa_map.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ossatura {

/// Points as make_quadratic_map() takes them, [num_elem, 27, 3], of elements of nodes_per_elem = 20
/// or 27 nodes in Gmsh's order. `turned` [num_elem]: bottom and top of the element are to be
/// exchanged. With 20 nodes the middles of faces and the centre are where the serendipity functions
/// have them; these are among the triquadratic ones, so that the map is theirs.
std::vector<double> second_order_points(const std::vector<double>& point,
                                        const std::vector<std::int32_t>& node,
                                        std::size_t nodes_per_elem,
                                        const std::vector<bool>& turned);

/// Whether the Jacobian of the element is positive at the 3 x 3 x 3 Gauss points.
bool is_right_way_round(const HexaMap& map, std::int64_t elem);

} // namespace ossatura
