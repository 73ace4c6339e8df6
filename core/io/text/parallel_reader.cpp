// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/text/parallel_reader.hpp>

#include <ossatura/core/machine/part_loop.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

namespace ossatura {

namespace {

// A thread reads a block at a time. What is counted ahead stays in the cache until it is read.
constexpr std::size_t bytes_of_block = 1 << 18, blocks_at_a_time = 64;

/// A part of a text with whole rows or words, the first of which has number `first`.
struct Block {
  std::string_view text;
  std::uint64_t first = 0, count = 0;
  std::size_t end = 0; ///< of the last row or word that was read, in the whole text
  std::exception_ptr error;
};

/// The front of `text`, in blocks that end where `is_end` says of a character that they may.
template<class IsEnd>
std::vector<Block> cut_into_blocks(std::string_view text, const IsEnd& is_end) {
  std::vector<Block> blocks;
  while (!text.empty() && blocks.size() < blocks_at_a_time) {
    std::size_t size = std::min(text.size(), bytes_of_block);
    while (size < text.size() && !is_end(text[size - 1]))
      ++size;
    blocks.emplace_back().text = text.substr(0, size);
    text.remove_prefix(size);
  }
  return blocks;
}

/// Whether a block may end behind this character, how many there are in a text, and how some are
/// read from a cursor in front of them.
struct Rows {
  const char* thing;
  const std::function<void(TextCursor& cursor, std::uint64_t i)>& row;

  static bool is_end(char c) { return TextCursor::is_line_end(c); }
  static std::uint64_t count(std::string_view lines) {
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
  void read(TextCursor& cursor, std::uint64_t first, std::uint64_t end) const {
    for (std::uint64_t i = first; i < end; ++i) {
      cursor.at_end();
      row(cursor, i);
      if (!cursor.at_line_end())
        cursor.bad_word(std::string("the line of ") + thing + " should end");
    }
  }
};

struct Words {
  const std::function<void(TextCursor& cursor, std::uint64_t first, std::uint64_t end)>& words;

  static bool is_end(char c) { return TextCursor::is_space(c); }
  /// Without branches, and with sums of 32 bits, for the compiler to take many characters at a
  /// time.
  static std::uint64_t count(std::string_view text) {
    if (text.empty())
      return 0;
    std::uint64_t count = !is_space(text[0]);
    for (std::size_t begin = 1; begin < text.size(); begin += most_at_a_time) {
      const std::size_t end = std::min(text.size(), begin + most_at_a_time);
      std::uint32_t part = 0;
      for (std::size_t i = begin; i < end; ++i)
        part += is_space(text[i - 1]) & ~is_space(text[i]) & 1u;
      count += part;
    }
    return count;
  }
  void read(TextCursor& cursor, std::uint64_t first, std::uint64_t end) const {
    words(cursor, first, end);
  }

private:
  static constexpr std::size_t most_at_a_time = 1 << 20;
  /// TextCursor::is_space, as a number.
  static std::uint32_t is_space(char c) {
    return std::uint32_t(c == ' ') | std::uint32_t(std::uint8_t(c - '\t') < 5);
  }
};

/// Reads from number `first` on until there are `count` or some blocks are read; returns how many
/// there are then.
template<class Things>
std::uint64_t read_some(TextCursor& text, std::uint64_t first, std::uint64_t count,
                        const Things& things) {
  const std::size_t begin = text.position();
  const char* const data = text.rest().data();
  std::vector<Block> blocks = cut_into_blocks(text.rest(), Things::is_end);
  for_parts(blocks.size(), 1, [&](std::size_t b, std::size_t end) {
    for (; b < end; ++b)
      blocks[b].count = Things::count(blocks[b].text);
  });
  std::uint64_t num_there = first;
  for (Block& block : blocks) {
    block.first = num_there;
    num_there += block.count;
  }
  std::atomic<std::size_t> first_wrong = blocks.size();
  const auto read_block = [&](Block& block) {
    // The text of the cursor does not end with the block, so that messages tell lines that end from
    // texts that do.
    TextCursor cursor = text;
    cursor.seek(begin + std::size_t(block.text.data() - data));
    const std::uint64_t end = std::min(count, block.first + block.count);
    if (block.first < end)
      things.read(cursor, block.first, end);
    block.end = cursor.position();
  };
  for_parts(blocks.size(), 1, [&](std::size_t b, std::size_t end) {
    for (; b < end && b < first_wrong; ++b)
      try {
        read_block(blocks[b]);
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
  if (num_there < count) {
    const std::string_view last = blocks.back().text;
    text.seek(begin + std::size_t(last.data() + last.size() - data));
    return num_there;
  }
  for (const Block& block : blocks)
    if (block.first < count && block.count > 0)
      text.seek(block.end);
  return count;
}

template<class Things>
std::uint64_t read_all(TextCursor& text, std::uint64_t count, const Things& things) {
  std::uint64_t num_read = 0;
  while (num_read < count && !text.at_end())
    num_read = read_some(text, num_read, count, things);
  return num_read;
}

} // namespace

std::uint64_t read_rows(TextCursor& text, std::uint64_t count, const char* thing,
                        const std::function<void(TextCursor& cursor, std::uint64_t i)>& row) {
  return read_all(text, count, Rows{thing, row});
}

std::uint64_t read_words(
    TextCursor& text, std::uint64_t count,
    const std::function<void(TextCursor& cursor, std::uint64_t first, std::uint64_t end)>& words) {
  return read_all(text, count, Words{words});
}

std::uint64_t count_words(std::string_view text) {
  std::atomic<std::uint64_t> count = 0;
  while (!text.empty()) {
    const std::vector<Block> blocks = cut_into_blocks(text, Words::is_end);
    for_parts(blocks.size(), 1, [&](std::size_t b, std::size_t end) {
      for (; b < end; ++b)
        count += Words::count(blocks[b].text);
    });
    const std::string_view last = blocks.back().text;
    text.remove_prefix(std::size_t(last.data() + last.size() - text.data()));
  }
  return count;
}

} // namespace ossatura
