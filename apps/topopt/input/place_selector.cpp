// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/input/place_selector.hpp"

#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/surface/reader.hpp>
#include <ossatura/solvers/topopt/part/selections.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

MeshSelector selector_of(const DesignProblem& problem, const MeshSets& node_sets,
                         const MeshSets& elem_sets, MeshTraits traits) {
  if (problem.lattice)
    return {*problem.lattice, node_sets, elem_sets, std::move(traits)};
  if (problem.solids)
    return {*problem.solids, node_sets, elem_sets, std::move(traits)};
  return {problem.mesh, node_sets, elem_sets, std::move(traits)};
}

std::string in_words(const PlaceSelection& selection) {
  if (!selection.faces.empty())
    return "near the faces";
  if (!selection.surface.empty())
    return "near the surface " + selection.surface;
  return selection.wall ? "at the wall of the cylinder, within " + format_number(*selection.wall) +
                              " m of its radius"
                        : "in the cylinder";
}

/// Whether a face is in a plane normal to an axis, so that nodes of voxels can be in it.
bool is_along_axes(const TriangleSurface& face) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double low = face.vertex[0][axis], high = low, size = 0;
    for (const auto& x : face.vertex) {
      low = std::min(low, x[axis]);
      high = std::max(high, x[axis]);
      for (std::size_t c = 0; c < 3; ++c)
        size = std::max(size, std::fabs(x[c] - face.vertex[0][c]));
    }
    if (high - low <= 1e-6 * size)
      return true;
  }
  return false;
}

} // namespace

PlaceSelector::PlaceSelector(const DesignProblem& problem, const MeshSets& node_sets,
                             const MeshSets& elem_sets, MeshTraits traits,
                             const PlaceSource& source)
    : MeshSelector(selector_of(problem, node_sets, elem_sets, std::move(traits)))
    , problem_(problem)
    , source_(source) {}

std::vector<std::int32_t> PlaceSelector::nodes(const PlaceSelection& selection) const {
  return selection.is_of_places() ? find(selection, false) : MeshSelector::nodes(selection);
}

std::vector<std::int32_t> PlaceSelector::elements(const PlaceSelection& selection) const {
  return selection.is_of_places() ? find(selection, true) : MeshSelector::elements(selection);
}

const std::vector<FaceCorners>* PlaceSelector::faces(const PlaceSelection& selection) const {
  const bool has_none = selection.is_of_places() || source_.face_sets == nullptr;
  return has_none ? nullptr : faces_of_set(*source_.face_sets, selection);
}

std::vector<std::int32_t> PlaceSelector::find(const PlaceSelection& selection, bool is_elem) const {
  if (!selection.labels.empty())
    return find_label(selection, is_elem);
  std::vector<std::int32_t> found;
  if (!selection.faces.empty())
    found = find_at_faces(selection, is_elem);
  else if (!selection.cylinder)
    found = find_near(selection, is_elem);
  else if (is_elem)
    found = elements_in(problem_, *selection.cylinder, slack());
  else if (selection.wall)
    found = nodes_at_wall(problem_, *selection.cylinder, *selection.wall, slack());
  else
    found = nodes_in(problem_, *selection.cylinder, slack());
  const bool on_boundary = !is_elem && (selection.wall || !selection.cylinder);
  if (found.empty())
    fail<InputError>(selection.place, ": no ",
                     is_elem       ? "centre of an element"
                     : on_boundary ? "node of the boundary"
                                   : "node",
                     " is ", in_words(selection), "; the body spans ", span_text(bounds()), " m");
  return found;
}

std::vector<std::int32_t> PlaceSelector::near(TriangleSurface surface,
                                              const PlaceSelection& selection, double edges,
                                              bool is_elem) const {
  if (!selection.within && !problem_.lattice)
    fail<InputError>(selection.place,
                     ": on a mesh a surface needs \"within\", the distance in m that nodes or "
                     "centres of elements may have from it");
  const double within =
      selection.within ? *selection.within : edges * problem_.lattice->edge() + slack();
  for (auto& vertex : surface.vertex)
    for (double& x : vertex)
      x *= source_.unit;
  const NearSurface near(surface, within);
  return is_elem ? elements_near(problem_, near) : boundary_nodes_near(problem_, near);
}

std::vector<std::int32_t> PlaceSelector::find_near(const PlaceSelection& selection,
                                                   bool is_elem) const {
  TriangleSurface surface = read_surface(selection.surface);
  if (surface.triangle.empty())
    fail<InputError>(selection.place, ": ", selection.surface, " has no triangles");
  return near(std::move(surface), selection, 0.5, is_elem);
}

std::vector<std::int32_t> PlaceSelector::find_at_faces(const PlaceSelection& selection,
                                                       bool is_elem) const {
  if (source_.step == nullptr)
    fail<InputError>(selection.place, ": \"faces\" are of a STEP file, and the mesh is another: "
                                      "choose by another key");
  std::vector<std::int32_t> found;
  for (const std::int32_t number : selection.faces) {
    const TriangleSurface face = source_.step->of_face(number);
    if (face.triangle.empty())
      fail<InputError>(selection.place, ": there is no face ", number, ", but 1 to ",
                       source_.step->faces().back(), ": mesh_step.py --list shows them");
    const std::vector<std::int32_t> own =
        near(face, selection, is_along_axes(face) ? 0.5 : 1, is_elem);
    if (own.empty())
      return {};
    found.insert(found.end(), own.begin(), own.end());
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<std::int32_t> PlaceSelector::find_label(const PlaceSelection& selection,
                                                    bool is_elem) const {
  if (source_.image == nullptr)
    fail<InputError>(selection.place, ": \"label\" is of an image (.mha, .nii.gz, .nrrd), and the "
                                      "mesh is another: choose by another key");
  const std::vector<std::int32_t> elements =
      elements_of_labels(*source_.image, selection.labels, selection.place);
  if (is_elem)
    return elements;
  std::vector<std::int32_t> nodes = boundary_nodes_of(*source_.image->body, elements);
  if (nodes.empty())
    fail<InputError>(selection.place, ": none of the ", format_count(elements.size()),
                     " voxels has a face on the boundary of the body, so that the label has no "
                     "nodes to hold or load: choose others");
  return nodes;
}

} // namespace ossatura
