// SPDX-License-Identifier: Apache-2.0
// An Hdf5RowWriter writes the rows of a dataset in their order, whether it is compressed or not.
#pragma once

#include <ossatura/core/io/hdf5/chunk_writer.hpp>
#include <ossatura/core/io/hdf5/file.hpp>
#include <ossatura/core/machine/part_loop.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace ossatura {

/// Takes the rows of a new dataset from first to last: compressed by threads where its layout says
/// so, else straight to their place. Throws InputError where they cannot be written.
class Hdf5RowWriter {
public:
  /// `pending` as of Hdf5ChunkWriter::of().
  explicit Hdf5RowWriter(Hdf5Dataset dataset, Hdf5PendingChunks* pending = nullptr);

  Hdf5Dataset& dataset() { return *dataset_; }
  const Hdf5Dataset& dataset() const { return *dataset_; }
  /// Values of a row.
  std::uint64_t row_size() const { return row_size_; }

  /// How another process is to make rows of it (Hdf5RowsPart).
  Hdf5ChunkLayout layout() const;

  /// Rows that follow, of any number type.
  template<class T>
  void append(const T* values, std::uint64_t rows) {
    if (chunks_)
      chunks_->append(values, rows, hdf5_native_type<T>());
    else
      dataset_->write_rows(written_, rows, values);
    written_ += rows;
  }

  /// Rows that `make(first, count, T* values)` puts to `values`, of the type of the dataset: rows
  /// first to first + count of these, some at a time, by many threads.
  template<class T, class Make>
  void append_made(std::uint64_t rows, const Make& make) {
    if (chunks_)
      chunks_->append([&](std::uint64_t first, std::uint64_t count,
                          void* values) { make(first, count, static_cast<T*>(values)); },
                      rows, hdf5_native_type<T>());
    else
      append_in_blocks<T>(rows, make);
    written_ += rows;
  }

  /// Rows that another process made.
  void append(const Hdf5RowsBlock& block);

  /// All rows: as they lie in `kept` where that has them, else those that write() appends. These
  /// are kept where they are compressed and write() returns true.
  template<class Write>
  void append_kept(Hdf5KeptRows& kept, const Write& write) {
    if (!chunks_) {
      write();
    } else if (kept.all) {
      chunks_->append(kept);
      written_ = dataset_->shape()[0];
    } else {
      kept.chunks.clear();
      chunks_->keep(&kept);
      kept.all = write();
      chunks_->keep(nullptr);
    }
  }

private:
  /// Blocks of some 8 MiB.
  template<class T, class Make>
  void append_in_blocks(std::uint64_t rows, const Make& make) {
    const std::uint64_t of_part = std::max<std::uint64_t>(1, (std::uint64_t(1) << 14) / row_size_);
    const std::uint64_t block = 64 * of_part;
    std::vector<T> values;
    for (std::uint64_t first = 0; first < rows; first += block) {
      const std::uint64_t count = std::min(block, rows - first);
      values.resize(std::size_t(count * row_size_));
      for_parts(std::size_t(count), std::size_t(of_part), [&](std::size_t begin, std::size_t end) {
        make(first + begin, end - begin, values.data() + begin * std::size_t(row_size_));
      });
      dataset_->write_rows(written_ + first, count, values.data());
    }
  }

  std::shared_ptr<Hdf5Dataset> dataset_;
  std::unique_ptr<Hdf5ChunkWriter> chunks_; ///< where it is compressed
  std::uint64_t row_size_ = 1;
  std::uint64_t written_ = 0; ///< rows
};

} // namespace ossatura
