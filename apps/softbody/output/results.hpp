// SPDX-License-Identifier: Apache-2.0
// These structures hold the results of `ossatura softbody` as numbers on the host. SI units.
#pragma once

#include "apps/softbody/input/model.hpp"
#include <ossatura/solvers/softbody/crossing_watch.hpp>
#include <ossatura/solvers/softbody/energy_watch.hpp>
#include <ossatura/solvers/softbody/solver.hpp>
#include <ossatura/solvers/softbody/step_statistics.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

struct SoftStepRecord {
  int number = 0; ///< from 1, those before a resumed run counted
  SoftStep step;
  SoftEnergy energy; ///< after it
};

/// Where an object is and how it moves: means are over its nodes.
struct SoftObjectState {
  std::array<double, 3> mean_position{}, mean_velocity{}, lower{}, upper{};
  double largest_displacement = 0;
  std::int64_t inverted = 0; ///< elements that are inside out
  double stretch = 0;        ///< see largest_stretch
};

struct SoftbodyRunResults {
  int first_step = 0; ///< 0, or that of the checkpoint
  int last_step = 0;  ///< asked for
  SoftEnergy initial;
  double rounding_energy = 0; ///< J, see energy_of_rounding
  std::vector<SoftStepRecord> steps;
  std::string breakdown;       ///< why there were no more steps, empty if there were
  bool lost = false;           ///< the state is not that before the breakdown, but of no use
  bool stopped = false;        ///< by a signal
  bool has_checkpoint = false; ///< to go on from, if it can be written

  bool fenced = false; ///< whether each phase was waited for
  FactorApply apply = FactorApply::automatic;
  FactorPlace place = FactorPlace::automatic;
  int num_inverse_bands = 0;
  std::int64_t num_blocks = 0, num_factor_entries = 0, num_inverse_entries = 0;

  std::int64_t most_crossing_edges = 0;          ///< of bodies that are in each other, after a step
  double deepest_crossing = 0;                   ///< m
  int first_crossing = -1;                       ///< the step that a warning is of; -1: none
  std::optional<SurfaceCrossing> start_crossing; ///< the worst at the start

  std::vector<SoftObjectState> objects; ///< empty where the state is lost
  std::string state_hash;               ///< of the last positions and velocities; likewise
  struct {
    double read = 0, setup = 0, steps = 0, energies = 0, surfaces = 0, write = 0;
  } seconds;
  std::int64_t num_frames = 0;
  std::vector<std::string> files; ///< written

  std::vector<int> not_converged() const; ///< numbers of steps
  bool converged() const { return breakdown.empty() && not_converged().empty(); }
  const SoftEnergy& final_energy() const { return steps.empty() ? initial : steps.back().energy; }
};

/// The time of one phase over all steps, s.
Spread spread_of(const SoftbodyRunResults& results, const StepPhase& phase);

/// The totals of all steps.
StepTotals totals_of(const SoftbodyRunResults& results);

/// Of all steps.
EnergyWatch watch_energy(const SoftbodyRunResults& results);

/// Keeps what is worst of the crossings after a step, 0: at the start, and warns of the first that
/// go through.
void note_crossings(const SceneCrossings& crossings, const SoftScene& scene, int step,
                    SoftbodyRunResults& results);

/// positions and velocities [num_nodes, 3] of all objects one after the other.
std::vector<SoftObjectState> describe_state(const SoftScene& scene,
                                            const std::vector<double>& positions,
                                            const std::vector<double>& velocities);

} // namespace ossatura
