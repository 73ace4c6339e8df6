// SPDX-License-Identifier: Apache-2.0
// These options decide which rows there are, and how long each is measured.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace ossatura::bench {

struct Options {
  std::vector<std::string> backends; ///< to run on
  std::vector<int> sizes;            ///< voxels or hexahedra along an axis; empty: each group's own
  std::vector<int> elements;         ///< in a batch; empty: each group's own
  std::vector<int> edges;            ///< of tetrahedra, 1/100 mm; empty: each group's own
  bool quick = false;                ///< small arrays for the ceilings, no claim on rates
  bool full = false;                 ///< the sizes of the published tables
  std::string executable;            ///< `ossatura` of whole runs; empty: that beside this program
  double min_seconds = 0;            ///< a repetition calls its work until this is reached
  std::function<int(const std::string&)> repetitions; ///< of a row
  std::function<bool(const std::string&)> wants;      ///< whether there is to be a row of this name

  bool has(const std::string& backend) const;
  /// `sizes`, or the given ones where none were asked for.
  std::vector<int> sizes_or(const std::vector<int>& own) const {
    return sizes.empty() ? own : sizes;
  }
};

} // namespace ossatura::bench
