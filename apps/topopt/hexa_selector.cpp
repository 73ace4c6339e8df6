// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/hexa_selector.hpp"

#include "apps/driver/suggest.hpp"
#include "apps/driver/table.hpp"
#include "core/require.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace femura {

namespace {

std::array<double, 6> bounding_box(const std::vector<double>& point) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::array<double, 6> box{infinity, infinity, infinity, -infinity, -infinity, -infinity};
  for (std::size_t i = 0; i < point.size(); ++i) {
    box[i % 3] = std::min(box[i % 3], point[i]);
    box[i % 3 + 3] = std::max(box[i % 3 + 3], point[i]);
  }
  return box;
}

} // namespace

HexaSelector::HexaSelector(const HexaModel& model, std::string no_numbers)
    : model_(model)
    , no_numbers_(std::move(no_numbers))
    , bounds_(bounding_box(model.mesh.point))
    , slack_(1e-9 * std::hypot(bounds_[3] - bounds_[0], bounds_[4] - bounds_[1],
                               bounds_[5] - bounds_[2])) {}

std::vector<std::int32_t> HexaSelector::nodes(const SelectionChoice& choice) const {
  return select(choice, model_.node_sets, model_.mesh.num_points(), "node", false);
}

std::vector<std::int32_t> HexaSelector::elements(const SelectionChoice& choice) const {
  return select(choice, model_.elem_sets, model_.mesh.num_elem(), "element", true);
}

std::vector<std::int32_t> HexaSelector::select(const SelectionChoice& choice, const Sets& sets,
                                               std::size_t count, const char* what,
                                               bool by_centres) const {
  std::vector<std::int32_t> found;
  if (!choice.set.empty()) {
    const auto set = sets.find(choice.set);
    if (set == sets.end()) {
      std::vector<std::string> names;
      std::string listed;
      for (const auto& [name, numbers] : sets) {
        names.push_back(name);
        listed += (listed.empty() ? "" : ", ") + name;
      }
      fail<InputError>(choice.place, ": the mesh has no ", what, " set '", choice.set, "'",
                       listed.empty() ? "" : "; there are " + listed,
                       did_you_mean(choice.set, names));
    }
    found = set->second;
    if (found.empty())
      fail<InputError>(choice.place, ": the ", what, " set '", choice.set, "' is empty");
  } else if (choice.box) {
    const ElementMesh& mesh = model_.mesh;
    for (std::size_t i = 0; i < count; ++i) {
      double centre[3] = {};
      const double* x = by_centres ? centre : &mesh.point[3 * i];
      if (by_centres)
        for (std::size_t a = 8 * i; a < 8 * i + 8; ++a)
          for (std::size_t d = 0; d < 3; ++d)
            centre[d] += mesh.point[3 * std::size_t(mesh.node[a]) + d] / 8;
      if (has(*choice.box, x))
        found.push_back(std::int32_t(i));
    }
    if (found.empty()) {
      std::string span;
      for (std::size_t d = 0; d < 3; ++d)
        span += (d == 0 ? "" : ", ") + format_number(bounds_[d], 4) + " to " +
                format_number(bounds_[d + 3], 4);
      fail<InputError>(choice.place, ": no ", by_centres ? "centre of an element" : what,
                       " is inside the box; the body spans ", span, " m");
    }
  } else {
    if (!no_numbers_.empty())
      fail<InputError>(choice.place, ": numbers of ", what, "s mean nothing here, because ",
                       no_numbers_, ": choose by boxes or sets");
    for (const std::int32_t number : choice.numbers)
      if (std::size_t(number) >= count)
        fail<InputError>(choice.place, ": ", what, ' ', number,
                         " is not in the mesh, whose last one is ", count - 1);
    found = choice.numbers;
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool HexaSelector::has(const std::array<double, 6>& box, const double* x) const {
  bool inside = true;
  for (std::size_t d = 0; d < 3; ++d)
    inside = inside && x[d] >= box[d] - slack_ && x[d] <= box[d + 3] + slack_;
  return inside;
}

} // namespace femura
