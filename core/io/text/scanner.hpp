// SPDX-License-Identifier: Apache-2.0
// A TextScanner reads a text in memory line by line and word by word, with the line number for
// messages. The locale has no influence.
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace ossatura {

class TextScanner {
public:
  explicit TextScanner(std::string_view text)
      : rest_(text) {}

  /// Moves to the next line; with `comment`, what follows that character is cut off and lines left
  /// blank are skipped. False at the end.
  bool next_line(char comment = '\0') {
    while (!rest_.empty()) {
      const std::size_t end = rest_.find_first_of("\n\r");
      line_ = rest_.substr(0, end);
      if (end == std::string_view::npos)
        rest_ = {};
      else
        rest_.remove_prefix(end + (rest_.substr(end, 2) == "\r\n" ? 2 : 1));
      ++line_number_;
      if (comment != '\0')
        line_ = line_.substr(0, line_.find(comment));
      if (line_.find_first_not_of(" \t\v\f") != std::string_view::npos)
        return true;
    }
    line_ = {};
    return false;
  }

  long line_number() const { return line_number_; }
  std::string_view line() const { return line_; }
  /// The text after the current line.
  std::string_view rest() const { return rest_; }

  /// Takes the next word of the line; empty at its end.
  std::string_view word() {
    const std::size_t begin = line_.find_first_not_of(" \t\v\f");
    if (begin == std::string_view::npos) {
      line_ = {};
      return {};
    }
    line_.remove_prefix(begin);
    const std::string_view found = line_.substr(0, line_.find_first_of(" \t\v\f"));
    line_.remove_prefix(found.size());
    return found;
  }

  /// Takes the next word as a number; false where it is none or out of range of T.
  template<class T>
  bool number(T& value) {
    return parse(word(), value);
  }

  /// The whole of `text` as a number, a leading plus sign allowed.
  template<class T>
  static bool parse(std::string_view text, T& value) {
    if (!text.empty() && text.front() == '+')
      text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && !text.empty();
  }

private:
  std::string_view rest_;
  std::string_view line_;
  long line_number_ = 0;
};

} // namespace ossatura
