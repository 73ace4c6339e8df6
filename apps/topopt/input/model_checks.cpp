// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/input/model_checks.hpp"

#include "apps/driver/options/number_range.hpp"
#include "apps/driver/output/table.hpp"
#include "apps/driver/problem/library_message.hpp"
#include "apps/driver/problem/split_mesh.hpp"
#include <ossatura/core/mesh/mechanics/lattice_motion.hpp>
#include <ossatura/core/mesh/mechanics/odd_density.hpp>
#include <ossatura/core/mesh/mechanics/odd_gravity.hpp>
#include <ossatura/solvers/topopt/bodies/solids.hpp>
#include <ossatura/solvers/topopt/frequencies/frequencies.hpp>
#include <ossatura/solvers/topopt/part/hinges.hpp>
#include <ossatura/solvers/topopt/part/remaining_parts.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace ossatura {

namespace {

constexpr double softest = 1e6; // Pa, of rubber: moduli near 1 stand for units

void require_sizes(const ProblemDocument& document, const DesignProblem& problem) {
  std::vector<double> forces;
  for (const DesignLoadCase& one : problem.cases)
    for (const NodeForce& force : one.loads.forces)
      forces.insert(forces.end(), force.force, force.force + 3);
  require_numbers(document.file, "forces", forces);
  std::vector<double> displacements;
  for (const DesignLoadCase& one : problem.cases)
    for (const NodeDisplacement& moved : one.loads.displacements)
      displacements.push_back(moved.value);
  require_numbers(document.file, "displacements", displacements);
}

/// Of an acceleration of another unit, where moduli are those of materials.
void warn_of_gravity(const std::string& where, const BodyLoad& load,
                     const std::vector<HexaMaterial>& materials) {
  const std::optional<double> odd = find_odd_gravity(load.acceleration.data());
  if (odd && std::any_of(materials.begin(), materials.end(),
                         [](const HexaMaterial& one) { return one.young >= softest; }))
    log_warning(
        "odd-gravity", where, " has a gravity of ", format_number(*odd, 4), " m/s2, ",
        format_number(*odd / earth_gravity, 3),
        " times that of the earth: that of problems is in m/s2 (9.81), and that of decks in "
        "the units that --unit makes of theirs (9810 mm/s2 with --unit 0.001)");
}

/// Gravity and rotation need mass, and numbers whose products are numbers.
void check_body_loads(const ProblemDocument& document, const TopoptModel& model) {
  for (std::size_t k = 0; k < model.problem.cases.size(); ++k)
    for (const BodyLoad& load : model.problem.cases[k].loads.body) {
      const std::string where = document.file + ": load case '" + model.case_names[k] + "'";
      for (const HexaMaterial& one : model.problem.materials) {
        if (!(one.density > 0))
          fail<InputError>(where, " has gravity or rotation, but the material ",
                           one.name.empty() ? "" : one.name + " ",
                           "has no mass density: give *DENSITY in a deck, \"mass_density\" in a "
                           "problem, or --mass-density");
        require_number(document.file, "a mass density", one.density);
      }
      require_numbers(where, "an acceleration",
                      {load.acceleration.begin(), load.acceleration.end()});
      require_number(where, "the square of a speed of rotation", load.square_speed);
      warn_of_gravity(where, load, model.problem.materials);
    }
}

/// Whether a change of temperature is one in kelvin, from 0 K on: room temperature, or whole
/// degrees Celsius. Changes are round numbers, or computed ones.
bool is_absolute(double change) {
  constexpr double zero = 273.15, coldest = 200, hottest = 2000; // K
  const double celsius = change - zero;
  return change == 273 || change == 293 || change == 298 ||
         (change > coldest && change < hottest && std::fabs(celsius - std::round(celsius)) < 1e-6);
}

/// Temperatures need a material that expands, and numbers whose products are numbers.
void check_temperatures(const ProblemDocument& document, const TopoptModel& model) {
  const std::vector<HexaMaterial>& materials = model.problem.materials;
  for (std::size_t k = 0; k < model.problem.cases.size(); ++k) {
    const std::vector<double>& warming = model.problem.cases[k].loads.warming;
    if (warming.empty())
      continue;
    const std::string where = document.file + ": load case '" + model.case_names[k] + "'";
    if (std::all_of(materials.begin(), materials.end(),
                    [](const HexaMaterial& one) { return one.expansion == 0; }))
      fail<InputError>(where, " has temperatures, but no material expands: give *EXPANSION in a "
                              "deck, or \"expansion\" in a problem");
    for (const HexaMaterial& one : materials)
      if (one.expansion == 0)
        log_warning("no-expansion", where, " has temperatures, and material ", one.name,
                    " does not expand, as it has no coefficient, or 0");
    require_numbers(where, "changes of temperature", warming);
    const auto [coldest, warmest] = std::minmax_element(warming.begin(), warming.end());
    double strain = 0;
    for (const HexaMaterial& one : materials) {
      require_number(document.file, "a coefficient of expansion", one.expansion);
      strain = std::max(strain, std::fabs(one.expansion) * std::max(-*coldest, *warmest));
    }
    if (strain > 0.1)
      log_warning("large-strain", where, ": material would be longer or shorter by ",
                  format_number(100 * strain),
                  " %, which is no small strain: is the coefficient of expansion for each K, as "
                  "1.2e-5 of steel?");
    if (is_absolute(*coldest) || is_absolute(*warmest)) {
      const double change = is_absolute(*coldest) ? *coldest : *warmest;
      log_warning("odd-temperature", where, ": nodes are warmer by ", format_number(change, 6),
                  " K, which as a temperature is ", format_number(change - 273.15, 6),
                  " degrees Celsius: changes count from where nothing is strained. Subtract that "
                  "temperature, such as 293.15 K (in a deck give it as *INITIAL CONDITIONS, "
                  "TYPE=TEMPERATURE)");
    }
  }
}

/// What nothing has to carry has the highest frequency where there is next to nothing of it.
void warn_of_frequency_alone(const ProblemDocument& document, const TopoptModel& model) {
  const DesignProblem& problem = model.problem;
  if (model.options.objective == DesignObjective::frequency &&
      model.count(DesignRole::solid) == 0 &&
      std::none_of(problem.limits.begin(), problem.limits.end(), [](const DesignLimit& one) {
        return one.kind != DesignLimitKind::mass && one.kind != DesignLimitKind::frequency;
      }))
    log_warning("nothing-carried", document.file,
                ": the lowest frequency is the objective, and nothing has to be carried: the "
                "highest is that of what is left at the supports alone, if all else is void. Keep "
                "elements solid that have mass (\"passive\", --keep), or limit compliance, "
                "displacement or stress, too");
}

void warn_of_density(const ProblemDocument& document, const HexaMaterial& one, const char* effect) {
  // Of a light foam, and beyond all metals. Moduli near 1 are of no material.
  constexpr double least = 1, lightest = 5, greatest = 1e5;
  const bool is_of_material = one.young >= softest;
  if (one.density < (is_of_material ? lightest : least) || one.density > greatest ||
      (is_of_material && is_too_light(one.young, one.density)))
    log_warning("odd-density", document.file, ": a mass density of ", format_number(one.density),
                " kg/m3, and ", effect,
                ": densities of problems are in kg/m3 (7850 of steel), and those of decks in the "
                "units that --unit "
                "makes of theirs (t/mm3, 7.85e-9 of steel, with --unit 0.001)");
}

/// Weight and mass that are of another unit. Problems whose moduli are near 1, and decks in N and
/// mm, have densities in units of theirs.
void warn_of_masses(const ProblemDocument& document, const TopoptModel& model) {
  const auto& limits = model.problem.limits;
  const bool limits_mass = std::any_of(limits.begin(), limits.end(), [](const DesignLimit& limit) {
    return limit.kind == DesignLimitKind::mass;
  });
  const bool counts = limits_mass || model.problem.has_body_loads();
  for (const HexaMaterial& one : model.problem.materials)
    if (one.density > 0 && one.young >= softest)
      warn_of_density(document, one,
                      counts ? "weight and mass go with it" : "the mass of the part goes with it");
}

/// Of tetrahedra, prisms and second-order elements.
void require_known_to_solids(const std::string& file, const TopoptModel& model) {
  const std::string unknown = describe_unknown_to_solids(model.options);
  if (!unknown.empty())
    fail<InputError>(file, ": ", unknown);
  if (model.options.process.overhang)
    fail<InputError>(file, ": overhang is of layers of equal cubes, and not known on a mesh with "
                           "tetrahedra, prisms or second-order elements: leave it out");
  for (const HexaMaterial& one : model.problem.materials)
    if (one.poisson != model.problem.poisson)
      fail<InputError>(file, ": materials have Poisson's ratios of ",
                       format_number(model.problem.poisson), " and ", format_number(one.poisson),
                       ", and meshes with tetrahedra, prisms or second-order elements know one: "
                       "give them the same");
}

/// What is to hold: "what the load case 'tip' pushes".
std::string use_of(CutNode::Use use, std::size_t which, const TopoptModel& model) {
  switch (use) {
  case CutNode::Use::force:
    return "what the load case '" + model.case_names[which] + "' pushes";
  case CutNode::Use::displacement:
    return "what the load case '" + model.case_names[which] + "' moves";
  case CutNode::Use::output:
    return "what the mechanism is to move";
  default:
    return "what a constraint limits";
  }
}

/// Refuses what void elements part from what holds it, or from what would strain it, and hinges.
void check_cuts(const ProblemDocument& document, const TopoptModel& model) {
  if (const std::optional<CutNode> cut = find_cut_node(model.problem))
    fail<InputError>(document.file, ": void elements (\"passive\") cut off ",
                     use_of(cut->use, cut->which, model), " at node ", cut->node,
                     ": by the elements that may have material nothing holds it there (",
                     cut->motions, "). Leave them free, or hold nodes on that side");
  const std::optional<IdleDisplacement> idle = find_idle_displacement(model.problem);
  if (idle && idle->is_cut)
    fail<InputError>(document.file, ": void elements (\"passive\") cut off what the load case '",
                     model.case_names[idle->load_case], "' moves at node ", idle->node,
                     ": it moves as a rigid body, which strains nothing. Leave them free, or hold "
                     "nodes on that side");
  if (idle)
    fail<InputError>(document.file, ": load case '", model.case_names[idle->load_case],
                     "': the displacements move the body at node ", idle->node,
                     " as a rigid body, which strains nothing: hold these nodes in place of moving "
                     "them, or move them against others");
  const std::vector<DesignRole>& role = model.problem.role;
  if (document.mesh.kind != HexaSource::Kind::file &&
      std::find(role.begin(), role.end(), DesignRole::void_) == role.end())
    return; // boxes of cells, as they are made, hang together by faces
  if (const std::optional<LoadedHinge> hinge = find_loaded_hinge(model.problem))
    fail<InputError>(document.file, ": ", use_of(hinge->use, hinge->which, model),
                     " can turn about node ", hinge->node,
                     ", where elements that may have material touch others along an edge or in a "
                     "corner alone, which is a hinge: join them by faces, or hold more nodes");
}

} // namespace

