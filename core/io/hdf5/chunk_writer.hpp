// SPDX-License-Identifier: Apache-2.0
// An Hdf5ChunkWriter compresses a dataset by all threads: HDF5 has its filters applied by the one
// that writes, which takes many times as long as to write what comes out.
#pragma once

#include <ossatura/core/io/hdf5/file.hpp>
#include <ossatura/core/io/hdf5/pending_chunks.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace ossatura {

/// A dataset as it lies in a file, compressed: for other files that have the same one.
struct Hdf5KeptRows {
  std::vector<std::vector<unsigned char>> chunks;
  bool all = false; ///< of its chunks are there
};

/// Takes the rows of a new dataset from first to last. Chunks are shuffled and deflated for HDF5's
/// filters by io_threads() threads, at most 32, and written in their order by the caller's thread;
/// the file does not depend on the number of threads. Where rows come in small parts, up to two
/// chunks for each thread wait. Throws InputError where the dataset cannot be written.
class Hdf5ChunkWriter {
public:
  /// None where the dataset is not one of chunks of whole rows behind shuffle and deflate. A
  /// dataset of one chunk goes to `pending`, where there are such, which must outlive this.
  static std::unique_ptr<Hdf5ChunkWriter> of(const std::shared_ptr<Hdf5Dataset>& dataset,
                                             Hdf5PendingChunks* pending = nullptr);

  /// Rows that follow, of values of the HDF5 type `type`; they are converted where the dataset has
  /// another. What has come is in the file when all rows have.
  void append(const void* values, std::uint64_t rows, hid_t type);

  /// Puts rows first to first + rows of those appended, in the type of the dataset, to `values`.
  using MakeRows = std::function<void(std::uint64_t first, std::uint64_t rows, void* values)>;
  /// The same of rows that the threads make, each some of them; `type` is that of the dataset.
  void append(const MakeRows& make, std::uint64_t rows, hid_t type);

  /// What is written from here on is appended to `kept` as well; null: no longer.
  void keep(Hdf5KeptRows* kept) { kept_ = kept; }
  /// All rows, as a dataset of the same type, extent and layout had them.
  void append(const Hdf5KeptRows& rows);

private:
  /// Rows where they are, or made.
  struct Source {
    const unsigned char* bytes = nullptr;
    const MakeRows* make = nullptr;
  };
  class Filter;
  class FilterThreads;
  explicit Hdf5ChunkWriter(std::shared_ptr<Hdf5Dataset> dataset)
      : dataset_(std::move(dataset)) {}
  std::size_t row_bytes() const { return std::size_t(row_values_) * value_bytes_; }
  bool is_own_type(hid_t type) const;
  /// Whether the rows, once all have come, are left to `pending_`.
  bool is_pending() const {
    return pending_ != nullptr && kept_ == nullptr && num_rows_ <= chunk_rows_;
  }
  void claim(std::uint64_t rows);
  void append_from(const Source& source, std::uint64_t rows);
  void write_waiting();
  void write_chunks(const Source& source, std::uint64_t first, std::size_t count);
  void write_chunk(const std::vector<unsigned char>& chunk);

  std::shared_ptr<Hdf5Dataset> dataset_;
  Hdf5Handle type_;
  std::uint64_t num_rows_ = 0, chunk_rows_ = 0, row_values_ = 1;
  std::size_t value_bytes_ = 0;
  int level_ = 0;
  std::uint64_t rows_taken_ = 0, rows_written_ = 0;
  std::uint64_t unflushed_bytes_ = 0;
  std::vector<unsigned char> waiting_;
  Hdf5KeptRows* kept_ = nullptr;
  Hdf5PendingChunks* pending_ = nullptr;
};

} // namespace ossatura
