// SPDX-License-Identifier: Apache-2.0
// A PlaceSelector finds the nodes and elements that a problem of topology optimisation means: as a
// MeshSelector does, and by cylinders and surfaces.
#pragma once

#include "apps/driver/problem/mesh_selector.hpp"
#include "apps/topopt/input/problem_document.hpp"

namespace ossatura {

class PlaceSelector : public MeshSelector {
public:
  /// All must outlive this. `unit`: m per unit of files with surfaces.
  PlaceSelector(const DesignProblem& problem, const MeshSets& node_sets, const MeshSets& elem_sets,
                MeshTraits traits, double unit);

  /// Numbers, ascending and each once; throw InputError, with the place and the remedy, where there
  /// are none.
  std::vector<std::int32_t> nodes(const PlaceSelection& selection) const;
  std::vector<std::int32_t> elements(const PlaceSelection& selection) const;

private:
  std::vector<std::int32_t> find(const PlaceSelection& selection, bool is_elem) const;
  std::vector<std::int32_t> find_near(const PlaceSelection& selection, bool is_elem) const;

  const DesignProblem& problem_;
  double unit_;
};

} // namespace ossatura
