// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/kernel_times.hpp"

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/base/timer.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace ossatura::bench {

namespace {

namespace tools = Kokkos::Tools::Experimental;

/// Callbacks are plain functions, so what they write is global. Kernels are launched by one thread.
struct Record {
  bool exists = false, recording = false;
  std::string region;
  std::map<std::tuple<int, bool, std::string>, KernelTime> times; ///< by level, region, label
  int level = 0;
  int region_depth = 0; ///< of regions inside the named one, with it
  int launch_depth = 0; ///< of kernels within kernels
  std::string label;    ///< of the outermost kernel that runs
  std::optional<Stopwatch> kernel, all;
  double seconds = 0;
  decltype(tools::get_callbacks()) before{};
};

Record& record() {
  static Record instance;
  return instance;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

void begin_launch(std::string label) {
  Record& r = record();
  if (r.launch_depth++ > 0)
    return;
  constexpr const char* prefix = "ossatura::";
  if (label.rfind(prefix, 0) == 0)
    label = label.substr(8);
  if (contains(label, "prolong"))
    --r.level;
  r.label = std::move(label);
  Kokkos::fence();
  r.kernel.emplace();
}

void end_launch() {
  Record& r = record();
  if (--r.launch_depth > 0)
    return;
  Kokkos::fence();
  const double seconds = r.kernel->seconds();
  const bool inside = r.region_depth > 0;
  KernelTime& time = r.times[{r.level, inside, r.label}];
  time.label = r.label;
  time.level = r.level;
  time.in_region = inside;
  ++time.calls;
  time.seconds += seconds;
  if (contains(r.label, "restrict"))
    ++r.level;
}

void begin_kernel(const char* name, std::uint32_t, std::uint64_t* id) {
  *id = 0;
  begin_launch(name);
}

void end_kernel(std::uint64_t) {
  end_launch();
}

void begin_copy(Kokkos::Profiling::SpaceHandle, const char*, const void*,
                Kokkos::Profiling::SpaceHandle, const char*, const void*, std::uint64_t) {
  begin_launch("deep_copy");
}

void end_copy() {
  end_launch();
}

void push_region(const char* name) {
  Record& r = record();
  if (r.region_depth > 0 || r.region == name)
    ++r.region_depth;
}

void pop_region() {
  Record& r = record();
  if (r.region_depth > 0)
    --r.region_depth;
}

} // namespace

KernelTimes::KernelTimes(std::string region) {
  Record& r = record();
  OSSATURA_REQUIRE(!r.exists, "kernels are timed already");
  r = Record();
  r.exists = true;
  r.region = std::move(region);
}

KernelTimes::~KernelTimes() {
  stop();
  record().exists = false;
}

void KernelTimes::start() {
  Record& r = record();
  OSSATURA_REQUIRE(!r.recording, "kernels are being recorded");
  r.recording = true;
  r.before = tools::get_callbacks();
  tools::set_begin_parallel_for_callback(begin_kernel);
  tools::set_end_parallel_for_callback(end_kernel);
  tools::set_begin_parallel_reduce_callback(begin_kernel);
  tools::set_end_parallel_reduce_callback(end_kernel);
  tools::set_begin_parallel_scan_callback(begin_kernel);
  tools::set_end_parallel_scan_callback(end_kernel);
  tools::set_begin_deep_copy_callback(begin_copy);
  tools::set_end_deep_copy_callback(end_copy);
  tools::set_push_region_callback(push_region);
  tools::set_pop_region_callback(pop_region);
  Kokkos::fence();
  r.all.emplace();
}

void KernelTimes::stop() {
  Record& r = record();
  if (!r.recording)
    return;
  Kokkos::fence();
  r.seconds = r.all->seconds();
  tools::set_callbacks(r.before);
  r.recording = false;
}

std::vector<KernelTime> KernelTimes::times() const {
  std::vector<KernelTime> list;
  for (const auto& entry : record().times)
    list.push_back(entry.second);
  std::stable_sort(list.begin(), list.end(), [](const KernelTime& a, const KernelTime& b) {
    return std::make_tuple(a.in_region, a.level, -a.seconds) <
           std::make_tuple(b.in_region, b.level, -b.seconds);
  });
  return list;
}

double KernelTimes::seconds() const {
  return record().seconds;
}

int KernelTimes::open_levels() const {
  return record().level + record().region_depth + record().launch_depth;
}

} // namespace ossatura::bench
