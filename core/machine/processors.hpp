// SPDX-License-Identifier: Apache-2.0
// These functions count the processors that this process may use. A container or a batch system
// grants fewer than the machine has.
#pragma once

#include <string>

namespace ossatura {

/// The most threads of the OpenMP backend: Kokkos has room for no more, and crashes.
inline constexpr int max_host_threads = 512;

/// Processors that affinity (sched_getaffinity), OMP_PLACES and the CPU quotas of control groups
/// (v1 and v2) leave to this process, whether or not OpenMP binds its threads (bound_processors);
/// at least 1, at most max_host_threads. A quota of 1.5 processors is 2.
int available_processors();

/// Threads that work side by side on host arrays where no backend does, as for files and meshes
/// (for_parts): available_processors(), or what the program set (1 or more).
int io_threads();
void set_io_threads(int count);

/// Processors that the control groups of `membership` (the content of /proc/self/cgroup) leave,
/// with their files below `root` (/sys/fs/cgroup); 0 where there is no limit.
double cpu_quota(const std::string& membership, const std::string& root);

/// The first number of a list such as "4,2" in OMP_NUM_THREADS; 0 where there is none that is
/// positive, and a number above max_host_threads as it is (at most 10^9).
int first_thread_count(const char* list);

} // namespace ossatura
