// SPDX-License-Identifier: Apache-2.0
// The scanner finds the tags of an XML file in memory, one after the other, in as much of XML as
// VTK writes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ossatura {

struct XmlTag {
  enum class Kind { begin, end, empty };
  Kind kind = Kind::begin;
  std::string name;
  std::vector<std::pair<std::string, std::string>> attribute;

  /// The value, or `otherwise`.
  std::string get(std::string_view key, const std::string& otherwise = {}) const;
};

class XmlScanner {
public:
  /// `path` is for messages.
  XmlScanner(std::string path, std::string_view content)
      : path_(std::move(path))
      , content_(content) {}

  /// Goes to the next tag, past text, comments, declarations; false at the end. Throws InputError
  /// for what is no XML.
  bool next(XmlTag& tag);
  /// The text between the last two tags.
  std::string_view text() const { return text_; }
  /// Behind the last tag.
  std::size_t position() const { return at_; }
  long line_at(std::size_t position) const;

private:
  [[noreturn]] void bad(const std::string& problem) const;
  /// Passes a stretch that ends in `end`.
  void skip_to(std::string_view end);
  void skip_blanks();
  std::string take_name();
  std::string take_value();

  std::string path_;
  std::string_view content_;
  std::size_t at_ = 0;
  std::string_view text_;
};

} // namespace ossatura
