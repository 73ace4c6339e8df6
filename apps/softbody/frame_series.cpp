// SPDX-License-Identifier: BSD-3-Clause
#include "apps/softbody/frame_series.hpp"

#include "apps/driver/json_file.hpp"

#include <cstdio>
#include <filesystem>

namespace femura {

namespace {

std::string without_extension(const std::string& path) {
  const std::filesystem::path name(path);
  return name.extension() == ".hdf" ? (name.parent_path() / name.stem()).string() : path;
}

std::string frame_name(const std::string& stem, int step) {
  char number[16];
  std::snprintf(number, sizeof number, "_%06d.hdf", step);
  return stem + number;
}

} // namespace

FrameSeries::FrameSeries(const std::string& path, const SoftScene& scene,
                         std::vector<std::pair<std::string, std::string>> run, int first_step)
    : stem_(without_extension(path))
    , scene_(scene)
    , run_(std::move(run)) {
  for (const SoftObject& object : scene.objects)
    meshes_.push_back(&object.mesh);
  if (first_step > 0 && std::filesystem::exists(this->path()))
    keep_earlier(first_step);
}

void FrameSeries::keep_earlier(int first_step) {
  const std::string first_name =
      std::filesystem::path(frame_name(stem_, first_step)).filename().string();
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

void FrameSeries::write(int step, double time, const std::vector<double>& positions,
                        const std::vector<double>& velocities) {
  const std::string name = frame_name(stem_, step);
  VtkHdfWriter file(name, 1);
  file.set_elements(meshes_, ConstSpan<double>(positions));
  std::vector<double> displacement = positions;
  std::size_t offset = 0;
  for (const SoftObject& object : scene_.objects) {
    for (std::size_t i = 0; i < object.mesh.point.size(); ++i)
      displacement[offset + i] -= object.mesh.point[i];
    offset += object.mesh.point.size();
  }
  file.point_data("displacement", displacement, 3, "m");
  file.point_data("velocity", velocities, 3, "m/s");
  file.set_run(run_);
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", time);
  file.set_run("simulated_time", text);
  file.set_run("step", std::to_string(step));
  file.commit();
  steps_.push_back({std::filesystem::path(name).filename().string(), time});
  write_vtk_series(path(), steps_);
  last_step_ = step;
  ++num_written_;
}

} // namespace femura
