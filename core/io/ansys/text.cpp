// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/ansys/text.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {
namespace {

bool begins_number(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.';
}

/// The whole of `text` as a number.
template<class T>
bool parse(std::string_view text, T& value) {
  if (!text.empty() && text.front() == '+')
    text.remove_prefix(1);
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (stop != end)
    return false;
  if constexpr (std::is_floating_point_v<T>) {
    // Numbers too small for 64 bits are zero.
    long double wide = 0;
    if (error == std::errc::result_out_of_range)
      return std::from_chars(text.data(), end, wide).ec == std::errc() &&
             std::isfinite(value = T(wide));
    return error == std::errc() && std::isfinite(value);
  }
  return error == std::errc();
}

/// Takes digits off the front; 0 where there are none.
std::size_t take_count(std::string_view& text) {
  std::size_t count = 0;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9' && count < 1000) {
    count = 10 * count + std::size_t(text.front() - '0');
    text.remove_prefix(1);
  }
  return count;
}

bool take_letter(std::string_view& text, char letter) {
  if (text.empty() || (text.front() | 0x20) != letter)
    return false;
  text.remove_prefix(1);
  return true;
}

} // namespace

char AnsysText::next_letter() {
  for (;;) {
    if (text_.at_end())
      return '\0';
    if (text_.rest()[0] != '!')
      return text_.rest()[0];
    text_.take_line();
  }
}

bool AnsysText::next_command() {
  while (rest_.empty()) {
    const char letter = next_letter();
    if (letter == '\0')
      return false;
    begin_ = text_.position();
    const std::string_view line = text_.take_line();
    if (begins_number(letter) || letter == '(')
      bad("this row belongs to no command: the command before it is missing or counts fewer rows, "
          "or the row is a comment (!); write it, or remove the row");
    rest_ = trimmed(line.substr(0, line.find('!')));
  }
  // Texts may have any letters in them.
  const bool one = rest_[0] == '/' || rest_[0] == '*' || rest_.find('\'') != std::string_view::npos;
  const std::size_t end = one ? rest_.size() : std::min(rest_.find('$'), rest_.size());
  std::string_view command = rest_.substr(0, end);
  rest_ = trimmed(rest_.substr(std::min(end + 1, rest_.size())));
  fields_.clear();
  for (;;) {
    const std::size_t comma = command.find(',');
    fields_.push_back(trimmed(command.substr(0, comma)));
    if (comma == std::string_view::npos)
      break;
    command.remove_prefix(comma + 1);
  }
  command_ = in_capitals(fields_[0]);
  if (!command_.empty() && command_[0] != '/' && command_[0] != '*' &&
      command_.find('=') == std::string::npos)
    command_.resize(std::min<std::size_t>(command_.size(), 4));
  return true;
}

void AnsysText::pass_rows() {
  if (!rest_.empty())
    return;
  for (char letter = next_letter(); begins_number(letter) || letter == '('; letter = next_letter())
    text_.take_line();
}

std::string AnsysText::field(std::size_t i) const {
  return i < fields_.size() ? in_capitals(fields_[i]) : std::string();
}

bool AnsysText::is_number(std::size_t i) const {
  double value = 0;
  return !blank(i) && parse(fields_[i], value);
}

void AnsysText::number(std::size_t i, std::int64_t& value, const char* what) const {
  if (!blank(i) && !parse(fields_[i], value))
    bad("'", printable_word(fields_[i]), "' where ", what, " is expected");
}

void AnsysText::number(std::size_t i, double& value, const char* what) const {
  if (!blank(i) && !parse(fields_[i], value))
    bad("'", printable_word(fields_[i]), "' where ", what, " is expected");
}

AnsysFormat AnsysText::take_format() {
  if (next_letter() == '\0')
    bad("the format of the rows below is missing: the file is truncated");
  begin_ = text_.position();
  const std::string_view line = trimmed(text_.take_line());
  AnsysFormat format;
  std::string_view rest = line;
  bool good = take_letter(rest, '(');
  while (good && !take_letter(rest, ')')) {
    const std::size_t count = take_count(rest);
    const char letter = rest.empty() ? '\0' : char(rest[0] | 0x20);
    rest.remove_prefix(std::min<std::size_t>(1, rest.size()));
    const std::size_t width = take_count(rest);
    good = count > 0 && count < 100 && width > 0 && width < 100 &&
           (letter == 'i' ? format.real.empty() : letter == 'e' || letter == 'g' || letter == 'a');
    std::vector<std::size_t>& widths = letter == 'i' ? format.integer : format.real;
    if (good)
      widths.insert(widths.end(), count, width);
    rest.remove_prefix(std::min(rest.find_first_of(",)"), rest.size())); // digits of reals
    take_letter(rest, ',');
  }
  if (!good || format.integer.empty())
    bad("'", printable_word(line), "' where a format as (3i9,6e21.13e3) is expected");
  return format;
}

bool AnsysText::next_row() {
  const std::size_t before = text_.position();
  if (!rest_.empty() || !begins_number(next_letter()))
    return false;
  // Back to the blanks that belong to the first column.
  const std::size_t passed = text_.position() - before;
  text_.seek(before);
  const std::size_t line_end = text_.rest().substr(0, passed).find_last_of("\n\r");
  begin_ = line_end == std::string_view::npos ? before : before + line_end + 1;
  text_.seek(begin_);
  row_ = text_.take_line();
  return true;
}

void AnsysText::require_row_end() const {
  const std::string_view left = row_.substr(0, row_.find('!'));
  if (left.find_first_of("123456789") != std::string_view::npos)
    bad("'", printable_word(trimmed(left)), "' behind the last column of the row; remove it");
}

std::string_view AnsysText::take_column(std::size_t width) {
  const std::string_view column = trimmed(row_.substr(0, width));
  row_.remove_prefix(std::min(width, row_.size()));
  return column;
}

std::int64_t AnsysText::integer(std::size_t width) {
  const std::string_view column = take_column(width);
  std::int64_t value = 0;
  if (!column.empty() && !parse(column, value))
    bad("'", printable_word(column), "' in a column of ", width,
        " where a whole number is expected");
  return value;
}

double AnsysText::real(std::size_t width) {
  const std::string_view column = take_column(width);
  double value = 0;
  if (!column.empty() && !parse(column, value))
    bad("'", printable_word(column), "' in a column of ", width, " where a number is expected");
  return value;
}

bool AnsysText::free_real(double& value) {
  row_ = trimmed(row_);
  const std::size_t end = std::min(row_.find_first_of(" \t,"), row_.size());
  const std::string_view word = row_.substr(0, end);
  row_.remove_prefix(std::min(end + 1, row_.size()));
  return !word.empty() && parse(word, value);
}

} // namespace ossatura
