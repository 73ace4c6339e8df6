// SPDX-License-Identifier: Apache-2.0
// A PlaceSelector finds the nodes and elements that a problem of topology optimisation means: as a
// MeshSelector does, and by cylinders, surfaces and faces of a STEP file.
#pragma once

#include "apps/driver/problem/mesh_selector.hpp"
#include "apps/topopt/input/problem_document.hpp"
#include "apps/topopt/input/step_file.hpp"

namespace ossatura {

class PlaceSelector : public MeshSelector {
public:
  /// All must outlive this. `unit`: m per unit of files with surfaces; `step`: what the body is
  /// made of, or null.
  PlaceSelector(const DesignProblem& problem, const MeshSets& node_sets, const MeshSets& elem_sets,
                MeshTraits traits, double unit, const StepSurface* step);

  /// Numbers, ascending and each once; throw InputError, with the place and the remedy, where there
  /// are none.
  std::vector<std::int32_t> nodes(const PlaceSelection& selection) const;
  std::vector<std::int32_t> elements(const PlaceSelection& selection) const;

private:
  std::vector<std::int32_t> find(const PlaceSelection& selection, bool is_elem) const;
  std::vector<std::int32_t> find_near(const PlaceSelection& selection, bool is_elem) const;
  std::vector<std::int32_t> find_at_faces(const PlaceSelection& selection, bool is_elem) const;
  /// Within so much, in m, or, if that is not given, so many edges of the voxels.
  std::vector<std::int32_t> near(TriangleSurface surface, const PlaceSelection& selection,
                                 double edges, bool is_elem) const;

  const DesignProblem& problem_;
  double unit_;
  const StepSurface* step_;
};

} // namespace ossatura
