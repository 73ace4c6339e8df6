// SPDX-License-Identifier: Apache-2.0
// BoneResults hold the results of `ossatura bone` as numbers on the host. Lengths are in mm, forces
// in N, moduli and stresses in MPa, energies in N mm. Results that a test does not give stay empty.
#pragma once

#include "apps/bone/pistoia.hpp"
#include "apps/bone/statistics.hpp"
#include "apps/bone/stiffness_matrix.hpp"
#include <ossatura/core/mesh/voxel_image.hpp>
#include <ossatura/solvers/bone/multigrid/options.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ossatura {

/// The model as it was solved.
struct BoneModelInfo {
  std::string source; ///< file or generator
  std::array<int, 3> shape{0, 0, 0};
  double spacing = 0;
  std::array<double, 3> origin{0, 0, 0}; ///< lower corner of the image in the world, mm
  ImageDirection direction = identity_direction;
  std::string world; ///< "RAS", "LPS" or empty
  std::int64_t num_elem = 0, num_nodes = 0;
  std::int64_t num_held_dofs = 0;
  std::int64_t num_components = 0;   ///< parts that share no node, of what is solved
  std::int64_t num_dropped_elem = 0; ///< of parts left out
  double modulus_min = 0, modulus_max = 0, modulus_mean = 0; ///< over the elements
  double poisson_min = 0, poisson_max = 0;

  std::int64_t num_dofs() const { return 3 * num_nodes; }
  double bone_volume() const { return static_cast<double>(num_elem) * spacing * spacing * spacing; }
  /// Bone volume by total volume of the image.
  double volume_fraction() const {
    return static_cast<double>(num_elem) / (double(shape[0]) * shape[1] * shape[2]);
  }
};

/// One linear solve.
struct BoneSolve {
  std::string load; ///< "axial", or "xx" ... "zx" of a homogenisation
  int iterations = 0;
  double recurrent_residual = 0, true_residual = 0; ///< relative
  bool converged = false;
  bool interrupted = false; ///< by a signal; the true residual is not known
  bool fell_back = false;   ///< the iteration stalled; solved in double with the W-cycle
  bool stalled = false;     ///< not converged, and further iterations were of no use
  double seconds = 0;
};

/// What one support feels: the sum over its nodes of the forces that hold them.
struct SupportReaction {
  std::string name; ///< "plate z-", "plate z+", "z-:xyz"
  std::int64_t num_nodes = 0;
  std::array<double, 3> force{0, 0, 0};
  std::array<double, 3> moment{0, 0, 0}; ///< about `centre`
  std::array<double, 3> centre{0, 0, 0}; ///< of the support's nodes; of a turn: what it goes about
  bool is_plate = false;                 ///< across the axis of the test
  int normal = 2;                        ///< across which `contact_area` is: 0 = x, 1 = y, 2 = z
  double contact_area = 0;               ///< of the bone that it touches, mm2
};

/// The measured answer to the prescribed motion of the upper plate.
struct TestResponse {
  double height = 0;                                         ///< between the plates
  double area = 0;                                           ///< of the image across the axis
  std::optional<double> displacement, force, strain, stress; ///< axial, confined, shear
  std::optional<double> stiffness;                           ///< N/mm
  std::optional<double> apparent_modulus;                    ///< MPa: stress by strain
  std::optional<double> angle, moment;                       ///< torsion, bending: radians, N mm
  std::optional<double> rotational_stiffness;                ///< N mm / rad
};

/// The failure load after Pistoia.
struct FailureEstimate {
  PistoiaOptions criterion;
  PistoiaResult result;
  std::optional<double> force;  ///< N along the test's direction
  std::optional<double> moment; ///< N mm about the test's axis
};

struct BoneResults {
  BoneModelInfo model;
  std::string test;                                                      ///< as --test names it
  std::string operator_name, hierarchy_name, cycle_name, precision_name; ///< as the options do
  const char* launch_graph = "unused";                                   ///< or "replays", "failed"
  std::vector<MultigridLevelInfo> levels;
  double work = 0; ///< products with the finest operator, or as much work
  std::vector<BoneSolve> solves;

  std::optional<TestResponse> response;
  std::vector<SupportReaction> reactions;
  std::optional<double> strain_energy;
  std::optional<SampleStatistics> sed, von_mises, effective_strain;
  std::vector<std::pair<std::string, Histogram>> histograms;
  std::optional<FailureEstimate> failure;

  std::optional<StiffnessMatrix> stiffness;    ///< homogenise
  std::optional<StiffnessMatrix> voigt, reuss; ///< bounds: averages of stiffness and of compliance

  std::vector<std::string> files; ///< written

  bool converged() const;
  bool interrupted() const { return !solves.empty() && solves.back().interrupted; }
};

/// What --dry-run says.
struct BonePrediction {
  BoneModelInfo model;
  std::string test;
  double device_bytes = 0; ///< expected peak in the backend's memory
  double host_growth = 0;  ///< what the process grows by beside the model
};

} // namespace ossatura
