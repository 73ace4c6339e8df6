// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/process_start.hpp"

#include "apps/driver/exit_code.hpp"
#include <ossatura/core/io/text/atomic_file.hpp>
#include <ossatura/core/machine/cgroup_memory.hpp>
#include <ossatura/core/machine/kokkos_runtime.hpp>
#include <ossatura/core/machine/other_threads.hpp>
#include <ossatura/core/machine/processor_binding.hpp>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

namespace ossatura {

namespace {

// Rounds of libgomp's loop, each some 10 to 100 ns. By default there are 300 000: where a processor
// is shared, the thread that is waited for runs only when that one's time slice ends. Ratios of
// whole runs on two processors, medians of 2 to 7, of one to three sittings:
//
//                                          300        1000       3000       10 000
//   quiet, over 300 000:
//     tibia                                1.17-1.23  1.05-1.14  0.95-1.25  0.95-1.11
//     bone 24, hearts, cloth, a soft cube  1.0-1.2               0.95-1.09  0.97-1.2
//   beside two busy, over serial (300 000: 1.8-6.7):
//     bone 16, a scene of 60 nodes                    1.0-1.3    1.8-2.0    1.3-2.6
//     heart of 2 mm, cloth                 1.0                   1.0-1.1    1.1-1.4
//
// Runs of the tibia scatter by 15 %, so that a loss of some per cent on a quiet machine is not
// ruled out. Beside more than two the loss without a limit has no bound: 1600 times was seen.
constexpr const char* spin_count = "3000";

// Large blocks of memory in pages of 2 MiB, where the kernel gives them to programs that ask, as it
// does by default: fewer misses of the translation, and 512 times fewer faults when memory is first
// touched. The coarse levels of a design of 30 M elements took 16 cores 8.8 s in place of 12.7.
constexpr const char* huge_pages = "glibc.malloc.hugetlb=1";

// Hardware queues of a CUDA context. Each of the eight by default takes time when the process
// starts and ends: from start to end 366 ms with 8, 330 with 4, 285 with 2, 282 with 1 (medians of
// 8, one H200, driver 580). No subcommand has more than two streams at work side by side.
constexpr const char* device_queues = "2";

// What says which GPU it is to be, or that several processes may look for theirs: Kokkos'
// variables, and those of launchers by which it gives each process one.
constexpr const char* device_variables[] = {
    "CUDA_VISIBLE_DEVICES", "KOKKOS_DEVICE_ID",           "KOKKOS_MAP_DEVICE_ID_BY",
    "SLURM_LOCALID",        "OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",      "FLUX_TASK_LOCAL_ID",         "PMI_LOCAL_RANK"};

bool is_set(const char* variable) {
  return std::getenv(variable) != nullptr;
}

bool is_any_of(const std::string& text, std::initializer_list<const char*> candidates) {
  for (const char* candidate : candidates)
    if (text == candidate)
      return true;
  return false;
}

/// What a run with these arguments does, as far as its environment is concerned.
struct Work {
  bool any = false;     ///< beyond printing a text
  bool threads = false; ///< may open a region of OpenMP with more than one
  bool device = false;  ///< may be told the number of a GPU
};

Work look_ahead(int argc, char* argv[]) {
  Work work;
  work.any = work.threads = argc >= 3; // a subcommand and an input
  for (int i = 1; i < argc; ++i) {
    if (is_any_of(argv[i], {"-h", "--help", "help", "-V", "--version", "--print-config"}))
      return {};
    if (std::strcmp(argv[i], "--backend=serial") == 0 ||
        (std::strcmp(argv[i], "--backend") == 0 && i + 1 < argc &&
         std::strcmp(argv[i + 1], "serial") == 0))
      work.threads = false;
    for (const char* option : {"--device", "--config"})
      if (std::strncmp(argv[i], option, std::strlen(option)) == 0)
        work.device = true;
  }
  return work;
}

/// Sets a variable that is not set; returns whether it did.
bool set_unless_set(const char* variable, const char* value) {
  return !is_set(variable) && setenv(variable, value, 0) == 0;
}

std::terminate_handler end_otherwise = nullptr;
char limit_text[80] = ""; ///< of memory, for messages

/// Bytes that are mapped for data and stacks, touched or not; 0 if unknown.
std::int64_t mapped_bytes() {
  long pages[6] = {};
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr)
    return 0;
  for (long& number : pages)
    if (std::fscanf(file, "%ld", &number) != 1)
      number = 0;
  std::fclose(file);
  return pages[5] * ::sysconf(_SC_PAGESIZE);
}

/// Ends the process where the C++ runtime finds no memory, before there is an exception: what
/// libraries leave half made when one passes (a JSON value that is an object already, and has none)
/// would be destroyed on its way. Takes no memory.
[[noreturn]] void end_without_memory() {
  for (const char* part : {"ossatura: out of memory", memory_limit(), memory_remedy, "\n"})
    (void)!::write(STDERR_FILENO, part, std::strlen(part));
  end_process(exit_unavailable);
}

/// Ends the process with "ossatura: KIND: WHAT" on stderr; takes no memory.
[[noreturn]] void end_with(int code, const char* kind, const char* what) {
  for (const char* part : {"ossatura: ", kind, ": ", what, "\n"})
    (void)!::write(STDERR_FILENO, part, std::strlen(part));
  end_process(code);
}

/// Kokkos takes memory, and looks for failures of the device, where an exception ends the process.
[[noreturn]] void end_terminated() {
  try {
    if (std::current_exception() != nullptr)
      throw;
  } catch (const std::exception& error) {
    if (is_out_of_memory(error))
      end_without_memory();
    if (is_device_failure(error))
      end_with(exit_unavailable, "error: the device failed", error.what());
  } catch (...) {
  }
  end_otherwise();
  std::abort();
}

/// Libraries abort; Kokkos where the device failed. Both have said why.
void end_aborted(int) {
  if (const char* failure = device_failure())
    end_with(exit_unavailable, "error: the device failed", failure);
  end_with(exit_internal, "internal error", "aborted");
}

} // namespace

