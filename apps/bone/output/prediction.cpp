// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/output/prediction.hpp"

#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/machine/available_memory.hpp>
#include <ossatura/core/machine/memory.hpp>
#include <ossatura/core/machine/processors.hpp>
#include <ossatura/solvers/bone/multigrid/periodic_hierarchy.hpp>
#include <ossatura/solvers/bone/unit_cell.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

/// Part of what every run is predicted to take besides its arrays that homogenisation does not: it
/// writes no fields. Measured with 40 and 64 voxels along each axis.
constexpr double field_file_bytes = 3e6;

/// Scratch memory and short lists while levels are made anew; 1560 is 65 numbers for each row of
/// the coarsest matrix, three for a node.
constexpr double renewal_bytes = 4e4;

/// A level of the multigrid below the voxels, as far as this process has it.
struct LevelSize {
  std::int64_t num_elem, num_nodes;
  bool is_free; ///< some component is not held
};

/// What is allocated now.
double live_bytes() {
  double live = 0;
  for (const SpaceMemory& space : memory_by_space())
    live += double(space.live);
  return live;
}

/// The levels that a solve of `problem` makes, the coarsest last. By all ranks of a problem that is
/// cut. Fences.
template<class Exec>
std::vector<LevelSize> list_level_sizes(const Exec& exec, const VoxelProblem<Exec>& problem,
                                        const MultigridOptions& options) {
  const VoxelHierarchy<Exec> hierarchy =
      problem.rim     ? make_periodic_hierarchy(exec, *problem.rim, problem.grid, problem.lame,
                                                problem.held, problem.edge, options)
      : problem.ranks ? make_cut_hierarchy(exec, *problem.ranks, problem.grid, problem.lame,
                                           problem.held, problem.edge, options)
                      : make_voxel_hierarchy(exec, problem.grid, problem.lame, problem.held,
                                             problem.edge, options);
  std::vector<LevelSize> sizes;
  for (const CoarseLevel<Exec>& level : hierarchy.coarse)
    sizes.push_back({level.cells.num_elem, level.cells.num_nodes,
                     level.held.num_dofs < 3 * std::int64_t(level.cells.num_nodes)});
  return sizes;
}

struct StrengthBytes {
  double state = 0;      ///< of voxels, which stays for the fields
  double solve = 0;      ///< with it, beside the linear solver
  double checkpoint = 0; ///< a copy on the host, as if all bone had yielded
};

// Plastic state of voxels and the vectors of Newton's iteration; with damage moduli and loads, two
// vectors, and what follows other moduli. With a checkpoint the displacements before a step.
StrengthBytes predict_strength(const BoneOptions& options, double nodes, double elem, double lame,
                               bool is_device) {
  StrengthBytes bytes;
  if (!options.strength.criterion)
    return bytes;
  const bool breaks = options.strength.criterion == YieldCriterion::damage;
  const bool is_kept = !options.strength.checkpoint.empty();
  bytes.state = (breaks ? lame + 4 : 77) * nodes;
  bytes.solve = bytes.state + (breaks ? 48 : 72) * nodes + (breaks ? 0.5 : 0) * elem;
  if (is_kept)
    bytes.checkpoint = (breaks ? 24 + 4 : 48 + 77) * nodes;
  bytes.solve += (is_kept && !breaks ? 24 * nodes : 0) + (is_device ? 0 : bytes.checkpoint);
  return bytes;
}

/// What the levels take; with the maps that they are made anew by, if they are.
double level_bytes(const std::vector<LevelSize>& levels, double cycle, double lame,
                   bool is_made_anew) {
  double bytes = 0;
  for (const LevelSize& level : levels)
    bytes += double(level.num_nodes) * (15 * cycle + 15) +
             double(level.num_elem) * (32 + lame + (is_made_anew ? 40 : 0));
  return bytes;
}

