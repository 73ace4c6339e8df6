// SPDX-License-Identifier: Apache-2.0
#include "apps/softbody/output/results.hpp"

#include <ossatura/solvers/softbody/doubts.hpp>
#include <ossatura/solvers/softbody/scene_checks.hpp>

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

Spread spread_of(const SoftbodyRunResults& results, const StepPhase& phase) {
  std::vector<double> seconds;
  for (const SoftStepRecord& record : results.steps)
    seconds.push_back(record.step.*phase.seconds);
  return spread_of(std::move(seconds));
}

StepTotals totals_of(const SoftbodyRunResults& results) {
  StepTotals totals;
  for (const SoftStepRecord& record : results.steps)
    totals.add(record.step);
  return totals;
}

EnergyWatch watch_energy(const SoftbodyRunResults& results) {
  EnergyWatch watch(results.initial, results.rounding_energy);
  for (const SoftStepRecord& record : results.steps)
    watch.add(record.number, record.energy, record.step.contacts > 0);
  return watch;
}

void note_crossings(const SceneCrossings& crossings, const SoftScene& scene, int step,
                    SoftbodyRunResults& results) {
  results.most_crossing_edges = std::max(results.most_crossing_edges, crossings.edges);
  results.deepest_crossing = std::max(results.deepest_crossing, crossings.deepest);
  if (step == 0)
    results.start_crossing = crossings.worst;
  if (!crossings.through || results.first_crossing >= 0)
    return;
  results.first_crossing = step;
  warn_of_crossing(*crossings.through, scene,
                   step == 0 ? std::string("at the start") : "after step " + std::to_string(step),
                   step == 0);
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
    state.inverted = count_inverted(object.mesh, positions.data() + offset);
    state.stretch = largest_stretch(object.mesh, positions.data() + offset);
    offset += object.mesh.point.size();
    states.push_back(state);
  }
  return states;
}

} // namespace ossatura
