// SPDX-License-Identifier: Apache-2.0
// These functions parse the small notations of options. Errors are std::invalid_argument.
#pragma once

#include <ossatura/core/base/names.hpp>

#include <array>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ossatura {

inline constexpr Names<int> axis_names = {{0, "x"}, {1, "y"}, {2, "z"}};

/// Reads all of `text` as a number; throws std::invalid_argument where it is none.
template<class Number>
Number parse_number(const std::string& text) {
  std::istringstream stream(text);
  stream.exceptions(std::ios::badbit); // or it is silent where there is no memory
  Number value{};
  stream >> value;
  if (stream.fail() || !stream.eof())
    throw std::invalid_argument("'" + text + "' is not a number of the kind expected here");
  return value;
}

/// Parts of `text` before and after the first `separator`; throws with `expected` where there is
/// none.
inline std::pair<std::string, std::string> split_at(const std::string& text, char separator,
                                                    const char* expected) {
  const std::size_t place = text.find(separator);
  if (place == std::string::npos)
    throw std::invalid_argument("'" + text + "': expected " + expected);
  return {text.substr(0, place), text.substr(place + 1)};
}

/// Words with `separator` between them.
inline std::string joined(const std::vector<std::string>& words, const char* separator) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : separator) + word;
  return text;
}

/// The items of `text` between separators; none where it is empty.
inline std::vector<std::string> split_list(const std::string& text, char separator) {
  std::vector<std::string> items;
  if (text.empty())
    return items;
  std::size_t begin = 0, end = 0;
  for (; (end = text.find(separator, begin)) != std::string::npos; begin = end + 1)
    items.push_back(text.substr(begin, end - begin));
  items.push_back(text.substr(begin));
  return items;
}

/// Three numbers, as in `example`.
template<class Number>
std::array<Number, 3> parse_triple(const std::string& text, char separator, const char* example) {
  const std::vector<std::string> parts = split_list(text, separator);
  if (parts.size() != 3)
    throw std::invalid_argument("'" + text + "': expected three numbers, as in " + example);
  return {parse_number<Number>(parts[0]), parse_number<Number>(parts[1]),
          parse_number<Number>(parts[2])};
}

} // namespace ossatura
