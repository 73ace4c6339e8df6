// SPDX-License-Identifier: Apache-2.0
// An Hdf5ChunkMaker makes the chunks of a dataset by all threads, as HDF5's filters would.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace ossatura {

/// How the rows of a dataset lie in the file.
struct Hdf5ChunkLayout {
  std::uint64_t rows = 0;        ///< of a chunk behind shuffle and deflate; 0: there are no such
  std::uint64_t row_values = 1;  ///< of a row
  std::uint64_t value_bytes = 1; ///< of a value
  int level = 0;                 ///< of deflate
  std::size_t row_bytes() const { return std::size_t(row_values * value_bytes); }
};

/// Takes rows from first to last, in the type of the dataset, and hands over chunks in their order
/// on the caller's thread. They are shuffled and deflated by io_threads() threads, at most 32, and
/// do not depend on their number. Where rows come in small parts, up to two chunks for each thread
/// are held.
class Hdf5ChunkMaker {
public:
  using Take = std::function<void(const std::vector<unsigned char>& chunk)>;
  /// Puts rows first to first + rows of those appended to `values`.
  using MakeRows = std::function<void(std::uint64_t first, std::uint64_t rows, void* values)>;

  /// A layout without chunks takes no rows.
  Hdf5ChunkMaker(const Hdf5ChunkLayout& layout, Take take)
      : layout_(layout)
      , take_(std::move(take)) {}

  const Hdf5ChunkLayout& layout() const { return layout_; }
  /// Rows that follow: where they are, or made by the threads, each some of them.
  void append(const void* values, std::uint64_t rows);
  void append(const MakeRows& make, std::uint64_t rows);
  /// The rows that are held are the last: hands over what is missing, zeros behind them.
  void finish();

  /// The same without making a chunk.
  void hold(const void* values, std::uint64_t rows);
  void hold(const MakeRows& make, std::uint64_t rows);
  std::uint64_t rows_held() const { return held_.size() / layout_.row_bytes(); }
  std::vector<unsigned char> take_held();
  /// Makes the chunks of which all rows are held.
  void make_whole();

private:
  /// Rows where they are, or made.
  struct Source {
    const unsigned char* bytes = nullptr;
    const MakeRows* make = nullptr;
  };
  class Filter;
  class FilterThreads;
  void append_from(const Source& source, std::uint64_t rows);
  void hold_from(const Source& source, std::uint64_t first, std::uint64_t rows);
  void make_held();
  void make_chunks(const Source& source, std::uint64_t first, std::size_t count);

  Hdf5ChunkLayout layout_;
  Take take_;
  std::vector<unsigned char> held_; ///< rows of chunks that are not made
};

} // namespace ossatura
