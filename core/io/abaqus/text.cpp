// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/abaqus/text.hpp>

#include <algorithm>

namespace ossatura {
namespace {

std::string without_blanks(std::string_view text) {
  std::string name = in_capitals(text);
  name.erase(std::remove_if(name.begin(), name.end(), TextCursor::is_blank), name.end());
  return name;
}

} // namespace

std::string abaqus_name(std::string_view text) {
  text = trimmed(text);
  if (text.size() > 1 && text.front() == '"' && text.back() == '"')
    text = text.substr(1, text.size() - 2);
  return in_capitals(text);
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size())
    return std::nullopt;
  return number;
}

const std::string* AbaqusKeyword::find(std::string_view param) const {
  for (const auto& [name, value] : params)
    if (name == param)
      return &value;
  return nullptr;
}

bool AbaqusText::take_line() {
  while (text_.num_left() > 0) {
    next_begin_ = text_.position();
    line_ = trimmed(text_.take_line());
    if (!line_.empty() && line_.substr(0, 2) != "**")
      return true;
  }
  next_begin_ = text_.position();
  line_ = {};
  return false;
}

bool AbaqusText::next_keyword() {
  while (!line_.empty() && !is_keyword())
    take_line();
  begin_ = next_begin_;
  if (line_.empty())
    return false;
  std::string line(line_);
  keyword_ = {};
  while (take_line() && line.back() == ',' && !is_keyword()) {
    line += line_;
    keyword_.is_continued = true;
  }
  const std::size_t comma = std::min(line.find(','), line.size());
  keyword_.name = without_blanks(std::string_view(line).substr(1, comma - 1));
  for (const char c : trimmed(std::string_view(line).substr(0, std::min<std::size_t>(comma, 32))))
    keyword_.written += c >= 32 && c < 127 ? c : '?';
  for (std::size_t at = comma; at < line.size();) {
    const std::size_t end = std::min(line.find(',', at + 1), line.size());
    const std::string_view param = std::string_view(line).substr(at + 1, end - at - 1);
    const std::size_t equals = param.find('=');
    const std::string name = without_blanks(param.substr(0, equals));
    if (!name.empty())
      keyword_.params.emplace_back(name, equals == std::string_view::npos
                                             ? std::string()
                                             : abaqus_name(param.substr(equals + 1)));
    at = end;
  }
  at_ = end_ = nullptr;
  return true;
}

void AbaqusText::require_params(std::initializer_list<std::string_view> known) const {
  for (const auto& param : keyword_.params)
    if (std::find(known.begin(), known.end(), param.first) == known.end())
      bad("the parameter ", printable_word(param.first), " of ", keyword_.written,
          " is not known here, and might change what is solved; remove it if it does not matter",
          keyword_.is_continued ? ". A comma at the end of the line continues the keyword with the "
                                  "next line: take it away where that is a row of data"
                                : "");
}

bool AbaqusText::next_row() {
  if (line_.empty() || is_keyword())
    return false;
  begin_ = next_begin_;
  at_ = line_.data();
  end_ = at_ + line_.size();
  take_line();
  return true;
}

std::string_view AbaqusText::field() {
  const char* stop = std::find(at_, end_, ',');
  const std::string_view taken(at_, std::size_t(stop - at_));
  at_ = stop == end_ ? stop : stop + 1;
  return trimmed(taken);
}

bool AbaqusText::slow_number(double& value) {
  const char* first = at_;
  std::string text(field());
  at_ = first;
  // 1.5D+3 as Fortran writes it
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == 'd' || c == 'D'; }, 'e');
  long double wide = 0;
  const char* begin = text.data() + (!text.empty() && text[0] == '+');
  const auto [stop, error] = std::from_chars(begin, text.data() + text.size(), wide);
  if (error != std::errc() || stop != text.data() + text.size() ||
      !(wide <= 1e308L && wide >= -1e308L)) // not a number, too
    return false;
  value = double(wide);
  field();
  return true;
}

void AbaqusText::require_end() {
  while (more())
    if (const std::string_view taken = field(); !taken.empty())
      bad("'", printable_word(taken),
          "' behind the last field of the row; decimals are written "
          "with a point");
}

void AbaqusText::bad_field(const std::string& problem) {
  const std::string_view taken = field();
  if (taken.empty())
    bad("nothing where ", problem);
  bad("'", printable_word(taken), "' where ", problem);
}

} // namespace ossatura
