// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/input/condition_syntax.hpp"

#include "apps/driver/options/notation.hpp"

namespace ossatura {

namespace {

NodeChoice parse_place(const std::string& text) {
  NodeChoice place;
  const std::string axes = "xyz";
  if (text.size() == 2 && axes.find(text[0]) != std::string::npos &&
      (text[1] == '-' || text[1] == '+')) {
    place.is_face = true;
    place.axis = static_cast<int>(axes.find(text[0]));
    place.upper = text[1] == '+';
    return place;
  }
  const char* expected =
      "a side of the image (x-, x+, y-, y+, z-, z+), label:NUMBER, line:LABEL/AXIS or a node X/Y/Z";
  const auto [x, yz] = split_at(text, '/', expected);
  const auto [y, z] = split_at(yz, '/', expected);
  place.node = {parse_number<int>(x), parse_number<int>(y), parse_number<int>(z)};
  if (place.node[0] < 0 || place.node[1] < 0 || place.node[2] < 0)
    throw std::invalid_argument("'" + text + "': nodes are numbered from 0");
  return place;
}

/// LABEL/AXIS.
NodeChoice parse_line(const std::string& text) {
  const auto [label, axis] = split_at(text, '/', "line:LABEL/AXIS, such as line:5/y");
  NodeChoice place;
  place.label = parse_number<int>(label);
  for (const auto& known : axis_names)
    if (axis == known.name)
      place.line = known.value;
  if (!place.line)
    throw std::invalid_argument("'" + axis + "' is no axis: a line is along x, y or z");
  return place;
}

} // namespace

NodalCondition parse_condition(const std::string& text, bool value_required) {
  const char* expected = value_required ? "WHERE:COMPONENTS=VALUE, such as z+:z=-100"
                                        : "WHERE:COMPONENTS[=VALUE], such as z-:xyz or z+:z=-0.1";
  const bool is_label = text.rfind("label:", 0) == 0, is_line = text.rfind("line:", 0) == 0;
  if (is_line && value_required)
    throw std::invalid_argument("'" + text +
                                "': a line is held, and forces are on sides, labels "
                                "and nodes");
  const auto [place, rest] = split_at(is_label  ? text.substr(6)
                                      : is_line ? text.substr(5)
                                                : text,
                                      ':', expected);
  NodalCondition condition;
  if (is_label)
    condition.where.label = parse_number<int>(place);
  else if (is_line)
    condition.where = parse_line(place);
  else
    condition.where = parse_place(place);
  const std::size_t equals = rest.find('=');
  if (equals == std::string::npos && value_required)
    throw std::invalid_argument("'" + text + "': expected " + expected);
  if (equals != std::string::npos)
    condition.value = parse_number<double>(rest.substr(equals + 1));
  for (const char c : rest.substr(0, equals)) {
    if (c < 'x' || c > 'z')
      throw std::invalid_argument("'" + text + "': components are some of x, y and z");
    condition.components[c - 'x'] = true;
  }
  if (equals == 0 || rest.empty())
    throw std::invalid_argument("'" + text + "': expected " + expected);
  return condition;
}

std::pair<int, LabelEntry> parse_label(const std::string& text) {
  const auto [label, material] = split_at(text, '=', "LABEL=MPA[:POISSON], such as 1=17000:0.3");
  const std::size_t colon = material.find(':');
  LabelEntry parsed{parse_number<double>(material.substr(0, colon)), {}};
  if (colon != std::string::npos)
    parsed.poisson = parse_number<double>(material.substr(colon + 1));
  return {parse_number<int>(label), parsed};
}

std::pair<int, double> parse_layer(const std::string& text) {
  const auto [thickness, modulus] = split_at(text, '=', "VOXELS=MPA, such as 8=1000");
  return {parse_number<int>(thickness), parse_number<double>(modulus)};
}

TurnCentre parse_centre(const std::vector<std::string>& items) {
  TurnCentre centre;
  if (items == std::vector<std::string>{"box"} || items == std::vector<std::string>{"mass"}) {
    centre.kind = items[0] == "box" ? TurnCentre::Kind::box : TurnCentre::Kind::mass;
    return centre;
  }
  if (items.size() != 3)
    throw std::invalid_argument("expected box, mass or X,Y,Z in mm");
  centre.kind = TurnCentre::Kind::point;
  for (std::size_t d = 0; d < 3; ++d)
    centre.point[d] = parse_number<double>(items[d]);
  return centre;
}

} // namespace ossatura
