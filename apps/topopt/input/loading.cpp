// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/input/loading.hpp"

#include "apps/driver/options/number_range.hpp"
#include "apps/driver/output/table.hpp"
#include "apps/driver/problem/loaded_box.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/text/cursor.hpp>
#include <ossatura/core/mesh/mechanics/traction.hpp>
#include <ossatura/solvers/topopt/loads.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace ossatura {

namespace {

struct Traction {
  std::vector<NodeForce> forces;
  std::size_t num_taken = 0;           ///< faces
  std::optional<BoxFaces> of_box = {}; ///< of nodes that a box has
};

/// Of a lattice by the elements around the nodes, which have all faces that are chosen. `box`: what
/// chooses the nodes, or null.
Traction traction_of(const DesignProblem& problem, const std::vector<std::int32_t>& nodes,
                     const std::vector<FaceCorners>* among, const std::array<double, 3>& value,
                     const Box* box) {
  Traction traction;
  const auto act_on = [&](const auto& mesh, const std::vector<std::int32_t>& chosen,
                          const std::vector<FaceCorners>* faces) {
    traction.forces = traction_forces(mesh, chosen, value, faces, &traction.num_taken);
    if (box != nullptr)
      traction.of_box = measure_box_faces(mesh, chosen, *box);
  };
  if (problem.solids)
    act_on(*problem.solids, nodes, among);
  else if (!problem.lattice)
    act_on(problem.mesh, nodes, among);
  if (!problem.lattice)
    return traction;
  std::vector<std::int32_t> number, chosen;
  const ElementMesh around = problem.lattice->mesh_around(nodes, number);
  const auto number_around = [&number](std::int32_t node) {
    return std::int32_t(std::lower_bound(number.begin(), number.end(), node) - number.begin());
  };
  for (const std::int32_t node : nodes)
    chosen.push_back(number_around(node));
  std::vector<FaceCorners> faces;
  if (among != nullptr)
    for (FaceCorners face : *among) { // nodes of the set, and so around; the order stays
      std::transform(face.begin(), face.end(), face.begin(), number_around);
      faces.push_back(face);
    }
  act_on(around, chosen, among != nullptr ? &faces : nullptr);
  for (NodeForce& force : traction.forces)
    force.node = number[std::size_t(force.node)];
  return traction;
}

/// A point in mm is a thousand times as far from the body as it is meant, and so are moments.
void require_near(const ForceChoice& choice, const DesignProblem& problem) {
  constexpr double farthest = 100; // sizes of the body: a mast on its bracket is nearer
  const Box box = problem.bounds();
  double away = 0, size = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    const double beyond = std::max({0.0, box[d] - choice.point[d], choice.point[d] - box[d + 3]});
    away = std::hypot(away, beyond);
    size = std::hypot(size, box[d + 3] - box[d]);
  }
  if (away > farthest * size)
    fail<InputError>(choice.nodes.place, ".remote.point: is ", format_number(away, 4),
                     " m away from the body, which is ", format_number(size, 4),
                     " m across: places are in m");
}

/// Of a load at a point.
std::vector<NodeForce> remote_forces(const ForceChoice& choice, const DesignProblem& problem,
                                     const std::vector<std::int32_t>& nodes) {
  require_near(choice, problem);
  std::string defect;
  std::vector<NodeForce> forces =
      remote_load(problem, nodes, choice.point, choice.value, choice.moment, defect);
  if (!defect.empty())
    fail<InputError>(choice.nodes.place, ": ", defect);
  return forces;
}

/// A force, or a direction, that nodes share.
std::vector<NodeForce> shared(const DesignProblem& problem, const std::vector<std::int32_t>& nodes,
                              const std::array<double, 3>& all) {
  const std::vector<double> share = node_shares(problem, nodes);
  std::vector<NodeForce> forces;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    forces.push_back({nodes[i], {share[i] * all[0], share[i] * all[1], share[i] * all[2]}});
  return forces;
}

