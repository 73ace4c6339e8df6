// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/topopt_model.hpp"

#include "apps/driver/free_motion.hpp"
#include "apps/driver/table.hpp"
#include "apps/topopt/generators.hpp"
#include "apps/topopt/hexa_selector.hpp"
#include "apps/topopt/read_problem.hpp"
#include "apps/topopt/traction.hpp"
#include "core/element_generators.hpp"
#include "core/hexa_changes.hpp"
#include "core/io/hexa_file.hpp"
#include "core/require.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace femura {

namespace {

std::string cells_text(const std::array<int, 3>& cells) {
  return std::to_string(cells[0]) + "x" + std::to_string(cells[1]) + "x" + std::to_string(cells[2]);
}

/// Reads or makes the mesh with its sets, supports and loads, and sets the source in words.
HexaModel load_mesh(ProblemDocument& document, TopoptModel& model) {
  HexaSource& source = document.mesh;
  HexaModel hexa;
  model.unit = source.unit;
  if (source.kind == HexaSource::Kind::file) {
    ElementFileOptions options;
    options.unit = source.unit;
    HexaFile file = read_hexa_file(source.file, options);
    model.source = source.file;
    model.unused_points = file.unused_points;
    for (const std::string& note : file.notes)
      log_warning(source.file, ": ", note);
    return std::move(file.model);
  }
  std::array<int, 3> cells = source.cells.value_or(std::array<int, 3>{});
  if (source.kind == HexaSource::Kind::generator && !source.cells)
    for (const GeneratorInfo& info : generator_infos())
      if (source.generator == info.name)
        cells = info.cells;
  std::array<double, 3> size{double(cells[0]), double(cells[1]), double(cells[2])};
  size = source.size.value_or(size);
  if (source.kind == HexaSource::Kind::generator) {
    generate_design(source.generator, cells, size, hexa, document);
    model.source = source.generator + " of " + cells_text(cells) + " cells";
  } else {
    hexa.mesh = make_hexa_box({cells[0], cells[1], cells[2]}, {size[0], size[1], size[2]});
    model.source = "box of " + cells_text(cells) + " cells";
  }
  if (source.distort > 0) {
    distort(hexa.mesh, source.distort, source.seed);
    model.source += ", distorted by " + format_number(source.distort);
  }
  if (source.renumber) {
    renumber(hexa, *source.renumber);
    model.source += ", renumbered";
  }
  return hexa;
}

/// The components of each node that are held.
class HeldMask {
public:
  explicit HeldMask(std::size_t num_nodes)
      : mask_(num_nodes) {}

