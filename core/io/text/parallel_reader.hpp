// SPDX-License-Identifier: Apache-2.0
// Large texts are read by all threads, row by row or word by word. A row is a line that is not
// blank; words are what stands between spaces and line ends.
#pragma once

#include <ossatura/core/io/text/cursor.hpp>

#include <cstdint>
#include <functional>
#include <string_view>

namespace ossatura {

/// Reads up to `count` rows from the next word of `text` on. row(cursor, i) takes the words of row
/// i from `cursor`, which stands at the first, and throws InputError where they are none that it
/// takes; words after those are refused as "the line of THING should end". Throws what reading row
/// after row would: the error of the first row that has one; all rows before it are read, and some
/// behind it may be. Returns the number of rows that there were; `text` then stands behind the
/// last, or at its end where there were fewer.
std::uint64_t read_rows(TextCursor& text, std::uint64_t count, const char* thing,
                        const std::function<void(TextCursor& cursor, std::uint64_t i)>& row);

/// The same for words, in whichever lines. words(cursor, first, end) takes words first .. end - 1
/// from `cursor`, which stands in front of them: by the thousand, as a call takes longer than a
/// word.
std::uint64_t read_words(
    TextCursor& text, std::uint64_t count,
    const std::function<void(TextCursor& cursor, std::uint64_t first, std::uint64_t end)>& words);

/// The number of words.
std::uint64_t count_words(std::string_view text);

} // namespace ossatura
