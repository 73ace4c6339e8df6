// SPDX-License-Identifier: Apache-2.0
// A LoadedBox says what of the surface in a box a traction acts on: faces count whole or not at
// all.
#pragma once

#include <ossatura/core/mesh/mechanics/box_faces.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace ossatura {

struct LoadedBox {
  std::string place; ///< in the problem: "cases[0].loads[0]"
  BoxFaces faces;
};

/// A place of messages without the file, with which it may begin.
std::string place_within(const std::string& file, std::string place);

/// Warns of a box that ends between nodes, so that a good part of what it has is not loaded.
void warn_of_box_between_nodes(const std::string& place, const BoxFaces& faces);

/// Whether the box has more than is loaded.
bool has_more(const LoadedBox& box);

/// "4 m2 of whole faces, of 6.25 m2 in the box".
std::string loaded_text(const LoadedBox& box);

/// [{place, area, area_in_box}], m^2.
nlohmann::ordered_json loaded_boxes_json(const std::vector<LoadedBox>& boxes);

} // namespace ossatura
