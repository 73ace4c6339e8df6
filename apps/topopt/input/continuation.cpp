// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/options/notation.hpp"
#include "apps/driver/output/table.hpp"
#include "apps/topopt/input/choices.hpp"

#include <cmath>

namespace ossatura {

Continuation parse_continuation(const std::string& text) {
  const std::string expected = "'" + text +
                               "': expected a number, or START:END:EVERY:CHANGE with a whole EVERY "
                               "of at least 1 and a CHANGE like +0.5 or x2";
  const std::vector<std::string> parts = split_list(text, ':');
  if (parts.size() != 1 && parts.size() != 4)
    throw std::invalid_argument(expected);
  const double start = parse_number<double>(parts[0]);
  Continuation result{start, start};
  if (parts.size() == 4) {
    result.end = parse_number<double>(parts[1]);
    result.every = parse_number<int>(parts[2]);
    const char sign = parts[3].empty() ? ' ' : parts[3][0];
    if (result.every < 1 || (sign != '+' && sign != 'x'))
      throw std::invalid_argument(expected);
    const double change = parse_number<double>(parts[3].substr(1));
    (sign == 'x' ? result.factor : result.increment) = change;
    if (!(sign == 'x' ? change > 1 : change > 0) || !(result.end >= start))
      throw std::invalid_argument("'" + text + "': a continuation grows from START to END");
  }
  if (!std::isfinite(result.start) || !std::isfinite(result.end))
    throw std::invalid_argument(expected);
  return result;
}

std::string continuation_text(const Continuation& c) {
  std::string text = format_number(c.start);
  if (c.every == 0)
    return text;
  text += ":" + format_number(c.end) + ":" + std::to_string(c.every) + ":";
  if (c.factor != 1)
    text += "x" + format_number(c.factor);
  if (c.increment != 0 || c.factor == 1)
    text += "+" + format_number(c.increment);
  return text;
}

} // namespace ossatura