std::vector<NodeForce> forces_of(const ForceChoice& choice, const PlaceSelector& select,
                                 const ProblemDocument& document, TopoptModel& model) {
  const DesignProblem& problem = model.problem;
  const std::vector<std::int32_t> nodes = select.nodes(choice.nodes);
  if (choice.kind == ForceChoice::Kind::traction) {
    const std::vector<FaceCorners>* faces = select.faces(choice.nodes);
    require_faces(choice.nodes, faces, choice.nodes.place, "a \"total_force\"");
    const bool is_box =
        choice.nodes.kind == MeshSelection::Kind::box && !choice.nodes.is_of_places();
    Traction traction =
        traction_of(problem, nodes, faces, choice.value, is_box ? &choice.nodes.box : nullptr);
    if (traction.forces.empty())
      fail<InputError>(choice.nodes.place,
                       ": none of the faces of the surface has all of its nodes "
                       "among the ",
                       nodes.size(), " chosen ones: choose more nodes, or a \"total_force\"");
    require_on_boundary(choice.nodes, faces, traction.num_taken, choice.nodes.place);
    if (is_box) {
      model.loaded_boxes.push_back(
          {place_within(document.file, choice.nodes.place), *traction.of_box});
      if (!document.is_coarser) // of the finest grid it is told
        warn_of_box_between_nodes(choice.nodes.place, *traction.of_box);
    }
    return std::move(traction.forces);
  }
  if (choice.kind == ForceChoice::Kind::remote)
    return remote_forces(choice, problem, nodes);
  if (choice.kind == ForceChoice::Kind::total)
    return shared(problem, nodes, choice.value);
  std::vector<NodeForce> forces;
  for (const std::int32_t node : nodes)
    forces.push_back({node, {choice.value[0], choice.value[1], choice.value[2]}});
  return forces;
}

/// Refuses forces that do nothing, and those that only void would carry. Those at components that
/// their own case moves do work, though they change no displacement: c differs by 2 f . v.
void check_forces(const std::string& where, const std::vector<NodeForce>& forces,
                  const HeldMask& held, const std::vector<NodeDisplacement>& moved,
                  const std::function<bool(std::int32_t)>& in_void) {
  std::set<std::pair<std::int32_t, int>> moves;
  for (const NodeDisplacement& one : moved)
    if (one.value != 0)
      moves.emplace(one.node, one.component);
  std::int64_t components = 0, lost = 0, at_moved = 0;
  std::int32_t first_lost = -1, first_moved = -1;
  for (const NodeForce& force : forces)
    for (int c = 0; c < 3; ++c) {
      if (force.force[c] == 0)
        continue;
      if (in_void(force.node))
        fail<InputError>(where, ": node ", force.node,
                         " is loaded, but all of its elements are void: load others, or make "
                         "these free or solid");
      ++components;
      if (moves.count({force.node, c}) > 0) {
        ++at_moved;
        first_moved = first_moved < 0 ? force.node : first_moved;
      } else if (held.has(force.node, c)) {
        ++lost;
        first_lost = first_lost < 0 ? force.node : first_lost;
      }
    }
  if (components == 0)
    fail<InputError>(where, ": has no force that is not zero");
  if (lost == components)
    fail<InputError>(where, ": all loaded nodes (node ", first_lost,
                     " is the first) are held in the direction of the force, which does nothing: "
                     "load others, or free these");
  if (lost + at_moved == components)
    fail<InputError>(where, ": all loaded nodes (node ", first_moved,
                     " is the first) are moved in the direction of the force by the same load "
                     "case, or held, and the force changes no displacement: load "
                     "others, or leave these free");
  if (lost > 0)
    log_warning("lost-load", where, ": ", lost, " of ", components,
                " components of forces act where the body is held, and do nothing (node ",
                first_lost, " is the first)");
  if (at_moved > 0)
    log_warning("lost-load", where, ": ", at_moved, " of ", components,
                " components of forces act where the same load case moves the body: they change "
                "the work, but no displacement (node ",
                first_moved, " is the first)");
}

/// Tells of nodes whether all of their elements are void. Refers to the problem.
std::function<bool(std::int32_t)> nodes_in_void(const DesignProblem& problem) {
  const std::vector<DesignRole>& role = problem.role;
  if (std::count(role.begin(), role.end(), DesignRole::void_) == 0)
    return [](std::int32_t) { return false; };
  if (problem.lattice)
    return [&role, &body = *problem.lattice](std::int32_t node) {
      const std::array<int, 3> at = body.node().place(node);
      for (int side = 0; side < 8; ++side) {
        const std::array<int, 3> cell{at[0] - (side & 1), at[1] - (side >> 1 & 1),
                                      at[2] - (side >> 2)};
        if (body.elem().has(cell) &&
            role[std::size_t(body.elem().number(cell))] != DesignRole::void_)
          return false;
      }
      return true;
    };
  std::vector<bool> only_void(problem.num_nodes(), true);
  for (std::size_t e = 0; e < problem.num_elem(); ++e)
    if (role[e] != DesignRole::void_)
      for (const std::int32_t node : problem.nodes_of(e))
        only_void[std::size_t(node)] = false;
  return [only_void = std::move(only_void)](std::int32_t node) {
    return only_void[std::size_t(node)];
  };
}

