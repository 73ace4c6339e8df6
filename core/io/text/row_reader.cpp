// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/text/row_reader.hpp>

#include <ossatura/core/machine/part_loop.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

namespace ossatura {

namespace {

constexpr std::size_t bytes_of_block = 1 << 20;

/// Whole lines of a text, whose first row has number `first_row`.
struct Block {
  std::string_view lines;
  std::uint64_t first_row = 0, num_rows = 0;
  std::size_t end = 0; ///< of the last row that was read, in the text
  std::exception_ptr error;
};

std::vector<Block> cut_into_blocks(std::string_view text) {
  std::vector<Block> blocks;
  while (!text.empty()) {
    std::size_t size = std::min(text.size(), bytes_of_block);
    while (size < text.size() && !TextCursor::is_line_end(text[size - 1]))
      ++size;
    blocks.emplace_back().lines = text.substr(0, size);
    text.remove_prefix(size);
  }
  return blocks;
}

std::uint64_t count_rows(std::string_view lines) {
  const bool has_returns = std::memchr(lines.data(), '\r', lines.size()) != nullptr;
  std::uint64_t count = 0;
  const char *at = lines.data(), *const end = at + lines.size();
  for (;;) {
    while (at != end && TextCursor::is_space(*at))
      ++at;
    if (at == end)
      return count;
    ++count;
    if (has_returns) {
      at = std::find_if(at, end, TextCursor::is_line_end);
    } else {
      const void* const next = std::memchr(at, '\n', std::size_t(end - at));
      at = next == nullptr ? end : static_cast<const char*>(next);
    }
  }
}

} // namespace

std::uint64_t read_rows(TextCursor& text, std::uint64_t count, const char* thing,
                        const std::function<void(TextCursor& cursor, std::uint64_t i)>& row) {
  if (count == 0)
    return 0;
  text.at_end();
  const std::size_t begin = text.position(), size = text.num_left();
  std::vector<Block> blocks = cut_into_blocks(text.rest());
  for_parts(blocks.size(), 1, [&](std::size_t first, std::size_t end) {
    for (std::size_t b = first; b < end; ++b)
      blocks[b].num_rows = count_rows(blocks[b].lines);
  });
  std::uint64_t num_rows = 0;
  for (Block& block : blocks) {
    block.first_row = num_rows;
    num_rows += block.num_rows;
  }
  std::atomic<std::size_t> first_wrong = blocks.size();
  const auto read_block = [&](std::size_t b) {
    Block& block = blocks[b];
    // The text of the cursor does not end with the block, so that messages tell lines that end from
    // texts that do.
    TextCursor cursor = text;
    cursor.seek(begin + std::size_t(block.lines.data() - text.rest().data()));
    const std::uint64_t end = std::min(count, block.first_row + block.num_rows);
    for (std::uint64_t i = block.first_row; i < end; ++i) {
      cursor.at_end();
      row(cursor, i);
      if (!cursor.at_line_end())
        cursor.bad_word(std::string("the line of ") + thing + " should end");
    }
    block.end = cursor.position();
  };
  for_parts(blocks.size(), 1, [&](std::size_t first, std::size_t end) {
    for (std::size_t b = first; b < end && b < first_wrong; ++b)
      try {
        read_block(b);
      } catch (...) {
        blocks[b].error = std::current_exception();
        std::size_t known = first_wrong;
        while (b < known && !first_wrong.compare_exchange_weak(known, b)) {
        }
      }
  });
  // Parts are taken in their order: those before the first wrong one are read.
  if (first_wrong < blocks.size())
    std::rethrow_exception(blocks[first_wrong].error);
  if (num_rows < count) {
    text.seek(begin + size);
    return num_rows;
  }
  for (const Block& block : blocks)
    if (block.first_row < count)
      text.seek(block.end);
  return count;
}

} // namespace ossatura
