// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/vtk/xml_scanner.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/text/cursor.hpp>

namespace ossatura {
namespace {

struct Entity {
  std::string_view code, text;
};
constexpr Entity entities[] = {
    {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&quot;", "\""}, {"&apos;", "'"}};

std::string decode_entities(std::string_view value) {
  std::string text;
  while (!value.empty()) {
    std::size_t taken = 0;
    if (value.front() == '&')
      for (const Entity& entity : entities)
        if (value.substr(0, entity.code.size()) == entity.code) {
          text += entity.text;
          taken = entity.code.size();
          break;
        }
    if (taken == 0) {
      text += value.front();
      taken = 1;
    }
    value.remove_prefix(taken);
  }
  return text;
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == ':' || c == '.';
}

} // namespace

std::string XmlTag::get(std::string_view key, const std::string& otherwise) const {
  for (const auto& [name, value] : attribute)
    if (name == key)
      return value;
  return otherwise;
}

long XmlScanner::line_at(std::size_t position) const {
  TextCursor text(path_, content_);
  text.seek(position);
  return text.line_number();
}

void XmlScanner::bad(const std::string& problem) const {
  fail<InputError>(path_, ": line ", line_at(at_), ": ", problem,
                   ": the file is damaged or no XML");
}

void XmlScanner::skip_to(std::string_view end) {
  const std::size_t found = content_.find(end, at_);
  if (found == std::string_view::npos)
    bad("'" + std::string(end) + "' is missing");
  at_ = found + end.size();
}

void XmlScanner::skip_blanks() {
  while (at_ < content_.size() && TextCursor::is_space(content_[at_]))
    ++at_;
}

std::string XmlScanner::take_name() {
  const std::size_t first = at_;
  while (at_ < content_.size() && is_name_character(content_[at_]))
    ++at_;
  if (at_ == first)
    bad("a name is expected");
  return std::string(content_.substr(first, at_ - first));
}

std::string XmlScanner::take_value() {
  skip_blanks();
  if (at_ >= content_.size() || content_[at_] != '=')
    bad("'=' is expected after the name of an attribute");
  ++at_;
  skip_blanks();
  const char quote = at_ < content_.size() ? content_[at_] : '\0';
  if (quote != '"' && quote != '\'')
    bad("the value of an attribute is expected in quotes");
  const std::size_t first = ++at_;
  skip_to(std::string_view(&quote, 1));
  return decode_entities(content_.substr(first, at_ - 1 - first));
}

bool XmlScanner::next(XmlTag& tag) {
  std::size_t begin = at_;
  for (;;) {
    const std::size_t open = content_.find('<', at_);
    if (open == std::string_view::npos)
      return false;
    text_ = content_.substr(begin, open - begin);
    at_ = open + 1;
    if (content_.substr(at_, 3) == "!--")
      skip_to("-->");
    else if (content_.substr(at_, 1) == "?")
      skip_to("?>");
    else if (content_.substr(at_, 1) == "!")
      skip_to(">");
    else
      break;
    begin = at_;
  }
  tag = {};
  if (content_.substr(at_, 1) == "/") {
    tag.kind = XmlTag::Kind::end;
    ++at_;
  }
  tag.name = take_name();
  for (;;) {
    skip_blanks();
    if (at_ >= content_.size())
      bad("the file ends within a tag");
    if (content_[at_] == '>') {
      ++at_;
      return true;
    }
    if (content_.substr(at_, 2) == "/>") {
      at_ += 2;
      tag.kind = XmlTag::Kind::empty;
      return true;
    }
    std::string name = take_name();
    std::string value = take_value();
    tag.attribute.emplace_back(std::move(name), std::move(value));
  }
}

} // namespace ossatura