  void hold(std::int32_t node, unsigned components) {
    std::uint8_t& mask = mask_[std::size_t(node)];
    mask = std::uint8_t(mask | components);
  }
  bool has(std::int32_t node, int component) const {
    return (mask_[std::size_t(node)] >> component & 1) != 0;
  }
  std::vector<HeldComponents> list() const {
    std::vector<HeldComponents> held;
    for (std::size_t i = 0; i < mask_.size(); ++i)
      if (mask_[i] != 0)
        held.push_back({std::int32_t(i), mask_[i]});
    return held;
  }

private:
  std::vector<std::uint8_t> mask_;
};

/// Holds the nodes on each plane of symmetry in the direction across it.
void hold_mirrors(const ProblemDocument& document, const HexaModel& hexa,
                  const HexaSelector& select, HeldMask& held) {
  for (std::size_t m = 0; m < document.mirrors.size(); ++m) {
    const MirrorPlane& mirror = document.mirrors[m];
    const std::size_t axis = std::size_t(mirror.axis);
    const std::string where = document.file + ": mirrors[" + std::to_string(m) + "]";
    const double low = select.bounds()[axis], high = select.bounds()[axis + 3];
    if (low < mirror.place - select.slack() && high > mirror.place + select.slack())
      fail<InputError>(where, ": the body is on both sides of the plane ", "xyz"[axis], " = ",
                       mirror.place, ": it spans ", format_number(low), " to ", format_number(high),
                       " m; model one side alone");
    std::int64_t count = 0;
    for (std::size_t i = 0; i < hexa.mesh.num_points(); ++i)
      if (std::abs(hexa.mesh.point[3 * i + axis] - mirror.place) <= select.slack()) {
        held.hold(std::int32_t(i), 1u << axis);
        ++count;
      }
    if (count == 0)
      fail<InputError>(where, ": the body has no nodes on the plane ", "xyz"[axis], " = ",
                       mirror.place, ": it spans ", format_number(low), " to ", format_number(high),
                       " m");
  }
}

std::vector<NodeForce> forces_of(const ForceChoice& choice, const HexaModel& hexa,
                                 const HexaSelector& select) {
  const std::vector<std::int32_t> nodes = select.nodes(choice.nodes);
  if (choice.kind == ForceChoice::Kind::traction) {
    std::vector<NodeForce> forces = traction_forces(hexa.mesh, nodes, choice.value);
    if (forces.empty())
      fail<InputError>(choice.nodes.place,
                       ": none of the faces of the surface has all of its four "
                       "nodes among the ",
                       nodes.size(), " chosen ones: choose more nodes, or a \"total_force\"");
    return forces;
  }
  const double share = choice.kind == ForceChoice::Kind::total ? 1 / double(nodes.size()) : 1;
  std::vector<NodeForce> forces;
  for (const std::int32_t node : nodes)
    forces.push_back(
        {node, {share * choice.value[0], share * choice.value[1], share * choice.value[2]}});
  return forces;
}

/// Refuses forces that do nothing, and those that only void would carry.
void check_forces(const std::string& where, const std::vector<NodeForce>& forces,
                  const HeldMask& held, const std::vector<std::uint8_t>& only_void) {
  std::int64_t components = 0, lost = 0;
  std::int32_t first_lost = -1;
  for (const NodeForce& force : forces)
    for (int c = 0; c < 3; ++c) {
      if (force.force[c] == 0)
        continue;
      if (!only_void.empty() && only_void[std::size_t(force.node)] != 0)
        fail<InputError>(where, ": node ", force.node,
                         " is loaded, but all of its elements are void: load others, or make "
                         "these free or solid");
      ++components;
      if (held.has(force.node, c)) {
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
  if (lost > 0)
    log_warning(where, ": ", lost, " of ", components,
                " components of forces act where the body is held, and do nothing (node ",
                first_lost, " is the first)");
}

/// Nodes all of whose elements are void; empty where no element is.
std::vector<std::uint8_t> nodes_in_void(const ElementMesh& mesh,
                                        const std::vector<DesignRole>& role) {
  if (std::count(role.begin(), role.end(), DesignRole::void_) == 0)
    return {};
  std::vector<std::uint8_t> only_void(mesh.num_points(), 1);
  for (std::size_t e = 0; e < mesh.num_elem(); ++e)
    if (role[e] != DesignRole::void_)
      for (std::size_t a = 8 * e; a < 8 * e + 8; ++a)
        only_void[std::size_t(mesh.node[a])] = 0;
  return only_void;
}

std::string case_name(const NodeLoads& loads, std::size_t number) {
  return loads.name.empty() ? "load " + std::to_string(number + 1) : loads.name;
}

/// Load cases of the mesh, then those of the problem.
void add_cases(const ProblemDocument& document, HexaModel& hexa, const HexaSelector& select,
               const HeldMask& held, TopoptModel& model) {
  const std::vector<std::uint8_t> only_void = nodes_in_void(hexa.mesh, model.problem.role);
  for (std::size_t i = 0; i < hexa.loads.size(); ++i) {
    NodeLoads& loads = hexa.loads[i];
    if (loads.forces.empty())
      continue;
    model.case_names.push_back(case_name(loads, i));
    check_forces(model.source + ": load case '" + model.case_names.back() + "'", loads.forces, held,
                 only_void);
    model.problem.cases.push_back({std::move(loads), 1});
  }
  for (const CaseChoice& choice : document.cases) {
    const auto found = std::find(model.case_names.begin(), model.case_names.end(), choice.name);
    const std::size_t index = std::size_t(found - model.case_names.begin());
    if (found == model.case_names.end()) {
      if (choice.forces.empty())
        fail<InputError>(document.file, ": the load case '", choice.name,
                         "' has no loads, and the mesh has no load case of this name");
      model.case_names.push_back(choice.name);
      model.problem.cases.push_back({{choice.name, {}}, 1});
    }
    DesignLoadCase& load_case = model.problem.cases[index];
    load_case.weight = choice.weight.value_or(load_case.weight);
    for (const ForceChoice& one : choice.forces) {
      const std::vector<NodeForce> forces = forces_of(one, hexa, select);
      check_forces(one.nodes.place, forces, held, only_void);
      load_case.loads.forces.insert(load_case.loads.forces.end(), forces.begin(), forces.end());
    }
  }
  if (model.problem.cases.empty())
    fail<InputError>(document.file, ": there are no loads: give \"cases\" with \"loads\" in a "
                                    ".json problem, or a mesh file that has them");
}

void add_mechanism(const ProblemDocument& document, const HexaSelector& select,
                   const HeldMask& held, TopoptModel& model) {
  for (const OutputChoice& output : document.outputs) {
    const std::vector<std::int32_t> nodes = select.nodes(output.nodes);
    const double share = 1 / double(nodes.size());
    bool moves = false;
    for (const std::int32_t node : nodes) {
      const auto& d = output.direction;
      model.problem.output.push_back({node, {share * d[0], share * d[1], share * d[2]}});
      for (int c = 0; c < 3; ++c)
        moves = moves || (d[std::size_t(c)] != 0 && !held.has(node, c));
    }
    if (!moves)
      fail<InputError>(output.nodes.place,
                       ": the output cannot move, because its nodes are held in its direction");
  }
  for (const SpringChoice& spring : document.springs) {
    const std::vector<std::int32_t> nodes = select.nodes(spring.nodes);
    for (const std::int32_t node : nodes)
      for (int c = 0; c < 3; ++c)
        if (const double k = spring.stiffness[std::size_t(c)]; k > 0)
          model.problem.springs.push_back({node, c, k / double(nodes.size())});
  }
}

void set_material(const ProblemDocument& document, const HexaModel& hexa, TopoptModel& model) {
  const bool in_mesh = hexa.young > 0;
  if (!document.young && !in_mesh)
    fail<InputError>(document.file, ": the material is missing: ", model.source,
                     " has no elastic constants: give \"material\" with \"young\" and \"poisson\", "
                     "or --young and --poisson");
  model.problem.young = document.young.value_or(hexa.young);
  model.problem.poisson = document.poisson.value_or(in_mesh ? hexa.poisson : 0.3);
}

void check_supports(const ProblemDocument& document, const TopoptModel& model) {
  const std::string motion =
      describe_free_motion(model.problem.mesh, model.problem.held, model.problem.springs);
  if (motion.empty())
    return;
  if (model.problem.held.empty())
    fail<InputError>(document.file, ": there are no supports, so that ", motion,
                     ": give \"supports\" in a .json problem, or a mesh file that has them");
  fail<InputError>(document.file, ": ", motion, ": hold more nodes or components");
}

} // namespace

std::int64_t TopoptModel::num_held() const {
  std::int64_t count = 0;
  for (const HeldComponents& held : problem.held)
    count += (held.components & 1) + (held.components >> 1 & 1) + (held.components >> 2 & 1);
  return count;
}

std::int64_t TopoptModel::count(DesignRole role) const {
  if (problem.role.empty())
    return role == DesignRole::free ? num_elem() : 0;
  return std::count(problem.role.begin(), problem.role.end(), role);
}

ProblemDocument make_document(const TopoptCommandOptions& options) {
  ProblemDocument document;
  if (options.is_json()) {
    document = read_problem(options.problem);
  } else {
    document.file = options.problem;
    const bool is_generator = options.is_generator();
    document.mesh.kind = is_generator ? HexaSource::Kind::generator : HexaSource::Kind::file;
    (is_generator ? document.mesh.generator : document.mesh.file) = options.problem;
  }
  HexaSource& mesh = document.mesh;
  const bool is_file = mesh.kind == HexaSource::Kind::file;
  if (is_file && (options.cells || options.size || options.distort || options.renumber))
    fail<UsageError>("--cells, --size, --distort and --renumber have no effect on the mesh ",
                     mesh.file, ": leave them out");
  if (!is_file && options.unit)
    fail<UsageError>("--unit has no effect without a mesh file: leave it out");
  if (options.cells)
    mesh.cells = options.cells;
  if (options.size)
    mesh.size = options.size;
  mesh.distort = options.distort.value_or(mesh.distort);
  if (options.renumber)
    mesh.renumber = options.renumber;
  mesh.seed = options.common.seed;
  mesh.unit = options.unit.value_or(mesh.unit);
  if (options.young)
    document.young = options.young;
  if (options.poisson)
    document.poisson = options.poisson;
  return document;
}

TopoptModel build_topopt_model(ProblemDocument document) {
  TopoptModel model;
  HexaModel hexa = load_mesh(document, model);
  std::string no_numbers;
  if (model.unused_points > 0)
    no_numbers = model.source + " has " + std::to_string(model.unused_points) +
                 " points without element, which are left out";
  if (document.mesh.renumber)
    no_numbers = "the mesh is renumbered";
  const HexaSelector select(hexa, no_numbers);
  set_material(document, hexa, model);

  HeldMask held(hexa.mesh.num_points());
  for (const HeldComponents& node : hexa.held)
    held.hold(node.node, node.components);
  for (const SupportChoice& support : document.supports)
    for (const std::int32_t node : select.nodes(support.nodes))
      held.hold(node, support.components);
  hold_mirrors(document, hexa, select, held);

  DesignProblem& problem = model.problem;
  problem.held = held.list();
  problem.mirrors = document.mirrors;
  if (!document.passive.empty()) {
    problem.role.assign(hexa.mesh.num_elem(), DesignRole::free);
    for (const PassiveChoice& passive : document.passive)
      for (const std::int32_t e : select.elements(passive.elements))
        problem.role[std::size_t(e)] = passive.role;
  }
  add_cases(document, hexa, select, held, model);
  add_mechanism(document, select, held, model);
  problem.mesh = std::move(hexa.mesh);
  if (model.count(DesignRole::free) == 0)
    fail<InputError>(document.file,
                     ": all elements are solid or void, so that there is nothing to design");
  check_supports(document, model);

  if (document.is_mechanism) {
    model.options.objective = DesignObjective::mechanism;
    model.options.method = DesignMethod::mma;
    model.options.move = 0.1; // or the way to the output may be cut before it works
  }
  for (const auto& change : document.changes)
    change(model.options);
  model.has_steps = document.has_steps;
  return model;
}

TopoptModel make_topopt_model(const TopoptCommandOptions& options, DriverContext& context) {
  const TimedScope scope("femura::topopt::read");
  ProblemDocument document = make_document(options);
  std::vector<InputRecord>& inputs = context.provenance().inputs;
  if (options.is_json())
    inputs.push_back(record_input(options.problem));
  const std::string mesh_file = document.mesh.file;
  TopoptModel model = build_topopt_model(std::move(document));
  if (!mesh_file.empty())
    inputs.push_back(record_input(mesh_file));
  options.apply_to(model.options);
  model.has_steps = model.has_steps || options.has_steps;
  if (model.unused_points > 0)
    log_warning(model.source, ": ", format_count(model.unused_points),
                " points belong to no element and are left out");
  log_info(model.source, ": ", format_count(model.num_nodes()), " nodes, ",
           format_count(model.num_elem()), " elements");
  return model;
}

} // namespace femura
