// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/context.hpp"

#include "bench/harness/ceilings.hpp"
#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/base/version.hpp>
#include <ossatura/core/machine/instruction_set.hpp>
#include <ossatura/core/machine/kokkos_runtime.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace ossatura::bench {

namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "not set" : value;
}

/// The clock of the fastest core now, in MHz, as /proc/cpuinfo of Linux has it; empty if it has
/// none.
std::string host_clock() {
  std::ifstream file("/proc/cpuinfo");
  double fastest = 0;
  for (std::string line; std::getline(file, line);)
    if (line.rfind("cpu MHz", 0) == 0)
      fastest = std::max(fastest, std::atof(line.substr(line.find(':') + 1).c_str()));
  return fastest > 0 ? number(fastest) : "";
}

/// The largest clock that sysfs of Linux names, in MHz; empty if it names none.
std::string host_largest_clock() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  double kilohertz = 0;
  return file >> kilohertz ? number(1e-3 * kilohertz) : "";
}

template<class Exec>
void add_clocks(Context& context, const std::string& name) {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (BackendTraits<Exec>::is_device) {
    const int device = Exec().cuda_device();
    const std::pair<const char*, cudaDeviceAttr> clocks[] = {
        {" largest SM clock MHz", cudaDevAttrClockRate},
        {" largest memory clock MHz", cudaDevAttrMemoryClockRate}};
    for (const auto& [what, attribute] : clocks) {
      int kilohertz = 0;
      if (cudaDeviceGetAttribute(&kilohertz, attribute, device) == cudaSuccess && kilohertz > 0)
        context.emplace_back(name + what, number(1e-3 * kilohertz));
    }
    return;
  }
#endif
  if (const std::string clock = host_clock(); !clock.empty())
    context.emplace_back(name + " clock MHz", clock);
  if (const std::string clock = host_largest_clock(); !clock.empty())
    context.emplace_back(name + " largest clock MHz", clock);
}

template<class Exec>
void add_backend(Context& context, bool quick) {
  const std::string name = BackendTraits<Exec>::name;
  const Ceilings& best = ceilings<Exec>(quick);
  context.emplace_back(name + " device", device_name(name));
  context.emplace_back(name + " threads", std::to_string(host_threads(name)));
  add_clocks<Exec>(context, name);
  context.emplace_back(name + " copy GB/s", number(1e-9 * best.copy_rate));
  context.emplace_back(name + " fill GB/s", number(1e-9 * best.fill_rate));
  context.emplace_back(name + " dot GB/s", number(1e-9 * best.dot_rate));
  context.emplace_back(name + " fma f64 GFLOP/s", number(1e-9 * best.fma_rate_f64));
  context.emplace_back(name + " fma f32 GFLOP/s", number(1e-9 * best.fma_rate_f32));
  if (best.matrix_rate_f64 > 0)
    context.emplace_back(name + " matrix f64 GFLOP/s", number(1e-9 * best.matrix_rate_f64));
  context.emplace_back(name + " launch us", number(1e6 * best.launch_seconds));
  if (best.graph_launch_seconds > 0)
    context.emplace_back(name + " launch in a graph us", number(1e6 * best.graph_launch_seconds));
  if (best.grid_barrier_seconds > 0)
    context.emplace_back(name + " grid barrier us", number(1e6 * best.grid_barrier_seconds));
}

} // namespace

Context make_context(const std::vector<std::string>& backends, bool quick) {
  Context context = {{"ossatura", version()},
                     {"git", git_hash()},
                     {"kokkos", kokkos_version()},
                     {"compiler", compiler()},
                     {"instruction set", name_of(instruction_set())}};
  if (!cuda_version().empty())
    context.emplace_back("cuda", cuda_version());
  for (const char* name : {"OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES"})
    context.emplace_back(name, environment(name));
  context.emplace_back("quick", quick ? "yes: rates and fractions mean nothing" : "no");
#define OSSATURA_ADD(Exec)                                                                         \
  if (std::find(backends.begin(), backends.end(), BackendTraits<Exec>::name) != backends.end())    \
    add_backend<Exec>(context, quick);
  OSSATURA_FOR_EACH_BACKEND(OSSATURA_ADD)
#undef OSSATURA_ADD
  return context;
}

} // namespace ossatura::bench
