// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/base/timer.hpp>

#include <ossatura/core/base/region_poll.hpp>
#include <ossatura/core/base/require.hpp>

#include <Kokkos_Core.hpp>

#include <cstdio>

namespace ossatura {

namespace {

void wait_for_device() {
  if (Kokkos::is_initialized())
    Kokkos::fence();
}

void (*region_poll)() = nullptr;

} // namespace

void set_region_poll(void (*poll)()) {
  region_poll = poll;
}

void poll_region() {
  if (region_poll != nullptr)
    region_poll();
}

void RegionTimers::enter(const char* name) {
  poll_region();
  const int parent = open_.empty() ? -1 : open_.back().region;
  int region = 0;
  const int count = static_cast<int>(regions_.size());
  while (region < count && (regions_[region].parent != parent || regions_[region].name != name))
    ++region;
  if (region == count) {
    TimedRegion added;
    added.name = name;
    added.depth = static_cast<int>(open_.size());
    added.parent = parent;
    regions_.push_back(added);
  }
  if (fencing_)
    wait_for_device();
  Kokkos::Profiling::pushRegion(name);
  open_.push_back({region, Clock::now()});
}

void RegionTimers::leave() {
  OSSATURA_REQUIRE(!open_.empty(), "no timed region is open");
  if (fencing_)
    wait_for_device();
  const Open last = open_.back();
  open_.pop_back();
  Kokkos::Profiling::popRegion();
  TimedRegion& region = regions_[last.region];
  region.seconds += std::chrono::duration<double>(Clock::now() - last.start).count();
  ++region.calls;
}

namespace {

void append_children(const std::vector<TimedRegion>& all, int parent, int new_parent,
                     std::vector<TimedRegion>& ordered) {
  for (int i = 0; i < static_cast<int>(all.size()); ++i) {
    if (all[i].parent != parent)
      continue;
    const int place = static_cast<int>(ordered.size());
    ordered.push_back(all[i]);
    ordered.back().parent = new_parent;
    append_children(all, i, place, ordered);
  }
}

} // namespace

std::vector<TimedRegion> RegionTimers::regions() const {
  std::vector<TimedRegion> ordered;
  append_children(regions_, -1, -1, ordered);
  return ordered;
}

std::string RegionTimers::table() const {
  const std::vector<TimedRegion> all = regions();
  double total = 0;
  for (const TimedRegion& region : all)
    total += region.depth == 0 ? region.seconds : 0;
  std::string text = "   seconds  share     calls  region\n";
  for (const TimedRegion& region : all) {
    char numbers[64];
    std::snprintf(numbers, sizeof numbers, "%10.4f %5.1f%% %9lld  ", region.seconds,
                  total > 0 ? 100 * region.seconds / total : 0.0,
                  static_cast<long long>(region.calls));
    text += numbers + std::string(2 * region.depth, ' ') + region.name + '\n';
  }
  return text;
}

void RegionTimers::clear() {
  OSSATURA_REQUIRE(open_.empty(), open_.size() << " timed regions are open");
  regions_.clear();
}

RegionTimers& region_timers() {
  static RegionTimers timers;
  return timers;
}

} // namespace ossatura
