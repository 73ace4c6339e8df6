// SPDX-License-Identifier: Apache-2.0
// A PlaceSelector finds the nodes and elements that a problem of topology optimisation means: as a
// MeshSelector does, and by cylinders, surfaces, faces of a STEP file and labels of an image.
#pragma once

#include "apps/driver/problem/mesh_selector.hpp"
#include "apps/topopt/bodies/image_body.hpp"
#include "apps/topopt/bodies/step_file.hpp"
#include "apps/topopt/input/problem_document.hpp"

namespace ossatura {

/// What the body is made of.
struct PlaceSource {
  double unit = 1;                   ///< m per unit of files with surfaces
  const StepSurface* step = nullptr; ///< or null
  const ImageBody* image = nullptr;  ///< or null
  const MeshFaceSets* face_sets = nullptr;
};

class PlaceSelector : public MeshSelector {
public:
  /// All must outlive this.
  PlaceSelector(const DesignProblem& problem, const MeshSets& node_sets, const MeshSets& elem_sets,
                MeshTraits traits, const PlaceSource& source);

  /// Numbers, ascending and each once; throw InputError, with the place and the remedy, where there
  /// are none.
  std::vector<std::int32_t> nodes(const PlaceSelection& selection) const;
  std::vector<std::int32_t> elements(const PlaceSelection& selection) const;
  /// As faces_of_set.
  const std::vector<FaceCorners>* faces(const PlaceSelection& selection) const;

private:
  std::vector<std::int32_t> find(const PlaceSelection& selection, bool is_elem) const;
  std::vector<std::int32_t> find_near(const PlaceSelection& selection, bool is_elem) const;
  std::vector<std::int32_t> find_at_faces(const PlaceSelection& selection, bool is_elem) const;
  std::vector<std::int32_t> find_label(const PlaceSelection& selection, bool is_elem) const;
  /// Within so much, in m, or, if that is not given, so many edges of the voxels.
  std::vector<std::int32_t> near(TriangleSurface surface, const PlaceSelection& selection,
                                 double edges, bool is_elem) const;

  const DesignProblem& problem_;
  PlaceSource source_;
};

} // namespace ossatura
