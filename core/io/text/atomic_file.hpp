// SPDX-License-Identifier: Apache-2.0
// An atomic file is an output file that is either whole or absent.
#pragma once

#include <string>

namespace ossatura {

/// Reserves a temporary name beside `path`; commit() makes the file durable and gives it its name;
/// without commit() the temporary file is removed and whatever stood at `path` is left as it was.
/// Whoever writes opens `temporary_path()` by name and closes it before commit(), so this works for
/// HDF5 and C++ streams alike. Errors are InputError and name the file.
class AtomicFile {
public:
  /// Creates the empty temporary file. A symbolic link at `path` is followed. Throws where the
  /// directory is missing or not writable, and where `path` is a directory, a device or write
  /// protected.
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;

  const std::string& path() const { return path_; }
  const std::string& temporary_path() const { return temporary_; }

  /// Flushes the temporary file to disk, where the file system can, renames it and flushes the
  /// directory. May be called once.
  void commit();

private:
  void discard() noexcept;

  std::string path_;
  std::string target_;    ///< `path_` with links resolved
  std::string temporary_; ///< empty once committed or moved from
};

/// `check` is called before a file gets its name, and may throw; null: none. For what must hold of
/// all results, such as that the device did what it was told.
/// The check is of the calling thread: who has a file written by another thread calls
/// check_commit() before.
void set_commit_check(void (*check)()) noexcept;
void check_commit();

/// Any other file that is to go with the process: remove_temporary_files() removes it until it is
/// forgotten. Of more than 64 at a time the others are not.
void remember_temporary_file(const std::string& name) noexcept;
void forget_temporary_file(const std::string& name) noexcept;

/// Removes the temporary files of this process, of which it should be the end: other threads that
/// may write files have stopped (stop_other_threads). Safe in a handler of signals.
void remove_temporary_files() noexcept;

/// Removes the temporary files in `directory` that processes of this machine left which are no more
/// (killed, out of memory). Those of other machines and containers stay, as nothing tells whether
/// they are still written. Errors are ignored.
void remove_abandoned_files(const std::string& directory) noexcept;

/// Writes `content` to `path` through an AtomicFile.
void write_file(const std::string& path, const std::string& content);

} // namespace ossatura
