// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/input/place_selector.hpp"

#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/surface/reader.hpp>
#include <ossatura/solvers/topopt/part/selections.hpp>

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
  if (!selection.surface.empty())
    return "near the surface " + selection.surface;
  return selection.wall ? "at the wall of the cylinder, within " + format_number(*selection.wall) +
                              " m of its radius"
                        : "in the cylinder";
}

} // namespace

PlaceSelector::PlaceSelector(const DesignProblem& problem, const MeshSets& node_sets,
                             const MeshSets& elem_sets, MeshTraits traits, double unit)
    : MeshSelector(selector_of(problem, node_sets, elem_sets, std::move(traits)))
    , problem_(problem)
    , unit_(unit) {}

std::vector<std::int32_t> PlaceSelector::nodes(const PlaceSelection& selection) const {
  return selection.is_round() ? find(selection, false) : MeshSelector::nodes(selection);
}

std::vector<std::int32_t> PlaceSelector::elements(const PlaceSelection& selection) const {
  return selection.is_round() ? find(selection, true) : MeshSelector::elements(selection);
}

std::vector<std::int32_t> PlaceSelector::find(const PlaceSelection& selection, bool is_elem) const {
  std::vector<std::int32_t> found;
  if (!selection.cylinder)
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

std::vector<std::int32_t> PlaceSelector::find_near(const PlaceSelection& selection,
                                                   bool is_elem) const {
  if (!selection.within && !problem_.lattice)
    fail<InputError>(selection.place,
                     ": on a mesh a surface needs \"within\", the distance in m that nodes or "
                     "centres of elements may have from it");
  const double within =
      selection.within ? *selection.within : 0.5 * problem_.lattice->edge() + slack();
  TriangleSurface surface = read_surface(selection.surface);
  if (surface.triangle.empty())
    fail<InputError>(selection.place, ": ", selection.surface, " has no triangles");
  for (auto& vertex : surface.vertex)
    for (double& x : vertex)
      x *= unit_;
  const NearSurface near(surface, within);
  return is_elem ? elements_near(problem_, near) : boundary_nodes_near(problem_, near);
}

} // namespace ossatura
