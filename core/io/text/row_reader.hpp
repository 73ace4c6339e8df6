// SPDX-License-Identifier: Apache-2.0
// A row is a line of a text that is not blank. Large texts of rows are read by all threads.
#pragma once

#include <ossatura/core/io/text/cursor.hpp>

#include <cstdint>
#include <functional>

namespace ossatura {

/// Reads up to `count` rows from the next word of `text` on, by all threads. row(cursor, i) takes
/// the words of row i from `cursor`, which stands at the first, and throws InputError where they
/// are none that it takes; words after those are refused as "the line of THING should end". Throws
/// what reading row after row would: the error of the first row that has one. Returns the number of
/// rows that there were; `text` then stands behind the last, or at its end where there were fewer.
std::uint64_t read_rows(TextCursor& text, std::uint64_t count, const char* thing,
                        const std::function<void(TextCursor& cursor, std::uint64_t i)>& row);

} // namespace ossatura
