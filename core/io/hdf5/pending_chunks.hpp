// SPDX-License-Identifier: Apache-2.0
// Pending chunks are small datasets that threads compress while more of the file is made: a frame
// of a series has half a dozen, and would wait for one after the other.
#pragma once

#include <ossatura/core/io/hdf5/file.hpp>

#include <cstddef>
#include <future>
#include <memory>
#include <vector>

namespace ossatura {

/// Used by one thread at a time. Datasets stay open until write().
class Hdf5PendingChunks {
public:
  /// Takes the values of a new dataset of one chunk behind shuffle and deflate, `value_bytes` each,
  /// as they are to be in the file. The file does not depend on the number of threads (io_threads).
  void add(std::shared_ptr<Hdf5Dataset> dataset, std::vector<unsigned char> values,
           std::size_t value_bytes, int level);

  /// Writes all so far, in the order in which they came. Throws InputError where one cannot be
  /// written; those behind it are dropped.
  void write();

private:
  struct Chunk {
    std::shared_ptr<Hdf5Dataset> dataset;
    std::future<std::vector<unsigned char>> bytes;
  };
  int num_under_way() const; ///< on threads

  std::vector<Chunk> chunks_;
};

} // namespace ossatura
