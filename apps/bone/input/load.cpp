// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/input/load.hpp"

#include "apps/bone/labels/pads.hpp"
#include "apps/driver/output/table.hpp"
#include <ossatura/core/comm/together.hpp>
#include <ossatura/core/io/text/nodal_list.hpp>
#include <ossatura/solvers/bone/islands.hpp>

#include <cmath>
#include <sstream>

namespace ossatura {

namespace {

constexpr double most_lost_force = 0.2; ///< more of it is doubtful

MechanicalTest mechanical_test(const BoneOptions& options) {
  MechanicalTest test;
  test.axis = options.axis;
  test.strain = options.strain;
  test.displacement = options.displacement;
  test.angle = options.angle * Kokkos::numbers::pi / 180;
  test.lateral_free = options.lateral == Lateral::free || options.test == LoadTest::uniaxial;
  test.plate_depth = options.plate_depth;
  switch (options.test) {
  case LoadTest::confined:
    test.kind = TestKind::confined;
    break;
  case LoadTest::shear:
    test.kind = TestKind::shear;
    test.direction = options.shear_direction;
    break;
  case LoadTest::symmetric_shear:
    test.kind = TestKind::symmetric_shear;
    break;
  case LoadTest::torsion:
    test.kind = TestKind::torsion;
    break;
  case LoadTest::bending:
    test.kind = TestKind::bending;
    test.direction = options.hinge;
    break;
  default:
    test.kind = TestKind::axial;
  }
  return test;
}

void require_nodes(std::int64_t count, const char* option, const NodeChoice& where) {
  if (count == 0)
    fail<InputError>(option, ": ", describe(where), " has no node of a solid voxel");
}

/// A force that nothing feels is a mistake; a traction on a side may reach nodes that are held
/// beside it.
void require_felt(double lost, const std::string& source) {
  if (lost > 1 - 1e-9)
    fail<InputError>(source, ": acts only where the specimen is held in that direction, and does "
                             "nothing: push elsewhere, or hold less");
  if (lost > most_lost_force)
    log_warning(
        "lost-load", source, ": ", format_number(100 * lost, 3),
        " % of the force acts where the specimen is held in that direction, and does nothing");
}

/// Supports that contradict each other, as those of two sides may on their edge.
void warn_of_replaced(std::int64_t num_replaced, const std::string& source) {
  if (num_replaced > 0)
    log_warning("held-twice", source, ": ", format_count(num_replaced),
                " degrees of freedom are held at another displacement by what comes before; the "
                "later one counts");
}

/// --fix without components that a later one says otherwise for the same place alone, as z+:z=-1
/// after z+:xyz=0 does.
std::vector<NodalCondition> refined(std::vector<NodalCondition> fixes) {
  for (std::size_t later = 0; later < fixes.size(); ++later)
    for (std::size_t k = 0; k < later; ++k) {
      const std::array<bool, 3>& part = fixes[later].components;
      std::array<bool, 3> left = fixes[k].components;
      bool is_part = describe(fixes[k].where) == describe(fixes[later].where);
      for (std::size_t c = 0; c < 3; ++c) {
        is_part = is_part && (left[c] || !part[c]);
        left[c] = left[c] && !part[c];
      }
      if (is_part && left != std::array<bool, 3>{})
        fixes[k].components = left;
    }
  return fixes;
}

/// The number in the model of a node of the image as given. Throws InputError where --crop leaves
/// it out.
template<class Exec>
std::array<int, 3> node_in_model(const BoneOptions& options, const std::string& source,
                                 std::array<int, 3> node, const BoneModel<Exec>& model) {
  const std::array<int, 3> given = node, shift = shift_of_nodes(model);
  for (std::size_t d = 0; d < 3; ++d) {
    node[d] += shift[d];
    if (options.preparation.crop && (node[d] < 0 || node[d] > model.modulus.shape[d]))
      fail<InputError>(source, ": node ", given[0], "/", given[1], "/", given[2],
                       " lies beside the voxels of --crop, whose nodes are ", -shift[d], " to ",
                       model.modulus.shape[d] - shift[d], " along ", "xyz"[d],
                       ": nodes are numbered in the image as given, before it is cropped");
  }
  return node;
}

/// --fix or --force with the node's number in the model, where it is of one.
template<class Exec>
NodalCondition in_model(const BoneOptions& options, const char* option, NodalCondition condition,
                        const BoneModel<Exec>& model) {
  if (!condition.where.is_face && !condition.where.label)
    condition.where.node = node_in_model(options, option, condition.where.node, model);
  return condition;
}

/// Holds nodes of the model. Places in the void are an error, unless the user had voxels dropped,
/// which may have been theirs.
template<class Exec>
void hold_list(const BoneOptions& options, const std::string& source,
               const std::vector<NodalValue>& values, const BoneModel<Exec>& model,
               ListedLoad<Exec>& load) {
  std::int64_t num_replaced = 0;
  const std::vector<PrescribedNode> nodes = merge_by_node(values, num_replaced);
  warn_of_replaced(num_replaced, source);
  const MissingNodes missing = load.hold(nodes);
  if (missing.count == 0)
    return;
  const Site& s = nodes[std::size_t(missing.first)].site;
  const std::array<int, 3> shift = shift_of_nodes(model);
  if (!options.largest_component)
    fail<InputError>(
        source, ": ", missing.count, " of ", nodes.size(),
        " nodes with prescribed displacements lie in the void, the first at x, y, z = ",
        s.x - shift[0], ", ", s.y - shift[1], ", ", s.z - shift[2],
        ": remove them or check the axes' order");
  log_info(format_count(missing.count), " prescribed nodes went with the dropped voxels");
}

/// A list of nodes of the image as given, with their numbers in the model. Every rank of a problem
/// reads it: one alone may fail to.
template<class Exec>
std::vector<NodalValue> read_list(const BoneOptions& options, const std::string& path,
                                  const BoneModel<Exec>& model, const VoxelProblem<Exec>& problem) {
  const auto& shape = problem.grid.shape;
  return together(ranks_of(problem), [&] {
    auto values = read_nodal_list(path, options.preparation.crop
                                            ? model.source.shape
                                            : std::array<int, 3>{shape[0], shape[1], shape[2]});
    for (NodalValue& value : values)
      value.node = node_in_model(options, path, value.node, model);
    return values;
  });
}

template<class Exec>
BoneLoad<Exec> make_listed_load(const Exec& exec, const BoneOptions& options,
                                const BoneModel<Exec>& model, VoxelProblem<Exec>& problem) {
  ListedLoad<Exec> load(exec, problem, options.plate_depth, model.label_voxels);
  hold_list(options, options.input, model.displacements, model, load);
  if (!options.fix_file.empty())
    hold_list(options, options.fix_file, read_list(options, options.fix_file, model, problem),
              model, load);
  for (const NodalCondition& fix : refined(options.fix)) {
    require_nodes(load.hold(in_model(options, "--fix", fix, model)), "--fix", fix.where);
    warn_of_replaced(load.num_replaced(), "--fix " + describe(fix.where));
  }

  std::vector<NodalValue> forces = model.forces;
  if (!options.force_file.empty()) {
    const auto listed = read_list(options, options.force_file, model, problem);
    forces.insert(forces.end(), listed.begin(), listed.end());
  }
  if (!forces.empty() || !options.force_file.empty()) {
    const std::string& source = options.force_file.empty() ? options.input : options.force_file;
    if (const std::int64_t missing = load.push(forces)) {
      if (!options.largest_component)
        fail<InputError>(source, ": ", missing,
                         " nodal forces act on the void or on parts that nothing holds");
      log_info(format_count(missing), " nodal forces went with the dropped voxels");
    }
    require_felt(load.lost_part(), source);
  }
  for (const NodalCondition& force : options.force) {
    require_nodes(load.push(in_model(options, "--force", force, model)), "--force", force.where);
    require_felt(load.lost_part(), "--force " + describe(force.where));
  }
  return load.finish(problem.held);
}

template<class Exec>
BoneLoad<Exec> make_test_load(const Exec& exec, const BoneOptions& options,
                              const BoneModel<Exec>& model, VoxelProblem<Exec>& problem) {
  MechanicalTest test = mechanical_test(options);
  set_plate_contacts(options, model.label_voxels, test);
  if (options.test == LoadTest::torsion || options.test == LoadTest::bending) {
    if (options.centre.kind == TurnCentre::Kind::point)
      test.centre = in_model(model, options.centre.point);
    else if (options.centre.kind == TurnCentre::Kind::mass)
      test.centre = centre_of_bone(exec, bone_of(exec, model, problem));
  }
  try {
    return load_by_test(exec, test, problem);
  } catch (const InputError& error) { // of all ranks: what plates touch is that of the whole
    fail<InputError>(options.input.empty() ? model.description : options.input, ": ", error.what());
  }
}

/// Of the box around the bone, as drop_islands has them. Caps end in planes, and crumbs beyond what
/// they are put on are gone.
template<class Exec>
int supported_sides(const BoneOptions& options, const BoneModel<Exec>& model) {
  if (has_listed_load(options, model))
    return 0;
  const int ends = sides_across(options.axis);
  const int sides = has_sides_for_supports(options) ? all_sides : ends;
  return options.anatomy.has_caps() ? sides & ~ends : sides;
}

/// The part of the bone that may be islands, as --islands says.
double most_left_out(const BoneOptions& options) {
  return options.islands == Islands::error  ? 0
         : options.islands == Islands::drop ? 0.5
                                            : most_islands;
}

/// Notes what went, or throws InputError where it is too much. Returns whether voxels went.
template<class Exec>
bool leave_out(const BoneOptions& options, const VoxelProblem<Exec>& problem,
               const DroppedIslands& loose, BoneModel<Exec>& model) {
  if (loose.components == 0)
    return false;
  const bool periodic = is_periodic(options);
  const std::int64_t nx = problem.grid.shape[0], ny = problem.grid.shape[1];
  const std::array<int, 3> shift = shift_of_nodes(model);
  std::ostringstream what;
  what << format_count(loose.voxels) << " voxels (" << format_number(100 * loose.part, 3)
       << " % of the bone) in " << format_count(loose.components)
       << (periodic ? " parts lead through the cell to no next one"
                    : " parts touch no support, or one that the largest part does not reach")
       << ", the first at x, y, z = " << loose.example % nx - shift[0] << ", "
       << loose.example / nx % ny - shift[1] << ", " << loose.example / nx / ny - shift[2];
  if (options.islands == Islands::error)
    fail<InputError>(what.str(), ": --islands drop leaves them out");
  const char* remedies =
      periodic ? "a higher --lower removes noise; --crop and --lower choose a cell "
                 "that bone leads through"
               : "--largest-component keeps the largest part alone, so that plates lie at "
                 "its ends; a higher --lower removes noise; --plate-depth lets plates "
                 "reach further";
  if (loose.part > 0.5)
    fail<InputError>(what.str(), ": what is left is not the specimen; ", remedies);
  if (!loose.are_dropped)
    fail<InputError>(what.str(), ": ", remedies, "; --islands drop leaves them out");
  log_warning("islands-left-out", what.str(), ": left out");
  model.num_dropped += loose.voxels;
  return true;
}

} // namespace

template<class Exec>
BoneLoad<Exec> make_bone_load(const Exec& exec, const BoneOptions& options,
                              const BoneModel<Exec>& model, VoxelProblem<Exec>& problem) {
  const TimedScope scope("ossatura::bone::load");
  if (is_periodic(options)) {
    problem.held = make_constraints(
        exec, make_zeros<std::uint8_t>(exec, problem.grid.num_nodes, "ossatura::bone::held"));
    return {};
  }
  if (options.test == LoadTest::homogenise) {
    hold_all_sides(exec, problem);
    return {};
  }
  const bool listed = has_listed_load(options, model);
  if (listed && !options.given_of_plates.empty())
    fail<UsageError>(options.input, ": has supports or forces of its nodes, and ",
                     options.given_of_plates.front(),
                     " is of plates: leave it out, or choose a --test such as axial");
  const BoneLoad<Exec> load = listed ? make_listed_load(exec, options, model, problem)
                                     : make_test_load(exec, options, model, problem);
  if (count_held_dofs(exec, problem) == 0)
    fail<InputError>(
        "nothing holds the specimen: prescribe displacements with --fix, in the input, "
        "or choose a --test");
  return load;
}

template<class Exec>
bool drop_islands(const Exec& exec, const BoneOptions& options, const VoxelProblem<Exec>& problem,
                  BoneModel<Exec>& model) {
  const double most = most_left_out(options);
  return leave_out(options, problem,
                   is_periodic(options) ? drop_periodic_islands(exec, problem, model.modulus, most)
                                        : drop_islands(exec, problem, model.modulus, most,
                                                       supported_sides(options, model)),
                   model);
}

template<class Exec>
bool drop_crumbs(const Exec& exec, const BoneOptions& options, const VoxelProblem<Exec>& problem,
                 BoneModel<Exec>& model) {
  return leave_out(
      options, problem,
      drop_crumbs(exec, problem, model.modulus, most_left_out(options), sides_across(options.axis)),
      model);
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template BoneLoad<Exec> make_bone_load(const Exec&, const BoneOptions&, const BoneModel<Exec>&,  \
                                         VoxelProblem<Exec>&);                                     \
  template bool drop_islands(const Exec&, const BoneOptions&, const VoxelProblem<Exec>&,           \
                             BoneModel<Exec>&);                                                    \
  template bool drop_crumbs(const Exec&, const BoneOptions&, const VoxelProblem<Exec>&,            \
                            BoneModel<Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
