// SPDX-License-Identifier: Apache-2.0
// A checkpoint file is an HDF5 file that proves that its bytes are the bytes that were written.
//
// A file begins with a block of 512 bytes, which HDF5 leaves to its users and passes over: one line
// of text with the XXH64 of all bytes that follow. Whatever stands in the file, a flipped bit of it
// is found before HDF5 looks at the file.
#pragma once

#include <ossatura/core/io/hdf5/file.hpp>
#include <ossatura/core/io/text/atomic_file.hpp>

#include <string>
#include <vector>

namespace ossatura {

/// A checkpoint under construction. Groups and datasets of root() must be gone before commit().
class CheckpointFile {
public:
  /// `format` names what is in it, as "ossatura topopt checkpoint 4". Throws InputError where
  /// `path` cannot be written.
  CheckpointFile(const std::string& path, const std::string& format);
  Hdf5Group root() const { return file_.root(); }
  /// Closes the file, writes its hash and gives it its name; without it, nothing is left behind.
  void commit();

private:
  AtomicFile output_;
  Hdf5File file_;
};

/// Opens a file that CheckpointFile wrote. Throws InputError for one of another format, and where a
/// byte is not what was written.
Hdf5File open_checkpoint(const std::string& path, const std::string& format);

/// An option by which steps are taken, and which may be another when a run goes on.
struct CourseOption {
  std::string name; ///< "--time-step"
  double value;
};
using Course = std::vector<CourseOption>;

void write_course(Hdf5Group& root, const Course& course);

/// Logs `resumed-otherwise` where steps were taken by other options than those of `course`.
/// Checkpoints of before say of none.
void warn_of_other_course(const std::string& path, const Hdf5Group& root, const Course& course);

} // namespace ossatura
