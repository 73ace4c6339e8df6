// SPDX-License-Identifier: Apache-2.0
// An Hdf5RowsPart makes rows of a dataset that another process writes: the chunks of which it has
// all rows are compressed here, by the threads of this process.
#pragma once

#include <ossatura/core/io/hdf5/chunk_maker.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ossatura {

/// Rows on their way to the process that writes.
struct Hdf5RowsBlock {
  std::uint64_t rows_before = 0;          ///< as they are, of a chunk that begins elsewhere
  std::vector<std::uint64_t> chunk_bytes; ///< of the whole chunks behind them
  std::uint64_t rows_behind = 0;          ///< as they are, of a chunk that ends elsewhere
  std::vector<unsigned char> bytes;       ///< of all these
};

/// Takes rows in the type of the dataset, from first to last.
class Hdf5RowsPart {
public:
  /// `first` is the number in the dataset of the row that comes first.
  Hdf5RowsPart(const Hdf5ChunkLayout& layout, std::uint64_t first);
  Hdf5RowsPart(const Hdf5RowsPart&) = delete;
  Hdf5RowsPart& operator=(const Hdf5RowsPart&) = delete;

  const Hdf5ChunkLayout& layout() const { return maker_.layout(); }
  /// Rows that follow: where they are, or made by threads.
  void append(const void* values, std::uint64_t rows);
  void append(const Hdf5ChunkMaker::MakeRows& make, std::uint64_t rows);

  /// Bytes that take() has.
  std::size_t bytes() const { return block_.bytes.size(); }
  /// What is made so far of the rows that came since the last call.
  Hdf5RowsBlock take();
  /// The same where no row follows.
  Hdf5RowsBlock take_last();

private:
  Hdf5RowsBlock block_;
  std::uint64_t missing_ = 0; ///< rows of the chunk that begins elsewhere
  Hdf5ChunkMaker maker_;
};

} // namespace ossatura
