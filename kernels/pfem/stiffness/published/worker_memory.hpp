// SPDX-License-Identifier: Apache-2.0
// Worker memory belongs to threads that each work on items of their own, one after the other: on
// cores each thread has its own stretch, which stays in its cache; on devices entries of
// neighbouring threads are neighbours.
#pragma once

#include <ossatura/core/base/vector.hpp>

#include <algorithm>

namespace ossatura::detail {

template<class Exec>
struct WorkerMemory {
  std::int64_t num_workers = 0;
  std::int64_t entries = 0; ///< of each
  Array<double, Exec> data;

  KOKKOS_FORCEINLINE_FUNCTION double& operator()(std::int64_t worker, std::int64_t i) const {
    return BackendTraits<Exec>::is_device ? data(i * num_workers + worker)
                                          : data(worker * entries + i);
  }
};

/// For at most `num_items` workers, as many as fit `bytes` (but one), on cores one a thread.
template<class Exec>
WorkerMemory<Exec> make_worker_memory(const Exec& exec, std::int64_t num_items,
                                      std::int64_t entries, double bytes) {
  const std::int64_t most = BackendTraits<Exec>::is_device
                                ? std::int64_t(bytes / (8.0 * double(entries)))
                                : std::int64_t(exec.concurrency());
  WorkerMemory<Exec> memory;
  memory.num_workers = std::max<std::int64_t>(1, std::min(num_items, most));
  memory.entries = entries;
  memory.data =
      make_uninitialized<double>(exec, memory.num_workers * entries, "ossatura::worker_memory");
  return memory;
}

} // namespace ossatura::detail
