// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/problem/read_mechanics.hpp"

#include "apps/driver/options/notation.hpp"

namespace ossatura {

namespace {

/// "x=0.5".
void read_plane(const JsonPlace& place, MeshSelection& selection) {
  const char* expected = "a plane in m, such as \"x=0\"";
  const std::string text = place.text(expected);
  selection.axis = text[0] - 'x';
  if (selection.axis < 0 || selection.axis > 2 || text.size() < 3 || text[1] != '=')
    place.fail_value(expected);
  try {
    selection.value = parse_number<double>(text.substr(2));
  } catch (const std::invalid_argument&) {
    place.fail_value(expected);
  }
}

} // namespace

Box read_box(const JsonPlace& place) {
  const Box box = place.numbers<6>(box_numbers);
  for (std::size_t d = 0; d < 3; ++d)
    if (box[d] > box[d + 3])
      fail<InputError>(place.where(), ": the lower corner is above the upper one: expected ",
                       box_numbers);
  return box;
}

MeshSelection read_selection(const JsonPlace& place, const std::vector<std::string>& kinds,
                             const std::string& numbers, const std::vector<std::string>& more) {
  std::vector<std::string> keys = kinds;
  keys.push_back(numbers);
  std::vector<std::string> all = keys;
  all.insert(all.end(), more.begin(), more.end());
  place.require_object(all);

  MeshSelection selection;
  selection.place = place.where();
  const std::string key = place.only_name(keys);
  const JsonPlace value = place.at(key, "");
  using Kind = MeshSelection::Kind;
  if (key == "set") {
    selection.kind = Kind::set;
    selection.set = value.text("the name of a set of the mesh");
  } else if (key == "box") {
    selection.kind = Kind::box;
    selection.box = read_box(value);
  } else if (key == "plane") {
    selection.kind = Kind::plane;
    read_plane(value, selection);
  } else if (key == "sphere" || key == "cylinder") {
    selection.kind = key == "sphere" ? Kind::sphere : Kind::cylinder;
    selection.value = value.positive(key == "sphere" ? "a distance from the origin in m"
                                                     : "a distance from the z axis in m");
  } else {
    selection.numbers = value.different_wholes(0, 2147483647, "numbers of " + numbers + ", from 0");
  }
  return selection;
}

std::uint8_t read_components(const JsonPlace& place) {
  const char* expected = "some of x, y and z, such as \"xz\"";
  std::uint8_t components = 0;
  for (const char axis : place.text(expected)) {
    const int bit = axis - 'x';
    if (bit < 0 || bit > 2 || (components >> bit & 1) != 0)
      place.fail_value(expected);
    components = std::uint8_t(components | 1 << bit);
  }
  return components;
}

double read_poisson(const JsonPlace& place) {
  const double ratio = place.number(poisson_range);
  if (!(ratio > -1 && ratio < 0.5))
    place.fail_value(poisson_range);
  return ratio;
}

double read_distortion(const JsonPlace& place, const std::string& what) {
  const std::string expected = "part of an edge by which " + what + " are moved, 0 to 0.5";
  const double amount = place.not_negative(expected);
  if (amount > 0.5)
    place.fail_value(expected);
  return amount;
}

} // namespace ossatura
