// SPDX-License-Identifier: Apache-2.0
// BoneResults hold the results of `ossatura bone` as numbers on the host. Lengths are in mm, forces
// in N, moduli and stresses in MPa, energies in N mm. Results that a test does not give stay empty.
#pragma once

#include "apps/bone/input/model.hpp"
#include "apps/bone/output/sections.hpp"
#include "apps/bone/output/strength.hpp"
#include "apps/bone/remodelling/report.hpp"
#include <ossatura/core/mesh/voxel_image.hpp>
#include <ossatura/solvers/bone/multigrid/options.hpp>
#include <ossatura/solvers/bone/results/homogenisation.hpp>
#include <ossatura/solvers/bone/results/pistoia.hpp>
#include <ossatura/solvers/bone/results/solution.hpp>
#include <ossatura/solvers/bone/results/statistics.hpp>
#include <ossatura/solvers/bone/solver.hpp>
#include <ossatura/solvers/krylov/solve_result.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ossatura {

/// The loads of a homogenisation, and rows and columns of its stiffness.
inline constexpr const char* stiffness_names[] = {"xx", "yy", "zz", "xy", "yz", "zx"};

/// The model as it was solved.
struct BoneModelInfo {
  std::string source; ///< file or generator
  std::array<int, 3> shape{0, 0, 0};
  double spacing = 0;
  std::array<double, 3> origin{0, 0, 0}; ///< lower corner of the image in the world, mm
  ImageDirection direction = identity_direction;
  std::string world;             ///< "RAS", "LPS" or empty
  std::optional<ModelTurn> turn; ///< of the image
  std::int64_t num_elem = 0, num_nodes = 0;
  std::int64_t num_solid = 0;   ///< voxels that have a modulus, counted
  std::int64_t num_in_mask = 0; ///< voxels with a label of bone, void ones too; 0: no mask
  double mask_area = 0;         ///< its mean cross-section along the bone, mm2; 0: no mask
  std::int64_t num_in_box = 0;  ///< voxels of what is homogenised, void ones too
  std::int64_t num_held_dofs = 0;
  std::int64_t num_components = 0;   ///< parts that share no node, of what is solved
  std::int64_t num_dropped_elem = 0; ///< of parts left out
  std::int64_t num_cap_elem = 0;     ///< of num_elem those of caps, which are no bone
  std::int64_t num_pad_elem = 0;     ///< and those of pads, which are none either
  std::array<int, 3> planes_below{0, 0, 0}, planes_above{0, 0, 0}; ///< added for caps
  std::array<double, 3> extent{0, 0, 0};                           ///< of the image as given, mm
  std::optional<VoxelBox> crop;                                    ///< of its voxels
  double modulus_min = 0, modulus_max = 0, modulus_mean = 0;       ///< over the bone
  double poisson_min = 0, poisson_max = 0;

  std::int64_t num_dofs() const { return 3 * num_nodes; }
  std::int64_t num_bone_elem() const { return num_elem - num_cap_elem - num_pad_elem; }
  double bone_volume() const {
    return static_cast<double>(num_bone_elem()) * spacing * spacing * spacing;
  }
  /// Bone volume by total volume of the image, without what was added for caps, or to hold the
  /// image as it is turned.
  double volume_fraction() const {
    if (turn)
      return bone_volume() / turn->old_volume;
    double voxels = 1;
    for (std::size_t d = 0; d < 3; ++d)
      voxels *= shape[d] - planes_below[d] - planes_above[d];
    return static_cast<double>(num_bone_elem()) / voxels;
  }
  /// The same by the volume of the mask.
  std::optional<double> mask_fraction() const {
    if (num_in_mask == 0)
      return {};
    return static_cast<double>(num_bone_elem()) / static_cast<double>(num_in_mask);
  }
};

/// One linear solve.
struct BoneSolve : SolveResult {
  std::string load;         ///< "axial", or "xx" ... "zx" of a homogenisation
  bool interrupted = false; ///< by a signal; `residual` is not known
  bool stalled = false;     ///< not converged, and further iterations were of no use
  double seconds = 0;
};

struct BoneResults {
  BoneModelInfo model;
  std::string test;                                                      ///< as --test names it
  std::string operator_name, hierarchy_name, cycle_name, precision_name; ///< as the options do
  const char* launch_graph = "unused";                                   ///< or "replays", "failed"
  std::vector<MultigridLevelInfo> levels;
  std::string split;                ///< of more than one rank: "loads" or "model"
  std::optional<VoxelCutInfo> cut;  ///< of a model that ranks divide
  std::int64_t most_host_bytes = 0; ///< peak of the rank that takes most, of all ranks
  std::int64_t most_kokkos_bytes = 0;
  double work = 0; ///< products with the finest operator, or as much work
  std::vector<BoneSolve> solves;
  double solve_seconds() const; ///< from the first to the last, where ranks divide them at once
  double longest_seconds = 0;   ///< of ranks that divide the solves: those of the longest part

  std::optional<TestResponse> response;
  std::vector<SupportReaction> reactions;
  double tolerance = 0; ///< of the solves, as asked for
  std::optional<double> strain_energy;
  std::optional<ForceBalance> balance;
  std::optional<SampleStatistics> sed, von_mises, effective_strain;
  std::vector<std::pair<std::string, Histogram>> histograms;
  std::vector<LabelStatistics> labels;   ///< of the mask, on the first rank
  std::optional<SectionForces> sections; ///< by them, of a test along an axis
  std::optional<FailureEstimate> failure;

  std::optional<HomogenisedStiffness> homogenised;
  const char* boundary = "";               ///< of a homogenisation, as --boundary names it
  std::optional<StrengthResults> strength; ///< then energies, stresses and fields are what is left

  std::optional<RemodellingResults> remodelling; ///< then the rest is of the last state

  std::vector<std::string> files; ///< written

  bool converged() const;
  bool interrupted() const;
};

/// Of the whole of a problem that is cut, by all its ranks, as what follows. Throws InputError, or
/// warns, for Poisson's ratios that the elements do not take. Fences.
template<class Exec>
BoneModelInfo describe_model(const Exec& exec, const BoneOptions& options,
                             const BoneModel<Exec>& model, const VoxelProblem<Exec>& problem);

/// Adds what the supports feel, the response, energy and statistics over the voxels of `fields`,
/// those of the bone. Throws InputError where they are not finite.
template<class Exec>
void add_solution(const Exec& exec, const BoneSolution<Exec>& solution,
                  const VoxelFields<Exec>& fields, const BoneOptions& options,
                  BoneResults& results);

/// What --dry-run says.
struct BonePrediction {
  BoneModelInfo model;
  std::string test;
  int num_ranks = 1;       ///< that the model is divided among; what follows is of the largest
  double device_bytes = 0; ///< expected peak in the backend's memory
  double host_growth = 0;  ///< what the process grows by beside the model
  std::string preview;     ///< the picture that was written, or empty
};

} // namespace ossatura
