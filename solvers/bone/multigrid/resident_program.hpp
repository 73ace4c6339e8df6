// SPDX-License-Identifier: Apache-2.0
// A resident program is the cycle on the coarsest levels as a list of steps (kernels/bone/cells/
// resident_cycle.hpp): recursion, visits and the choice of iterates are done once, on the host.
#pragma once

#include <ossatura/kernels/bone/cells/resident_cycle.hpp>

#include <utility>
#include <vector>

namespace ossatura {

namespace detail {

/// What the program needs of a level.
struct ResidentWeights {
  std::vector<double> smoother; ///< weights; none on the coarsest level
  std::vector<double> cycles;   ///< weights of repeated cycles; none: one cycle as it is
};

/// Writes the steps of CoarseCycle::solve_level on the first of the given levels.
class ResidentProgram {
public:
  /// `visits` of the next level for each cycle.
  ResidentProgram(const std::vector<ResidentWeights>& levels, int visits)
      : levels_(levels)
      , visits_(visits) {
    steps_.push_back({CycleOp::start, 0, 0, 0, -1, 0, first_weight(0), 1});
    result_ = solve_level(0);
  }

  const std::vector<CycleStep>& steps() const { return steps_; }
  /// Which iterate of the first level is the result.
  int result() const { return result_; }

private:
  double first_weight(int level) const {
    const std::vector<double>& weights = levels_[std::size_t(level)].smoother;
    return weights.empty() ? 0 : weights[0];
  }
  bool is_coarsest(int level) const { return std::size_t(level) + 1 == levels_.size(); }

  /// From iterate 0, which is smoothed once; returns the iterate with the result.
  int solve_level(int level) {
    if (is_coarsest(level)) {
      steps_.push_back({CycleOp::solve, level, 0, 0, -1, 0, 0, 1});
      return 0;
    }
    const std::vector<double>& weights = levels_[std::size_t(level)].cycles;
    const int count = weights.empty() ? 1 : int(weights.size());
    int at = 0;
    for (int k = 0; k < count; ++k) {
      if (k > 0) {
        steps_.push_back({CycleOp::correct, level, at, 1 - at, -1, k > 1, first_weight(level), 1});
        at = 1 - at;
      }
      at = cycle(level, at, weights.empty() ? 1 : weights[std::size_t(k)], k > 0 && k + 1 == count);
    }
    return at;
  }

  /// One cycle, whose result is scaled, and the sum of the steps before added to it.
  int cycle(int level, int at, double scale, bool add) {
    const std::vector<double>& weights = levels_[std::size_t(level)].smoother;
    for (std::size_t i = 1; i < weights.size(); ++i) {
      steps_.push_back({CycleOp::smooth, level, at, 1 - at, -1, 0, weights[i], 1});
      at = 1 - at;
    }
    for (int visit = 0; visit < visits_; ++visit) {
      steps_.push_back({CycleOp::residual, level, at, 1 - at, -1, 0, 0, 1});
      steps_.push_back(
          {CycleOp::restricted, level + 1, 1 - at, 0, -1, 0, first_weight(level + 1), 1});
      int coarse = solve_level(level + 1);
      for (std::size_t i = 0; i < weights.size(); ++i) {
        const bool last = visit + 1 == visits_ && i + 1 == weights.size();
        steps_.push_back({CycleOp::smooth, level, at, 1 - at, coarse, last && add, weights[i],
                          last ? scale : 1});
        at = 1 - at;
        coarse = -1;
      }
    }
    return at;
  }

  const std::vector<ResidentWeights>& levels_;
  int visits_;
  std::vector<CycleStep> steps_;
  int result_ = 0;
};

} // namespace detail

} // namespace ossatura
