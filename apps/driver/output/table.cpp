// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/output/table.hpp"

#include <algorithm>
#include <cstdio>

namespace ossatura {

std::string format_number(double value, int significant) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*g", significant, value + 0.0); // -0 is 0
  return text;
}

std::string format_count(std::int64_t value) {
  std::string text = std::to_string(value);
  const std::size_t sign = value < 0 ? 1 : 0;
  for (std::size_t place = text.size(); place > 3 + sign;) {
    place -= 3;
    text.insert(place, 1, ' ');
  }
  return text;
}

std::string counted(std::int64_t count, const std::string& noun) {
  return (count == 0 ? "no" : format_count(count)) + ' ' + noun + (count == 1 ? "" : "s");
}

std::string format_bytes(double bytes) {
  const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  int unit = 0;
  while (bytes >= 1000 && unit < 4) {
    bytes /= 1000;
    ++unit;
  }
  return format_number(bytes, 3) + ' ' + units[unit];
}

void Table::section(const std::string& title) {
  if (!lines_.empty())
    lines_.push_back({false, "", "", ""});
  lines_.push_back({false, title, "", ""});
}

void Table::row(const std::string& label, const std::string& value, const std::string& unit) {
  lines_.push_back({true, label, value, unit});
}

void Table::columns(const std::vector<std::string>& heads,
                    const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::vector<std::string>> all = {heads};
  all.insert(all.end(), rows.begin(), rows.end());
  std::vector<std::size_t> width(heads.size(), 0);
  for (const auto& cells : all)
    for (std::size_t c = 0; c < cells.size() && c < width.size(); ++c)
      width[c] = std::max(width[c], cells[c].size());
  for (const auto& cells : all) {
    std::string line = " ";
    for (std::size_t c = 0; c < cells.size() && c < width.size(); ++c) {
      const std::string padding(width[c] - cells[c].size(), ' ');
      line += c == 0 ? ' ' + cells[c] + padding : "  " + padding + cells[c];
    }
    lines_.push_back({false, line, "", ""});
  }
}

std::string Table::text() const {
  std::size_t label_width = 0, value_width = 0;
  for (const Line& line : lines_)
    if (line.is_row) {
      label_width = std::max(label_width, line.label.size());
      if (!line.unit.empty())
        value_width = std::max(value_width, line.value.size());
    }
  std::string text;
  for (const Line& line : lines_) {
    if (!line.is_row) {
      text += line.label + '\n';
      continue;
    }
    text += "  " + line.label + std::string(label_width - line.label.size() + 2, ' ');
    if (line.unit.empty())
      text += line.value;
    else
      text += std::string(value_width - line.value.size(), ' ') + line.value + ' ' + line.unit;
    text.resize(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

} // namespace ossatura
