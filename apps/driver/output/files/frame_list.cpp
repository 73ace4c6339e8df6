// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/output/files/frame_list.hpp"

#include "apps/driver/problem/json_file.hpp"

#include <cstdio>
#include <filesystem>

namespace ossatura {

std::string without_hdf(const std::string& path) {
  const std::filesystem::path name(path);
  return name.extension() == ".hdf" ? (name.parent_path() / name.stem()).string() : path;
}

FrameList::FrameList(const std::string& path, int first_step)
    : stem_(without_hdf(path)) {
  if (first_step > 0 && std::filesystem::exists(this->path()))
    keep_earlier(first_step);
}

std::string FrameList::frame_path(int step) const {
  char number[16];
  std::snprintf(number, sizeof number, "_%06d.hdf", step);
  return stem_ + number;
}

void FrameList::keep_earlier(int first_step) {
  const std::string first_name = std::filesystem::path(frame_path(first_step)).filename().string();
  const nlohmann::ordered_json json = read_json(path());
  if (!json.is_object() || !json.contains("files") || !json["files"].is_array())
    return; // not ours; it is replaced
  for (const auto& entry : json["files"]) {
    if (!entry.is_object() || !entry.contains("name") || !entry["name"].is_string() ||
        !entry.contains("time") || !entry["time"].is_number())
      return;
    // Names have their steps in them, so that they are in order.
    const std::string name = entry["name"].get<std::string>();
    if (name.size() < first_name.size() || (name.size() == first_name.size() && name < first_name))
      steps_.push_back({name, entry["time"].get<double>()});
  }
}

std::vector<std::string> FrameList::earlier_paths() const {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i + std::size_t(num_written_) < steps_.size(); ++i)
    paths.push_back((std::filesystem::path(stem_).parent_path() / steps_[i].file).string());
  return paths;
}

void FrameList::add(int step, double time) {
  steps_.push_back({std::filesystem::path(frame_path(step)).filename().string(), time});
  write_vtk_series(path(), steps_);
  last_step_ = step;
  ++num_written_;
}

} // namespace ossatura
