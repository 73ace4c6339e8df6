// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/text/cursor.hpp>

namespace ossatura {
namespace {

long count_line_ends(std::string_view text) {
  long count = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    count += text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'));
  return count;
}

} // namespace

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && TextCursor::is_blank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && TextCursor::is_blank(text.back()))
    text.remove_suffix(1);
  return text;
}

std::string in_capitals(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'a' && c <= 'z')
      c = char(c - 'a' + 'A');
  return result;
}

std::string printable_word(std::string_view word) {
  std::string text;
  for (const char c : word.substr(0, 24))
    text += c >= 32 && c < 127 ? c : '?';
  return word.size() > 24 ? text + "..." : text;
}

std::string_view TextCursor::take_line() {
  const char* first = at_;
  while (at_ != end_ && !is_line_end(*at_))
    ++at_;
  const std::string_view line(first, std::size_t(at_ - first));
  if (at_ != end_)
    at_ += *at_ == '\r' && end_ - at_ > 1 && at_[1] == '\n' ? 2 : 1;
  return line;
}

long TextCursor::line_number() const {
  return 1 + count_line_ends({begin_, position()});
}

long TextCursor::line_of_word(std::size_t position, std::size_t count) const {
  TextCursor ahead(*this);
  ahead.seek(position);
  for (std::size_t i = 0; i < count; ++i)
    ahead.next_word();
  ahead.at_end();
  return ahead.line_number();
}

void TextCursor::bad_word(const std::string& problem) {
  const bool line_ends = at_line_end();
  if (at_ != end_ && !line_ends)
    bad("'", printable_word(take_word()), "' where ", problem);
  // Numbers that flow across lines are missing at the end of the file only.
  TextCursor ahead(*this);
  if (ahead.at_end())
    bad("the file ends where ", problem, ": it is truncated");
  bad("the line ends where ", problem);
}

void TextCursor::require_plausible(std::uint64_t count, std::size_t bytes,
                                   const char* things) const {
  if (count > (num_left() + 1) / bytes)
    bad(count, " ", things, " are more than the ", num_left(),
        " bytes that follow can hold: the file is truncated or the number wrong");
}

} // namespace ossatura