void check_loads(const ProblemDocument& document, const TopoptModel& model) {
  require_sizes(document, model.problem);
  check_body_loads(document, model);
  check_temperatures(document, model);
}

void check_supports(const ProblemDocument& document, const TopoptModel& model) {
  const DesignProblem& problem = model.problem;
  if (document.mesh.kind == HexaSource::Kind::file && problem.solids)
    warn_of_split_mesh(model.source, *problem.solids);
  else if (document.mesh.kind == HexaSource::Kind::file && !problem.lattice)
    warn_of_split_mesh(model.source, problem.mesh);
  const std::string motion =
      problem.lattice  ? describe_free_motion(*problem.lattice, problem.held, problem.springs)
      : problem.solids ? describe_free_motion(*problem.solids, problem.held, problem.springs)
                       : describe_free_motion(problem.mesh, problem.held, problem.springs);
  if (!motion.empty() && model.problem.held.empty())
    fail<InputError>(document.file, ": there are no supports, so that ", motion,
                     ": give \"supports\" in a .json problem, or a mesh file that has them");
  if (!motion.empty())
    fail<InputError>(document.file, ": ", motion, ": hold more nodes or components");
  check_cuts(document, model);
  if (!problem.has_body_loads())
    return;
  if (const std::optional<std::size_t> floating = find_floating_element(problem))
    fail<InputError>(
        document.file, ": void elements (\"passive\") cut off element ", *floating,
        " from all supports, where nothing carries its weight: make it void, too, leave "
        "them free, or hold nodes on that side");
}

