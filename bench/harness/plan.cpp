// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/plan.hpp"

#include <ossatura/core/base/backend.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace ossatura::bench {

namespace {

/// Seconds of a row, the mean of its group.
struct StoredSeconds {
  double quick;       ///< --quick, one core
  double full_core;   ///< --full, one core
  double full_device; ///< --full, one device
};

/// The core is one of an AMD EPYC (Kokkos 3.4): processor seconds of the first rows of each group,
/// and a guess for larger ones. The device is an NVIDIA H200: 453 s of all groups, of which each
/// has what its rows reported and the same share of the rest for each row. A run prints what it
/// took.
const std::map<std::string, StoredSeconds>& stored_seconds() {
  static const std::map<std::string, StoredSeconds> seconds = {
      {"voxel_apply", {0.007, 8, 0.5}},
      {"voxel_residual", {0.007, 12, 0.5}},
      {"voxel_smoothing_step", {0.009, 14, 0.5}},
      {"peers", {0.02, 3, 0.5}},
      {"voxel_multigrid", {0.007, 1.3, 0.5}},
      {"voxel_classes", {0.005, 7, 0.5}},
      {"voxel_memory", {0.7, 1.2, 0.5}},
      {"voxel_solve", {0.2, 15, 1.2}},
      {"voxel_plastic", {0.1, 5, 0.5}},
      {"voxel_strength", {0.5, 60, 2}},
      {"voxel_study", {0.05, 3, 0.5}},
      {"voxel_damage", {0.5, 20, 5}},
      {"voxel_profile", {0.2, 10, 0.5}},
      {"eikonal", {0.5, 40, 0.5}},
      {"eikonal_setup", {0.2, 35, 0.6}},
      {"factor_apply", {0.02, 3, 1.7}},
      {"soft_assembly", {0.005, 0.1, 2.9}},
      {"soft_assembly_setup", {0.005, 0.3, 0.5}},
      {"soft_multiply", {0.005, 0.1, 2.9}},
      {"soft_contact", {0.2, 15, 0.5}},
      {"soft_step", {0.03, 100, 0.5}},
      {"soft_cg", {0.04, 15, 1.0}},
      {"hexa_apply", {0.005, 15, 0.5}},
      {"hexa_solve", {0.1, 60, 0.7}},
      {"design_step", {0.2, 40, 1.0}},
      {"design_filter", {0.02, 3, 0.5}},
      {"design_frequencies", {2, 100, 0.7}},
      {"pfem_form", {0.03, 3, 0.5}},
      {"pfem_apply", {0.04, 6, 0.5}},
      {"pfem_solve", {0.1, 2, 0.7}},
      {"jobs", {0.3, 40, 5}},
      {"scaling", {0.5, 10, 5}},
  };
  return seconds;
}

constexpr double stored_core_copy = 12, stored_device_copy = 4190; ///< GB/s
constexpr double serial_part = 0.3; ///< of a row with OpenMP: host work between kernels

std::string backend_of(const std::string& row) {
  for (const char* backend : {"serial", "openmp", "cuda"})
    if (row.find('/' + std::string(backend) + '/') != std::string::npos)
      return backend;
  return "host";
}

bool is_device(const std::string& backend) {
  return backend == "cuda";
}

std::string line(const char* group, std::size_t rows, const std::string& times) {
  char text[96];
  std::snprintf(text, sizeof text, "%-22s %5zu", group, rows);
  return text + times + '\n';
}

std::string column(const std::string& text) {
  char padded[32];
  std::snprintf(padded, sizeof padded, " %10s", text.c_str());
  return padded;
}

} // namespace

std::string rough_time(double seconds) {
  char text[32];
  if (seconds < 99.5)
    std::snprintf(text, sizeof text, "%.*f s", seconds < 0.95 ? 1 : 0, seconds);
  else if (seconds < 5970)
    std::snprintf(text, sizeof text, "%.0f min", seconds / 60);
  else
    std::snprintf(text, sizeof text, "%.*f h", seconds < 36000 ? 1 : 0, seconds / 3600);
  return text;
}

