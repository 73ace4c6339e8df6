// SPDX-License-Identifier: Apache-2.0
#include "apps/pfem/pfem_selector.hpp"

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

std::string in_words(const PfemSelection& selection) {
  using Kind = PfemSelection::Kind;
  const std::string value = format_number(selection.value);
  switch (selection.kind) {
  case Kind::plane:
    return std::string("on the plane ") + "xyz"[selection.axis] + " = " + value;
  case Kind::sphere:
    return "at the distance " + value + " m from the origin";
  case Kind::cylinder:
    return "at the distance " + value + " m from the z axis";
  default:
    return "inside the box";
  }
}

} // namespace

PfemSelector::PfemSelector(const ElementMesh& mesh, const HexaEntities& entities,
                           const MeshSets& node_sets, const MeshSets& elem_sets,
                           std::string no_numbers)
    : mesh_(mesh)
    , node_sets_(node_sets)
    , elem_sets_(elem_sets)
    , no_numbers_(std::move(no_numbers))
    , boundary_(boundary_faces(entities))
    , bounds_(bounding_box(mesh.point))
    , slack_(1e-6 * std::hypot(bounds_[3] - bounds_[0], bounds_[4] - bounds_[1],
                               bounds_[5] - bounds_[2])) {}

PfemPart PfemSelector::part(const PfemSelection& selection) const {
  return part_of(select(selection, node_sets_, mesh_.num_points(), "vertex", false));
}

PfemPart PfemSelector::part_of(std::vector<std::int32_t> vertices) const {
  PfemPart part;
  std::vector<std::uint8_t> chosen(mesh_.num_points());
  for (const std::int32_t vertex : vertices)
    chosen[std::size_t(vertex)] = 1;
  for (const ElementFace& face : boundary_) {
    bool whole = true;
    for (const auto& row : hexa_face_frame[face.face].node)
      for (const int corner : row)
        whole =
            whole &&
            chosen[std::size_t(mesh_.node[8 * std::size_t(face.elem) + std::size_t(corner)])] != 0;
    if (whole)
      part.faces.push_back(face);
  }
  part.vertices = std::move(vertices);
  return part;
}

std::vector<std::int32_t> PfemSelector::elements(const PfemSelection& selection) const {
  return select(selection, elem_sets_, mesh_.num_elem(), "element", true);
}

std::vector<std::int32_t> PfemSelector::select(const PfemSelection& selection, const MeshSets& sets,
                                               std::size_t count, const char* what,
                                               bool by_centres) const {
  std::vector<std::int32_t> found;
  if (selection.kind == PfemSelection::Kind::set) {
    const auto set = sets.find(selection.set);
    if (set == sets.end()) {
      std::vector<std::string> names;
      std::string listed;
      for (const auto& [name, numbers] : sets) {
        names.push_back(name);
        listed += (listed.empty() ? "" : ", ") + name;
      }
      fail<InputError>(selection.place, ": the mesh has no ", by_centres ? "element" : "node",
                       " set '", selection.set, "'", listed.empty() ? "" : "; there are " + listed,
                       did_you_mean(selection.set, names));
    }
    found = set->second;
    if (found.empty())
      fail<InputError>(selection.place, ": the set '", selection.set, "' is empty");
  } else if (selection.kind == PfemSelection::Kind::numbers) {
    if (!no_numbers_.empty())
      fail<InputError>(selection.place,
                       ": numbers of vertices and elements mean nothing here, "
                       "because ",
                       no_numbers_, ": choose by places or sets");
    for (const std::int32_t number : selection.numbers)
      if (std::size_t(number) >= count)
        fail<InputError>(selection.place, ": ", what, ' ', number,
                         " is not in the mesh, whose last one is ", count - 1);
    found = selection.numbers;
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      double centre[3] = {};
      const double* x = by_centres ? centre : &mesh_.point[3 * i];
      if (by_centres)
        for (std::size_t a = 8 * i; a < 8 * i + 8; ++a)
          for (std::size_t d = 0; d < 3; ++d)
            centre[d] += mesh_.point[3 * std::size_t(mesh_.node[a]) + d] / 8;
      if (has(selection, x))
        found.push_back(std::int32_t(i));
    }
    if (found.empty()) {
      std::string span;
      for (std::size_t d = 0; d < 3; ++d)
        span += (d == 0 ? "" : ", ") + format_number(bounds_[d], 4) + " to " +
                format_number(bounds_[d + 3], 4);
      fail<InputError>(selection.place, ": no ", by_centres ? "centre of an element" : what, " is ",
                       in_words(selection), "; the body spans ", span, " m");
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool PfemSelector::has(const PfemSelection& selection, const double* x) const {
  using Kind = PfemSelection::Kind;
  if (selection.kind == Kind::plane)
    return std::abs(x[selection.axis] - selection.value) <= slack_;
  if (selection.kind == Kind::sphere)
    return std::abs(std::hypot(x[0], x[1], x[2]) - selection.value) <= slack_;
  if (selection.kind == Kind::cylinder)
    return std::abs(std::hypot(x[0], x[1]) - selection.value) <= slack_;
  bool inside = true;
  for (std::size_t d = 0; d < 3; ++d)
    inside = inside && x[d] >= selection.box[d] - slack_ && x[d] <= selection.box[d + 3] + slack_;
  return inside;
}

} // namespace femura
