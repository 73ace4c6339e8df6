// SPDX-License-Identifier: Apache-2.0
// The crossing watch finds bodies that go through each other where contact does not look: contact
// tests nodes against faces, not edges against edges.
#pragma once

#include "apps/softbody/output/results.hpp"
#include <ossatura/core/mesh/surface_crossings.hpp>

#include <optional>

namespace ossatura {

class CrossingWatch {
public:
  /// Watches scenes with contact between objects; does nothing for others.
  explicit CrossingWatch(const SoftScene& scene);

  bool is_watching() const { return crossings_.has_value(); }
  /// Of the positions after a step, 0: at the start, [points of all objects one after the other,
  /// 3]. Keeps the most edges of a step in `results`, and warns of the first.
  void look(int step, const std::vector<double>& positions, SoftbodyRunResults& results) const;

private:
  const SoftScene& scene_;
  std::optional<SurfaceCrossings> crossings_;
};

} // namespace ossatura
