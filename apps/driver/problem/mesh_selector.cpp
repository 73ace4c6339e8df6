// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/problem/mesh_selector.hpp"

#include "apps/driver/options/notation.hpp"
#include "apps/driver/options/suggest.hpp"
#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/mesh/hexa/entities.hpp>
#include <ossatura/core/mesh/solids/shape.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

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

/// Planes of a lattice, or the middles between them, as corners of an element have them in turn.
std::vector<double> places_along(const LatticeBody& lattice, int axis, bool is_elem) {
  const std::vector<double>& plane = lattice.plane(axis);
  if (!is_elem)
    return plane;
  constexpr bool is_high[3][8] = {{false, true, true, false, false, true, true, false},
                                  {false, false, true, true, false, false, true, true},
                                  {false, false, false, false, true, true, true, true}};
  std::vector<double> centre(plane.size() - 1, 0.0);
  for (std::size_t i = 0; i < centre.size(); ++i)
    for (const bool high : is_high[axis])
      centre[i] += plane[i + std::size_t(high)] / 8.0;
  return centre;
}

} // namespace

namespace {

template<class Part>
const std::vector<Part>* parts_of_set(const std::map<std::string, std::vector<Part>>& sets,
                                      const MeshSelection& selection) {
  const auto found =
      selection.kind == MeshSelection::Kind::set ? sets.find(selection.set) : sets.end();
  return found == sets.end() ? nullptr : &found->second;
}

} // namespace

const std::vector<FaceCorners>* faces_of_set(const MeshFaceSets& sets,
                                             const MeshSelection& selection) {
  return parts_of_set(sets, selection);
}

const std::vector<EdgeEnds>* edges_of_set(const MeshEdgeSets& sets,
                                          const MeshSelection& selection) {
  return parts_of_set(sets, selection);
}

void require_faces(const MeshSelection& selection, const std::vector<FaceCorners>* faces,
                   const std::string& place, const std::string& remedy) {
  if (faces != nullptr && faces->empty())
    fail<InputError>(place, ": the set '", selection.set,
                     "' is a group of curves or points, which has no faces: take a group of "
                     "surfaces, or ",
                     remedy);
}

void require_on_boundary(const MeshSelection& selection, const std::vector<FaceCorners>* faces,
                         std::size_t on_boundary, const std::string& place) {
  if (faces == nullptr)
    return;
  std::size_t count = 0; // they ascend
  for (std::size_t i = 0; i < faces->size(); ++i)
    count += i == 0 || (*faces)[i] != (*faces)[i - 1];
  if (on_boundary < count)
    fail<InputError>(place, ": of the ", count, " faces of the set '", selection.set, "' ",
                     count - on_boundary,
                     " lie within the body, or are of no element, where nothing presses: leave "
                     "them out of the set");
}

namespace {

double shortest_edge(const ElementMesh& mesh) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t e = 0; e < mesh.num_elem(); ++e)
    for (const HexaEdge& edge : hexa_edge) {
      const double* const a = &mesh.point[3 * std::size_t(mesh.node[8 * e + edge.node[0]])];
      const double* const b = &mesh.point[3 * std::size_t(mesh.node[8 * e + edge.node[1]])];
      least = std::min(least, std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]));
    }
  return least;
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
    : mesh_(&mesh)
    , node_sets_(node_sets)
    , elem_sets_(elem_sets)
    , traits_(std::move(traits))
    , bounds_(bounding_box(mesh.point))
    , slack_(rounding_of(bounds_)) {}

MeshSelector::MeshSelector(const SolidMesh& mesh, const MeshSets& node_sets,
                           const MeshSets& elem_sets, MeshTraits traits)
    : solids_(&mesh)
    , node_sets_(node_sets)
    , elem_sets_(elem_sets)
    , traits_(std::move(traits))
    , bounds_(bounding_box(mesh.point))
    , slack_(rounding_of(bounds_)) {}

MeshSelector::MeshSelector(const LatticeBody& lattice, const MeshSets& node_sets,
                           const MeshSets& elem_sets, MeshTraits traits)
    : lattice_(&lattice)
    , node_sets_(node_sets)
    , elem_sets_(elem_sets)
    , traits_(std::move(traits))
    , bounds_(lattice.bounds())
    , slack_(rounding_of(bounds_)) {}

std::vector<std::int32_t> MeshSelector::nodes(const MeshSelection& selection) const {
  return select(selection, {false, traits_.node, "node", node_sets_, num_nodes()});
}