void prepare_process() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) == -1)
      (void)!::open("/dev/null", O_RDONLY); // takes the lowest number, which is this one
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGABRT, end_aborted);
  setenv("HDF5_USE_FILE_LOCKING", "FALSE", 0);
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", device_queues, 0);
  std::set_new_handler(end_without_memory);
  end_otherwise = std::set_terminate(end_terminated);
}

void keep_within_memory() {
  if (!cuda_version().empty())
    return;
  const std::optional<std::int64_t> left = cgroup_available_bytes();
  const std::int64_t mapped = mapped_bytes();
  rlimit limit{};
  if (!left || mapped == 0 || ::getrlimit(RLIMIT_DATA, &limit) != 0)
    return;
  // Code that is not loaded yet and tables of pages count as well.
  const std::int64_t others = (16 << 20) + *left / 64;
  const auto most = rlim_t(mapped + std::max<std::int64_t>(0, *left - others));
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= most)
    return;
  limit.rlim_cur = most;
  if (::setrlimit(RLIMIT_DATA, &limit) == 0)
    std::snprintf(limit_text, sizeof limit_text,
                  ": the control group of this process left it %lld MB",
                  static_cast<long long>(*left >> 20));
}

const char* memory_limit() {
  return limit_text;
}

void end_process(int code) noexcept {
  stop_other_threads(); // one that writes a file would make another
  remove_temporary_files();
  _exit(code);
}

void restart_with_environment(int argc, char* argv[]) {
#if defined(__linux__)
  // Started by way of the loader, the executable of the process is the loader.
  if (getauxval(AT_BASE) == 0)
    return;
  // That a variable is set keeps the second start from doing this again.
  const Work work = look_ahead(argc, argv);
  if (work.any && !work.device && !cuda_version().empty() &&
      std::none_of(std::begin(device_variables), std::end(device_variables), is_set))
    setenv("CUDA_VISIBLE_DEVICES", "0", 0);
  bool again = work.any && set_unless_set("GLIBC_TUNABLES", huge_pages);
  if (work.threads && !is_set("OMP_WAIT_POLICY") && set_unless_set("GOMP_SPINCOUNT", spin_count))
    again = true;
  if (!again)
    return;
  // Where OpenMP has bound this thread, its second start would find one processor and no more.
  unbind_thread();
  // By its own name, which tools show, else by that of the link. Where both fail, the run is right,
  // if slow beside others.
  char name[4096];
  const ssize_t length = ::readlink("/proc/self/exe", name, sizeof name - 1);
  if (length > 0) {
    name[length] = '\0';
    ::execv(name, argv);
  }
  ::execv("/proc/self/exe", argv);
#else
  (void)argc;
  (void)argv;
#endif
}

} // namespace ossatura
