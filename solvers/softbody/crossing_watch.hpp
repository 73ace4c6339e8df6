// SPDX-License-Identifier: Apache-2.0
// The crossing watch looks for bodies that go through each other where contact does not look:
// contact finds nodes against faces, not edges against edges.
#pragma once

#include <ossatura/core/mesh/surface_crossings.hpp>
#include <ossatura/solvers/softbody/scene.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace ossatura {

struct SceneCrossings {
  std::int64_t edges = 0;                 ///< of bodies that are in each other
  double deepest = 0;                     ///< m
  std::optional<SurfaceCrossing> worst;   ///< for the size of its elements
  std::optional<SurfaceCrossing> through; ///< likewise, where bodies are through each other
};

class CrossingWatch {
public:
  /// Watches scenes with contact between objects, no others.
  explicit CrossingWatch(const SoftScene& scene);

  bool is_watching() const { return crossings_.has_value(); }
  /// positions: [points of all objects one after the other, 3] of a scene that is watched.
  SceneCrossings look(const std::vector<double>& positions) const;

private:
  std::optional<SurfaceCrossings> crossings_;
};

} // namespace ossatura
