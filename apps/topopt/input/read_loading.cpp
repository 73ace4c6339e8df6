// SPDX-License-Identifier: Apache-2.0
// The reader takes supports, loads, design space and goals from a problem.
#include "apps/driver/options/notation.hpp"
#include "apps/driver/problem/read_mechanics.hpp"
#include "apps/topopt/input/read_problem.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace ossatura {

namespace {

using Place = JsonPlace;

using Keys = std::vector<std::string>;

/// {"from", "to", "radius"} and "inner", or of nodes "wall".
void read_cylinder(const Place& place, bool is_elem, PlaceSelection& selection) {
  place.require_object(is_elem ? Keys{"from", "to", "radius", "inner"}
                               : Keys{"from", "to", "radius", "inner", "wall"});
  const char* end = "three coordinates in m of an end of the axis";
  Cylinder cylinder;
  cylinder.from = place.at("from", end).numbers<3>(end);
  cylinder.to = place.at("to", end).numbers<3>(end);
  if (cylinder.from == cylinder.to)
    place.at("to", "").fail_value("another end of the axis than \"from\"");
  const char* radius = "the radius in m, greater than 0";
  cylinder.radius = place.at("radius", radius).positive(radius);
  if (const auto inner = place.find("inner")) {
    const char* expected = "a radius in m from 0, less than \"radius\"";
    cylinder.inner = inner->not_negative(expected);
    if (!(cylinder.inner < cylinder.radius))
      inner->fail_value(expected);
  }
  if (const auto wall = place.find("wall")) {
    selection.wall = wall->positive("how far nodes of the boundary may be from the wall, in m");
    if (place.has("inner"))
      fail<InputError>(place.where(), ": \"inner\" has no effect on a \"wall\", which is at "
                                      "\"radius\": leave it out");
  }
  selection.cylinder = cylinder;
}

/// A file, or {"file", "within"}. It is not opened yet.
void read_near(const Place& place, ProblemDocument& problem, PlaceSelection& selection) {
  const char* expected = "the name of a .stl or .off file";
  Place file = place;
  if (place.json().is_object()) {
    place.require_object({"file", "within"});
    file = place.at("file", expected);
    if (const auto within = place.find("within"))
      selection.within = within->positive("a distance from the surface in m, greater than 0");
  }
  const std::string name = file.text(expected);
  if (name.empty())
    file.fail_value(expected);
  selection.surface = (std::filesystem::path(problem.file).parent_path() / name).string();
  if (std::count(problem.surfaces.begin(), problem.surfaces.end(), selection.surface) == 0)
    problem.surfaces.push_back(selection.surface);
}

/// Numbers, or {"numbers", "within"}.
void read_faces(const Place& place, PlaceSelection& selection) {
  const std::string expected = "numbers of faces of the STEP file, from 1";
  Place numbers = place;
  if (place.json().is_object()) {
    place.require_object({"numbers", "within"});
    numbers = place.at("numbers", expected);
    if (const auto within = place.find("within"))
      selection.within = within->positive("a distance from the faces in m, greater than 0");
  }
  selection.faces = numbers.different_wholes(1, 1 << 30, expected);
}

/// One number, or a list.
void read_labels(const Place& place, PlaceSelection& selection) {
  const std::string expected = "a label of the image, a whole number from 0, or a list of labels";
  constexpr int most = 1 << 24; // beyond it single precision has no odd ones
  selection.labels = place.json().is_array() ? place.different_wholes(0, most, expected)
                                             : std::vector{place.whole(0, most, expected)};
}

/// Which nodes or elements, as `numbers` says; other keys are among `more`.
PlaceSelection read_places(const Place& place, const std::string& numbers, const Keys& more,
                           ProblemDocument& problem) {
  const Keys kinds = {"set", "box", "cylinder", "surface", "faces", "label", numbers};
  Keys all = kinds;
  all.insert(all.end(), more.begin(), more.end());
  place.require_object(all);
  const std::string key = place.only_name(kinds);
  PlaceSelection selection;
  selection.place = place.where();
  if (key == "cylinder")
    read_cylinder(place.at(key, ""), numbers == "elements", selection);
  else if (key == "surface")
    read_near(place.at(key, ""), problem, selection);
  else if (key == "faces")
    read_faces(place.at(key, ""), selection);
  else if (key == "label")
    read_labels(place.at(key, ""), selection);
  else
    static_cast<MeshSelection&>(selection) = read_selection(place, {"set", "box"}, numbers, more);
  return selection;
}

PlaceSelection read_nodes(const Place& place, const Keys& more, ProblemDocument& problem) {
  return read_places(place, "nodes", more, problem);
}

std::array<double, 3> read_vector(const Place& place, const char* expected) {
  const auto vector = place.numbers<3>(expected);
  if (vector == std::array<double, 3>{0, 0, 0})
    place.fail_value(std::string(expected) + " that are not all zero");
  return vector;
}

/// {"point", "force", "moment"}, of which the last or the one before may be left out.
void read_remote(const Place& place, ForceChoice& load) {
  place.require_object({"point", "force", "moment"});
  load.kind = ForceChoice::Kind::remote;
  const char* point = "three coordinates in m of the point where the load acts";
  load.point = place.at("point", point).numbers<3>(point);
  const char* force = "three components of a force in N";
  if (const auto given = place.find("force"))
    load.value = given->numbers<3>(force);
  if (const auto given = place.find("moment"))
    load.moment = given->numbers<3>("three components of a moment in N m");
  const std::array<double, 3> none{};
  if (load.value == none && load.moment == none)
    place.fail_value("a \"force\" or a \"moment\" that is not zero");
}

ForceChoice read_force(const Place& place, ProblemDocument& problem) {
  const std::vector<std::string> kinds = {"force", "total_force", "traction", "remote"};
  ForceChoice force;
  force.nodes = read_nodes(place, kinds, problem);
  const std::string name = place.only_name(kinds);
  if (name == "remote") {
    read_remote(place.at(name, ""), force);
    return force;
  }
  force.kind = name == "force"         ? ForceChoice::Kind::each
               : name == "total_force" ? ForceChoice::Kind::total
                                       : ForceChoice::Kind::traction;
  force.value = read_vector(place.at(name, ""), force.kind == ForceChoice::Kind::traction
                                                    ? "three components of a traction in N/m2"
                                                    : "three components of a force in N");
  return force;
}

/// Three components in m, null for one that is free.
DisplacementChoice read_displacement(const Place& place, ProblemDocument& problem) {
  DisplacementChoice choice;
  choice.nodes = read_nodes(place, {"displacement"}, problem);
  const char* expected = "three components in m, null for one that is free, not all 0 or null";
  const Place list = place.at("displacement", expected);
  const std::vector<Place> items = list.items(expected);
  if (items.size() != 3)
    list.fail_value(expected);
  bool moves = false;
  for (std::size_t c = 0; c < 3; ++c)
    if (!items[c].json().is_null()) {
      choice.value[c] = items[c].number(expected);
      moves = moves || *choice.value[c] != 0;
    }
  if (!moves)
    list.fail_value(expected);
  return choice;
}

/// {"origin", "axis", "speed"}
BodyLoad read_rotation(const Place& place) {
  place.require_object({"origin", "axis", "speed"});
  BodyLoad load;
  const char* origin = "three coordinates in m of a point on the axis";
  load.origin = place.at("origin", origin).numbers<3>(origin);
  const char* axis = "three components of the axis";
  load.axis = read_vector(place.at("axis", axis), axis);
  const double length = std::hypot(load.axis[0], load.axis[1], load.axis[2]);
  for (double& component : load.axis)
    component /= length;
  const char* speed = "rad/s, greater than 0";
  const double value = place.at("speed", speed).positive(speed);
  load.square_speed = value * value;
  return load;
}

/// A number of K for all nodes, or a list of nodes with one.
std::vector<TemperatureChoice> read_temperatures(const Place& place, ProblemDocument& problem) {
  const char* change = "by how many K nodes are warmer";
  if (place.json().is_number())
    return {{std::nullopt, place.number(change)}};
  std::vector<TemperatureChoice> choices;
  for (const Place& item : place.items("a number of K, or a list of nodes that are warmer")) {
    PlaceSelection nodes = read_nodes(item, {"change"}, problem);
    choices.push_back({std::move(nodes), item.at("change", change).number(change)});
  }
  return choices;
}

CaseChoice read_case(const Place& place, ProblemDocument& problem) {
  place.require_object(
      {"name", "weight", "loads", "displacements", "gravity", "rotation", "temperature_change"});
  CaseChoice choice;
  const char* expected = "the name of a load case";
  choice.name = place.at("name", expected).text(expected);
  if (const auto weight = place.find("weight"))
    choice.weight = weight->positive("its weight in the objective, greater than 0");
  if (const auto loads = place.find("loads"))
    for (const Place& load : loads->items("a list of loads"))
      choice.forces.push_back(read_force(load, problem));
  if (const auto list = place.find("displacements"))
    for (const Place& item : list->items("a list of nodes that are moved"))
      choice.displacements.push_back(read_displacement(item, problem));
  if (const auto gravity = place.find("gravity")) {
    BodyLoad load;
    load.acceleration = read_vector(*gravity, "three components of an acceleration in m/s2");
    choice.body.push_back(load);
  }
  if (const auto rotation = place.find("rotation"))
    choice.body.push_back(read_rotation(*rotation));
  if (const auto change = place.find("temperature_change"))
    choice.temperatures = read_temperatures(*change, problem);
  return choice;
}

void read_materials(const Place& list, ProblemDocument& problem) {
  for (const Place& item : list.items("a list of elements and their material")) {
    MaterialChoice choice;
    choice.elements = read_places(
        item, "elements", {"name", "young", "poisson", "mass_density", "expansion"}, problem);
    const char* young = "Young's modulus in Pa, greater than 0";
    choice.material.young = item.at("young", young).positive(young);
    const char* poisson = "Poisson's ratio";
    choice.material.poisson = read_poisson(item.at("poisson", poisson));
    const char* name = "a name of the material";
    choice.material.name = item.at("name", name).text(name);
    if (const auto density = item.find("mass_density"))
      choice.material.density = density->positive("kg/m3, greater than 0");
    if (const auto expansion = item.find("expansion"))
      choice.material.expansion = expansion->number("strain for each K, such as 1.2e-5");
    problem.materials.push_back(std::move(choice));
  }
}

/// The direction of one length.
std::array<double, 3> read_direction(const Place& place) {
  const char* expected = "three components of a direction";
  std::array<double, 3> d = read_vector(place.at("direction", expected), expected);
  const double length = std::hypot(d[0], d[1], d[2]);
  for (double& component : d)
    component /= length;
  return d;
}

/// One of the names, and what it stands for; the volume has no kind.
std::optional<DesignLimitKind> read_limit_kind(const Place& place) {
  Names<std::optional<DesignLimitKind>> known;
  for (const Named<DesignLimitKind>& one : name_table<DesignLimitKind>)
    known.add({one.value, one.name});
  known.add({std::nullopt, "volume"});
  const char* expected = "\"compliance\", \"displacement\", \"stress\", \"mass\", \"frequency\" or "
                         "\"volume\"";
  return place.at("kind", expected).choice(known);
}

void read_volume_limit(const Place& place, ProblemDocument& problem) {
  place.require_object({"kind", "at_most"});
  const char* expected = "a part of the volume, greater than 0 and less than 1";
  if (problem.has_volume)
    fail<InputError>(place.where(), ": the volume is limited twice: leave out this constraint, or "
                                    "\"volume_fraction\"");
  problem.has_volume = true;
  problem.changes.set(&DesignOptions::volume_fraction,
                      place.at("at_most", expected).fraction(expected));
}

void read_limit(const Place& place, ProblemDocument& problem) {
  const std::optional<DesignLimitKind> kind = read_limit_kind(place);
  if (!kind)
    return read_volume_limit(place, problem);
  LimitChoice limit;
  limit.place = place.where();
  limit.kind = *kind;
  std::string bound = "at_most";
  if (*kind == DesignLimitKind::displacement) {
    const Keys keys = {"kind", "case", "direction", "at_most", "at_least"};
    limit.nodes = read_nodes(place, keys, problem);
    limit.direction = read_direction(place);
    bound = place.only_name({"at_most", "at_least"});
    limit.at_least = bound == "at_least";
  } else if (*kind == DesignLimitKind::mass) {
    place.require_object({"kind", "at_most"});
  } else if (*kind == DesignLimitKind::frequency) {
    place.require_object({"kind", "at_least"});
    bound = "at_least";
    limit.at_least = true;
  } else {
    place.require_object({"kind", "case", "at_most"});
  }
  const char* expected = *kind == DesignLimitKind::compliance     ? "J, greater than 0"
                         : *kind == DesignLimitKind::displacement ? "m, greater than 0"
                         : *kind == DesignLimitKind::stress       ? "Pa, greater than 0"
                         : *kind == DesignLimitKind::frequency    ? "Hz, greater than 0"
                                                                  : "kg, greater than 0";
  limit.value = place.at(bound, expected).positive(expected);
  if (const auto name = place.find("case"))
    limit.load_case = name->text("the name of a load case");
  problem.limits.push_back(std::move(limit));
}

void read_mechanism(const Place& place, ProblemDocument& problem) {
  place.require_object({"output", "springs"});
  problem.is_mechanism = true;
  const char* expected = "a list of nodes with the direction in which they should move";
  const Place list = place.at("output", expected);
  for (const Place& item : list.items(expected)) {
    PlaceSelection nodes = read_nodes(item, {"direction"}, problem);
    problem.outputs.push_back({std::move(nodes), read_direction(item)});
  }
  if (problem.outputs.empty())
    list.fail_value(expected);
  const auto springs = place.find("springs");
  if (!springs)
    return;
  for (const Place& item : springs->items("a list of nodes with springs to the ground")) {
    const char* stiffness = "three stiffnesses in N/m, at least 0";
    PlaceSelection nodes = read_nodes(item, {"stiffness"}, problem);
    const Place value = item.at("stiffness", stiffness);
    problem.springs.push_back({std::move(nodes), read_vector(value, stiffness)});
    const auto& k = problem.springs.back().stiffness;
    if (std::any_of(k.begin(), k.end(), [](double x) { return x < 0; }))
      value.fail_value(stiffness);
  }
}

} // namespace

