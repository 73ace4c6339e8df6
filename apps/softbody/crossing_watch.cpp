// SPDX-License-Identifier: Apache-2.0
#include "apps/softbody/crossing_watch.hpp"

#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/log.hpp>
#include <ossatura/core/base/timer.hpp>

#include <algorithm>

namespace ossatura {

CrossingWatch::CrossingWatch(const SoftScene& scene)
    : scene_(scene) {
  if (!scene.contact_between_objects || scene.objects.size() < 2)
    return;
  std::vector<const ElementMesh*> meshes;
  for (const SoftObject& object : scene.objects)
    meshes.push_back(&object.mesh);
  crossings_.emplace(meshes);
}

void CrossingWatch::look(int step, const std::vector<double>& positions,
                         SoftbodyRunResults& results) const {
  const Stopwatch watch;
  const std::vector<SurfaceCrossing> found = crossings_->find(positions);
  std::int64_t edges = 0;
  const SurfaceCrossing* worst = nullptr;
  for (const SurfaceCrossing& crossing : found) {
    edges += crossing.count;
    results.deepest_crossing = std::max(results.deepest_crossing, crossing.depth);
    if (!worst || crossing.relative > worst->relative)
      worst = &crossing;
  }
  // Edges over the rim of a soft body that rests on another dip into it by a tenth of an element.
  constexpr double through = 0.25;
  if (worst && worst->relative > through && results.first_crossing < 0) {
    results.first_crossing = step;
    log_warning("surfaces-intersect",
                step == 0 ? std::string("at the start") : "after step " + std::to_string(step),
                " '", scene_.objects[std::size_t(worst->first)].name, "' and '",
                scene_.objects[std::size_t(worst->second)].name,
                "' are in each other: ", worst->count, worst->count == 1 ? " edge, " : " edges, ",
                format_number(worst->depth, 3), " m deep at (", format_number(worst->place[0], 4),
                ", ", format_number(worst->place[1], 4), ", ", format_number(worst->place[2], 4),
                ") m. Contact finds nodes against faces, not edges against edges: ",
                step == 0 ? "move the objects apart"
                          : "refine the meshes where they meet, or take a smaller --time-step");
  }
  results.most_crossing_edges = std::max(results.most_crossing_edges, edges);
  results.seconds.surfaces += watch.seconds();
}

} // namespace ossatura
