// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/input/model.hpp"

#include "apps/driver/options/number_range.hpp"
#include "apps/driver/output/table.hpp"
#include "apps/driver/problem/deck_units.hpp"
#include "apps/driver/problem/filling_voxels.hpp"
#include "apps/driver/problem/image_files.hpp"
#include "apps/driver/problem/library_message.hpp"
#include "apps/topopt/bodies/image_body.hpp"
#include "apps/topopt/bodies/step_file.hpp"
#include "apps/topopt/input/loading.hpp"
#include "apps/topopt/input/model_checks.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/mesh/hexa_file.hpp>
#include <ossatura/core/io/surface/reader.hpp>
#include <ossatura/core/machine/memory.hpp>
#include <ossatura/core/mesh/hexa/changes.hpp>
#include <ossatura/solvers/topopt/bodies/fill_surface.hpp>
#include <ossatura/solvers/topopt/check_options.hpp>
#include <ossatura/solvers/topopt/frequencies/frequencies.hpp>
#include <ossatura/solvers/topopt/generators.hpp>
#include <ossatura/solvers/topopt/limits/limits.hpp>
#include <ossatura/solvers/topopt/part/kept_layers.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

namespace ossatura {

namespace {

std::string cells_text(const std::array<int, 3>& cells) {
  return std::to_string(cells[0]) + "x" + std::to_string(cells[1]) + "x" + std::to_string(cells[2]);
}

PlaceSelection set_of(const std::string& name) {
  PlaceSelection selection;
  selection.kind = MeshSelection::Kind::set;
  selection.set = selection.place = name;
  return selection;
}

/// Adds what refers to sets of a generated mesh to the document.
HexaModel take_design(GeneratedDesign design, ProblemDocument& document) {
  for (const auto& [set, role] : design.passive)
    document.passive.push_back({set_of(set), role});
  if (!design.mirrors.empty())
    document.mirrors = design.mirrors;
  document.is_mechanism = document.is_mechanism || design.is_mechanism;
  for (const NodeSetVector& output : design.outputs)
    document.outputs.push_back({set_of(output.set), output.value});
  for (const NodeSetVector& spring : design.springs)
    document.springs.push_back({set_of(spring.set), spring.value});
  return std::move(design.model);
}

/// Takes the body as cells of a lattice where the solver does, else as their mesh: what is no cube
/// is refused there.
void set_body(const std::shared_ptr<const LatticeBody>& body, DesignGrid grid, HexaModel& hexa,
              TopoptModel& model) {
  if (grid == DesignGrid::voxels && body->is_of_cubes())
    model.problem.lattice = body;
  else
    hexa.mesh = body->mesh();
}

/// The cubes that fill the closed surface of a file.
HexaModel fill_surface_file(const HexaSource& source, const TriangleSurface& surface,
                            DesignGrid grid, TopoptModel& model) {
  require_closed(surface, source.file);
  const double edge = *source.voxel / source.unit;
  constexpr double bytes_per_cube = 2 * sizeof(float); // where they are filled, and as an image
  require_room_for_voxels(
      source.file, surface,
      {edge, source.unit, "m",
       "give the length of its unit in m (--unit, \"unit\" of the mesh; 0.001 for mm), now " +
           format_number(source.unit) + ", or take larger cubes (--voxel, \"voxel\")",
       bytes_per_cube, available_host_bytes()});
  FilledSurface body;
  try {
    body = fill_surface(surface, edge);
  } catch (const std::invalid_argument& error) {
    fail<InputError>(source.file, ": ", library_message(error));
  }
  if (body.num_overlapping > 0)
    log_warning("surfaces-overlap", source.file, ": ", format_count(body.num_overlapping),
                " voxels are in more than one closed shell and count once; a cavity is a shell "
                "that faces inward");
  if (body.num_reversed > 0)
    log_warning("surface-folds", source.file, ": ", format_count(body.num_reversed),
                " voxels are in folds of the surface that face the other way, and are void");
  const auto& value = body.image.value;
  const std::int64_t count =
      std::count_if(value.begin(), value.end(), [](float one) { return one > 0; });
  if (count == 0)
    fail<InputError>(source.file, ": no cube of ", format_number(*source.voxel),
                     " m has its centre in the surface: take smaller ones (--voxel), or the unit "
                     "of the file (--unit)");
  warn_of_coarse_voxels(source.file, surface, {count, body.num_overlapping, edge},
                        format_number(*source.voxel) + " m");
  HexaModel hexa;
  const auto cubes =
      std::make_shared<const LatticeBody>(make_lattice_body(body.image, source.unit));
  set_body(cubes, grid, hexa, model);
  FilledBody filled{surface, cubes};
  for (std::array<double, 3>& vertex : filled.surface.vertex)
    for (double& x : vertex)
      x *= source.unit;
  model.filled = std::make_shared<const FilledBody>(std::move(filled));
  model.source = source.file + " filled with cubes of " + format_number(*source.voxel) + " m";
  return hexa;
}

/// What files have beyond a mesh: a STEP file its faces, an image its labels.
struct SourceParts {
  std::optional<StepSurface> step;
  std::optional<ImageBody> image;
};

/// The voxels of an image that are the body.
HexaModel take_image(const HexaSource& source, DesignGrid grid, ImageBody image, SourceParts& parts,
                     TopoptModel& model) {
  HexaModel hexa;
  set_body(image.body, grid, hexa, model);
  model.source = source.file + ", voxels of " + format_number(image.body->edge()) +
                 " m with values of " + format_number(image.lower) + " and more";
  parts.image = std::move(image);
  return hexa;
}

/// Reads or makes the mesh with its sets, supports and loads, and sets the source in words.
HexaModel load_mesh(ProblemDocument& document, DesignGrid grid, TopoptModel& model,
                    SourceParts& parts) {
  HexaSource& source = document.mesh;
  HexaModel hexa;
  model.unit = source.unit;
  if (source.kind == HexaSource::Kind::file && is_step(source.file))
    parts.step = read_step(source.file);
  if (is_surface(source))
    return fill_surface_file(source, parts.step ? parts.step->surface : read_surface(source.file),
                             grid, model);
  if (is_image(source))
    return take_image(source, grid, read_image_body(source.file, *source.lower), parts, model);
  if (source.kind == HexaSource::Kind::file) {
    ElementFileOptions options;
    options.unit = source.unit;
    HexaFile file = read_hexa_file(source.file, options);
    model.source = source.file;
    model.unused_points = file.unused_points;
    model.reference_points = file.reference_points;
    for (const std::string& note : file.notes)
      log_warning("mesh-note", source.file, ": ", note);
    warn_of_deck_units(source.file, file.model.young);
    return std::move(file.model);
  }
  const std::array<int, 3> cells = cells_of(source);
  std::array<double, 3> size{double(cells[0]), double(cells[1]), double(cells[2])};
  size = source.size.value_or(size);
  const bool is_generated = source.kind == HexaSource::Kind::generator;
  model.source = (is_generated ? source.generator : "box") + " of " + cells_text(cells) + " cells";
  require_body_size(model.source, Box{0, 0, 0, size[0], size[1], size[2]});
  for (const double side : size) // before planes of cells meet
    require_number(model.source, "a side in m", side);
  const bool is_lattice = grid == DesignGrid::voxels && source.distort == 0 && !source.renumber;
  const DesignGrid body_grid = is_lattice ? grid : DesignGrid::mesh;
  if (is_generated) {
    GeneratedDesign design = generate_lattice_design(source.generator, cells, size);
    const std::shared_ptr<const LatticeBody> body = design.lattice;
    hexa = take_design(std::move(design), document);
    set_body(body, body_grid, hexa, model);
  } else {
    set_body(std::make_shared<const LatticeBody>(make_lattice_box(cells, size)), body_grid, hexa,
             model);
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

/// Holds the nodes on each plane of symmetry, which are returned, in the direction across it.
std::vector<std::vector<std::int32_t>> hold_mirrors(const ProblemDocument& document,
                                                    const DesignProblem& problem,
                                                    const PlaceSelector& select, HeldMask& held) {
  std::vector<std::vector<std::int32_t>> on_plane(document.mirrors.size());
  for (std::size_t m = 0; m < document.mirrors.size(); ++m) {
    const MirrorPlane& mirror = document.mirrors[m];
    const std::size_t axis = std::size_t(mirror.axis);
    const std::string where = document.file + ": mirrors[" + std::to_string(m) + "]";
    const double low = select.bounds()[axis], high = select.bounds()[axis + 3];
    if (low < mirror.place - select.slack() && high > mirror.place + select.slack())
      fail<InputError>(where, ": the body is on both sides of the plane ", "xyz"[axis], " = ",
                       mirror.place, ": it spans ", format_number(low), " to ", format_number(high),
                       " m; model one side alone");
    const auto hold = [&](std::int32_t node) {
      held.hold(node, 1u << axis);
      on_plane[m].push_back(node);
    };
    const auto is_on = [&](double x) { return std::abs(x - mirror.place) <= select.slack(); };
    for (std::size_t i = 0; 3 * i < problem.points().size(); ++i)
      if (is_on(problem.points()[3 * i + axis]))
        hold(std::int32_t(i));
    if (problem.lattice) {
      ChosenPlanes chosen;
      for (std::size_t d = 0; d < 3; ++d)
        for (const double x : problem.lattice->plane(int(d)))
          chosen[d].push_back(d != axis || is_on(x));
      LatticeBody::for_places(problem.lattice->node(), chosen,
                              [&](const LatticeBody::Place&, std::int32_t node) { hold(node); });
    }
    if (on_plane[m].empty())
      fail<InputError>(where, ": the body has no nodes on the plane ", "xyz"[axis], " = ",
                       mirror.place, ": it spans ", format_number(low), " to ", format_number(high),
                       " m");
  }
  return on_plane;
}

/// The whole part has an image in one mirror of each axis.
void require_whole(const ProblemDocument& document) {
  if (!document.whole)
    return;
  if (document.mirrors.empty())
    fail<InputError>(document.file, ": \"whole\" (--whole) joins the images in \"mirrors\" to the "
                                    "surface, and there are none: give the planes of symmetry, or "
                                    "leave it out");
  for (std::size_t m = 0; m < document.mirrors.size(); ++m)
    for (std::size_t k = 0; k < m; ++k)
      if (document.mirrors[k].axis == document.mirrors[m].axis)
        fail<InputError>(document.file, ": mirrors[", k, "] and [", m, "] are both normal to ",
                         "xyz"[document.mirrors[m].axis],
                         ": their images go on without end, and there is no whole part "
                         "(\"whole\", --whole): leave one of them out");
}

/// Supports of the mesh, of the document and of mirrors; refuses to hold what a load case of the
/// mesh moves. Nodes that are moved load, and support nothing.
HeldMask make_supports(const ProblemDocument& document, const HexaModel& hexa,
                       const PlaceSelector& select, TopoptModel& model) {
  HeldMask held, moved, own, planes;
  for (const NodeLoads& loads : hexa.loads)
    for (const NodeDisplacement& one : loads.displacements)
      moved.hold(one.node, 1u << one.component);
  for (const HeldComponents& node : hexa.held)
    held.hold(node.node, node.components);
  const auto moves = [&](std::int32_t node, unsigned components) {
    for (int c = 0; c < 3; ++c)
      if ((components >> c & 1) != 0 && moved.has(node, c))
        return true;
    return false;
  };
  const auto add = [&](const HeldMask& more, const char* what) {
    for (const HeldComponents& one : more.list()) {
      if (moves(one.node, one.components))
        fail<InputError>(document.file, ": node ", one.node, " is held by ", what,
                         ", but a load case of the mesh moves it: leave it out of one of them");
      held.hold(one.node, one.components);
    }
  };
  for (const SupportChoice& support : document.supports)
    for (const std::int32_t node : select.nodes(support.nodes))
      own.hold(node, support.components);
  add(own, "\"supports\"");
  for (const HeldComponents& node : held.list())
    if (!moves(node.node, 7))
      model.supported.push_back(node.node);
  auto on_plane = hold_mirrors(document, model.problem, select, planes);
  if (!document.mirrors.empty())
    model.problem.mirror_supports = MirrorSupports{held.list(), std::move(on_plane)};
  add(planes, "\"mirrors\"");
  return held;
}

/// What load cases of the document move is held without mirrors, too.
void hold_moved(const HeldMask& before, const HeldMask& held, DesignProblem& problem) {
  if (!problem.mirror_supports)
    return;
  for (const HeldComponents& one : held.list())
    for (int c = 0; c < 3; ++c)
      if ((one.components >> c & 1) != 0 && !before.has(one.node, c))
        problem.mirror_supports->held.push_back({one.node, std::uint8_t(1u << c)});
}

/// The materials of the mesh, or the one of the document, which wins over the mesh.
std::vector<HexaMaterial> base_materials(const ProblemDocument& document, const HexaModel& hexa,
                                         const TopoptModel& model) {
  if (!hexa.is_uniform() && (document.young || document.poisson))
    fail<InputError>(
        document.file, ": ", model.source,
        " has elements of several materials: leave \"young\" and \"poisson\" (--young, "
        "--poisson) out, or give \"materials\" of element sets");
  const auto differs = [&](double HexaMaterial::*constant) {
    return std::any_of(hexa.materials.begin(), hexa.materials.end(), [&](const HexaMaterial& one) {
      return one.*constant != hexa.materials[0].*constant;
    });
  };
  if (document.mass_density && differs(&HexaMaterial::density))
    fail<InputError>(
        document.file, ": ", model.source,
        " has elements of several materials with mass densities of their own: leave "
        "\"mass_density\" (--mass-density) out, or give \"materials\" of element sets");
  if (document.expansion && differs(&HexaMaterial::expansion))
    fail<InputError>(document.file, ": ", model.source,
                     " has elements of several materials with coefficients of expansion of "
                     "their own: leave "
                     "\"expansion\" out, or give \"materials\" of element sets");
  std::vector<HexaMaterial> materials = hexa.materials;
  if (materials.empty() && (document.young || hexa.young > 0))
    materials.push_back({"", hexa.young, hexa.young > 0 ? hexa.poisson : 0.3, 0});
  for (HexaMaterial& one : materials) {
    one.young = document.young.value_or(one.young);
    one.poisson = document.poisson.value_or(one.poisson);
    one.density = document.mass_density.value_or(one.density);
    one.expansion = document.expansion.value_or(one.expansion);
  }
  return materials;
}

/// Leaves out the materials that no element has.
void drop_unused(std::vector<HexaMaterial>& materials, std::vector<std::uint8_t>& material) {
  std::vector<int> number(materials.size(), -1);
  for (const std::uint8_t one : material)
    number[one] = 0;
  std::vector<HexaMaterial> used;
  for (std::size_t i = 0; i < materials.size(); ++i)
    if (number[i] == 0) {
      number[i] = int(used.size());
      used.push_back(materials[i]);
    }
  for (std::uint8_t& one : material)
    one = std::uint8_t(number[one]);
  materials = std::move(used);
  if (materials.size() == 1)
    material.clear();
}

void set_material(const ProblemDocument& document, const HexaModel& hexa,
                  const PlaceSelector& select, TopoptModel& model) {
  DesignProblem& problem = model.problem;
  std::vector<HexaMaterial>& materials = problem.materials;
  materials = base_materials(document, hexa, model);
  if (materials.empty() && document.materials.empty())
    fail<InputError>(document.file, ": the material is missing: ", model.source,
                     " has no elastic constants: give \"material\" with \"young\" and \"poisson\", "
                     "or --young and --poisson");
  constexpr std::size_t most = 255;
  if (materials.size() + document.materials.size() > most)
    fail<InputError>(document.file, ": more than ", most, " materials");
  problem.material = hexa.material;
  if (!document.materials.empty()) {
    const std::size_t num_base = materials.size();
    problem.material.resize(problem.num_elem(), materials.empty() ? std::uint8_t(most) : 0);
    for (const MaterialChoice& choice : document.materials) {
      for (const std::int32_t e : select.elements(choice.elements))
        problem.material[std::size_t(e)] = std::uint8_t(materials.size());
      materials.push_back(choice.material);
    }
    const auto bare = std::find(problem.material.begin(), problem.material.end(), most);
    if (bare != problem.material.end())
      fail<InputError>(document.file, ": element ", bare - problem.material.begin(),
                       " is of none of the \"materials\": choose it, too, or give a \"material\" "
                       "for all others");
    if (!document.material_option.empty() &&
        std::none_of(problem.material.begin(), problem.material.end(),
                     [num_base](std::uint8_t one) { return one < num_base; }))
      fail<UsageError>(document.material_option, " has no effect: the \"materials\" of ",
                       document.file, " have all elements; leave it out, or change them");
  }
  if (!problem.material.empty())
    drop_unused(materials, problem.material);
  problem.young = materials[0].young;
  problem.poisson = materials[0].poisson;
  if (std::all_of(materials.begin(), materials.end(), [&](const HexaMaterial& one) {
        return one.density > 0 && one.density == materials[0].density;
      }))
    model.mass_density = materials[0].density;
  constexpr double most_poisson = 0.49;
  for (const HexaMaterial& one : materials) {
    require_number(document.file, "a modulus", one.young);
    if (one.poisson > most_poisson)
      log_warning("locking", document.file, ": Poisson's ratio is ", one.poisson, ": above ",
                  most_poisson,
                  hexa.solids ? " elements, second-order ones too," : " trilinear hexahedra",
                  " are far too stiff in bending (locking), and designs are not what they would "
                  "be. Take at most that");
  }
}

constexpr int not_asked = -1; ///< of frequencies, where neither problem nor options say a number

/// What a step of a deck asks for, unless problem or options ask for another number.
void take_frequencies(const ProblemDocument& document, const HexaModel& hexa,
                      const DesignOptions& asked, TopoptModel& model) {
  if (!hexa.frequencies || asked.frequencies != not_asked)
    return;
  if (hexa.frequencies->count > most_frequencies)
    fail<InputError>(document.mesh.file, ": step '", hexa.frequencies->step, "' asks for ",
                     hexa.frequencies->count, " natural frequencies, and at most ",
                     most_frequencies, " are found: ask for fewer, there or by --frequencies");
  model.options.frequencies = hexa.frequencies->count;
  model.frequencies_below = hexa.frequencies->below;
}

/// Designs that are held to frequencies have some.
void require_some_frequencies(const ProblemDocument& document, const DesignOptions& asked,
                              const Changes<DesignOptions>& changes, const TopoptModel& model) {
  if (asked.frequencies != 0 || !is_held_to_frequencies(model.problem, model.options))
    return;
  const char* const what = "0, but the objective or a constraint is of natural frequencies: ask "
                           "for 1 or more, or leave it out";
  DesignOptions by_options;
  by_options.frequencies = not_asked;
  changes.apply_to(by_options);
  if (by_options.frequencies == 0)
    fail<UsageError>("--frequencies ", what);
  fail<InputError>(document.file, ": \"frequencies\": ", what);
}

/// Options that defaults of others depend on, as build_topopt_model has them in the end.
DesignOptions options_asked(const ProblemDocument& document,
                            const Changes<DesignOptions>& changes) {
  DesignOptions options;
  options.frequencies = not_asked;
  if (is_of_voxels(document.mesh))
    options.grid = DesignGrid::voxels;
  document.changes.apply_to(options);
  changes.apply_to(options);
  return options;
}

/// The least volume, and limits that go with the options.
void set_objective(const ProblemDocument& document, TopoptModel& model) {
  if (document.is_mechanism &&
      (document.is_least_volume || document.is_frequency || document.has_objective))
    fail<InputError>(document.file, ": a mechanism has the largest output as its objective: leave "
                                    "out another one (--objective)");
  if (document.is_least_volume) {
    if (document.has_volume)
      fail<InputError>(document.file, ": the volume is the objective, and has no limit: leave out "
                                      "\"volume_fraction\" (--volume) and constraints of volume");
    model.options.objective = DesignObjective::volume;
  }
  if (document.is_frequency)
    model.options.objective = DesignObjective::frequency;
  try {
    require_limits(model.problem, model.options);
  } catch (const std::invalid_argument& error) {
    fail<InputError>(document.file, ": ", library_message(error));
  }
  check_frequencies(document, model);
  warn_of_no_other_loads(document, model);
}

/// Defaults that depend on the problem.
void set_defaults(const ProblemDocument& document, const DesignOptions& asked, TopoptModel& model) {
  if (document.is_mechanism)
    model.options = DesignOptions::mechanism();
  DesignOptions suited = asked;
  suited.objective = document.is_mechanism      ? DesignObjective::mechanism
                     : document.is_least_volume ? DesignObjective::volume
                     : document.is_frequency    ? DesignObjective::frequency
                                                : DesignObjective::compliance;
  choose_method(model.problem, suited);
  model.options.method = suited.method;
  model.options.move = suited.move;
}

/// Free elements near supports and loads become solid.
void keep_layers(const ProblemDocument& document, TopoptModel& model) {
  if (!document.keep)
    return;
  DesignProblem& problem = model.problem;
  const std::vector<std::int32_t> near =
      elements_near(problem, ends_of(problem, model.supported), *document.keep);
  if (near.empty())
    fail<InputError>(document.file, ": nothing is kept, because no element has its centre within ",
                     format_number(*document.keep),
                     " m of a support or load: take an edge of the elements or more (\"keep\")");
  problem.role.resize(problem.num_elem(), DesignRole::free);
  for (const std::int32_t e : near) {
    DesignRole& role = problem.role[std::size_t(e)];
    model.num_kept += role == DesignRole::free ? 1 : 0;
    role = role == DesignRole::free ? DesignRole::solid : role;
  }
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

const ElementMesh& TopoptModel::mesh() const {
  if (!problem.lattice)
    return problem.mesh;
  std::call_once(on_demand_->made, [this] { on_demand_->mesh = problem.lattice->mesh(); });
  return on_demand_->mesh;
}

TopoptModel build_topopt_model(ProblemDocument document, const Changes<DesignOptions>& changes) {
  TopoptModel model;
  SourceParts parts;
  const DesignOptions asked = options_asked(document, changes);
  HexaModel hexa = load_mesh(document, asked.grid, model, parts);
  DesignProblem& problem = model.problem;
  problem.mesh = std::move(hexa.mesh);
  problem.solids = hexa.solids;
  MeshTraits traits;
  if (model.unused_points > 0 || document.mesh.renumber)
    traits.no_numbers =
        "numbers of nodes and elements mean nothing here, because " +
        (document.mesh.renumber ? "the mesh is renumbered"
                                : model.source + " has " + std::to_string(model.unused_points) +
                                      " points without element, which are left out") +
        ": choose by boxes or sets";
  if (document.is_coarser)
    traits.no_numbers = "numbers of nodes and elements are others on coarser grids (--levels): "
                        "choose by boxes or sets";
  const PlaceSelector select(problem, hexa.node_sets, hexa.elem_sets, traits,
                             {model.unit, parts.step ? &*parts.step : nullptr,
                              parts.image ? &*parts.image : nullptr, &hexa.face_sets});
  require_body_size(model.source, select.bounds());
  set_material(document, hexa, select, model);

  HeldMask held = make_supports(document, hexa, select, model);
  const HeldMask unmoved = held;
  const auto displacements = find_displacements(document, select, held);
  hold_moved(unmoved, held, problem);

  problem.held = held.list();
  problem.rigid = std::move(hexa.rigid);
  for (const PlaceSelection& body : document.rigid)
    problem.rigid.push_back(select.nodes(body));
  problem.mirrors = document.mirrors;
  require_whole(document);
  model.whole = document.whole;
  if (!document.passive.empty()) {
    problem.role.assign(problem.num_elem(), DesignRole::free);
    for (const PassiveChoice& passive : document.passive)
      for (const std::int32_t e : select.elements(passive.elements))
        problem.role[std::size_t(e)] = passive.role;
    check_supported_nodes(document, select, problem);
  }
  add_cases(document, hexa, select, held, displacements, model);
  add_mechanism(document, select, held, model);
  add_limits(document, select, held, model);
  keep_layers(document, model);
  check_loads(document, model);
  if (model.count(DesignRole::free) == 0)
    fail<InputError>(document.file,
                     ": all elements are solid or void, so that there is nothing to design",
                     model.num_kept > 0 ? ": keep less around supports and loads" : "");
  check_supports(document, model);
  double stiffest = problem.young;
  for (const HexaMaterial& one : problem.materials)
    stiffest = std::max(stiffest, one.young);
  if (document.mesh.kind == HexaSource::Kind::file && !document.mesh.says_unit)
    warn_of_mesh_unit(model.source, problem.bounds(), stiffest);

  set_defaults(document, asked, model);
  take_frequencies(document, hexa, asked, model);
  if (is_of_voxels(document.mesh))
    model.options.grid = DesignGrid::voxels;
  document.changes.apply_to(model.options);
  changes.apply_to(model.options);
  if (problem.has_loads_of_design() && model.options.method == DesignMethod::oc)
    fail<InputError>(document.file,
                     ": the method oc takes gradients of one sign, and with gravity, rotation or "
                     "temperatures they have both: take mma, or leave it out");
  if (const std::string conflict = describe_conflict(model.options.process); !conflict.empty())
    fail<InputError>(document.file, ": ", conflict);
  set_objective(document, model);
  require_some_frequencies(document, asked, changes, model);
  if (const std::string reason = describe_not_robust(problem, model.options); !reason.empty())
    fail<InputError>(document.file, ": no robust design (\"robust\", --robust): ", reason);
  model.has_steps = document.has_steps;
  return model;
}

TopoptModel make_topopt_model(const TopoptCommandOptions& options, DriverContext& context) {
  const TimedScope scope("ossatura::topopt::read");
  ProblemDocument document = make_document(options);
  std::vector<FileRecord>& inputs = context.provenance().inputs;
  if (options.kind() == ProblemKind::json)
    inputs.push_back(record_input(options.problem));
  const std::string mesh_file = document.mesh.file;
  const bool mesh_is_image = is_image(document.mesh);
  const std::vector<std::string> surfaces = document.surfaces;
  const int levels = document.levels;
  const std::string own_start = document.start_from;
  TopoptModel model = build_topopt_model(document, options.changes);
  if (mesh_is_image)
    for (const FileRecord& record : record_image(mesh_file, guess_format(mesh_file)))
      inputs.push_back(record);
  else if (!mesh_file.empty())
    inputs.push_back(record_input(mesh_file));
  for (const std::string& file : surfaces)
    inputs.push_back(record_input(file));
  require_known_on_grid(options.problem, model);
  require_design_effect(document, options);
  model.has_steps = model.has_steps || options.has_steps;
  model.levels = options.has_levels ? options.levels : levels;
  model.start_from = options.start_from;
  // What a checkpoint goes on with, and how a design begins, is said last by the command line.
  if (model.start_from.empty() && !options.has_start && options.resume.empty())
    model.start_from = own_start;
  if (model.unused_points > model.reference_points)
    log_warning("unused-points", model.source, ": ",
                format_count(model.unused_points - model.reference_points),
                " points belong to no element and are left out");
  log_info(model.source, ": ", format_count(model.num_nodes()), " nodes, ",
           format_count(model.num_elem()), " elements");
  return model;
}

} // namespace ossatura
