// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/hdf5/rows_part.hpp>

#include <algorithm>
#include <utility>

namespace ossatura {

namespace {

void append_bytes(std::vector<unsigned char>& bytes, const unsigned char* more, std::size_t count) {
  bytes.insert(bytes.end(), more, more + count);
}

} // namespace

Hdf5RowsPart::Hdf5RowsPart(const Hdf5ChunkLayout& layout, std::uint64_t first)
    : missing_(layout.rows == 0 ? UINT64_MAX : (layout.rows - first % layout.rows) % layout.rows)
    , maker_(layout, [this](const std::vector<unsigned char>& chunk) {
      block_.chunk_bytes.push_back(chunk.size());
      append_bytes(block_.bytes, chunk.data(), chunk.size());
    }) {}

void Hdf5RowsPart::append(const void* values, std::uint64_t rows) {
  const auto* bytes = static_cast<const unsigned char*>(values);
  const std::uint64_t before = std::min(missing_, rows);
  append_bytes(block_.bytes, bytes, std::size_t(before) * layout().row_bytes());
  block_.rows_before += before;
  missing_ -= before;
  if (rows > before)
    maker_.append(bytes + std::size_t(before) * layout().row_bytes(), rows - before);
}

void Hdf5RowsPart::append(const Hdf5ChunkMaker::MakeRows& make, std::uint64_t rows) {
  const std::uint64_t before = std::min(missing_, rows);
  if (before > 0) {
    const std::size_t at = block_.bytes.size();
    block_.bytes.resize(at + std::size_t(before) * layout().row_bytes());
    make(0, before, block_.bytes.data() + at);
    block_.rows_before += before;
    missing_ -= before;
  }
  if (rows > before)
    maker_.append([&](std::uint64_t first, std::uint64_t count,
                      void* values) { make(before + first, count, values); },
                  rows - before);
}

Hdf5RowsBlock Hdf5RowsPart::take() {
  return std::exchange(block_, {});
}

Hdf5RowsBlock Hdf5RowsPart::take_last() {
  if (layout().rows > 0) {
    maker_.make_whole();
    block_.rows_behind = maker_.rows_held();
    const std::vector<unsigned char> behind = maker_.take_held();
    append_bytes(block_.bytes, behind.data(), behind.size());
  }
  return take();
}

} // namespace ossatura
