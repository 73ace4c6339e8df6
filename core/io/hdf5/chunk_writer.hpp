// SPDX-License-Identifier: Apache-2.0
// An Hdf5ChunkWriter compresses a dataset by all threads: HDF5 has its filters applied by the one
// that writes, which takes many times as long as to write what comes out.
#pragma once

#include <ossatura/core/io/hdf5/chunk_maker.hpp>
#include <ossatura/core/io/hdf5/file.hpp>
#include <ossatura/core/io/hdf5/pending_chunks.hpp>
#include <ossatura/core/io/hdf5/rows_part.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ossatura {

/// A dataset as it lies in a file, compressed: for other files that have the same one.
struct Hdf5KeptRows {
  std::vector<std::vector<unsigned char>> chunks;
  bool all = false; ///< of its chunks are there
};

/// Takes the rows of a new dataset from first to last. Chunks are made by threads (Hdf5ChunkMaker)
/// and written in their order by the caller's; the file does not depend on the number of threads.
/// Throws InputError where the dataset cannot be written.
class Hdf5ChunkWriter {
public:
  /// None where the dataset is not one of chunks of whole rows behind shuffle and deflate. A
  /// dataset of one chunk goes to `pending`, where there are such, which must outlive this.
  static std::unique_ptr<Hdf5ChunkWriter> of(const std::shared_ptr<Hdf5Dataset>& dataset,
                                             Hdf5PendingChunks* pending = nullptr);
  Hdf5ChunkWriter(const Hdf5ChunkWriter&) = delete;
  Hdf5ChunkWriter& operator=(const Hdf5ChunkWriter&) = delete;

  const Hdf5ChunkLayout& layout() const { return maker_.layout(); }
  /// Whether the rows, once all have come, are left to `pending`.
  bool is_pending() const {
    return pending_ != nullptr && kept_ == nullptr && num_rows_ <= layout().rows;
  }

  /// Rows that follow, of values of the HDF5 type `type`; they are converted where the dataset has
  /// another. What has come is in the file when all rows have.
  void append(const void* values, std::uint64_t rows, hid_t type);
  /// The same of rows that the threads make; `type` is that of the dataset.
  void append(const Hdf5ChunkMaker::MakeRows& make, std::uint64_t rows, hid_t type);
  /// The same of rows of this layout that another process made.
  void append(const Hdf5RowsBlock& block);

  /// What is written from here on is appended to `kept` as well; null: no longer.
  void keep(Hdf5KeptRows* kept) { kept_ = kept; }
  /// All rows, as a dataset of the same type, extent and layout had them.
  void append(const Hdf5KeptRows& rows);

private:
  Hdf5ChunkWriter(std::shared_ptr<Hdf5Dataset> dataset, const Hdf5ChunkLayout& layout);
  bool is_own_type(hid_t type) const;
  void claim(std::uint64_t rows);
  template<class Source>
  void append_from(const Source& source, std::uint64_t rows);
  void write_chunk(const unsigned char* chunk, std::size_t bytes);

  std::shared_ptr<Hdf5Dataset> dataset_;
  Hdf5Handle type_;
  std::uint64_t num_rows_ = 0;
  std::uint64_t rows_taken_ = 0, rows_written_ = 0;
  std::uint64_t unflushed_bytes_ = 0;
  Hdf5KeptRows* kept_ = nullptr;
  Hdf5PendingChunks* pending_ = nullptr;
  Hdf5ChunkMaker maker_;
};

} // namespace ossatura
