// SPDX-License-Identifier: Apache-2.0
// Rows and words of texts that are large enough for several threads, against what is in them.
#include <ossatura/core/io/text/parallel_reader.hpp>

#include <ossatura/core/machine/processors.hpp>

#include "tests/catch.hpp"

#include <functional>
#include <string>
#include <vector>

namespace {

using namespace ossatura;

constexpr std::uint64_t num_rows = 300000;

/// "number square" in each row; with `line_end` behind it, and sometimes blank lines and spaces.
std::vector<std::string> make_rows(const std::string& line_end) {
  std::vector<std::string> rows;
  for (std::uint64_t i = 0; i < num_rows; ++i) {
    std::string row = i % 1000 == 7 ? line_end + " \t" + line_end + "  " : "";
    row += std::to_string(i) + (i % 3 == 0 ? " \t" : " ") + std::to_string(i * i);
    rows.push_back(row + (i % 5 == 0 ? " " : "") + line_end);
  }
  return rows;
}

std::string joined(const std::vector<std::string>& rows) {
  std::string text;
  for (const std::string& row : rows)
    text += row;
  return text;
}

/// Takes "number square", of `square` the numbers.
struct ReadSquare {
  std::vector<std::uint64_t> square = std::vector<std::uint64_t>(num_rows, 0);

  void operator()(TextCursor& cursor, std::uint64_t i) {
    std::uint64_t number = 0;
    if (!cursor.number(number) || number != i)
      cursor.bad_word("the number of the row is expected");
    if (!cursor.number(square[i]))
      cursor.bad_word("a square is expected");
  }
};

/// What reading throws, by five threads as by one; empty without an error.
std::string refusal_of_rows(const std::string& text) {
  std::string messages[2];
  const int before = io_threads();
  for (const int threads : {1, 5}) {
    set_io_threads(threads);
    ReadSquare read;
    TextCursor cursor("squares.txt", text);
    try {
      read_rows(cursor, num_rows, "a square", std::ref(read));
    } catch (const InputError& error) {
      messages[threads > 1] = error.what();
    }
  }
  set_io_threads(before);
  CHECK(messages[0] == messages[1]);
  return messages[0];
}

TEST_CASE("rows are read by all threads, whatever ends their lines", "[parallel_reader]") {
  const int before = io_threads();
  set_io_threads(5);
  for (const std::string line_end : {"\n", "\r\n", "\r"}) {
    const std::string text = "header" + line_end + joined(make_rows(line_end)) + "behind";
    ReadSquare read;
    TextCursor cursor("squares.txt", text);
    cursor.word();
    REQUIRE(read_rows(cursor, num_rows, "a square", std::ref(read)) == num_rows);
    for (std::uint64_t i = 0; i < num_rows; ++i)
      REQUIRE(read.square[i] == i * i);
    CHECK(cursor.next_line());
    CHECK(cursor.word() == "behind");
    CHECK(cursor.at_end());
  }
  set_io_threads(before);
}

TEST_CASE("fewer rows are counted, and none are needed", "[parallel_reader]") {
  const std::string text = "0 0\n1 1\n\n2 4";
  ReadSquare read;
  TextCursor cursor("squares.txt", text);
  CHECK(read_rows(cursor, 0, "a square", std::ref(read)) == 0);
  CHECK(cursor.position() == 0);
  CHECK(read_rows(cursor, 2, "a square", std::ref(read)) == 2);
  CHECK(cursor.next_line());
  CHECK(cursor.line_number() == 4);
  TextCursor all("squares.txt", text);
  CHECK(read_rows(all, num_rows, "a square", std::ref(read)) == 3);
  CHECK(all.num_left() == 0);
  CHECK(read.square[2] == 4);
}

TEST_CASE("the first wrong row is told, with its line", "[parallel_reader]") {
  std::vector<std::string> rows = make_rows("\n");
  CHECK(refusal_of_rows(joined(rows)).empty());
  // Two blank lines are before row 7, and before each thousandth after it.
  rows[290000] = "290000 x\n";
  const std::string last = refusal_of_rows(joined(rows));
  CHECK(last == "squares.txt: line 290581: 'x' where a square is expected");
  rows[150000] = "150000\n";
  CHECK(refusal_of_rows(joined(rows)) ==
        "squares.txt: line 150301: the line ends where a square is expected");
  rows[120000] = "120000 14400000000 5\n";
  CHECK(refusal_of_rows(joined(rows)) ==
        "squares.txt: line 120241: '5' where the line of a square should end");
  rows.resize(100000);
  rows.back() = "99999";
  CHECK(refusal_of_rows(joined(rows)) ==
        "squares.txt: line 100200: the file ends where a square is expected: it is truncated");
}

/// Words "0 1 2 ...", some lines apart, and "end" behind them.
std::string make_words() {
  std::string text = "\n ";
  for (std::uint64_t i = 0; i < num_rows; ++i)
    text += std::to_string(i) + (i % 7 == 0 ? "\r\n\n" : i % 5 == 0 ? " \t" : " ");
  return text + "end";
}

TEST_CASE("words are read by all threads, in whichever lines", "[parallel_reader]") {
  const int before = io_threads();
  const std::string text = make_words();
  for (const int threads : {1, 5}) {
    set_io_threads(threads);
    CHECK(count_words(text) == num_rows + 1);
    std::vector<std::uint64_t> found(num_rows, 0);
    const auto take = [&](TextCursor& cursor, std::uint64_t first, std::uint64_t end) {
      for (std::uint64_t i = first; i < end; ++i)
        if (!cursor.next_number(found[i]))
          cursor.bad_word("a number is expected");
    };
    TextCursor cursor("words.txt", text);
    REQUIRE(read_words(cursor, num_rows, take) == num_rows);
    for (std::uint64_t i = 0; i < num_rows; ++i)
      REQUIRE(found[i] == i);
    CHECK(cursor.next_word() == "end");

    TextCursor some("words.txt", text);
    CHECK(read_words(some, 0, take) == 0);
    CHECK(some.position() == 0);
    CHECK(read_words(some, num_rows / 2, take) == num_rows / 2);
    CHECK(some.next_word() == std::to_string(num_rows / 2));

    found.resize(num_rows + 1);
    TextCursor wrong("words.txt", text);
    CHECK_THROWS_WITH(read_words(wrong, num_rows + 1, take),
                      ContainsSubstring("'end' where a number is expected"));
    const auto skip = [](TextCursor& some_words, std::uint64_t first, std::uint64_t end) {
      for (std::uint64_t i = first; i < end; ++i)
        some_words.next_word();
    };
    TextCursor all("words.txt", text);
    CHECK(read_words(all, 2 * num_rows, skip) == num_rows + 1);
    CHECK(all.num_left() == 0);
  }
  CHECK(count_words("") == 0);
  CHECK(count_words(" \n") == 0);
  set_io_threads(before);
}

} // namespace
