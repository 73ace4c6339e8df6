// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/support_checks.hpp"

#include "apps/bone/supports.hpp"
#include "apps/driver/output/table.hpp"
#include <ossatura/core/mesh/held_motions.hpp>
#include <ossatura/kernels/bone/node_parts.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

namespace ossatura {

namespace {

constexpr double least_contact = 0.2;  ///< of the cross-section, without a warning
constexpr double least_carrying = 0.9; ///< of the voxels, without a warning

/// A part of the specimen with what holds and loads it.
struct Part {
  std::int64_t num_voxels = 0;
  std::vector<const HeldNode*> nodes;
  HeldMotions motions;
  bool is_pushed = false;   ///< by forces
  bool is_strained = false; ///< by displacements that are no rigid motion of it

  bool carries() const { return is_pushed || is_strained; }
};

void find_motions(Part& part) {
  HeldMotions& motions = part.motions;
  const auto place = [](const HeldNode& node) {
    return std::array<double, 3>{double(node.site.x), double(node.site.y), double(node.site.z)};
  };
  for (const HeldNode* node : part.nodes)
    for (std::size_t d = 0; d < 3; ++d)
      motions.centre[d] += place(*node)[d] / double(part.nodes.size());
  for (const HeldNode* node : part.nodes)
    for (std::size_t d = 0; d < 3; ++d)
      motions.size = std::max(motions.size, std::abs(place(*node)[d] - motions.centre[d]));
  std::array<double, 6> load{};
  double largest = 0;
  for (const HeldNode* node : part.nodes)
    for (int c = 0; c < 3; ++c)
      if (node->components >> c & 1) {
        motions.add(place(*node).data(), c);
        const std::array<double, 6> r = motions.at(place(*node).data(), c);
        for (std::size_t i = 0; i < 6; ++i)
          load[i] += r[i] * node->displacement[c];
        largest = std::max(largest, std::abs(node->displacement[c]));
      }
  const std::array<double, 6> rigid = motions.fit(load);
  for (const HeldNode* node : part.nodes)
    for (int c = 0; c < 3; ++c)
      if (node->components >> c & 1) {
        const std::array<double, 6> r = motions.at(place(*node).data(), c);
        double rest = node->displacement[c];
        for (std::size_t i = 0; i < 6; ++i)
          rest -= r[i] * rigid[i];
        part.is_strained = part.is_strained || std::abs(rest) > 1e-9 * largest;
      }
}

/// By the smallest voxel.
std::map<std::int64_t, Part> collect_parts(const std::vector<HeldNode>& held,
                                           const NodeParts& of_held, const NodeParts& of_loaded) {
  std::map<std::int64_t, Part> parts;
  for (std::size_t i = 0; i < held.size(); ++i) {
    Part& part = parts[of_held.part[i]];
    part.nodes.push_back(&held[i]);
    part.num_voxels = of_held.size[i];
  }
  for (std::size_t i = 0; i < of_loaded.part.size(); ++i) {
    Part& part = parts[of_loaded.part[i]];
    part.num_voxels = of_loaded.size[i];
    part.is_pushed = true;
  }
  for (auto& [first, part] : parts)
    find_motions(part);
  return parts;
}

std::string describe(std::int64_t first_voxel, const Part& part, const Kokkos::Array<int, 3>& shape,
                     std::int64_t num_parts) {
  if (num_parts == 1)
    return "the specimen";
  std::ostringstream text;
  text << "of the " << format_count(num_parts) << " parts of the specimen the one with voxel "
       << first_voxel % shape[0] << ", " << first_voxel / shape[0] % shape[1] << ", "
       << first_voxel / shape[0] / shape[1] << " (" << format_count(part.num_voxels) << " voxels)";
  return text.str();
}

/// Parts that move freely and are not loaded do no harm, but for the specimen itself.
void require_no_free_motion(const std::map<std::int64_t, Part>& parts,
                            const Kokkos::Array<int, 3>& shape, std::int64_t num_parts) {
  std::int64_t largest = 0;
  for (const auto& [first, part] : parts)
    largest = std::max(largest, part.num_voxels);
  for (const auto& [first, part] : parts) {
    const int held = part.motions.rank();
    if (held < 6 && (part.is_pushed || part.num_voxels == largest))
      fail<InputError>(describe(first, part, shape, num_parts), " can move freely (",
                       part.motions.free_motions(), "): supports hold ", held,
                       " of its 6 rigid motions; hold more components with --fix, such as "
                       "z-:xyz, or keep one part with --largest-component");
  }
}

void require_load_path(const std::map<std::int64_t, Part>& parts, bool is_loaded,
                       std::int64_t num_parts, std::int64_t num_voxels) {
  std::int64_t carrying = 0;
  for (const auto& [first, part] : parts)
    carrying += part.carries() ? part.num_voxels : 0;
  if (carrying == 0 && !is_loaded)
    fail<InputError>("nothing loads the specimen: all prescribed displacements are 0 and no force "
                     "acts on a free node; give --force, a displacement or a --test");
  if (carrying == 0)
    fail<InputError>(
        "no path of bone leads from the supports that move to those that rest: the specimen is in ",
        format_count(num_parts), num_parts == 1 ? " part" : " parts",
        ", and each moves as a rigid body; look at the image and its thresholds (--lower), or let "
        "plates reach further with --plate-depth");
  if (double(carrying) < least_carrying * double(num_voxels))
    log_warning("unloaded-parts", format_count(num_voxels - carrying), " of ",
                format_count(num_voxels),
                " voxels are in parts that touch one support only, or none that moves: they carry "
                "nothing");
}

/// `cross_section` is the mean one of the bone along the support's normal, so that a porous face of
/// porous bone is no small one.
void warn_of_small_contact(const SupportReaction& support, double cross_section,
                           const BoneOptions& options) {
  if (support.contact_area < least_contact * cross_section)
    log_warning("small-contact", support.name, ": touches ", format_number(support.contact_area, 4),
                " mm2 of bone (", format_count(support.num_nodes), " nodes), ",
                format_number(100 * support.contact_area / cross_section, 3),
                " % of the specimen's mean cross-section of ", format_number(cross_section, 4),
                " mm2: the result is that of the spots where it touches; ",
                options.plate_depth > 0 ? "raise --plate-depth"
                                        : "--plate-depth MM lets plates reach further",
                ", or crop the image to flat ends");
}

} // namespace

template<class Exec>
std::int64_t check_supports(const Exec& exec, const BoneOptions& options,
                            const BoneModel<Exec>& model, const VoxelProblem<Exec>& problem,
                            const BoneLoad<Exec>& load) {
  const TimedScope scope("ossatura::bone::check_supports");
  const VoxelGrid<Exec>& grid = problem.grid;
  const bool homogenises = options.test == LoadTest::homogenise;
  const NodeParts of_held =
      find_node_parts(exec, grid, model.modulus, homogenises ? Array<int, Exec>() : load.held.node);
  if (homogenises) // all sides are held, and all that touches them is strained
    return of_held.num_parts;
  const std::vector<HeldNode> held =
      list_held_nodes(exec, grid, load.held, load.u, Array<double, Exec>(), problem.lame.mu_value);
  NodeParts of_loaded;
  if (load.force.extent(0) > 0)
    if (const auto loaded = find_loaded_nodes(exec, load.held, load.force); loaded.num_dofs > 0)
      of_loaded = find_node_parts(exec, grid, model.modulus, loaded.node);

  const std::map<std::int64_t, Part> parts = collect_parts(held, of_held, of_loaded);
  bool is_loaded = !of_loaded.part.empty();
  for (const HeldNode& node : held)
    for (const double u : node.displacement)
      is_loaded = is_loaded || u != 0;
  require_load_path(parts, is_loaded, of_held.num_parts, grid.num_elem);
  require_no_free_motion(parts, grid.shape, of_held.num_parts);

  const NodeBox box = bounding_box(exec, grid);
  std::vector<MovedSupport> supports = sum_supports(held, model.edge, load.regions);
  for (const SideContact& side : load.pushed_sides) {
    MovedSupport pushed;
    pushed.reaction.name = side.name;
    pushed.reaction.is_plate = true;
    pushed.reaction.normal = side.normal;
    pushed.reaction.num_nodes = side.num_nodes;
    pushed.reaction.contact_area = side.area;
    supports.push_back(pushed);
  }
  const double volume = double(grid.num_elem) * std::pow(model.edge, 3);
  for (const MovedSupport& support : supports)
    if (const int a = support.reaction.normal; support.reaction.is_plate)
      warn_of_small_contact(support.reaction, volume / (model.edge * (box.upper[a] - box.lower[a])),
                            options);
  return of_held.num_parts;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template std::int64_t check_supports(const Exec&, const BoneOptions&, const BoneModel<Exec>&,    \
                                       const VoxelProblem<Exec>&, const BoneLoad<Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