/// Refuses nodes that are moved in void.
void check_displacements(const std::string& where, const std::vector<NodeDisplacement>& moved,
                         const std::function<bool(std::int32_t)>& in_void) {
  for (const NodeDisplacement& one : moved)
    if (in_void(one.node))
      fail<InputError>(where, ": node ", one.node,
                       " is moved, but all of its elements are void: move others, or make these "
                       "free or solid");
}

/// Makes the chosen nodes warmer; all others stay as they are.
void warm_nodes(const ProblemDocument& document, const CaseChoice& choice,
                const PlaceSelector& select, std::size_t num_nodes, NodeLoads& loads) {
  if (choice.temperatures.empty())
    return;
  loads.warming.resize(num_nodes);
  for (const TemperatureChoice& one : choice.temperatures)
    if (one.nodes)
      for (const std::int32_t node : select.nodes(*one.nodes))
        loads.warming[std::size_t(node)] = one.change;
    else
      loads.warming.assign(num_nodes, one.change);
  if (std::count(loads.warming.begin(), loads.warming.end(), 0.0) == std::ptrdiff_t(num_nodes))
    fail<InputError>(document.file, ": load case '", choice.name,
                     "': the \"temperature_change\" is 0 at all nodes: leave it out");
}

std::string case_name(const NodeLoads& loads, std::size_t number) {
  return loads.name.empty() ? "load " + std::to_string(number + 1) : loads.name;
}

/// What acts on mass acts beyond mirrors, too, where it is not turned as the part is.
void check_mirrors(const ProblemDocument& document, const TopoptModel& model) {
  const DesignProblem& problem = model.problem;
  for (std::size_t k = 0; k < problem.cases.size(); ++k)
    for (const BodyLoad& load : problem.cases[k].loads.body)
      if (const auto m = find_asymmetry(problem, load)) {
        const char axis = "xyz"[problem.mirrors[*m].axis];
        const std::string plane =
            std::string(1, axis) + " = " + format_number(problem.mirrors[*m].place);
        const std::string where = document.file + ": load case '" + model.case_names[k] +
                                  "': mirrors[" + std::to_string(*m) + "]: ";
        if (load.square_speed > 0)
          fail<InputError>(where, "the axis of rotation is neither in the plane ", plane,
                           " nor normal to it, and beyond the mirror the part would turn about "
                           "another axis: model the whole part");
        fail<InputError>(where, "gravity has a component along ", axis, ", and beyond the mirror ",
                         plane, " it would act the other way: model the whole part");
      }
}

} // namespace

std::vector<std::vector<NodeDisplacement>>
find_displacements(const ProblemDocument& document, const PlaceSelector& select, HeldMask& held) {
  std::vector<std::vector<NodeDisplacement>> moved(document.cases.size());
  HeldMask own; // of all cases
  for (std::size_t k = 0; k < document.cases.size(); ++k) {
    std::map<std::pair<std::int32_t, int>, double> values;
    for (const DisplacementChoice& choice : document.cases[k].displacements)
      for (const std::int32_t node : select.nodes(choice.nodes))
        for (int c = 0; c < 3; ++c) {
          const std::optional<double>& value = choice.value[std::size_t(c)];
          if (!value)
            continue;
          if (held.has(node, c) && !own.has(node, c))
            fail<InputError>(choice.nodes.place, ": node ", node, " is to move by ", *value,
                             " m along ", "xyz"[c],
                             ", where supports, mirrors or the mesh hold it: choose other nodes, "
                             "or leave that support out");
          held.hold(node, 1u << c);
          own.hold(node, 1u << c);
          const auto [place, is_new] = values.emplace(std::make_pair(node, c), *value);
          if (!is_new && place->second != *value)
            fail<InputError>(choice.nodes.place, ": node ", node, " is to move by ", *value,
                             " m along ", "xyz"[c], " and by ", place->second,
                             " m in the same load case: leave one out");
        }
    for (const auto& [key, value] : values)
      if (value != 0)
        moved[k].push_back({key.first, key.second, value});
  }
  return moved;
}

