// SPDX-License-Identifier: Apache-2.0
// These functions name output files and refuse names that would replace other files.
#pragma once

#include "apps/driver/output/provenance.hpp"

#include <string>
#include <vector>

namespace ossatura {

/// The name of the outputs of an input: its name without directory and extension. Compression
/// and series count with the extension before them (.nii.gz, .hdf.series); digits after a point are
/// no extension (lever_v1.2).
std::string file_stem(const std::string& input);

/// The name of the folder that a file or folder is in; empty: it is in none.
std::string folder_name(const std::string& input);

/// Whether both are one file: by device and inode where they exist, else by their absolute names.
bool is_same_file(const std::string& a, const std::string& b);

/// Removes from `files` those that are one of `others`, by their absolute names.
void remove_same_files(std::vector<std::string>& files, const std::vector<std::string>& others);

/// Throws UsageError where the summary at `path` is of another input or subcommand than that of a
/// run: results of two inputs with one name would replace each other. An input counts as the same
/// by its place or by its content; `resumed`, the checkpoint that a run goes on from, is a state of
/// the same results and counts for neither run.
void require_own_summary(const std::string& path, const std::string& subcommand,
                         const Provenance& provenance, const std::string& resumed);

/// Throws UsageError where there is a summary of a run at `path`, which one of a dry run would
/// replace.
void require_no_results(const std::string& path);

/// The files below the folder of the summary at `path` that its run wrote, as its certificate lists
/// them, and that are still there. None where it is no summary of a run.
std::vector<std::string> files_of_summary(const std::string& path);

/// While it lives, no other run writes results of this name into this directory. Files systems that
/// cannot lock are taken as they are.
class OutputLock {
public:
  /// Throws UsageError where another run has the lock.
  OutputLock(const std::string& directory, const std::string& stem);
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

private:
  std::string path_;
  int descriptor_ = -1;
};

} // namespace ossatura
