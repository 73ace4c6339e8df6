// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/output/results.hpp"

#include "apps/bone/labels/pads.hpp"
#include <ossatura/kernels/bone/lame_summary.hpp>
#include <ossatura/kernels/bone/loads/load_case.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

/// Ratios of a file; those of options are checked before. The sums above have a little rounding.
void check_poisson(const BoneModelInfo& info) {
  if (!(info.poisson_min >= -0.9990001 && info.poisson_max <= 0.4999995))
    fail<InputError>(info.source, ": Poisson's ratio is from ", info.poisson_min, " to ",
                     info.poisson_max, "; -0.999 to 0.499999 is taken");
  if (info.poisson_max > 0.4900001)
    log_warning("locking", "Poisson's ratio of ", info.poisson_max,
                ": the elements lock near 0.5, which makes the bone too stiff by several per cent "
                "and more; keep it below 0.49");
}

/// Voxels of the box whose stiffness is found: all of a unit cell, else the box around the bone.
template<class Exec>
std::int64_t count_homogenised(const Exec& exec, const BoneOptions& options,
                               const VoxelProblem<Exec>& problem) {
  const VoxelGrid<Exec>& grid = problem.grid;
  const NodeBox box = bounding_box(exec, grid, ranks_of(problem));
  std::int64_t voxels = 1;
  for (int d = 0; d < 3; ++d)
    voxels *= is_periodic(options) ? grid.shape[d] : box.upper[d] - box.lower[d];
  return voxels;
}

/// Distributions over the voxels, and the failure load that follows from one of them.
template<class Exec>
void add_statistics(const Exec& exec, const VoxelFields<Exec>& fields, const BoneOptions& options,
                    BoneResults& results) {
  const TimedScope scope("ossatura::bone::statistics");
  const auto add = [&](const char* name, const Array<float, Exec>& values) {
    if (options.histogram_bins > 0)
      results.histograms.emplace_back(
          name, make_histogram(exec, values, options.histogram_bins, fields.elements.comm));
    return summarise(exec, fields.elements, values);
  };
  results.sed = add("sed", fields.energy_density);
  results.von_mises = add("von_mises", fields.von_mises);
  results.effective_strain = add("effective_strain", fields.effective_strain);
  if (results.strength || !(results.effective_strain->maximum > 0))
    return;
  results.failure =
      estimate_failure(exec, fields.effective_strain, results.response,
                       {options.pistoia_strain, options.pistoia_volume}, fields.elements.comm);
  if (!results.failure)
    log_warning("no-failure-load", "less than ", 100 * options.pistoia_volume,
                " % of the bone is strained at all, for plates hold the rest: there is no failure "
                "load by --pistoia-volume");
}

} // namespace

bool BoneResults::converged() const {
  return !solves.empty() &&
         std::all_of(solves.begin(), solves.end(), [](const BoneSolve& s) { return s.converged; });
}

double BoneResults::solve_seconds() const {
  if (longest_seconds > 0)
    return longest_seconds;
  double seconds = 0;
  for (const BoneSolve& solve : solves)
    seconds += solve.seconds;
  return seconds;
}

bool BoneResults::interrupted() const {
  return std::any_of(solves.begin(), solves.end(),
                     [](const BoneSolve& s) { return s.interrupted; });
}

namespace {

template<class Exec>
double find_mask_section(const Exec& exec, int axis, const BoneModel<Exec>& model,
                         const VoxelProblem<Exec>& problem) {
  const NodeBox box = bounding_box(exec, problem.grid, ranks_of(problem));
  const int below = model.planes_below[std::size_t(axis)];
  return mean_mask_section(model.mask_layers, box.lower[axis] - below, box.upper[axis] - below);
}

} // namespace

