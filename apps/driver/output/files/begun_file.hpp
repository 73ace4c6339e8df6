// SPDX-License-Identifier: Apache-2.0
// A BegunFile has what a file of fields holds before the solve, mesh first, written beside the
// solve. For devices, which leave the host nothing else to do: on cores it would take from the
// solve.
#pragma once

#include <ossatura/core/io/hdf5/vtkhdf.hpp>
#include <ossatura/core/machine/job_queue.hpp>

#include <functional>
#include <optional>
#include <string>

namespace ossatura {

/// Written by a thread of its own from the constructor on. One thread owns the object; the
/// destructor waits, and leaves no file behind that was not taken.
class BegunFile {
public:
  /// Sets the mesh, and may write fields. What it refers to stays as it is until take() returns.
  using Begin = std::function<void(VtkHdfWriter&)>;

  BegunFile(const std::string& path, Hdf5Compression compression, Begin begin);

  /// The file as far as it was begun. Waits; throws InputError where that could not be written.
  /// Once.
  VtkHdfWriter take();

private:
  std::optional<VtkHdfWriter> file_;
  JobQueue job_{1}; ///< last: it uses the other
};

} // namespace ossatura
