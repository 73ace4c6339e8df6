// SPDX-License-Identifier: Apache-2.0
// Ceilings are the best rates that the machine can reach; every other row is a fraction of a
// ceiling.
#pragma once

#include <cstdint>

namespace ossatura::bench {

struct Ceilings {
  double copy_rate = 0;       ///< bytes/s, read and written: the faster of a loop and Kokkos's copy
  double dot_rate = 0;        ///< bytes/s, read
  double fill_rate = 0;       ///< bytes/s, written: the faster of a loop and Kokkos's fill
  double fma_rate_f64 = 0;    ///< flops/s of independent multiply-adds (2 flops each) in registers,
  double fma_rate_f32 = 0;    ///< on cores with the best instruction set that the processor has
  double matrix_rate_f64 = 0; ///< flops/s of fp64 matrix instructions; 0 where there are none
  double launch_seconds = 0;  ///< an empty kernel and the fence after it
  double graph_launch_seconds = 0; ///< an empty kernel of a recorded graph of 100; 0: not recorded
  double grid_barrier_seconds = 0; ///< a barrier of one block a multiprocessor; 0: there is none
};

/// The best of several runs each, on arrays of `bytes` bytes, which should exceed every cache.
/// Throws std::runtime_error if a copy, sum or chain of multiply-adds comes out wrong. Fences.
template<class Exec>
Ceilings measure_ceilings(const Exec& exec, std::int64_t bytes);

/// The ceilings of a backend, measured on the first call. `quick` then takes small arrays: for
/// checks that the benchmark runs, not for rates.
template<class Exec>
const Ceilings& ceilings(bool quick = false);

} // namespace ossatura::bench
