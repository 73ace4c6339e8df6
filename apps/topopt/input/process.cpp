// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/input/process.hpp"

#include "apps/driver/options/option_kinds.hpp"
#include "apps/driver/output/table.hpp"
#include "apps/driver/problem/json_place.hpp"

#include <cmath>
#include <limits>

namespace ossatura {

namespace {

using Items = std::vector<std::string>;
using Plane = DesignProcess::Plane;
using Rotation = DesignProcess::Rotation;
using Draw = DesignProcess::Draw;

constexpr Names<int> directions = {{0, "+x"}, {1, "-x"}, {2, "+y"},
                                   {3, "-y"}, {4, "+z"}, {5, "-z"}}; // 2 axis + (down ? 1 : 0)

ProcessAxis axis_of(int direction) {
  return {direction / 2, direction % 2 == 0 ? 1 : -1};
}

/// The value of a name; throws std::invalid_argument that lists the names.
int parse_name(const std::string& text, const Names<int>& names) {
  Items known;
  for (const Named<int>& one : names) {
    if (text == one.name)
      return one.value;
    known.emplace_back(one.name);
  }
  throw std::invalid_argument("'" + text + "' is not one of " + joined(known, ", "));
}

double parse_place(const std::string& text) {
  const double value = parse_number<double>(text);
  if (!std::isfinite(value))
    throw std::invalid_argument("'" + text + "' is no place in m");
  return value;
}

Plane parse_plane(const std::string& text) {
  const auto [axis, place] = split_at(text, ':', "AXIS:PLACE, as in x:0.5");
  return {parse_name(axis, axis_names), parse_place(place)};
}

Rotation parse_rotation(const std::string& text) {
  const Items parts = split_list(text, ':');
  if (parts.size() != 3)
    throw std::invalid_argument("'" + text + "': expected N:AXIS:X,Y,Z, as in 4:z:0.5,0.5,0");
  const int sectors = parse_number<int>(parts[0]);
  if (sectors < 2)
    throw std::invalid_argument("'" + text + "': at least 2 sectors");
  const std::array<double, 3> point = parse_triple<double>(parts[2], ',', "0.5,0.5,0");
  return {sectors, parse_name(parts[1], axis_names), point};
}

Draw parse_draw(const std::string& text) {
  if (text.find(':') == std::string::npos)
    return {axis_of(parse_name(text, directions)), {}};
  const Plane parting = parse_plane(text);
  return {{parting.axis, 1}, parting.place};
}

Plane read_plane(const JsonPlace& place, const char* key) {
  Plane plane;
  plane.axis = place.at("axis", "\"x\", \"y\" or \"z\"").choice(axis_names);
  const char* expected = "where the plane is on that axis, in m";
  plane.place = place.at(key, expected).number(expected);
  return plane;
}

template<class Member, class Value>
void set(Changes<DesignOptions>& changes, Member member, const Value& value) {
  changes.set(member_of(&DesignOptions::process, member), value);
}

} // namespace

void read_process(const JsonPlace& place, ProblemDocument& problem) {
  using P = DesignProcess;
  Changes<DesignOptions>& changes = problem.changes;
  place.require_object({"extrude", "symmetry", "sectors", "draw", "sharpness", "overhang"});
  if (place.has("sharpness") && !place.has("draw"))
    place.at("sharpness", "").fail_value("no sharpness without \"draw\"");
  if (const auto extrude = place.find("extrude"))
    set(changes, &P::extrude, extrude->choice(axis_names));
  if (const auto list = place.find("symmetry")) {
    std::vector<Plane> planes;
    for (const JsonPlace& item : list->items("a list of planes of symmetry")) {
      item.require_object({"axis", "place"});
      planes.push_back(read_plane(item, "place"));
    }
    set(changes, &P::symmetry, planes);
  }
  if (const auto sectors = place.find("sectors")) {
    sectors->require_object({"count", "axis", "point"});
    const char* count = "how many sectors, at least 2";
    const char* point = "three coordinates in m of a point on the axis";
    Rotation rotation;
    rotation.sectors = sectors->at("count", count).whole(2, std::numeric_limits<int>::max(), count);
    rotation.axis = sectors->at("axis", "\"x\", \"y\" or \"z\"").choice(axis_names);
    rotation.point = sectors->at("point", point).numbers<3>(point);
    set(changes, &P::rotation, rotation);
  }
  if (const auto draw = place.find("draw")) {
    if (draw->json().is_object()) {
      draw->require_object({"axis", "parting"});
      const Plane parting = read_plane(*draw, "parting");
      set(changes, &P::draw, Draw{{parting.axis, 1}, parting.place});
    } else {
      set(changes, &P::draw, Draw{axis_of(draw->choice(directions)), {}});
    }
  }
  if (const auto overhang = place.find("overhang"))
    set(changes, &P::overhang, axis_of(overhang->choice(directions)));
}

void add_process_options(CLI::App& app, Changes<DesignOptions>& changes) {
  using P = DesignProcess;
  app.option_defaults()->group("A part that can be made (likewise)");
  add_parsed(app, "--extrude", "x|y|z", "The same design all along this axis",
             [&changes](const std::string& text) {
               set(changes, &P::extrude, parse_name(text, axis_names));
             });
  add_repeated(
      app, "--symmetry", "AXIS:M",
      "The design is symmetric about the plane AXIS = M; loads need not be. May be repeated",
      [&changes](const Items& items) {
        std::vector<Plane> planes;
        for (const std::string& item : items)
          planes.push_back(parse_plane(item));
        set(changes, &P::symmetry, planes);
      });
  add_parsed(
      app, "--sectors", "N:AXIS:X,Y,Z", "N equal sectors around an axis through a point in m",
      [&changes](const std::string& text) { set(changes, &P::rotation, parse_rotation(text)); });
  add_parsed(app, "--draw", "+z|-z|z:M",
             "Cast or moulded without undercuts, drawn along +z (or another direction), or both "
             "ways from the parting plane z = M",
             [&changes](const std::string& text) { set(changes, &P::draw, parse_draw(text)); });
  add_parsed(app, "--overhang", "+z|-z",
             "Built in layers in this direction, each on that below it (45 degrees); on voxels",
             [&changes](const std::string& text) {
               set(changes, &P::overhang, axis_of(parse_name(text, directions)));
             });
}

std::string process_axis_text(const ProcessAxis& axis) {
  return std::string(1, axis.sense > 0 ? '+' : '-') + "xyz"[axis.axis];
}

std::string process_text(const DesignProcess& process) {
  Items parts;
  const auto plane = [](const Plane& one) {
    return std::string(1, "xyz"[one.axis]) + " = " + format_number(one.place) + " m";
  };
  if (process.extrude)
    parts.push_back(std::string("extruded along ") + "xyz"[*process.extrude]);
  for (const Plane& one : process.symmetry)
    parts.push_back("symmetric about " + plane(one));
  if (process.rotation)
    parts.push_back(std::to_string(process.rotation->sectors) + " sectors about " +
                    "xyz"[process.rotation->axis]);
  if (process.draw && process.draw->parting)
    parts.push_back("drawn both ways from " +
                    plane({process.draw->direction.axis, *process.draw->parting}));
  else if (process.draw)
    parts.push_back("drawn along " + process_axis_text(process.draw->direction));
  if (process.overhang)
    parts.push_back("built along " + process_axis_text(*process.overhang));
  return joined(parts, ", ");
}

} // namespace ossatura
