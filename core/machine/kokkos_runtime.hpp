// SPDX-License-Identifier: Apache-2.0
// The runtime starts and ends Kokkos, whose interface changed between versions, and reports how
// Kokkos is set up.
#pragma once

#include <exception>
#include <optional>
#include <string>

namespace ossatura {

struct RuntimeOptions {
  /// Of the OpenMP backend, 1 to max_host_threads; none: KOKKOS_NUM_THREADS, else OMP_NUM_THREADS,
  /// else available_processors().
  std::optional<int> threads;
  std::optional<int> device; ///< number of the GPU; none: Kokkos chooses
  bool warnings = false;     ///< let Kokkos print its advice (about OMP_PROC_BIND and so on)
};

/// Kokkos is initialized while this lives. Throws BackendError where it cannot be, such as for a
/// CUDA build without a usable GPU, a device number that does not exist, or too many threads.
/// Removes the variables KOKKOS_NUM_THREADS and KOKKOS_DISABLE_WARNINGS from the environment.
class KokkosRuntime {
public:
  explicit KokkosRuntime(const RuntimeOptions& options = {});
  ~KokkosRuntime();
  KokkosRuntime(const KokkosRuntime&) = delete;
  KokkosRuntime& operator=(const KokkosRuntime&) = delete;
};

/// "major.minor.patch" of the Kokkos this was compiled with.
std::string kokkos_version();

/// "13.0" for a build with CUDA, else empty.
std::string cuda_version();

/// The name of the GPU or the processor that the named backend runs on. Kokkos is initialized.
std::string device_name(const std::string& backend);

/// Threads the named backend works with; 1 on a device. Kokkos is initialized.
int host_threads(const std::string& backend);

/// Whether `error` says that memory of the host or a device could not be allocated. Kokkos throws
/// std::bad_alloc or a std::runtime_error for that, depending on its version.
bool is_out_of_memory(const std::exception& error);

/// Whether `error`, of Kokkos, says that the device failed, as by an error of its memory that
/// cannot be corrected or because it is gone: nothing in this process can use it any more.
bool is_device_failure(const std::exception& error);

/// What CUDA says of such a failure in this thread, or of a kernel that was not started; null where
/// there is none. For those at which Kokkos aborts in place of throwing, or says nothing.
const char* device_failure();

} // namespace ossatura
