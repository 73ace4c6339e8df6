// SPDX-License-Identifier: Apache-2.0
// Parts of a mesh, what holds and loads them, and what they are made of.
#include "apps/driver/json_place.hpp"
#include "apps/driver/notation.hpp"
#include "apps/pfem/orthotropy.hpp"
#include "apps/pfem/read_pfem.hpp"

namespace femura {

namespace {

using Place = JsonPlace;

/// "x=0.5".
void read_plane(const Place& place, PfemSelection& selection) {
  const char* expected = "a plane in m, such as \"x=0\"";
  const std::string text = place.text(expected);
  const int axis = text[0] - 'x';
  if (axis < 0 || axis > 2 || text.size() < 3 || text[1] != '=')
    place.fail_value(expected);
  selection.kind = PfemSelection::Kind::plane;
  selection.axis = axis;
  try {
    selection.value = parse_number<double>(text.substr(2));
  } catch (const std::invalid_argument&) {
    place.fail_value(expected);
  }
}

std::uint8_t read_components(const Place& place) {
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

PfemLoad read_load(const Place& place) {
  PfemLoad load;
  load.place = place.where();
  place.require_object(
      pfem_selection_keys("vertices", {"pressure", "traction", "force", "body_force"}));
  const std::string kind = place.only_name({"pressure", "traction", "force", "body_force"});
  const Place value = place.at(kind, "");
  if (kind == "body_force") {
    load.kind = PfemLoad::Kind::body_force;
    place.require_object({"body_force"}); // it acts everywhere
    load.value = value.numbers<3>("three components of a force density in N/m3");
    return load;
  }
  load.where = read_pfem_selection(place, "vertices");
  if (kind == "pressure") {
    load.value[0] = value.number("a pressure in N/m2");
  } else {
    load.kind = kind == "force" ? PfemLoad::Kind::force : PfemLoad::Kind::traction;
    load.value = value.numbers<3>(kind == "force" ? "three components of a force in N"
                                                  : "three components of a traction in N/m2");
  }
  return load;
}

} // namespace

std::vector<std::string> pfem_selection_keys(const std::string& numbers,
                                             std::vector<std::string> more) {
  more.insert(more.begin(), {"set", "box", "plane", "sphere", "cylinder", numbers});
  return more;
}

PfemSelection read_pfem_selection(const JsonPlace& place, const std::string& numbers) {
  PfemSelection selection;
  selection.place = place.where();
  const std::string name = place.only_name(pfem_selection_keys(numbers, {}));
  const Place value = place.at(name, "");
  using Kind = PfemSelection::Kind;
  if (name == "set") {
    selection.kind = Kind::set;
    selection.set = value.text("the name of a set of the mesh");
  } else if (name == "box") {
    const char* expected = "six numbers: lower x, y, z and upper x, y, z in m";
    selection.kind = Kind::box;
    selection.box = value.numbers<6>(expected);
    for (std::size_t d = 0; d < 3; ++d)
      if (selection.box[d] > selection.box[d + 3])
        fail<InputError>(value.where(), ": the lower corner is above the upper one: expected ",
                         expected);
  } else if (name == "plane") {
    read_plane(value, selection);
  } else if (name == "sphere" || name == "cylinder") {
    selection.kind = name == "sphere" ? Kind::sphere : Kind::cylinder;
    selection.value = value.positive(name == "sphere" ? "a distance from the origin in m"
                                                      : "a distance from the z axis in m");
  } else {
    const std::string expected = "numbers of " + numbers + ", from 0";
    selection.kind = Kind::numbers;
    for (const Place& number : value.items(expected))
      selection.numbers.push_back(number.whole(0, 2147483647, expected));
    if (selection.numbers.empty())
      value.fail_value(expected);
  }
  return selection;
}

void read_pfem_loading(const JsonPlace& place, PfemDocument& problem) {
  if (const auto list = place.find("supports")) {
    problem.supports.emplace();
    for (const Place& item : list->items("a list of parts that are held")) {
      item.require_object(pfem_selection_keys("vertices", {"components", "displacement"}));
      PfemSupport support;
      support.where = read_pfem_selection(item, "vertices");
      if (const auto components = item.find("components"))
        support.components = read_components(*components);
      if (const auto displacement = item.find("displacement"))
        support.displacement = displacement->numbers<3>("three displacements in m");
      for (std::size_t c = 0; c < 3; ++c)
        if (support.displacement[c] != 0 && (support.components >> c & 1) == 0)
          fail<InputError>(item.where(), ": a displacement along ", "xyz"[c],
                           ", which is not among the components that are held");
      problem.supports->push_back(std::move(support));
    }
  }
  if (const auto list = place.find("loads")) {
    problem.loads.emplace();
    for (const Place& item : list->items("a list of loads"))
      problem.loads->push_back(read_load(item));
  }
}

PfemMaterial read_pfem_material(const JsonPlace& place) {
  const std::string kind = place.only_name({"young", "orthotropic", "elasticity"});
  const Place value = place.at(kind, "");
  if (kind != "young" && place.has("poisson"))
    fail<InputError>(place.where(), ": \"poisson\" has no effect with \"", kind,
                     "\": leave it out");
  PfemMaterial material;
  if (kind == "young") {
    material.young = value.positive("Young's modulus in Pa, greater than 0");
    const char* expected = "Poisson's ratio, greater than -1 and less than 0.5";
    const Place ratio = place.at("poisson", expected);
    material.poisson = ratio.number(expected);
    if (!(*material.poisson > -1 && *material.poisson < 0.5))
      ratio.fail_value(expected);
    return material;
  }
  if (kind == "orthotropic") {
    value.require_object({"young", "poisson", "shear"});
    const auto three = [&value](const char* key, const char* expected) {
      return value.at(key, expected).numbers<3>(expected);
    };
    Orthotropy moduli;
    moduli.young = three("young", "three moduli in Pa: x, y, z");
    moduli.poisson = three("poisson", "three of Poisson's ratios: yz, zx, xy");
    moduli.shear = three("shear", "three shear moduli in Pa: yz, zx, xy");
    material.elasticity = orthotropic_elasticity(moduli);
  } else {
    const auto entries = value.numbers<21>(
        "21 moduli in Pa: the upper triangle of D, row by row, strains xx yy zz yz zx xy");
    material.elasticity.assign(entries.begin(), entries.end());
  }
  if (material.elasticity.empty() || !is_positive_definite(material.elasticity))
    fail<InputError>(value.where(), ": not positive definite: a strain would set energy free");
  return material;
}

} // namespace femura