void check_frequencies(const ProblemDocument& document, const TopoptModel& model) {
  if (count_frequencies(model.problem, model.options) == 0) {
    warn_of_masses(document, model);
    return;
  }
  for (const HexaMaterial& one : model.problem.materials) {
    if (!(one.density > 0))
      fail<InputError>(document.file, ": natural frequencies are of mass, but the material ",
                       one.name.empty() ? "" : one.name + " ",
                       "has no mass density: give *DENSITY in a deck, \"mass_density\" in a "
                       "problem, or --mass-density");
    require_number(document.file, "a mass density", one.density);
    warn_of_density(document, one, "frequencies go with its root");
  }
  const int count = count_frequencies(model.problem, model.options);
  const std::int64_t num_free = 3 * std::int64_t(model.problem.num_nodes()) - model.num_held();
  if (count > num_free)
    fail<InputError>(document.file, ": ", count, " natural frequencies of a body with ", num_free,
                     " free components of displacement: ask for fewer");
  if (const std::optional<std::size_t> floating = find_floating_element(model.problem))
    fail<InputError>(document.file, ": void elements (\"passive\") cut off element ", *floating,
                     " from all supports, where it would float with a natural frequency of "
                     "next to 0: make it void, too, leave them free, or hold nodes on that side");
  try {
    require_frequencies(model.problem, model.options);
  } catch (const std::invalid_argument& error) {
    fail<InputError>(document.file, ": ", library_message(error));
  }
  warn_of_frequency_alone(document, model);
}

