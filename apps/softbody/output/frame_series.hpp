// SPDX-License-Identifier: Apache-2.0
// A frame series writes soft bodies in time, for ParaView.
#pragma once

#include "apps/driver/output/files/frame_list.hpp"
#include <ossatura/solvers/softbody/scene.hpp>

#include <string>
#include <utility>
#include <vector>

namespace ossatura {

class FrameSeries {
public:
  /// `path` and `first_step` as in FrameList. The scene must outlive this; `run` are facts about it
  /// for every file.
  FrameSeries(const std::string& path, const SoftScene& scene,
              std::vector<std::pair<std::string, std::string>> run, int first_step,
              Hdf5Compression compression = Hdf5Compression::fast);

  /// positions and velocities [num_nodes, 3]. Returns the file. Throws InputError where files
  /// cannot be written.
  std::string write(int step, double time, const std::vector<double>& positions,
                    const std::vector<double>& velocities);

  std::string path() const { return list_.path(); }
  std::vector<std::string> earlier_paths() const { return list_.earlier_paths(); }
  /// The last one written, -1 before.
  int last_step() const { return list_.last_step(); }
  std::int64_t num_written() const { return list_.num_written(); }

private:
  FrameList list_;
  const SoftScene& scene_;
  std::vector<const ElementMesh*> meshes_;
  std::vector<std::pair<std::string, std::string>> run_;
  Hdf5Compression compression_;
  VtkHdfKept kept_;
};

} // namespace ossatura
