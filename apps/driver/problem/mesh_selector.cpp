// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/problem/mesh_selector.hpp"

#include "apps/driver/options/notation.hpp"
#include "apps/driver/options/suggest.hpp"
#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/require.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

std::string in_words(const MeshSelection& selection) {
  const std::string value = format_number(selection.value);
  switch (selection.kind) {
  case MeshSelection::Kind::plane:
    return std::string("on the plane ") + "xyz"[selection.axis] + " = " + value;
  case MeshSelection::Kind::sphere:
    return "at the distance " + value + " m from the origin";
  case MeshSelection::Kind::cylinder:
    return "at the distance " + value + " m from the z axis";
  default:
    return "inside the box";
  }
}

const std::vector<std::int32_t>& find_set(const MeshSelection& selection, const MeshSets& sets,
                                          const char* kind) {
  const auto set = sets.find(selection.set);
  if (set == sets.end()) {
    std::vector<std::string> names;
    for (const auto& [name, numbers] : sets)
      names.push_back(name);
    fail<InputError>(selection.place, ": the mesh has no ", kind, " set '", selection.set, "'",
                     names.empty() ? "" : "; there are " + joined(names, ", "),
                     did_you_mean(selection.set, names));
  }
  if (set->second.empty())
    fail<InputError>(selection.place, ": the ", kind, " set '", selection.set, "' is empty");
  return set->second;
}

} // namespace

/// Nodes or elements.
struct MeshSelector::Kind {
  bool is_elem;
  const char *name, *of_set;
  const MeshSets& sets;
  std::size_t count;
};

MeshSelector::MeshSelector(const ElementMesh& mesh, const MeshSets& node_sets,
                           const MeshSets& elem_sets, MeshTraits traits)
    : mesh_(mesh)
    , node_sets_(node_sets)
    , elem_sets_(elem_sets)
    , traits_(std::move(traits))
    , bounds_(bounding_box(mesh.point))
    , slack_(traits_.rounding * std::hypot(bounds_[3] - bounds_[0], bounds_[4] - bounds_[1],
                                           bounds_[5] - bounds_[2])) {}

std::vector<std::int32_t> MeshSelector::nodes(const MeshSelection& selection) const {
  return select(selection, {false, traits_.node, "node", node_sets_, mesh_.num_points()});
}

std::vector<std::int32_t> MeshSelector::elements(const MeshSelection& selection) const {
  return select(selection, {true, "element", "element", elem_sets_, mesh_.num_elem()});
}

std::vector<std::int32_t> MeshSelector::select(const MeshSelection& selection,
                                               const Kind& kind) const {
  std::vector<std::int32_t> found;
  if (selection.kind == MeshSelection::Kind::set) {
    found = find_set(selection, kind.sets, kind.of_set);
  } else if (selection.kind == MeshSelection::Kind::numbers) {
    if (!traits_.no_numbers.empty())
      fail<InputError>(selection.place, ": ", traits_.no_numbers);
    found = selection.numbers;
    for (const std::int32_t number : found)
      if (std::size_t(number) >= kind.count)
        fail<InputError>(selection.place, ": ", kind.name, ' ', number,
                         " is not in the mesh, whose last one is ", kind.count - 1);
  } else {
    found = in_place(selection, kind);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<std::int32_t> MeshSelector::in_place(const MeshSelection& selection,
                                                 const Kind& kind) const {
  const std::size_t n = std::size_t(nodes_per_elem(mesh_.shape));
  std::vector<std::int32_t> found;
  for (std::size_t i = 0; i < kind.count; ++i) {
    double centre[3] = {};
    const double* x = kind.is_elem ? centre : &mesh_.point[3 * i];
    if (kind.is_elem)
      for (std::size_t a = n * i; a < n * (i + 1); ++a)
        for (std::size_t d = 0; d < 3; ++d)
          centre[d] += mesh_.point[3 * std::size_t(mesh_.node[a]) + d] / double(n);
    if (has(selection, x))
      found.push_back(std::int32_t(i));
  }
  if (found.empty())
    fail<InputError>(selection.place, ": no ", kind.is_elem ? "centre of an element" : kind.name,
                     " is ", in_words(selection), "; ", traits_.body, " spans ", span_text(bounds_),
                     " m");
  return found;
}

bool MeshSelector::has(const MeshSelection& selection, const double* x) const {
  const auto is_value = [&](double distance) {
    return std::abs(distance - selection.value) <= slack_;
  };
  switch (selection.kind) {
  case MeshSelection::Kind::plane:
    return is_value(x[selection.axis]);
  case MeshSelection::Kind::sphere:
    return is_value(std::hypot(x[0], x[1], x[2]));
  case MeshSelection::Kind::cylinder:
    return is_value(std::hypot(x[0], x[1]));
  default:
    return contains(selection.box, x, slack_);
  }
}

} // namespace ossatura
