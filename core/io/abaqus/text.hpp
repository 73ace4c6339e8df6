// SPDX-License-Identifier: Apache-2.0
// This text cursor splits an Abaqus or CalculiX input file into keywords with parameters, and below
// each the rows of fields between commas. Comments and blank lines are passed over; capitals and
// small letters are the same, and so are keywords with and without blanks.
#pragma once

#include <ossatura/core/io/text/cursor.hpp>

#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ossatura {

/// In capitals, without blanks at the ends.
std::string abaqus_name(std::string_view text);
/// The number that the text is, if it is digits alone.
std::optional<std::uint64_t> whole_number(std::string_view text);

struct AbaqusKeyword {
  std::string name;    ///< in capitals, without blanks: "SOLIDSECTION"
  std::string written; ///< as the file has it, for messages: "*Solid Section"
  std::vector<std::pair<std::string, std::string>> params; ///< in capitals; value may be empty
  bool is_continued = false; ///< a comma at the end of its line took the next one in

  /// The value of a parameter, or null.
  const std::string* find(std::string_view param) const;
  bool has(std::string_view param) const { return find(param) != nullptr; }
};

class AbaqusText {
public:
  AbaqusText(std::string path, std::string_view content)
      : text_(std::move(path), content) {
    take_line();
  }

  /// Moves to the next keyword, over rows that were not read; false at the end of the file.
  bool next_keyword();
  const AbaqusKeyword& keyword() const { return keyword_; }
  /// Throws InputError for the first parameter of the keyword that is none of these.
  void require_params(std::initializer_list<std::string_view> known) const;

  /// Moves to the next row of the keyword; false where it has no more.
  bool next_row();
  /// Whether the row has fields left; a comma at its end begins none.
  bool more() {
    skip_blanks();
    return at_ != end_;
  }
  /// Throws where the row has a field left that is not blank, as numbers with decimal commas give.
  void require_end();
  /// Passes the next field where it is blank and others follow; false, and nothing passed, where
  /// not.
  bool pass_blank() {
    skip_blanks();
    if (at_ == end_ || *at_ != ',')
      return false;
    ++at_;
    return true;
  }
  /// Takes the next field, without blanks around it; empty where it or the row is.
  std::string_view field();
  /// Takes the next field as a number; false, and nothing taken, where it is none, or not finite.
  template<class T>
  bool number(T& value) {
    skip_blanks();
    const char* first = at_;
    if (first != end_ && *first == '+')
      ++first;
    auto [stop, error] = std::from_chars(first, end_, value);
    while (stop != end_ && TextCursor::is_blank(*stop))
      ++stop;
    if (error != std::errc() || (stop != end_ && *stop != ',') || !is_finite(value))
      return slow_number(value);
    at_ = stop == end_ ? stop : stop + 1;
    return true;
  }
  /// The same; a blank field is passed and leaves the value.
  template<class T>
  bool number_or_blank(T& value) {
    skip_blanks();
    if (at_ == end_ || *at_ == ',') {
      field();
      return true;
    }
    return number(value);
  }

  /// Throws InputError with path and line of the keyword or row.
  template<class... Parts>
  [[noreturn]] void bad(const Parts&... parts) const {
    TextCursor there(text_);
    there.seek(begin_);
    there.bad(parts...);
  }
  /// The same with the field that is next.
  [[noreturn]] void bad_field(const std::string& problem);

private:
  /// The next line that is neither blank nor a comment; false, and an empty line, at the end.
  bool take_line();
  bool is_keyword() const { return !line_.empty() && line_[0] == '*'; }
  void skip_blanks() {
    while (at_ != end_ && TextCursor::is_blank(*at_))
      ++at_;
  }
  static bool is_finite(double value) { return std::isfinite(value); }
  template<class T>
  static bool is_finite(T) {
    return true;
  }
  bool slow_number(double& value);
  template<class T>
  bool slow_number(T&) {
    return false;
  }

  TextCursor text_;
  std::string_view line_;                  ///< not yet passed, without blanks before it
  std::size_t next_begin_ = 0, begin_ = 0; ///< of that line; of the keyword or row being read
  AbaqusKeyword keyword_;
  const char* at_ = nullptr; ///< in the row
  const char* end_ = nullptr;
};

} // namespace ossatura