// A node of the finest level takes `index` bytes for its place, held components, moduli and
// elements, its parent cell and position, a diagonal, and the vectors of the iteration and the
// cycle. Coarse levels have blocks, three vectors and explicit corners. The coarsest is inverted in
// double. The fields come after the solver's arrays are gone, with the mesh of the file.
//
// `info` is of what this process sees of a problem among `num_ranks`, whose first one has the
// `whole` of a ParOSol file in its memory. Others write their corners with 64-bit numbers.
BonePrediction predict_process(const BoneModelInfo& info, const BoneModelInfo& whole,
                               const std::vector<LevelSize>& levels, const BoneOptions& options,
                               const VoxelSolverOptions& solver, bool is_device, int num_ranks) {
  const double nodes = double(info.num_nodes), elem = double(info.num_elem);
  const double voxels = double(info.shape[0]) * info.shape[1] * info.shape[2];
  const Precision precision = solver.precision;
  const double cycle = precision == Precision::fp64 ? 8 : 4;
  const double vectors = precision == Precision::fp64    ? 40
                         : precision == Precision::mixed ? 36
                                                         : 24;
  const double lame = info.poisson_min == info.poisson_max ? 4 : 8;
  double kept = 0, scratch = 0;
  AnyVoxelOperators::find(solver.matrix, [&](auto entry) {
    using Operator = typename decltype(entry)::type;
    kept = Operator::bytes_kept(nodes, elem);
    if (!Operator::fuses_updates)
      scratch = cycle;
  });
  const double force = options.force.empty() && options.force_file.empty() ? 0 : 24;
  const double model = voxels / 4 + (1 + lame + 24 + force) * nodes; // and displacements
  const bool homogenises = options.test == LoadTest::homogenise;

  const bool periodic = is_periodic(options);
  // Of a unit cell the voxels are there with their rim and without, and the rim's lists.
  const double cell = periodic ? voxels / 4 + (1 + lame + 4 + lame + 24) * nodes : 0;
  const double lists = periodic && is_device ? 4 * nodes : 0; // of fine nodes
  double solve = model + cell + lists + (homogenises ? 4 * voxels : 0) + kept +
                 nodes * (5 + cycle + 3 * (vectors + scratch) - 24);
  double matrix = 0; // of the coarsest level, in double
  const StrengthBytes strength = predict_strength(options, nodes, elem, lame, is_device);
  solve += strength.solve;
  if (options.remodelling.steps > 0) // states are evaluated beside the solver
    solve += (force > 0 ? 48 : 24) * nodes + (64 + 8 + 0.5) * elem;
  const bool breaks = options.strength.criterion == YieldCriterion::damage;
  solve += level_bytes(levels, cycle, lame, breaks);
  const double coarsest = levels.empty() ? nodes : double(levels.back().num_nodes);
  if (solver.multigrid.coarse_solver == CoarseSolver::direct &&
      (levels.empty() || levels.back().is_free))
    matrix = 8 * std::pow(3 * coarsest, 2);
  // Beside the matrix its inverse, or before that, 32 rows and columns for the sweep.
  const double sweep = matrix > 0 && breaks ? (is_device ? 1560 : 2328) * coarsest : 0;
  solve += matrix + std::max(matrix * cycle / 8, sweep);
  if (breaks) // levels are made anew beside all vectors
    solve += 8 * double(info.num_held_dofs) + renewal_bytes;

  const bool writes = writes_fields(options.hdf, options.no_hdf, options.common);
  const double corners = !writes ? 0 : num_ranks > 1 ? 32 + 64 + 8 : 32;
  const double fields =
      homogenises ? 0
                  : model + (strength.state > 0 ? strength.state + 4 * elem : 0) +
                        (force > 0 ? 48 : 24) * nodes +
                        (64 + corners + (options.field_images == FieldImages::none ? 0 : 8)) * elem;
  // An image of a field at a time, on the first rank, and what of it is compressed.
  const bool has_images = options.field_images != FieldImages::none;
  const double image = !has_images ? 0 : 4 * voxels + 8 * double(whole.num_elem);
  const double packed = !has_images || options.common.compress == Hdf5Compression::none ? 0
                        : options.field_images == FieldImages::mha                      ? 4 * voxels
                        : options.field_images == FieldImages::nifti
                            ? 0
                            : std::min(4 * voxels, 2.0 * io_threads() * (1 << 24));
  // Coordinates, and copies for statistics and files.
  const double host_fields =
      homogenises ? 0
                  : (writes ? 24 : 0) * nodes + 8 * elem + image + packed +
                        (options.parosol_output.empty()
                             ? 0
                             : 72 * double(whole.num_nodes) + 160 * double(whole.num_elem));

  // Reactions: lists of held nodes, by support.
  const double held_nodes = double(info.num_held_dofs) / 3;
  const double reactions = homogenises ? 0 : model + (force > 0 ? 48 : 24) * nodes;

  BonePrediction prediction;
  prediction.model = info;
  prediction.device_bytes = std::max({solve, fields, double(peak_kokkos_bytes())});
  prediction.host_growth = is_device ? std::max(host_fields, strength.checkpoint)
                                     : std::max({solve, reactions + 200 * held_nodes,
                                                 fields + host_fields + 64 * held_nodes}) -
                                           live_bytes() - (homogenises ? field_file_bytes : 0);
  return prediction;
}

