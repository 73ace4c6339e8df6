// SPDX-License-Identifier: Apache-2.0
#include "apps/softbody/output/results.hpp"

#include <algorithm>
#include <cmath>

namespace ossatura {

std::vector<int> SoftbodyRunResults::not_converged() const {
  std::vector<int> numbers;
  for (const SoftStepRecord& record : steps)
    if (!record.step.converged)
      numbers.push_back(record.number);
  return numbers;
}

std::vector<SoftObjectState> describe_state(const SoftScene& scene,
                                            const std::vector<double>& positions,
                                            const std::vector<double>& velocities) {
  std::vector<SoftObjectState> states;
  std::size_t offset = 0;
  for (const SoftObject& object : scene.objects) {
    SoftObjectState state;
    const double share = 1 / double(object.mesh.num_points());
    for (std::size_t i = 0; i < object.mesh.point.size(); i += 3) {
      double moved[3];
      for (std::size_t d = 0; d < 3; ++d) {
        const double x = positions[offset + i + d];
        state.mean_position[d] += share * x;
        state.mean_velocity[d] += share * velocities[offset + i + d];
        state.lower[d] = i == 0 ? x : std::min(state.lower[d], x);
        state.upper[d] = i == 0 ? x : std::max(state.upper[d], x);
        moved[d] = x - object.mesh.point[i + d];
      }
      state.largest_displacement =
          std::max(state.largest_displacement, std::hypot(moved[0], moved[1], moved[2]));
    }
    offset += object.mesh.point.size();
    states.push_back(state);
  }
  return states;
}

} // namespace ossatura
