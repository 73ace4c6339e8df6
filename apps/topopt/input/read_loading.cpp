// SPDX-License-Identifier: Apache-2.0
// The reader takes supports, loads, design space and goals from a problem.
#include "apps/driver/options/notation.hpp"
#include "apps/driver/problem/read_mechanics.hpp"
#include "apps/topopt/input/read_problem.hpp"

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

using Place = JsonPlace;

/// Which nodes; other keys are among `more`.
MeshSelection read_nodes(const Place& place, const std::vector<std::string>& more) {
  return read_selection(place, {"set", "box"}, "nodes", more);
}

std::array<double, 3> read_vector(const Place& place, const char* expected) {
  const auto vector = place.numbers<3>(expected);
  if (vector == std::array<double, 3>{0, 0, 0})
    place.fail_value(std::string(expected) + " that are not all zero");
  return vector;
}

ForceChoice read_force(const Place& place) {
  const std::vector<std::string> kinds = {"force", "total_force", "traction"};
  ForceChoice force;
  force.nodes = read_nodes(place, kinds);
  const std::string name = place.only_name(kinds);
  force.kind = name == "force"         ? ForceChoice::Kind::each
               : name == "total_force" ? ForceChoice::Kind::total
                                       : ForceChoice::Kind::traction;
  force.value = read_vector(place.at(name, ""), force.kind == ForceChoice::Kind::traction
                                                    ? "three components of a traction in N/m2"
                                                    : "three components of a force in N");
  return force;
}

CaseChoice read_case(const Place& place) {
  place.require_object({"name", "weight", "loads"});
  CaseChoice choice;
  const char* expected = "the name of a load case";
  choice.name = place.at("name", expected).text(expected);
  if (const auto weight = place.find("weight"))
    choice.weight = weight->positive("its weight in the objective, greater than 0");
  if (const auto loads = place.find("loads"))
    for (const Place& load : loads->items("a list of loads"))
      choice.forces.push_back(read_force(load));
  return choice;
}

void read_mechanism(const Place& place, ProblemDocument& problem) {
  place.require_object({"output", "springs"});
  problem.is_mechanism = true;
  const char* expected = "a list of nodes with the direction in which they should move";
  const Place list = place.at("output", expected);
  for (const Place& item : list.items(expected)) {
    const char* direction = "three components of a direction";
    problem.outputs.push_back(
        {read_nodes(item, {"direction"}), read_vector(item.at("direction", direction), direction)});
    std::array<double, 3>& d = problem.outputs.back().direction;
    const double length = std::hypot(d[0], d[1], d[2]);
    for (double& component : d)
      component /= length;
  }
  if (problem.outputs.empty())
    list.fail_value(expected);
  const auto springs = place.find("springs");
  if (!springs)
    return;
  for (const Place& item : springs->items("a list of nodes with springs to the ground")) {
    const char* stiffness = "three stiffnesses in N/m, at least 0";
    MeshSelection nodes = read_nodes(item, {"stiffness"});
    const Place value = item.at("stiffness", stiffness);
    problem.springs.push_back({std::move(nodes), read_vector(value, stiffness)});
    const auto& k = problem.springs.back().stiffness;
    if (std::any_of(k.begin(), k.end(), [](double x) { return x < 0; }))
      value.fail_value(stiffness);
  }
}

} // namespace

void read_loading(const JsonPlace& place, ProblemDocument& problem) {
  if (const auto list = place.find("supports"))
    for (const Place& item : list->items("a list of nodes that are held")) {
      SupportChoice support;
      support.nodes = read_nodes(item, {"components"});
      if (const auto components = item.find("components"))
        support.components = read_components(*components);
      problem.supports.push_back(std::move(support));
    }
  if (const auto list = place.find("cases"))
    for (const Place& item : list->items("a list of load cases")) {
      problem.cases.push_back(read_case(item));
      for (std::size_t i = 0; i + 1 < problem.cases.size(); ++i)
        if (problem.cases[i].name == problem.cases.back().name)
          fail<InputError>(item.where(), ".name: \"", problem.cases[i].name,
                           "\" is there twice: each load case has a name of its own");
    }
  if (const auto list = place.find("passive"))
    for (const Place& item : list->items("a list of elements and what they are")) {
      PassiveChoice passive;
      passive.elements = read_selection(item, {"set", "box"}, "elements", {"role"});
      passive.role =
          item.at("role", "\"solid\" or \"void\"")
              .choice<DesignRole>({{DesignRole::solid, "solid"}, {DesignRole::void_, "void"}});
      problem.passive.push_back(std::move(passive));
    }
  if (const auto list = place.find("mirrors"))
    for (const Place& item : list->items("a list of planes of symmetry")) {
      item.require_object({"axis", "place"});
      MirrorPlane mirror{};
      mirror.axis = item.at("axis", "\"x\", \"y\" or \"z\"").choice(axis_names);
      const char* expected = "where the plane is on that axis, in m";
      mirror.place = item.at("place", expected).number(expected);
      problem.mirrors.push_back(mirror);
    }
  if (const auto objective = place.find("objective")) {
    if (objective->json().is_object()) {
      objective->require_object({"mechanism"});
      read_mechanism(objective->at("mechanism", "output and springs"), problem);
    } else {
      objective->one_of({name_of(DesignObjective::compliance)});
    }
  }
}

} // namespace ossatura
