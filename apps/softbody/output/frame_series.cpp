// SPDX-License-Identifier: Apache-2.0
#include "apps/softbody/output/frame_series.hpp"

#include <ossatura/core/base/exact_digits.hpp>

namespace ossatura {

FrameSeries::FrameSeries(const std::string& path, const SoftScene& scene,
                         std::vector<std::pair<std::string, std::string>> run, int first_step,
                         Hdf5Compression compression)
    : list_(path, first_step)
    , scene_(scene)
    , run_(std::move(run))
    , compression_(compression) {
  for (const SoftObject& object : scene.objects)
    meshes_.push_back(&object.mesh);
}

std::string FrameSeries::write(int step, double time, const std::vector<double>& positions,
                               const std::vector<double>& velocities) {
  std::string path = list_.frame_path(step);
  VtkHdfWriter file(path, compression_, &kept_);
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
  file.set_run("simulated_time", exact_digits(time));
  file.set_run("step", std::to_string(step));
  file.commit();
  list_.add(step, time);
  return path;
}

} // namespace ossatura
