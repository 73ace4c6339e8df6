// SPDX-License-Identifier: Apache-2.0
// What femura_bench takes beside the flags of Google Benchmark.
#pragma once

#include <string>
#include <vector>

namespace femura::bench {

struct Options {
  std::vector<std::string> backends; ///< to run on; at first all of the build
  std::vector<int> sizes;    ///< voxels or hexahedra along an axis; empty: each benchmark's own
  std::vector<int> elements; ///< in a batch; empty: each benchmark's own
  std::vector<int> edges;    ///< of tetrahedra, 1/100 mm; empty: each benchmark's own
  bool list_only = false;    ///< --benchmark_list_tests is among the flags
  bool console = true;       ///< rows are printed as text, not as JSON or CSV
  bool quick = false;        ///< small arrays for the ceilings, no claim on rates

  bool has(const std::string& backend) const;
  /// `sizes`, or the given ones where none were asked for.
  std::vector<int> sizes_or(const std::vector<int>& own) const {
    return sizes.empty() ? own : sizes;
  }
};

/// Takes the flags below out of argc and argv. Throws UsageError for a bad value, BackendError for
/// a backend that is not in the build.
///   --backends=serial,openmp   --sizes=32,64   --edges=72,36   --elements=10000   --quick
Options take_options(int& argc, char** argv);

extern const char* const options_help;

} // namespace femura::bench
