// SPDX-License-Identifier: Apache-2.0
// A TextCursor reads numbers and words of a large file in memory, by lines or flowing across them,
// with stretches of bytes in between. The cursor counts lines only when a message needs the number,
// so that reading costs nothing more. The locale has no influence.
#pragma once

#include <ossatura/core/base/require.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace ossatura {

/// A word as it may stand in a message: cut off, and without control characters.
std::string printable_word(std::string_view word);

/// Without blanks at the ends.
std::string_view trimmed(std::string_view text);
/// With the letters a to z as A to Z.
std::string in_capitals(std::string_view text);

/// Bytes of the mark that some editors begin a file of UTF-8 with: 0 without one.
inline std::size_t length_of_mark(std::string_view text) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  return text.substr(0, mark.size()) == mark ? mark.size() : 0;
}

class TextCursor {
public:
  /// `text` begins where the file does, so that lines are counted from there; `path` is for
  /// messages. A byte order mark is passed.
  TextCursor(std::string path, std::string_view text)
      : path_(std::move(path))
      , begin_(text.data())
      , at_(text.data() + length_of_mark(text))
      , end_(text.data() + text.size()) {}

  const std::string& path() const { return path_; }
  std::size_t position() const { return std::size_t(at_ - begin_); }
  void seek(std::size_t position) { at_ = begin_ + position; }
  std::size_t num_left() const { return std::size_t(end_ - at_); }
  std::string_view rest() const { return {at_, num_left()}; }

  /// Leaves the current line and passes blank ones, up to the first word of the next; false at the
  /// end of the text. A carriage return ends a line, too.
  bool next_line() {
    while (at_ != end_ && !is_line_end(*at_))
      ++at_;
    return !at_end();
  }
  /// Passes spaces; whether the line has no more words.
  bool at_line_end() {
    while (at_ != end_ && is_blank(*at_))
      ++at_;
    return at_ == end_ || is_line_end(*at_);
  }
  /// Passes spaces and line ends; whether there are no more words.
  bool at_end() {
    while (at_ != end_ && is_space(*at_))
      ++at_;
    return at_ == end_;
  }
  /// The rest of the line; passes it together with the line's end.
  std::string_view take_line();

  /// The next word of the line, empty at its end.
  std::string_view word() { return at_line_end() ? std::string_view() : take_word(); }
  /// The next word in whichever line.
  std::string_view next_word() { return at_end() ? std::string_view() : take_word(); }

  /// Takes the next word of the line as a number; false, and nothing taken, where it is none or out
  /// of range of T.
  template<class T>
  bool number(T& value) {
    return !at_line_end() && parse(value);
  }
  /// The same with the next word in whichever line.
  template<class T>
  bool next_number(T& value) {
    return !at_end() && parse(value);
  }

  /// Takes `count` bytes; null where there are fewer.
  const unsigned char* bytes(std::size_t count) {
    if (count > num_left())
      return nullptr;
    const char* taken = at_;
    at_ += count;
    return reinterpret_cast<const unsigned char*>(taken);
  }

  /// Counted from 1.
  long line_number() const;
  /// Line of the word `count` words after `position`.
  long line_of_word(std::size_t position, std::size_t count) const;

  /// Throws InputError with path and line.
  template<class... Parts>
  [[noreturn]] void bad(const Parts&... parts) const {
    fail<InputError>(path_, ": line ", line_number(), ": ", parts...);
  }
  /// `problem` with the word that is there, or that the line or the file ends.
  [[noreturn]] void bad_word(const std::string& problem);
  /// Throws InputError unless what is left can hold `count` things of at least `bytes` bytes each;
  /// to be asked before anything is allocated for them.
  void require_plausible(std::uint64_t count, std::size_t bytes, const char* things) const;

  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }
  static bool is_line_end(char c) { return c == '\n' || c == '\r'; }
  static bool is_space(char c) { return is_blank(c) || is_line_end(c); }

private:
  std::string_view take_word() {
    const char* first = at_;
    while (at_ != end_ && !is_space(*at_))
      ++at_;
    return {first, std::size_t(at_ - first)};
  }

  template<class T>
  bool parse(T& value) {
    const char* first = at_;
    if (*first == '+' && end_ - first > 1 && first[1] != '-')
      ++first;
    const auto [stop, error] = std::from_chars(first, end_, value);
    if (error != std::errc()) {
      if constexpr (std::is_floating_point_v<T>)
        return error == std::errc::result_out_of_range && parse_tiny(first, stop, value);
      return false;
    }
    if (stop != end_ && !is_space(*stop))
      return false;
    at_ = stop;
    return true;
  }

  /// Numbers too small for T are zero; too large ones are none.
  template<class T>
  bool parse_tiny(const char* first, const char* stop, T& value) {
    long double wide = 0;
    if (std::from_chars(first, end_, wide).ec != std::errc() || wide > 1 || wide < -1 ||
        (stop != end_ && !is_space(*stop)))
      return false;
    value = T(wide);
    at_ = stop;
    return true;
  }

  std::string path_;
  const char* begin_;
  const char* at_;
  const char* end_;
};

} // namespace ossatura