/// Bone of the voxels that a generator makes, as a part; of perlin without --fraction that of
/// trabecular bone.
double generated_part(const BoneOptions& options) {
  constexpr double trabecular = 0.2;
  const double voxels = double(options.size[0]) * options.size[1] * options.size[2];
  switch (options.generator) {
  case BoneGenerator::perlin:
    return options.fraction.value_or(trabecular);
  case BoneGenerator::sphere: {
    const double radius = options.radius > 0
                              ? options.radius
                              : 0.5 * *std::min_element(options.size.begin(), options.size.end());
    const auto ball = [&](double r) {
      return std::min(1.0, 4 * Kokkos::numbers::pi / 3 * r * r * r / voxels);
    };
    return ball(radius) - (options.inner_modulus > 0 ? 0 : ball(options.inner_radius)) +
           (options.outer_modulus > 0 ? 1 - ball(radius) : 0);
  }
  case BoneGenerator::laminate: {
    double solid = 0, all = 0;
    for (const auto& [thickness, modulus] : options.layers) {
      all += thickness;
      solid += modulus > 0 ? thickness : 0;
    }
    return all > 0 ? solid / all : 1;
  }
  default:
    return 1;
  }
}

/// Of a run, from the options alone: as if each level had an eighth of the elements of the one
/// before.
BonePrediction predict_generated(const BoneOptions& options, const VoxelSolverOptions& solver,
                                 bool is_device) {
  BoneModelInfo info;
  info.shape = options.size;
  const double voxels = double(options.size[0]) * options.size[1] * options.size[2];
  info.num_elem = info.num_nodes = std::int64_t(generated_part(options) * voxels);
  std::vector<LevelSize> levels;
  for (std::int64_t n = info.num_elem / 8; n > 1000; n /= 8)
    levels.push_back({n, n, true});
  levels.push_back({125, 216, true});
  return predict_process(info, info, levels, options, solver, is_device, 1);
}

} // namespace

template<class Exec>
void require_generated_room(const Exec& exec, const BoneOptions& options,
                            const VoxelSolverOptions& solver, int num_ranks) {
  const double room = double(available_bytes(exec));
  const bool is_perlin = options.generator == BoneGenerator::perlin;
  const double voxels = double(options.size[0]) * options.size[1] * options.size[2];
  // Each rank makes the whole of it, but of perlin its planes alone, whose bone is not known yet.
  const double image = 4 * voxels / (is_perlin ? num_ranks : 1);
  const double grid = is_perlin ? 0 : 29 * generated_part(options) * voxels / num_ranks;
  if (!(room > 0) || image + grid <= room)
    return;
  constexpr bool is_device = BackendTraits<Exec>::is_device;
  const BonePrediction all = predict_generated(options, solver, is_device);
  const double whole = 4 * voxels;
  const double run = whole + std::max(all.device_bytes, is_device ? 0 : all.host_growth);
  fail<BackendError>("--size ", options.size[0], ',', options.size[1], ',', options.size[2], ": ",
                     format_count(std::int64_t(voxels)), " voxels take ", format_bytes(whole),
                     " as an image, and a run about ", format_bytes(run), " in all, where ",
                     format_bytes(room), " are left: a smaller --size",
                     is_perlin ? " with a smaller --feature (the same bone, coarser)" : "",
                     solver.precision == Precision::lean ? "" : ", --precision lean",
                     ", or mpirun with ranks on several machines or devices, which divide a model");
}

template<class Exec>
BonePrediction predict_bone(const Exec& exec, const VoxelProblem<Exec>& problem,
                            const BoneModelInfo& info, const BoneOptions& options,
                            const VoxelSolverOptions& solver) {
  BoneModelInfo seen = info; // by this process
  if (problem.ranks) {
    seen.num_elem = problem.grid.num_elem;
    seen.num_nodes = problem.grid.num_nodes;
  }
  const Communicator comm = ranks_of(problem);
  const std::vector<LevelSize> levels = list_level_sizes(
      exec,
      is_periodic(options) ? make_unit_cell(exec, problem.material, problem.edge).problem : problem,
      solver.multigrid);
  BonePrediction prediction = predict_process(seen, info, levels, options, solver,
                                              BackendTraits<Exec>::is_device, comm.size());
  prediction.model = info;
  prediction.num_ranks = comm.size();
  prediction.device_bytes = comm.max(prediction.device_bytes);
  prediction.host_growth = comm.max(prediction.host_growth);
  return prediction;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template BonePrediction predict_bone(const Exec&, const VoxelProblem<Exec>&,                     \
                                       const BoneModelInfo&, const BoneOptions&,                   \
                                       const VoxelSolverOptions&);                                 \
  template void require_generated_room(const Exec&, const BoneOptions&, const VoxelSolverOptions&, \
                                       int);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
