// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/reporter.hpp"

#include "bench/harness/interruption.hpp"
#include "bench/harness/outcome.hpp"
#include "bench/harness/register.hpp"

#include <algorithm>
#include <cstdio>

namespace ossatura::bench {

namespace {

/// In this order, where a row has them.
const char* const shown[] = {"dofs/s",     "GB/s",         "GFLOP/s", "of_ceiling",
                             "start_s",    "read_s",       "setup_s", "pcg_iterations",
                             "solve_s",    "statistics_s", "write_s", "fim_iterations",
                             "matrices/s", "median_us"};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return 0.5 * (values[(n - 1) / 2] + values[n / 2]);
}

std::string format_seconds(double seconds) {
  const struct {
    double scale;
    const char* unit;
  } units[] = {{1, "s "}, {1e3, "ms"}, {1e6, "us"}, {1e9, "ns"}};
  std::size_t k = 0;
  while (k < 3 && seconds * units[k].scale < 1)
    ++k;
  char text[32];
  std::snprintf(text, sizeof text, "%.4g %s", seconds * units[k].scale, units[k].unit);
  return text;
}

} // namespace

bool Reporter::ReportContext(const Context&) {
  for (const std::string& name : row_names())
    width_ = std::max(width_, name.size());
  width_ = std::min<std::size_t>(width_, 64);
  std::printf("%-*s %12s %8s  %s\n", int(width_), "row", "median", "spread", "counters");
  plan_.start();
  print_progress();
  return true;
}

void Reporter::print_progress() const {
  if (const std::string text = plan_.progress(); !text.empty())
    std::printf("\n# %s\n", text.c_str());
  std::fflush(stdout);
}

void Reporter::ReportRuns(const std::vector<Run>& runs) {
  if (runs.empty() || runs[0].run_type == Run::RT_Aggregate)
    return; // our own medians are printed
  const std::string& name = runs[0].run_name.function_name;
  if (outcomes().left_out.count(name) != 0)
    return;
  plan_.count_row(name);
  print_row(name, runs);
  if (interruption() == nullptr)
    print_progress();
}

void Reporter::print_row(const std::string& name, const std::vector<Run>& runs) {
  const std::string group = name.substr(0, name.find('/'));
  auto found = std::find_if(group_seconds_.begin(), group_seconds_.end(),
                            [&](const auto& entry) { return entry.first == group; });
  if (found == group_seconds_.end())
    found = group_seconds_.insert(found, {group, 0});
  found->second += since_last_row_.seconds();
  since_last_row_ = Stopwatch();
  if (const auto reason = outcomes().reason.find(name); reason != outcomes().reason.end()) {
    std::printf("%-*s %s: %s\n", int(width_), name.c_str(),
                outcomes().failed.count(name) != 0 ? "FAILED" : "skipped", reason->second.c_str());
    return;
  }
  std::vector<double> seconds;
  for (const Run& run : runs)
    seconds.push_back(run.GetAdjustedRealTime() / benchmark::GetTimeUnitMultiplier(run.time_unit));
  const double middle = median(seconds);
  const auto [least, largest] = std::minmax_element(seconds.begin(), seconds.end());
  char spread[16] = "once";
  if (runs.size() > 1)
    std::snprintf(spread, sizeof spread, "%.1f%%", 100 * (*largest - *least) / middle);
  std::printf("%-*s %12s %8s ", int(width_), name.c_str(), format_seconds(middle).c_str(), spread);
  for (const char* const counter : shown) {
    std::vector<double> values;
    for (const Run& run : runs)
      if (const auto found = run.counters.find(counter); found != run.counters.end())
        values.push_back(found->second.value);
    if (values.size() == runs.size())
      std::printf(" %s=%.4g", counter, median(values));
  }
  std::printf("\n");
}

void Reporter::print_times() const {
  std::printf("\nSeconds of each group, with models, verification and repetitions:\n");
  for (const auto& [group, seconds] : group_seconds_)
    std::printf("%-22s %8.1f\n", group.c_str(), seconds);
}

} // namespace ossatura::bench
