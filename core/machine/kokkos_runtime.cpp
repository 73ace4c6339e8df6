// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/machine/kokkos_runtime.hpp>

#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/machine/processors.hpp>

#include <cstdlib>
#include <fstream>
#include <new>

namespace ossatura {

namespace {

/// The number of threads by `variable`; none where it is not set.
std::optional<int> threads_of(const char* variable, bool strict) {
  const char* text = std::getenv(variable);
  const int count = first_thread_count(text);
  if (text == nullptr || *text == '\0' || (count == 0 && !strict))
    return {}; // OpenMP takes no notice of what is not a number either
  if (count < 1 || count > max_host_threads)
    fail<BackendError>(variable, "=", text, ": 1 to ", max_host_threads, " threads");
  return count;
}

/// Always a number, because Kokkos asks OpenMP otherwise, which knows of no quota, and crashes
/// where there are more than it has room for.
int choose_threads(const RuntimeOptions& options) {
  if (options.threads) {
    if (*options.threads < 1 || *options.threads > max_host_threads)
      fail<BackendError>(*options.threads, " threads: 1 to ", max_host_threads);
    return *options.threads;
  }
  for (const auto& [variable, strict] :
       {std::make_pair("KOKKOS_NUM_THREADS", true), std::make_pair("OMP_NUM_THREADS", false)})
    if (const std::optional<int> threads = threads_of(variable, strict))
      return *threads;
  return available_processors();
}

void initialize_kokkos(const RuntimeOptions& options) {
  const int threads = choose_threads(options);
  // Taken into account or overruled; Kokkos refuses those that differ from what it is told.
  unsetenv("KOKKOS_NUM_THREADS");
  unsetenv("KOKKOS_DISABLE_WARNINGS");
  if (options.device)
    unsetenv("KOKKOS_DEVICE_ID");
  Kokkos::InitializationSettings settings;
  settings.set_num_threads(threads);
  if (options.device)
    settings.set_device_id(*options.device);
  settings.set_disable_warnings(!options.warnings);
  Kokkos::initialize(settings);
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  file.exceptions(std::ios::badbit); // or a stream is silent where there is no memory
  for (std::string line; std::getline(file, line);)
    if (line.compare(0, 10, "model name") == 0) {
      const std::size_t value = line.find_first_not_of(": \t", 10);
      return value == std::string::npos ? "" : line.substr(value);
    }
  return "unknown processor";
}

#if defined(KOKKOS_ENABLE_CUDA)
/// Counts GPUs without Kokkos, which ends the process where there is none.
void require_gpu(const RuntimeOptions& options) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0)
    fail<BackendError>("this build has the CUDA backend and needs a GPU to start: ",
                       status != cudaSuccess ? cudaGetErrorString(status) : "none is visible",
                       "; check nvidia-smi and CUDA_VISIBLE_DEVICES, or use a build without CUDA");
  if (options.device && *options.device >= count)
    fail<BackendError>("there is no GPU ", *options.device, ": ", count,
                       " visible, numbered from 0");
}
#endif

#if defined(KOKKOS_ENABLE_CUDA)
/// Failures of the device; others, such as an address that is not there, are mistakes of ours.
constexpr cudaError_t device_failures[] = {
    cudaErrorDevicesUnavailable,  cudaErrorECCUncorrectable, cudaErrorHardwareStackError,
    cudaErrorInitializationError, cudaErrorLaunchFailure,    cudaErrorLaunchTimeout,
    cudaErrorMemoryAllocation,    cudaErrorNoDevice,         cudaErrorNvlinkUncorrectable,
    cudaErrorSystemNotReady,      cudaErrorUnknown};
#endif

} // namespace

KokkosRuntime::KokkosRuntime(const RuntimeOptions& options) {
#if defined(KOKKOS_ENABLE_CUDA)
  require_gpu(options);
#endif
  try {
    initialize_kokkos(options);
  } catch (const BackendError&) {
    throw;
  } catch (const std::exception& error) {
    fail<BackendError>("Kokkos could not be started: ", error.what());
  }
}

KokkosRuntime::~KokkosRuntime() {
  Kokkos::finalize();
}

std::string kokkos_version() {
  return std::to_string(KOKKOS_VERSION / 10000) + '.' + std::to_string(KOKKOS_VERSION / 100 % 100) +
         '.' + std::to_string(KOKKOS_VERSION % 100);
}

std::string cuda_version() {
#if defined(KOKKOS_ENABLE_CUDA)
  return std::to_string(CUDART_VERSION / 1000) + '.' + std::to_string(CUDART_VERSION % 1000 / 10);
#else
  return "";
#endif
}

std::string device_name([[maybe_unused]] const std::string& backend) {
#if defined(KOKKOS_ENABLE_CUDA)
  if (backend == BackendTraits<Cuda>::name)
    return Cuda().cuda_device_prop().name;
#endif
  return processor_name();
}

int host_threads(const std::string& backend) {
#if defined(KOKKOS_ENABLE_OPENMP)
  if (backend == BackendTraits<OpenMP>::name)
    return OpenMP().concurrency();
#endif
  (void)backend;
  return 1;
}

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
    return true;
  const std::string what = error.what();
  return what.find("failed to allocate") != std::string::npos ||
         (what.find("Allocation of size") != std::string::npos &&
          what.find("failed") != std::string::npos) ||
         what.find("cudaErrorMemoryAllocation") != std::string::npos;
}

bool is_device_failure([[maybe_unused]] const std::exception& error) {
#if defined(KOKKOS_ENABLE_CUDA)
  const std::string what = error.what();
  for (const cudaError_t failure : device_failures)
    if (what.find(cudaGetErrorName(failure)) != std::string::npos)
      return true;
#endif
  return false;
}

const char* device_failure() {
#if defined(KOKKOS_ENABLE_CUDA)
  const cudaError_t last = cudaPeekAtLastError();
  for (const cudaError_t failure : device_failures)
    if (last == failure)
      return cudaGetErrorString(failure);
#endif
  return nullptr;
}

} // namespace ossatura