template<class Exec>
BoneModelInfo describe_model(const Exec& exec, const BoneOptions& options,
                             const BoneModel<Exec>& model, const VoxelProblem<Exec>& problem) {
  const VoxelGrid<Exec>& grid = problem.grid;
  BoneModelInfo info;
  info.source =
      options.input.empty() ? model.description : options.input + " (" + model.description + ")";
  info.shape = {grid.shape[0], grid.shape[1], grid.shape[2]};
  info.spacing = model.edge;
  info.origin = model.origin;
  info.direction = model.direction;
  info.world = model.world;
  info.turn = model.turn;
  info.num_elem = count_voxels(exec, problem);
  info.num_nodes = grid.owned.global_count;
  info.num_held_dofs = count_held_dofs(exec, problem);
  info.num_dropped_elem = model.num_dropped;
  info.num_in_mask = model.num_in_mask;
  if (model.num_in_mask > 0)
    info.mask_area =
        find_mask_section(exec, options.axis, model, problem) * model.edge * model.edge;
  if (options.test == LoadTest::homogenise)
    info.num_in_box = count_homogenised(exec, options, problem);
  const SharedEntries nodes = share_nodes(exec, problem);
  const LameField<Exec> bone = bone_of(exec, model, problem).lame;
  if (model.foreign) {
    info.num_pad_elem = count_foreign(exec, nodes, grid, *model.foreign, problem.lame, 3);
    info.num_cap_elem = count_foreign(exec, nodes, grid, *model.foreign, problem.lame, 1) +
                        count_foreign(exec, nodes, grid, *model.foreign, problem.lame, 2);
  }
  info.planes_below = model.planes_below;
  info.planes_above = model.planes_above;
  const bool is_whole = model.source.shape[0] == 0; // made, not read as it is
  const std::array<double, 3> edges = edges_before(options, model.source);
  for (std::size_t d = 0; d < 3; ++d)
    info.extent[d] =
        is_whole ? model.edge * (info.shape[d] - info.planes_below[d] - info.planes_above[d])
                 : edges[d] * model.source.shape[d];
  if (options.preparation.crop)
    info.crop = crop_box(options, model.source.shape);
  const LameSummary summary = summarise_lame(exec, nodes, bone);
  info.num_solid = summary.num_solid;
  info.modulus_min = summary.modulus_min;
  info.modulus_max = summary.modulus_max;
  info.modulus_mean = summary.modulus_sum / double(info.num_bone_elem());
  const LameSummary whole = model.foreign ? summarise_lame(exec, nodes, problem.lame) : summary;
  info.poisson_min = whole.poisson_min;
  info.poisson_max = whole.poisson_max;
  check_poisson(info);
  return info;
}

namespace {

/// Throws InputError where caps and pads have all of the energy, but for rounding.
void require_strained_bone(const BoneResults& results) {
  constexpr double least_share = 1e-12;
  const SampleStatistics& sed = *results.sed;
  const double of_bone = sed.mean * double(sed.count) * std::pow(results.model.spacing, 3);
  if (results.model.num_cap_elem + results.model.num_pad_elem > 0 &&
      of_bone < least_share * *results.strain_energy)
    fail<InputError>("no bone is strained, but caps and pads alone: supports hold all of the bone, "
                     "which moves as one rigid body; let plates or --fix hold less of it, such as "
                     "what a label beside its end touches (--plate-labels)");
}

} // namespace

template<class Exec>
void add_solution(const Exec& exec, const BoneSolution<Exec>& solution,
                  const VoxelFields<Exec>& fields, const BoneOptions& options,
                  BoneResults& results) {
  for (const MovedSupport& support : solution.supports)
    results.reactions.push_back(support.reaction);
  results.response = solution.response;
  if (results.strength && results.response) // force over displacement is no stiffness any more
    results.response->stiffness = results.response->apparent_modulus =
        results.response->rotational_stiffness = std::nullopt;
  const double energy = solution.strain_energy;
  results.strain_energy = energy;
  results.balance = solution.balance;
  // A test beyond yield may have ended before its first step, at rest.
  const bool is_loaded =
      !results.interrupted() && !(results.strength && results.strength->steps.empty());
  // Not so for any load that the checks before the solve let through.
  if (is_loaded && (!(energy > 0) || std::isinf(energy)))
    fail<InputError>("the strain energy is ", energy,
                     " N mm: lengths, moduli or loads are too small or too large to compute with");
  add_statistics(exec, fields, options, results);
  if (is_loaded)
    require_strained_bone(results);
  if (is_loaded && (!(results.sed->maximum > 0) || !std::isfinite(results.sed->maximum) ||
                    !std::isfinite(results.von_mises->maximum)))
    fail<InputError>(results.sed->maximum == 0
                         ? "no voxel is strained at its centre: it is one voxel that turns, or "
                           "loads and moduli are too small for single precision"
                         : "energies or stresses are beyond single precision, in which fields are "
                           "kept: scale loads and moduli");
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template BoneModelInfo describe_model(const Exec&, const BoneOptions&, const BoneModel<Exec>&,   \
                                        const VoxelProblem<Exec>&);                                \
  template void add_solution(const Exec&, const BoneSolution<Exec>&, const VoxelFields<Exec>&,     \
                             const BoneOptions&, BoneResults&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