namespace {

/// The place of a case of the document among the names, or their number. Decks, of which those of
/// the mesh are, do not tell small letters from capitals.
std::size_t find_case(const ProblemDocument& document, const std::string& name,
                      std::size_t num_of_mesh, const std::vector<std::string>& names) {
  const auto mesh_end = names.begin() + std::ptrdiff_t(num_of_mesh);
  const auto is_same = [&](const std::string& other) {
    return in_capitals(other) == in_capitals(name);
  };
  const auto found = std::find_if(names.begin(), mesh_end, is_same);
  if (found == mesh_end)
    return std::size_t(std::find(mesh_end, names.end(), name) - names.begin());
  if (std::count_if(document.cases.begin(), document.cases.end(),
                    [&](const CaseChoice& other) { return is_same(other.name); }) > 1)
    fail<InputError>(document.file, ": \"cases\" has '", name,
                     "' in small letters and in capitals, and the mesh has it, which does not tell "
                     "these apart: make one of them");
  return std::size_t(found - names.begin());
}

} // namespace

void add_cases(const ProblemDocument& document, HexaModel& hexa, const PlaceSelector& select,
               const HeldMask& held,
               const std::vector<std::vector<NodeDisplacement>>& displacements,
               TopoptModel& model) {
  const std::function<bool(std::int32_t)> in_void = nodes_in_void(model.problem);
  for (std::size_t i = 0; i < hexa.loads.size(); ++i) {
    NodeLoads& loads = hexa.loads[i];
    if (loads.empty())
      continue;
    model.case_names.push_back(case_name(loads, i));
    const std::string where = model.source + ": load case '" + model.case_names.back() + "'";
    if (!loads.forces.empty())
      check_forces(where, loads.forces, held, loads.displacements, in_void);
    check_displacements(where, loads.displacements, in_void);
    model.problem.cases.push_back({std::move(loads), 1});
  }
  const std::size_t num_of_mesh = model.case_names.size();
  for (std::size_t i = 0; i < document.cases.size(); ++i) {
    const CaseChoice& choice = document.cases[i];
    const std::size_t index = find_case(document, choice.name, num_of_mesh, model.case_names);
    if (index == model.case_names.size()) {
      if (choice.forces.empty() && choice.displacements.empty() && choice.body.empty() &&
          choice.temperatures.empty())
        fail<InputError>(document.file, ": the load case '", choice.name,
                         "' has no loads, and the mesh has no load case of this name");
      model.case_names.push_back(choice.name);
      model.problem.cases.push_back({{choice.name, {}}, 1});
    }
    DesignLoadCase& load_case = model.problem.cases[index];
    load_case.weight = choice.weight.value_or(load_case.weight);
    std::vector<NodeDisplacement> moved = load_case.loads.displacements;
    moved.insert(moved.end(), displacements[i].begin(), displacements[i].end());
    for (const ForceChoice& one : choice.forces) {
      const std::vector<NodeForce> forces = forces_of(one, select, document, model);
      check_forces(one.nodes.place, forces, held, moved, in_void);
      load_case.loads.forces.insert(load_case.loads.forces.end(), forces.begin(), forces.end());
    }
    check_displacements(document.file + ": load case '" + choice.name + "'", displacements[i],
                        in_void);
    load_case.loads.displacements = std::move(moved);
    load_case.loads.body.insert(load_case.loads.body.end(), choice.body.begin(), choice.body.end());
    warm_nodes(document, choice, select, model.problem.num_nodes(), load_case.loads);
  }
  check_mirrors(document, model);
  if (model.problem.cases.empty())
    fail<InputError>(document.file,
                     ": there are no loads: give \"cases\" with \"loads\" in a "
                     ".json problem, or a mesh file that has them",
                     document.is_frequency || hexa.frequencies
                         ? ". Frequencies do not depend on them: any will do, "
                           "such as \"gravity\""
                         : "");
}

void check_supported_nodes(const ProblemDocument& document, const PlaceSelector& select,
                           const DesignProblem& problem) {
  const std::function<bool(std::int32_t)> in_void = nodes_in_void(problem);
  for (const SupportChoice& support : document.supports) {
    const std::vector<std::int32_t> nodes = select.nodes(support.nodes);
    if (std::all_of(nodes.begin(), nodes.end(), in_void))
      fail<InputError>(support.nodes.place,
                       ": holds nothing, because all elements of its nodes are void: hold others, "
                       "or make these free or solid");
  }
}

