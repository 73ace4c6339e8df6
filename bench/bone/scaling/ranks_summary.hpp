// SPDX-License-Identifier: Apache-2.0
// What the summary of a run over ranks says of these.
#pragma once

#include "bench/bone/scaling/cut_counts.hpp"

#include <string>
#include <vector>

namespace ossatura::bench {

struct RanksSummary {
  int ranks = 1;
  std::string transport = "none";
  int superblock_voxels = 0;         ///< 0: no model was cut
  std::vector<CutCounts> cut_levels; ///< voxels first
  double largest_kokkos_peak = 0;    ///< bytes of the rank that takes most
  double iterations = 0;
  // Of designs, else 0.
  double objective = 0;
  double step_seconds = 0, update_seconds = 0; ///< means; of filters and updates, too
};

/// Throws std::runtime_error where the file is no summary.
RanksSummary read_ranks_summary(const std::string& path);

} // namespace ossatura::bench
