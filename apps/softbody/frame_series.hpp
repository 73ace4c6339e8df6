// SPDX-License-Identifier: BSD-3-Clause
// Soft bodies in time, for ParaView.
#pragma once

#include "core/io/vtkhdf.hpp"
#include "solvers/soft_scene.hpp"

#include <string>
#include <utility>
#include <vector>

namespace femura {

/// NAME.hdf.series, which lists NAME_000000.hdf and so on beside it. After every step written the
/// list is whole, so that a run that ends early leaves a valid series.
class FrameSeries {
public:
  /// `path` is NAME or NAME.hdf. The scene must outlive this; `run` are facts about it for every
  /// file. A resumed run keeps the steps before `first_step` of a series that is there.
  FrameSeries(const std::string& path, const SoftScene& scene,
              std::vector<std::pair<std::string, std::string>> run, int first_step);

  /// positions and velocities [num_nodes, 3]. Throws InputError where files cannot be written.
  void write(int step, double time, const std::vector<double>& positions,
             const std::vector<double>& velocities);

  std::string path() const { return stem_ + ".hdf.series"; }
  /// The last one written, -1 before.
  int last_step() const { return last_step_; }
  std::int64_t num_written() const { return num_written_; }

private:
  void keep_earlier(int first_step);

  std::string stem_;
  const SoftScene& scene_;
  std::vector<const ElementMesh*> meshes_;
  std::vector<std::pair<std::string, std::string>> run_;
  std::vector<VtkSeriesStep> steps_;
  int last_step_ = -1;
  std::int64_t num_written_ = 0;
};

} // namespace femura
