// SPDX-License-Identifier: Apache-2.0
#include "apps/eikonal/input/site_syntax.hpp"

#include "apps/driver/options/notation.hpp"
#include "apps/driver/options/suggest.hpp"
#include "apps/driver/problem/json_file.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/text/scanner.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace ossatura {

namespace {

using Json = nlohmann::ordered_json;

struct PlaceName {
  const char* name;
  SitePlace place;
  std::size_t numbers; ///< coordinates, or 0
  const char* expected;
};

/// ms. In single precision, later times are too coarse.
constexpr double latest_start = 1e6;

const PlaceName places[] = {
    {"vertices", SitePlace::vertices, 0, "vertices:N,N,..."},
    {"vtx", SitePlace::list, 0, "vtx:FILE"},
    {"point", SitePlace::point, 3, "point:X,Y,Z"},
    {"sphere", SitePlace::sphere, 4, "sphere:X,Y,Z,RADIUS"},
    {"box", SitePlace::box, 6, "box:X,Y,Z,X,Y,Z"},
};

const PlaceName& find_place(const std::string& name) {
  std::vector<std::string> names;
  for (const PlaceName& place : places) {
    if (name == place.name)
      return place;
    names.emplace_back(place.name);
  }
  fail<std::invalid_argument>("'", name, "' is not one of vertices, vtx, point, sphere and box",
                              did_you_mean(name, names));
}

void parse_coordinates(const PlaceName& place, const std::string& text, SiteChoice& site) {
  const std::vector<std::string> items = split_list(text, ',');
  if (items.size() != place.numbers)
    fail<std::invalid_argument>("'", site.text, "': expected ", place.expected, ", in mm");
  for (std::size_t i = 0; i < items.size(); ++i)
    site.number[i] = parse_number<double>(items[i]);
  if (site.place == SitePlace::sphere && !(site.number[3] > 0))
    fail<std::invalid_argument>("'", site.text, "': the radius is greater than 0");
  if (site.place == SitePlace::box)
    for (std::size_t d = 0; d < 3; ++d)
      if (site.number[d] > site.number[d + 3])
        fail<std::invalid_argument>("'", site.text, "': the lower corner comes first");
}

/// [A-Za-z0-9_.-], so that it may stand in names of files and fields.
bool is_plain(const std::string& name) {
  const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  return !name.empty() && name.size() <= 64 && name[0] != '.' &&
         name.find_first_not_of(plain) == std::string::npos;
}

SiteSet read_set(const std::string& path, const std::string& name, const Json& list) {
  SiteSet set{name, name.empty() ? path : path + ": set \"" + name + "\"", {}};
  if (!list.is_array())
    fail<InputError>(set.origin, ": expected a list of sites, such as [\"point:1,2,3\", "
                                 "\"vtx:rv.vtx@t=5\"]");
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_string())
      fail<InputError>(set.origin, ": site ", i + 1, ": expected a text, such as \"point:1,2,3\"");
    try {
      set.sites.push_back(parse_site(list[i].get<std::string>()));
    } catch (const std::invalid_argument& error) {
      fail<InputError>(set.origin, ": site ", i + 1, ": ", error.what());
    }
    SiteChoice& site = set.sites.back();
    if (site.place == SitePlace::list)
      site.file = (std::filesystem::path(path).parent_path() / site.file).string();
  }
  if (set.sites.empty())
    fail<InputError>(set.origin, ": has no site");
  return set;
}

/// Where "@t=MS" begins; npos: nowhere. An @ of the name of a file has no number after it, but an
/// extension.
std::size_t find_time(const std::string& text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string::npos || text.compare(at, 3, "@t=") == 0)
    return at;
  const std::string rest = text.substr(at + 1);
  double number = 0;
  if (rest.find_first_of("./") != std::string::npos && !TextScanner::parse(rest, number))
    return std::string::npos;
  fail<std::invalid_argument>("'", text,
                              "': expected @t=MS after the place; a name that ends so has its time "
                              "behind it: @t=0");
}

} // namespace

SiteChoice parse_site(const std::string& text) {
  SiteChoice site;
  site.text = text;
  std::string where = text;
  const std::size_t at = find_time(text);
  if (at != std::string::npos) {
    site.time = parse_number<double>(text.substr(at + 3));
    if (!(std::abs(site.time) <= latest_start))
      fail<std::invalid_argument>("'", text, "': a time in ms, at most ", latest_start,
                                  " before or after 0");
    where = text.substr(0, at);
  }
  const auto [name, rest] = split_at(where, ':', "PLACE:...[@t=MS], such as point:1,2,3@t=5");
  const PlaceName& place = find_place(name);
  site.place = place.place;
  if (rest.empty())
    fail<std::invalid_argument>("'", text, "': expected ", place.expected);
  if (place.place == SitePlace::list) {
    site.file = rest;
  } else if (place.place == SitePlace::vertices) {
    for (const std::string& item : split_list(rest, ',')) {
      site.vertices.push_back(parse_number<std::int32_t>(item));
      if (site.vertices.back() < 0)
        fail<std::invalid_argument>("'", text, "': vertices are numbered from 0");
    }
    std::vector<std::int32_t> sorted = site.vertices;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end())
      fail<std::invalid_argument>("'", text, "': the vertex ", *twice, " is there twice");
  } else {
    parse_coordinates(place, rest, site);
  }
  return site;
}

std::vector<SiteSet> read_site_sets(const std::string& path) {
  const Json json = read_json(path);
  std::vector<SiteSet> sets;
  if (!json.is_object()) {
    sets.push_back(read_set(path, "", json));
    return sets;
  }
  for (const auto& [name, list] : json.items()) {
    if (!is_plain(name))
      fail<InputError>(path, ": set ", Json(name).dump(),
                       ": names of sets stand in names of files: letters, digits, _ . and -");
    sets.push_back(read_set(path, name, list));
  }
  if (sets.empty())
    fail<InputError>(path, ": has no set of sites");
  return sets;
}

} // namespace ossatura