void add_mechanism(const ProblemDocument& document, const PlaceSelector& select,
                   const HeldMask& held, TopoptModel& model) {
  const std::function<bool(std::int32_t)> in_void = nodes_in_void(model.problem);
  const auto require_material = [&](const std::string& place, std::int32_t node, const char* what) {
    if (in_void(node))
      fail<InputError>(place, ": node ", node, what,
                       ", but all of its elements are void: take others, or make these free or "
                       "solid");
  };
  for (const OutputChoice& output : document.outputs) {
    const std::vector<std::int32_t> nodes = select.nodes(output.nodes);
    const auto& d = output.direction;
    bool moves = false;
    for (const NodeForce& one : shared(model.problem, nodes, d)) {
      model.problem.output.push_back(one);
      for (int c = 0; c < 3; ++c)
        moves = moves || (d[std::size_t(c)] != 0 && !held.has(one.node, c));
    }
    if (!moves)
      fail<InputError>(output.nodes.place,
                       ": the output cannot move, because its nodes are held in its direction");
    for (const std::int32_t node : nodes)
      require_material(output.nodes.place, node, " is of the output");
  }
  for (const SpringChoice& spring : document.springs) {
    const std::vector<std::int32_t> nodes = select.nodes(spring.nodes);
    bool acts = false;
    for (const NodeForce& one : shared(model.problem, nodes, spring.stiffness)) {
      for (int c = 0; c < 3; ++c)
        if (one.force[c] > 0) {
          model.problem.springs.push_back({one.node, c, one.force[c]});
          acts = acts || !held.has(one.node, c);
        }
    }
    if (!acts)
      fail<InputError>(spring.nodes.place,
                       ": the springs do nothing, because all of their nodes are held in their "
                       "direction: choose other nodes, or free these");
    for (const std::int32_t node : nodes)
      require_material(spring.nodes.place, node, " has a spring");
  }
}

namespace {

/// The number of the load case that a limit names; -1 where it names none, of displacements the
/// only one.
int case_of(const LimitChoice& choice, const TopoptModel& model) {
  const std::vector<std::string>& names = model.case_names;
  std::string known = "\"" + names[0] + "\"";
  for (std::size_t k = 1; k < names.size(); ++k)
    known += ", \"" + names[k] + "\"";
  if (choice.load_case) {
    const auto found = std::find(names.begin(), names.end(), *choice.load_case);
    if (found == names.end())
      fail<InputError>(choice.place, ": there is no load case \"", *choice.load_case,
                       "\": take one of ", known);
    return int(found - names.begin());
  }
  if (choice.kind != DesignLimitKind::displacement)
    return -1;
  if (names.size() > 1)
    fail<InputError>(choice.place, ": a displacement is of one load case: give \"case\", one of ",
                     known);
  return 0;
}

/// The mean of the nodes in the direction.
std::vector<NodeForce> mean_of(const LimitChoice& choice, const PlaceSelector& select,
                               const HeldMask& held, const DesignProblem& problem) {
  const std::vector<std::int32_t> nodes = select.nodes(choice.nodes);
  const std::function<bool(std::int32_t)> in_void = nodes_in_void(problem);
  const auto& d = choice.direction;
  bool moves = false;
  for (const std::int32_t node : nodes) {
    if (in_void(node))
      fail<InputError>(choice.place, ": the displacement of node ", node,
                       " is limited, but all of its elements are void: take others, or make these "
                       "free or solid");
    for (int c = 0; c < 3; ++c)
      moves = moves || (d[std::size_t(c)] != 0 && !held.has(node, c));
  }
  if (!moves)
    fail<InputError>(choice.place, ": nothing limits a displacement that is 0: all nodes are held "
                                   "in this direction. Take others");
  return shared(problem, nodes, d);
}

} // namespace

void add_limits(const ProblemDocument& document, const PlaceSelector& select, const HeldMask& held,
                TopoptModel& model) {
  for (const LimitChoice& choice : document.limits) {
    require_number(choice.place, "a limit", choice.value);
    DesignLimit limit;
    limit.kind = choice.kind;
    limit.limit = choice.value;
    limit.load_case = case_of(choice, model);
    limit.at_least = choice.at_least;
    if (choice.kind == DesignLimitKind::displacement)
      limit.direction = mean_of(choice, select, held, model.problem);
    if (choice.kind == DesignLimitKind::mass)
      for (const HexaMaterial& one : model.problem.materials)
        if (!(one.density > 0))
          fail<InputError>(choice.place, ": mass is limited, but the material ",
                           one.name.empty() ? "" : one.name + " ",
                           "has no mass density: give *DENSITY in a deck, \"mass_density\" in a "
                           "problem, or --mass-density");
    model.problem.limits.push_back(std::move(limit));
  }
}

} // namespace ossatura
