// SPDX-License-Identifier: Apache-2.0
// A frame list names the files of a series for ParaView, one for each step that is shown.
#pragma once

#include <ossatura/core/io/hdf5/vtkhdf.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace ossatura {

/// NAME.hdf.series, which lists NAME_000000.hdf and so on beside it. After every step added the
/// list is whole, so that a run that ends early leaves a valid series.
class FrameList {
public:
  /// `path` is NAME or NAME.hdf. A resumed run keeps the steps before `first_step` of a series that
  /// is there.
  FrameList(const std::string& path, int first_step);

  std::string path() const { return stem_ + ".hdf.series"; }
  std::string frame_path(int step) const;
  /// Files of the series that a run before this one wrote.
  std::vector<std::string> earlier_paths() const;
  /// The file of the step is written; throws InputError where the list cannot be.
  void add(int step, double time);

  /// The last one added, -1 before.
  int last_step() const { return last_step_; }
  std::int64_t num_written() const { return num_written_; }

private:
  void keep_earlier(int first_step);

  std::string stem_;
  std::vector<VtkSeriesStep> steps_;
  int last_step_ = -1;
  std::int64_t num_written_ = 0;
};

/// `path` without the extension .hdf.
std::string without_hdf(const std::string& path);

} // namespace ossatura