void read_loading(const JsonPlace& place, ProblemDocument& problem) {
  if (const auto list = place.find("materials"))
    read_materials(*list, problem);
  if (const auto list = place.find("supports"))
    for (const Place& item : list->items("a list of nodes that are held")) {
      SupportChoice support;
      support.nodes = read_nodes(item, {"components"}, problem);
      if (const auto components = item.find("components"))
        support.components = read_components(*components);
      problem.supports.push_back(std::move(support));
    }
  if (const auto list = place.find("rigid_bodies"))
    for (const Place& item : list->items("a list of nodes of rigid bodies"))
      problem.rigid.push_back(read_nodes(item, {}, problem));
  if (const auto list = place.find("cases"))
    for (const Place& item : list->items("a list of load cases")) {
      problem.cases.push_back(read_case(item, problem));
      for (std::size_t i = 0; i + 1 < problem.cases.size(); ++i)
        if (problem.cases[i].name == problem.cases.back().name)
          fail<InputError>(item.where(), ".name: \"", problem.cases[i].name,
                           "\" is there twice: each load case has a name of its own");
    }
  if (const auto list = place.find("passive"))
    for (const Place& item : list->items("a list of elements and what they are")) {
      PassiveChoice passive;
      passive.elements = read_places(item, "elements", {"role"}, problem);
      passive.role =
          item.at("role", "\"solid\" or \"void\"")
              .choice<DesignRole>({{DesignRole::solid, "solid"}, {DesignRole::void_, "void"}});
      problem.passive.push_back(std::move(passive));
    }
  if (const auto keep = place.find("keep"))
    problem.keep = keep->positive("how far around supports and loads elements stay solid, in m");
  if (const auto list = place.find("mirrors"))
    for (const Place& item : list->items("a list of planes of symmetry")) {
      item.require_object({"axis", "place"});
      MirrorPlane mirror{};
      mirror.axis = item.at("axis", "\"x\", \"y\" or \"z\"").choice(axis_names);
      const char* expected = "where the plane is on that axis, in m";
      mirror.place = item.at("place", expected).number(expected);
      problem.mirrors.push_back(mirror);
    }
  if (const auto whole = place.find("whole"))
    problem.whole = whole->boolean();
  if (const auto objective = place.find("objective")) {
    if (objective->json().is_object()) {
      objective->require_object({"mechanism"});
      read_mechanism(objective->at("mechanism", "output and springs"), problem);
    } else {
      const std::string name =
          objective->one_of({name_of(DesignObjective::compliance), name_of(DesignObjective::volume),
                             name_of(DesignObjective::frequency)});
      problem.is_least_volume = name == name_of(DesignObjective::volume);
      problem.is_frequency = name == name_of(DesignObjective::frequency);
    }
  }
  problem.has_volume = place.has("volume_fraction");
  if (const auto list = place.find("constraints"))
    for (const Place& item : list->items("a list of constraints"))
      read_limit(item, problem);
}

} // namespace ossatura
