// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/problem/loaded_box.hpp"

#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/log.hpp>

namespace ossatura {

std::string place_within(const std::string& file, std::string place) {
  if (place.rfind(file + ": ", 0) == 0)
    place.erase(0, file.size() + 2);
  return place;
}

bool has_more(const LoadedBox& box) {
  constexpr double slack = 1e-4; // of numbers in text
  return box.faces.in_box > (1 + slack) * box.faces.whole;
}

std::string loaded_text(const LoadedBox& box) {
  return format_number(box.faces.whole, 4) + " m2 of whole faces, of " +
         format_number(box.faces.in_box, 4) + " m2 in the box";
}

void warn_of_box_between_nodes(const std::string& place, const BoxFaces& faces) {
  if (faces.ends_between_nodes())
    log_warning("lost-load", place, ": ", loaded_text({place, faces}),
                ", are loaded: faces count if all of their nodes are in it, and ", faces.missed,
                faces.missed == 1 ? " has" : " have",
                " more than half of their area there, but not all nodes. Let the box end at nodes, "
                "or a little beyond");
}

nlohmann::ordered_json loaded_boxes_json(const std::vector<LoadedBox>& boxes) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const LoadedBox& box : boxes)
    list.push_back(
        {{"place", box.place}, {"area", box.faces.whole}, {"area_in_box", box.faces.in_box}});
  return list;
}

} // namespace ossatura