std::vector<std::int32_t> MeshSelector::elements(const MeshSelection& selection) const {
  return select(selection, {true, "element", "element", elem_sets_, num_elem()});
}

std::size_t MeshSelector::num_nodes() const {
  return mesh_     ? mesh_->num_points()
         : solids_ ? solids_->num_points()
                   : std::size_t(lattice_->num_nodes());
}

std::size_t MeshSelector::num_elem() const {
  return mesh_     ? mesh_->num_elem()
         : solids_ ? solids_->num_elem()
                   : std::size_t(lattice_->num_elem());
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
  const std::vector<std::int32_t> found =
      lattice_ ? find_in_lattice(selection, kind.is_elem) : find_in_mesh(selection, kind.is_elem);
  if (found.empty())
    fail<InputError>(selection.place, ": no ", kind.is_elem ? "centre of an element" : kind.name,
                     " is ", in_words(selection), "; ", traits_.body, " spans ", span_text(bounds_),
                     " m");
  return found;
}

std::vector<std::int32_t> MeshSelector::find_in_mesh(const MeshSelection& selection,
                                                     bool is_elem) const {
  const std::vector<double>& point = mesh_ ? mesh_->point : solids_->point;
  const std::size_t count = is_elem ? num_elem() : num_nodes();
  const double slack = slack_of(selection);
  std::vector<std::int32_t> found;
  for (std::size_t i = 0; i < count; ++i)
    if (has(selection, is_elem ? centre_of(i).data() : &point[3 * i], slack))
      found.push_back(std::int32_t(i));
  return found;
}

std::array<double, 3> MeshSelector::centre_of(std::size_t elem) const {
  if (solids_)
    return ossatura::centre_of(*solids_, elem);
  const std::size_t n = std::size_t(nodes_per_elem(mesh_->shape));
  std::array<double, 3> centre{};
  for (std::size_t a = n * elem; a < n * (elem + 1); ++a)
    for (std::size_t d = 0; d < 3; ++d)
      centre[d] += mesh_->point[3 * std::size_t(mesh_->node[a]) + d] / double(n);
  return centre;
}

std::vector<std::int32_t> MeshSelector::find_in_lattice(const MeshSelection& selection,
                                                        bool is_elem) const {
  std::array<std::vector<double>, 3> along;
  ChosenPlanes chosen;
  const bool is_box = selection.kind == MeshSelection::Kind::box;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    along[axis] = places_along(*lattice_, int(axis), is_elem);
    for (const double x : along[axis]) {
      // Of a box each axis decides for itself.
      double inside[3] = {selection.box[0], selection.box[1], selection.box[2]};
      inside[axis] = x;
      chosen[axis].push_back(!is_box || contains(selection.box, inside, slack_));
    }
  }
  std::vector<std::int32_t> found;
  const auto visit = [&](const LatticeBody::Place& place, std::int32_t number) {
    double x[3];
    for (std::size_t axis = 0; axis < 3; ++axis)
      x[axis] = along[axis][std::size_t(place[axis])];
    if (is_box || has(selection, x, slack_))
      found.push_back(number);
  };
  LatticeBody::for_places(is_elem ? lattice_->elem() : lattice_->node(), chosen, visit);
  return found;
}

/// Coordinates of six digits, as many programs write, put nodes of a round surface beside it, and
/// those that happen to be nearer would be taken alone.
double MeshSelector::slack_of(const MeshSelection& selection) const {
  const bool is_round = selection.kind == MeshSelection::Kind::sphere ||
                        selection.kind == MeshSelection::Kind::cylinder;
  if (!is_round || mesh_ == nullptr || mesh_->shape != ElementShape::hexa)
    return slack_;
  return std::max(slack_, 1e-2 * shortest_edge(*mesh_));
}

bool MeshSelector::has(const MeshSelection& selection, const double* x, double slack) const {
  const auto is_value = [&](double distance) {
    return std::abs(distance - selection.value) <= slack;
  };
  switch (selection.kind) {
  case MeshSelection::Kind::plane:
    return is_value(x[selection.axis]);
  case MeshSelection::Kind::sphere:
    return is_value(std::hypot(x[0], x[1], x[2]));
  case MeshSelection::Kind::cylinder:
    return is_value(std::sqrt(x[0] * x[0] + x[1] * x[1]));
  default:
    return contains(selection.box, x, slack);
  }
}

} // namespace ossatura