void Plan::add(const Group& group, const std::vector<std::string>& rows) {
  const auto found = stored_seconds().find(group.name);
  if (found == stored_seconds().end())
    throw std::logic_error(std::string("bench/harness/plan.cpp has no seconds of the group ") +
                           group.name);
  const StoredSeconds& stored = found->second;
  for (const std::string& row : rows) {
    const std::string backend = backend_of(row);
    rows_.push_back({row, &group, backend,
                     quick_               ? stored.quick
                     : is_device(backend) ? stored.full_device
                                          : stored.full_core});
  }
}

void Plan::calibrate(const Context& context) {
  if (quick_)
    return; // its ceilings are of small arrays
  const auto value = [&](const std::string& key) {
    for (const auto& [name, text] : context)
      if (name == key)
        return std::atof(text.c_str());
    return 0.;
  };
  for (const Row& row : rows_) {
    if (slower_.count(row.backend) != 0)
      continue;
    const double copy = value(row.backend + " copy GB/s"),
                 threads = std::max(1., value(row.backend + " threads"));
    double& slower = slower_[row.backend] = 1;
    if (is_device(row.backend) && copy > 0)
      slower = stored_device_copy / copy;
    else if (row.backend == "serial" && copy > 0)
      slower = stored_core_copy / copy;
    else if (row.backend == "openmp")
      slower = serial_part + (1 - serial_part) / threads;
  }
}

double Plan::expected(const Row& row) const {
  const auto found = slower_.find(row.backend);
  return row.seconds * (found == slower_.end() ? 1 : found->second);
}

double Plan::seconds() const {
  double sum = 0;
  for (const Row& row : rows_)
    sum += expected(row);
  return sum;
}

std::string Plan::table() const {
  std::vector<std::string> backends;
  for (const Row& row : rows_)
    if (std::find(backends.begin(), backends.end(), row.backend) == backends.end())
      backends.push_back(row.backend);
  const auto times = [&](const Group* group) { // null: all
    std::string text;
    std::size_t rows = 0;
    for (const std::string& backend : backends) {
      double sum = 0;
      for (const Row& row : rows_)
        if ((group == nullptr || row.group == group) && row.backend == backend) {
          sum += expected(row);
          ++rows;
        }
      text += column(rough_time(sum));
    }
    return line(group == nullptr ? "all" : group->name, rows, text);
  };
  std::string head = "group                   rows", text;
  for (const std::string& backend : backends)
    head += column(backend);
  const Group* last = nullptr;
  for (const Row& row : rows_)
    if (row.group != last)
      text += times(last = row.group);
  return head + '\n' + text + times(nullptr);
}

void Plan::count_row(const std::string& name) {
  for (std::size_t k = done_; k < rows_.size(); ++k)
    if (rows_[k].name == name)
      done_ = k + 1;
}

std::string Plan::progress() const {
  if (done_ >= rows_.size() || (done_ > 0 && rows_[done_ - 1].group == rows_[done_].group))
    return "";
  double before = 0, group = 0, after = 0;
  std::size_t rows = 0;
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const double seconds = expected(rows_[k]);
    if (k < done_)
      before += seconds;
    else if (rows_[k].group == rows_[done_].group) {
      group += seconds;
      ++rows;
    } else {
      after += seconds;
    }
  }
  // By the rate so far, which counts once it is of some ten seconds.
  const double rate = done_ == 0 ? 1 : (since_start_.seconds() + 10) / (before + 10);
  char text[160];
  std::snprintf(text, sizeof text, "%s: %zu rows, about %s; %zu of %zu done, about %s to go",
                rows_[done_].group->name, rows, rough_time(rate * group).c_str(), done_,
                rows_.size(), rough_time(rate * (group + after)).c_str());
  return text;
}

} // namespace ossatura::bench
