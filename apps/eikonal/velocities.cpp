// SPDX-License-Identifier: Apache-2.0
#include "apps/eikonal/velocities.hpp"

#include "apps/driver/json_file.hpp"
#include "apps/driver/notation.hpp"
#include "apps/driver/suggest.hpp"
#include "apps/driver/table.hpp"
#include "core/io/text_scanner.hpp"
#include "core/log.hpp"
#include "core/require.hpp"

#include <algorithm>
#include <cmath>

namespace femura {

namespace {

using Json = nlohmann::ordered_json;

ConductionVelocity read_tissue(const std::string& where, const Json& json) {
  const std::vector<std::string> names = {"vl", "vt", "vn"};
  if (!json.is_object())
    fail<InputError>(where, ": expected velocities in m/s, such as "
                            "{\"vl\": 0.6, \"vt\": 0.4, \"vn\": 0.2}");
  double value[3] = {};
  bool given[3] = {};
  for (const auto& [name, number] : json.items()) {
    const auto known = std::find(names.begin(), names.end(), name);
    if (known == names.end())
      fail<InputError>(where, ": unknown velocity \"", name,
                       "\"; there are \"vl\", \"vt\" and \"vn\"", did_you_mean(name, names));
    const std::size_t i = std::size_t(known - names.begin());
    if (!number.is_number())
      fail<InputError>(where, ": \"", name, "\" is ", number.dump(), ", not a number of m/s");
    value[i] = number.get<double>();
    given[i] = true;
    if (!(value[i] > 0) || std::isinf(value[i]))
      fail<InputError>(where, ": \"", name, "\" is ", number.dump(),
                       ": a velocity in m/s is greater than 0");
  }
  for (std::size_t i = 0; i < 2; ++i)
    if (!given[i])
      fail<InputError>(where, ": \"", names[i], "\" is missing");
  return {value[0], value[1], given[2] ? value[2] : value[1]};
}

} // namespace

VelocityTable read_velocities(const std::string& path) {
  const Json json = read_json(path);
  if (!json.is_object())
    fail<InputError>(path, ": expected an object with velocities by tag, such as "
                           "{\"1\": {\"vl\": 0.6, \"vt\": 0.4}}");
  VelocityTable table;
  table.origin = path;
  for (const auto& [name, tissue] : json.items()) {
    int tag = 0;
    if (name == "default")
      table.other = read_tissue(path + ": \"default\"", tissue);
    else if (!TextScanner::parse(name, tag))
      fail<InputError>(path, ": ", Json(name).dump(), " is no tag: a whole number or \"default\"",
                       did_you_mean(name, {"default"}));
    else if (!table.by_tag.insert({tag, read_tissue(path + ": tag " + name, tissue)}).second)
      fail<InputError>(path, ": tag ", tag, " is there twice");
  }
  if (table.by_tag.empty() && !table.other)
    fail<InputError>(path, ": has no velocities");
  return table;
}

ConductionVelocity parse_velocity(const std::string& text) {
  const std::vector<std::string> items = split_list(text, ',');
  if (items.empty() || items.size() > 3)
    fail<std::invalid_argument>("'", text, "': expected VL[,VT[,VN]], such as 0.6,0.4,0.2");
  double value[3] = {};
  for (std::size_t i = 0; i < 3; ++i) {
    value[i] = i < items.size() ? parse_number<double>(items[i]) : value[i - 1];
    if (!(value[i] > 0))
      fail<std::invalid_argument>("'", text, "': velocities in m/s, greater than 0");
  }
  return {value[0], value[1], value[2]};
}

TissueVelocities choose_velocities(const VelocityTable& table,
                                   const std::map<int, std::int64_t>& count,
                                   const std::string& source) {
  TissueVelocities chosen;
  for (const auto& [tag, num_tetra] : count) {
    const auto found = table.by_tag.find(tag);
    if (found == table.by_tag.end() && !table.other)
      fail<InputError>(source, ": ", format_count(num_tetra), " tetrahedra have tag ", tag,
                       ", for which ", table.origin, " has no velocity: add \"", tag,
                       "\": {\"vl\": ..., \"vt\": ...}, or \"default\" for all other tags");
    chosen[tag] = found == table.by_tag.end() ? *table.other : found->second;
  }
  std::string unused;
  for (const auto& entry : table.by_tag)
    if (count.count(entry.first) == 0)
      unused += (unused.empty() ? "" : ", ") + std::to_string(entry.first);
  if (!unused.empty())
    log_info(table.origin, ": no tetrahedron has tag ", unused);
  return chosen;
}

} // namespace femura
