// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/softbody/crossing_watch.hpp>

#include <algorithm>

namespace ossatura {

CrossingWatch::CrossingWatch(const SoftScene& scene) {
  if (!scene.contact_between_objects || scene.objects.size() < 2)
    return;
  std::vector<const ElementMesh*> meshes;
  for (const SoftObject& object : scene.objects)
    meshes.push_back(&object.mesh);
  crossings_.emplace(meshes);
}

SceneCrossings CrossingWatch::look(const std::vector<double>& positions) const {
  // Edges over the rim of a soft body that rests on another dip into it by a tenth of an element.
  constexpr double through = 0.25;
  SceneCrossings all;
  for (const SurfaceCrossing& crossing : crossings_->find(positions)) {
    all.edges += crossing.count;
    all.deepest = std::max(all.deepest, crossing.depth);
    if (!all.worst || crossing.relative > all.worst->relative)
      all.worst = crossing;
  }
  if (all.worst && all.worst->relative > through)
    all.through = all.worst;
  return all;
}

} // namespace ossatura