void warn_of_no_other_loads(const ProblemDocument& document, const TopoptModel& model) {
  const DesignProblem& problem = model.problem;
  if (model.options.objective != DesignObjective::compliance ||
      std::any_of(problem.cases.begin(), problem.cases.end(), [](const DesignLoadCase& one) {
        return !one.loads.forces.empty() || !one.loads.displacements.empty();
      }))
    return;
  if (!problem.has_body_loads())
    log_warning("temperatures-alone", document.file,
                ": temperatures alone load the design, of which the stiffest is no material at "
                "all: give forces, too, or the least volume with constraints");
  else if (model.count(DesignRole::solid) == 0)
    log_warning(
        "weight-alone", document.file,
        ": gravity and rotation alone load the design, and only what it is made of, so that "
        "the stiffest is no material at all: give forces, too, keep elements solid that "
        "have mass (\"passive\", --keep), or take the least volume with constraints");
}

void require_known_on_grid(const std::string& file, const TopoptModel& model) {
  const DesignOptions& o = model.options;
  const HexaSolverOptions defaults;
  if (model.problem.solids)
    require_known_to_solids(file, model);
  if (o.grid == DesignGrid::mesh) {
    if (o.solver.precision == Precision::lean)
      fail<InputError>(file, ": lean precision is known on voxels alone: take mixed, or --grid "
                             "voxels");
    if (o.process.overhang)
      fail<InputError>(file, ": overhang is of layers of equal cubes: take --grid voxels, or leave "
                             "it out");
    return;
  }
  const auto refuse = [&](bool given, const char* what) {
    if (given)
      fail<InputError>(file, ": ", what,
                       " has no effect on voxels, whose solver has its own: leave "
                       "it out, or take --grid mesh");
  };
  refuse(o.solver.kind != defaults.kind, "the operator");
  refuse(o.solver.preconditioner != defaults.preconditioner, "the preconditioner");
  refuse(o.solver.chebyshev_degree != defaults.chebyshev_degree, "the degree of the polynomial");
  refuse(o.solver.forming_cost != defaults.forming_cost, "the cost of forming");
  for (const HexaMaterial& one : model.problem.materials)
    if (one.poisson != model.problem.poisson)
      fail<InputError>(file, ": materials have Poisson's ratios of ",
                       format_number(model.problem.poisson), " and ", format_number(one.poisson),
                       ", and voxels know one: give them the same, or take --grid mesh");
  if (!model.problem.springs.empty())
    fail<InputError>(file, ": springs are not known on voxels: take --grid mesh");
  if (o.filter == DesignFilter::helmholtz)
    fail<InputError>(file,
                     ": the Helmholtz filter is not known on voxels: take the filter density, "
                     "or --grid mesh");
}

} // namespace ossatura
