// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/input/load.hpp"

#include "apps/driver/output/table.hpp"
#include <ossatura/core/io/text/nodal_list.hpp>
#include <ossatura/kernels/bone/supports.hpp>
#include <ossatura/kernels/image/component_selection.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

namespace ossatura {

namespace {

MechanicalTest mechanical_test(const BoneOptions& options) {
  MechanicalTest test;
  test.axis = options.axis;
  test.strain = options.strain;
  test.displacement = options.displacement;
  test.angle = options.angle * std::acos(-1.0) / 180;
  test.lateral_free = options.lateral == Lateral::free;
  test.plate_depth = options.plate_depth;
  switch (options.test) {
  case LoadTest::confined:
    test.kind = TestKind::confined;
    break;
  case LoadTest::shear:
    test.kind = TestKind::shear;
    test.direction = options.shear_direction;
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

/// The nodes that --fix or --force means.
PrescribedRegion chosen_region(const NodeBox& box, double edge, const NodeChoice& where,
                               double plate_depth) {
  PrescribedRegion region;
  for (int d = 0; d < 3; ++d) {
    region.lower[d] = where.is_face ? box.lower[d] : where.node[d];
    region.upper[d] = where.is_face ? box.upper[d] : where.node[d];
  }
  if (where.is_face) {
    const int layers = int(std::floor(plate_depth / edge + 1e-9)), a = where.axis;
    if (where.upper)
      region.lower[a] = box.upper[a] - layers;
    else
      region.upper[a] = box.lower[a] + layers;
  }
  return region;
}

std::string describe(const NodeChoice& where) {
  if (where.is_face)
    return std::string("side ") + "xyz"[where.axis] + (where.upper ? "+" : "-");
  return "node " + std::to_string(where.node[0]) + "/" + std::to_string(where.node[1]) + "/" +
         std::to_string(where.node[2]);
}

template<class Exec>
void require_held(const Constraints<Exec>& held) {
  if (held.num_dofs == 0)
    fail<InputError>(
        "nothing holds the specimen: prescribe displacements with --fix, in the input, "
        "or choose a --test");
}

template<class Exec>
std::int64_t require_nodes(const Exec& exec, const VoxelGrid<Exec>& grid,
                           const PrescribedRegion& region, const char* option,
                           const NodeChoice& where) {
  const std::int64_t count = count_nodes(exec, grid, region);
  if (count == 0)
    fail<InputError>(option, ": ", describe(where), " has no node of a solid voxel");
  return count;
}

/// Nodes of a list that is given as displacements, at solid voxels. Places in the void are an
/// error, unless the user had voxels dropped, which may have been theirs.
template<class Exec>
void prescribe_list(const Exec& exec, const BoneOptions& options, const std::string& source,
                    const std::vector<NodalValue>& values, const VoxelGrid<Exec>& grid,
                    const Array<std::uint8_t, Exec>& mask, const Array<double, Exec>& u) {
  const std::vector<PrescribedNode> nodes = merge_by_node(values);
  const MissingNodes missing = prescribe(exec, grid, nodes, mask, u);
  if (missing.count == 0)
    return;
  const Site& s = nodes[std::size_t(missing.first)].site;
  if (!options.largest_component)
    fail<InputError>(
        source, ": ", missing.count, " of ", nodes.size(),
        " nodes with prescribed displacements lie in the void, the first at x, y, z = ", s.x, ", ",
        s.y, ", ", s.z, ": remove them or check the axes' order");
  log_info(format_count(missing.count), " prescribed nodes went with the dropped voxels");
}

/// One --force: on a node, or on a side as the traction that has this sum.
template<class Exec>
void push(const Exec& exec, const BoneOptions& options, const BoneModel<Exec>& model,
          const VoxelGrid<Exec>& grid, const NodeBox& box, const NodalCondition& condition,
          BoneLoad<Exec>& load) {
  const NodeChoice& where = condition.where;
  const PrescribedRegion region = chosen_region(box, model.edge, where, options.plate_depth);
  const std::int64_t num_nodes = require_nodes(exec, grid, region, "--force", where);
  if (!where.is_face) {
    std::vector<NodalValue> forces;
    for (int c = 0; c < 3; ++c)
      if (condition.components[c])
        forces.push_back({where.node, c, condition.value});
    add_forces(exec, grid, forces, load.force);
    return;
  }
  Kokkos::Array<double, 3> force{};
  for (int c = 0; c < 3; ++c)
    force[c] = condition.components[c] ? condition.value : 0;
  const int a = where.axis;
  const std::int64_t shares =
      add_consistent_force(exec, grid, model.modulus, region, a, where.upper, force, load.force);
  const int layers = std::max(1, region.upper[a] - region.lower[a]);
  load.pushed_sides.push_back(
      {describe(where), a, num_nodes, model.edge * model.edge * double(shares) / layers});
}

template<class Exec>
void apply_listed_load(const Exec& exec, const BoneOptions& options, const BoneModel<Exec>& model,
                       const VoxelGrid<Exec>& grid, const Array<std::uint8_t, Exec>& mask,
                       BoneLoad<Exec>& load) {
  const std::array<int, 3> shape{grid.shape[0], grid.shape[1], grid.shape[2]};
  const NodeBox box = bounding_box(exec, grid);
  prescribe_list(exec, options, options.input, model.displacements, grid, mask, load.u);
  if (!options.fix_file.empty())
    prescribe_list(exec, options, options.fix_file, read_nodal_list(options.fix_file, shape), grid,
                   mask, load.u);
  std::vector<PrescribedRegion> regions;
  for (const NodalCondition& fix : options.fix) {
    PrescribedRegion region = chosen_region(box, model.edge, fix.where, options.plate_depth);
    require_nodes(exec, grid, region, "--fix", fix.where);
    region.components = 0;
    for (int c = 0; c < 3; ++c)
      if (fix.components[c]) {
        region.components |= std::uint8_t(1 << c);
        region.value[c] = fix.value;
      }
    regions.push_back(region);
  }
  prescribe(exec, grid, model.edge, regions, mask, load.u);

  if (model.forces.empty() && options.force.empty() && options.force_file.empty())
    return;
  load.force = make_zeros<double>(exec, grid.num_dofs(), "ossatura::bone::force");
  std::vector<NodalValue> forces = model.forces;
  if (!options.force_file.empty()) {
    const auto listed = read_nodal_list(options.force_file, shape);
    forces.insert(forces.end(), listed.begin(), listed.end());
  }
  if (const std::int64_t missing = add_forces(exec, grid, forces, load.force)) {
    if (!options.largest_component)
      fail<InputError>(options.force_file.empty() ? options.input : options.force_file, ": ",
                       missing, " nodal forces act on the void or on parts that nothing holds");
    log_info(format_count(missing), " nodal forces went with the dropped voxels");
  }
  for (const NodalCondition& force : options.force)
    push(exec, options, model, grid, box, force, load);
}

/// The centre that plates turn about, in mm from the lower corner of the image; empty: the box's
/// centre.
template<class Exec>
std::optional<std::array<double, 3>> chosen_centre(const Exec& exec, const BoneOptions& options,
                                                   const BoneModel<Exec>& model,
                                                   const VoxelGrid<Exec>& grid) {
  if (options.test != LoadTest::torsion && options.test != LoadTest::bending)
    return {};
  switch (options.centre.kind) {
  case TurnCentre::Kind::box:
    return {};
  case TurnCentre::Kind::point:
    return options.centre.point;
  case TurnCentre::Kind::mass:
    break;
  }
  std::array<double, 3> centre = centre_of_mass(exec, grid, model.modulus);
  for (double& x : centre)
    x *= model.edge;
  return centre;
}

} // namespace

template<class Exec>
BoneLoad<Exec> make_bone_load(const Exec& exec, const BoneOptions& options,
                              const BoneModel<Exec>& model, const VoxelGrid<Exec>& grid) {
  const TimedScope scope("ossatura::bone::load");
  BoneLoad<Exec> load;
  load.u = make_zeros<double>(exec, grid.num_dofs(), "ossatura::bone::displacement");
  const Array<std::uint8_t, Exec> mask =
      make_zeros<std::uint8_t>(exec, grid.num_nodes, "ossatura::bone::held");
  if (has_listed_load(options, model)) {
    apply_listed_load(exec, options, model, grid, mask, load);
  } else {
    MechanicalTest test = mechanical_test(options);
    test.centre = chosen_centre(exec, options, model, grid);
    load.regions = make_load_case(exec, grid, model.edge, test);
    std::vector<PrescribedRegion> regions;
    for (const NamedRegion& named : load.regions)
      regions.push_back(named.region);
    prescribe(exec, grid, model.edge, regions, mask, load.u);
  }
  load.held = make_constraints(exec, mask);
  require_held(load.held);
  return load;
}

template<class Exec>
void set_uniform_strain(const Exec& exec, const BoneModel<Exec>& model, const VoxelGrid<Exec>& grid,
                        int component, BoneLoad<Exec>& load) {
  double strain[6] = {};
  strain[component] = 1;
  load.regions = make_uniform_strain_case(exec, grid, strain);
  std::vector<PrescribedRegion> regions;
  for (const NamedRegion& named : load.regions)
    regions.push_back(named.region);
  load.u = {}; // before the new one
  load.u = make_zeros<double>(exec, grid.num_dofs(), "ossatura::bone::displacement");
  const Array<std::uint8_t, Exec> mask =
      make_zeros<std::uint8_t>(exec, grid.num_nodes, "ossatura::bone::held");
  prescribe(exec, grid, model.edge, regions, mask, load.u);
  if (load.held.mask.extent(0) == 0)
    load.held = make_constraints(exec, mask);
}

template<class Exec>
bool drop_islands(const Exec& exec, const BoneOptions& options, const VoxelGrid<Exec>& grid,
                  const Constraints<Exec>& held, BoneModel<Exec>& model) {
  const Array<std::uint8_t, Exec> support =
      mark_supported_voxels(exec, grid, model.modulus, held.mask);
  const UnsupportedComponents loose =
      options.islands == Islands::error
          ? find_unsupported(exec, model.modulus, support, Connectivity::node)
          : drop_unsupported(exec, model.modulus, support, Connectivity::node);
  if (loose.components == 0)
    return false;
  const std::int64_t nx = grid.shape[0], ny = grid.shape[1];
  const double part = double(loose.voxels) / double(grid.num_elem);
  std::ostringstream what;
  what << format_count(loose.voxels) << " voxels (" << format_number(100 * part, 3)
       << " % of the bone) in " << format_count(loose.components)
       << " parts touch no support, the first at x, y, z = " << loose.example % nx << ", "
       << loose.example / nx % ny << ", " << loose.example / nx / ny;
  if (options.islands == Islands::error)
    fail<InputError>(what.str(), ": --islands drop leaves them out");
  const char* remedies = "--largest-component keeps the largest part alone, so that plates lie at "
                         "its ends; a higher --lower removes noise; --plate-depth lets plates "
                         "reach further";
  if (part > 0.5)
    fail<InputError>(what.str(), ": what is left is not the specimen; ", remedies);
  if (options.islands == Islands::automatic && part > 0.01)
    fail<InputError>(what.str(), ": ", remedies, "; --islands drop leaves them out");
  log_warning("islands-left-out", what.str(), ": left out");
  model.num_dropped += loose.voxels;
  return true;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template BoneLoad<Exec> make_bone_load(const Exec&, const BoneOptions&, const BoneModel<Exec>&,  \
                                         const VoxelGrid<Exec>&);                                  \
  template bool drop_islands(const Exec&, const BoneOptions&, const VoxelGrid<Exec>&,              \
                             const Constraints<Exec>&, BoneModel<Exec>&);                          \
  template void set_uniform_strain(const Exec&, const BoneModel<Exec>&, const VoxelGrid<Exec>&,    \
                                   int, BoneLoad<Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
