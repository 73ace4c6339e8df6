// SPDX-License-Identifier: Apache-2.0
#include "apps/eikonal/input/velocities.hpp"

#include "apps/driver/options/notation.hpp"
#include "apps/driver/options/suggest.hpp"
#include "apps/driver/output/table.hpp"
#include "apps/driver/problem/json_file.hpp"
#include <ossatura/core/base/log.hpp>
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/text/scanner.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

ConductionVelocity read_tissue(const std::string& where, const nlohmann::json& json) {
  const std::vector<std::string> names = {"vl", "vt", "vn"};
  if (json.is_null())
    return no_conduction;
  if (!json.is_object())
    fail<InputError>(where, ": expected velocities in m/s, such as "
                            "{\"vl\": 0.6, \"vt\": 0.4, \"vn\": 0.2}, or {\"vl\": 0.6}, the same "
                            "in all directions, or {\"vl\": 0} where no wave goes");
  double value[3] = {};
  bool given[3] = {};
  for (const auto& [name, number] : json.items()) {
    const auto known = std::find(names.begin(), names.end(), name);
    if (known == names.end())
      fail<InputError>(where, ": unknown velocity \"", name,
                       "\"; there are \"vl\", \"vt\" and \"vn\"", did_you_mean(name, names));
    const std::size_t i = std::size_t(known - names.begin());
    if (!number.is_number() && !number.is_null())
      fail<InputError>(where, ": \"", name, "\" is ", number.dump(), ", not a number of m/s");
    value[i] = number.is_null() ? 0 : number.get<double>();
    given[i] = true;
    if (!(value[i] >= 0) || std::isinf(value[i]))
      fail<InputError>(where, ": \"", name, "\" is ", number.dump(),
                       ": a velocity in m/s is greater than 0, or 0 where no wave goes");
  }
  if (!given[0])
    fail<InputError>(where, ": \"vl\" is missing");
  if (value[0] == 0)
    return no_conduction;
  if (given[2] && !given[1])
    fail<InputError>(where, ": \"vt\" is missing, but \"vn\" is there");
  for (std::size_t i = 1; i < 3; ++i)
    if (!given[i])
      value[i] = value[i - 1];
    else if (value[i] == 0)
      fail<InputError>(where, ": \"", names[i], "\" is ", json.at(names[i]).dump(),
                       ": greater than 0 in tissue that conducts; where no wave goes, \"vl\" is 0");
  return {value[0], value[1], value[2]};
}

/// "1, 2, 3 and 17 more"
std::string list_of(const std::vector<int>& tags) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(tags.size(), most); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(tags[i]);
  if (tags.size() > most)
    text += " and " + format_count(std::int64_t(tags.size() - most)) + " more";
  return text;
}

/// "no tetrahedron has tag 9 of --non-conducting; there is tag 1, 2"
std::string no_tetra_has(const std::vector<int>& tags, const std::string& origin,
                         const std::map<int, std::int64_t>& count) {
  std::vector<int> there;
  for (const auto& entry : count)
    there.push_back(entry.first);
  return "no tetrahedron has tag " + list_of(tags) + " of " + origin + "; there is tag " +
         list_of(there);
}

} // namespace

VelocityTable read_velocities(const std::string& path) {
  const nlohmann::json json = read_large_json(path);
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
      fail<InputError>(path, ": ", nlohmann::json(name).dump(),
                       " is no tag: a whole number or \"default\"",
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
      fail<std::invalid_argument>("'", text,
                                  "': velocities in m/s, greater than 0; tags through "
                                  "which no wave goes: --non-conducting");
  }
  return {value[0], value[1], value[2]};
}

TissueVelocities choose_velocities(const VelocityTable& table,
                                   const std::map<int, std::int64_t>& count,
                                   const std::string& source) {
  const ChosenVelocities chosen = choose_velocities(table, count);
  if (!chosen.missing.empty()) {
    const int tag = chosen.missing.front();
    const bool may_lack_tags = count.size() == 1 && tag == 0;
    fail<InputError>(source, ": ", format_count(count.at(tag)), " tetrahedra have tag ", tag,
                     may_lack_tags ? ", as all have where a file has no tags, or a file of VTK has "
                                     "them by another name (--tag-field)"
                                   : "",
                     ", for which ", table.origin, " has no velocity: add \"", tag,
                     "\": {\"vl\": ..., \"vt\": ...}, or \"default\" for all other tags");
  }
  // Without a default every tag of the mesh has its own velocity, and the table is one of many
  // meshes; with one, the tetrahedra that a mistyped tag was meant for take the default.
  if (!chosen.unused.empty() && table.other)
    log_warning("unused-velocity", source, ": ", no_tetra_has(chosen.unused, table.origin, count),
                ": what they were meant for has the velocity of \"default\"");
  else if (!chosen.unused.empty())
    log_info(source, ": ", no_tetra_has(chosen.unused, table.origin, count));
  return chosen.by_tag;
}

void block_tags(const TetraMesh& mesh, const std::map<int, std::int64_t>& count,
                const std::vector<int>& non_conducting, const std::string& source,
                MeshVelocities& velocities) {
  for (const int tag : non_conducting)
    if (count.count(tag) == 0)
      fail<InputError>(source, ": ", no_tetra_has({tag}, "--non-conducting", count));
  block_tissue(mesh, non_conducting, velocities);
  if (velocities.num_blocked == std::int64_t(mesh.num_tetra()))
    fail<InputError>(velocities.origin, ": no tetrahedron of ", source,
                     " conducts, so that no wave goes anywhere");
}

} // namespace ossatura
