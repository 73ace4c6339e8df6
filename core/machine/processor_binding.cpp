// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/machine/processor_binding.hpp>

#if defined(__linux__) && defined(_OPENMP) && _OPENMP >= 201511 // places can be asked for since 4.5
#include <omp.h>
#include <sched.h>

#include <vector>

namespace ossatura {

namespace {

/// Processors that a set has room for: a machine may have more than the 1024 of one cpu_set_t.
constexpr int set_size = 1 << 16;

std::vector<cpu_set_t> make_place_processors() {
  std::vector<cpu_set_t> set;
  if (omp_get_proc_bind() == omp_proc_bind_false)
    return set;
  set.resize(set_size / CPU_SETSIZE);
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> processors(std::size_t(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, processors.data());
    for (const int processor : processors)
      CPU_SET_S(std::size_t(processor), set_size / 8, set.data());
  }
  return set;
}

/// The processors of all places; empty where OpenMP does not bind threads. Both stay as they were
/// when the process started.
const std::vector<cpu_set_t>& place_processors() {
  static const std::vector<cpu_set_t> set = make_place_processors();
  return set;
}

} // namespace

int bound_processors() {
  const std::vector<cpu_set_t>& set = place_processors();
  if (set.empty() || omp_get_proc_bind() == omp_proc_bind_master)
    return 0;
  return CPU_COUNT_S(set_size / 8, set.data());
}

void unbind_thread() {
  const std::vector<cpu_set_t>& set = place_processors();
  if (!set.empty())
    // Where it fails, as without any place, the thread keeps the processors that it has.
    (void)sched_setaffinity(0, set_size / 8, set.data());
}

} // namespace ossatura

#else

namespace ossatura {

int bound_processors() {
  return 0;
}

void unbind_thread() {}

} // namespace ossatura

#endif
