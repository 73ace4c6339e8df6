// SPDX-License-Identifier: Apache-2.0
// Bone as the module calls it: pointers and numbers, without Kokkos and without Python. All
// functions run on the engine's thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ossatura::python {

/// An image of Young's moduli, which stays as it is during a call.
struct BoneImage {
  const float* modulus;     ///< MPa, [nz, ny, nx], x fastest; 0 = void
  std::array<int, 3> shape; ///< nx, ny, nz
  double spacing;           ///< edge of a voxel, mm
  double poisson;
};

/// The law of the bone with a label, of the values that the image has there: numbers that its kind
/// does not have are not used.
struct BoneLabelLaw {
  int label = 0;
  std::string kind; ///< "constant", "threshold", "linear", "power" or "modulus"
  double modulus = 0, slope = 1, intercept = 0, coefficient = 0, exponent = 1;
  double lower = 0, upper = 0; ///< values that are bone
  double poisson = 0.3;
};

/// Voxels that are no bone: elastic, whatever the image has there.
struct BonePad {
  int label = 0;
  double modulus = 0; ///< MPa
  double poisson = 0.3;
};

/// A segmentation of an image.
struct BoneMask {
  const int* label = nullptr; ///< [nz, ny, nx] on the host, as the image
  std::array<int, 3> shape{0, 0, 0};
  std::vector<int> bone; ///< labels; empty: all but 0 and pads
  std::vector<BoneLabelLaw> laws;
  std::vector<BonePad> pads;
};

enum class BoneTestKind {
  axial,
  confined,
  shear,
  torsion,
  bending,
  symmetric_shear
}; ///< as TestKind

/// MechanicalTest, without Kokkos.
struct BoneTest {
  BoneTestKind kind = BoneTestKind::axial;
  int axis = 2, direction = 0;
  double strain = -0.01;
  std::optional<double> displacement; ///< mm
  double angle = 0.01;                ///< rad
  bool lateral_free = false;
  double plate_depth = 0;                      ///< mm
  bool about_mass = true;                      ///< torsion, bending: about the centre of the bone
  std::optional<std::array<double, 3>> centre; ///< or this point; else the centre of the box
};

struct BoneOptions {
  double tolerance = 1e-6;
  int max_iterations = 1000;
  std::string precision;        ///< "lean", "mixed" or "double"
  std::string islands = "auto"; ///< or "drop", "error"
};

struct BoneSolve {
  int iterations = 0;
  double residual = 0;
  bool converged = false, fell_back = false;
};

struct BoneReaction {
  std::string name;
  std::int64_t num_nodes = 0;
  std::array<double, 3> force{}, moment{}, centre{}, displacement{};
  double contact_area = 0;
};

/// Numbers of the bone with a label.
struct BoneLabel {
  int label = 0;
  std::int64_t num_elem = 0;
  double modulus_mean = 0, energy_density_mean = 0, von_mises_mean = 0, von_mises_max = 0,
         effective_strain_mean = 0, effective_strain_max = 0, energy_share = 0;
};

/// Forces through the layers across an axis, as SectionForces has them.
struct BoneSections {
  int axis = 2;
  std::vector<int> labels;
  std::vector<double> position, force;          ///< [layers]
  std::vector<std::vector<double>> label_force; ///< [labels][layers]
  int begin = 0, end = 0;
  double reaction = 0;
};

/// How the densities of a bone follow its load: RemodellingLaw, without Kokkos.
struct BoneAdaptation {
  int steps = 0;
  double coefficient = 0, exponent = 0, stimulus = 0, lazy = 0, rate = 0, least = 0, most = 0;
};

/// A state of remodelling, as RemodellingStep has it.
struct BoneState {
  double mass = 0, mean_density = 0, mean_stimulus = 0, forming = 0, resorbing = 0, at_least = 0,
         at_most = 0, mean_change = 0, strain_energy = 0;
  std::optional<double> stiffness;
  int iterations = 0;
  double residual = 0;
};

/// The model as it was solved.
struct BoneModelNumbers {
  std::int64_t num_elem = 0, num_nodes = 0, num_dropped = 0;
};

struct BoneNumbers {
  BoneModelNumbers model;
  BoneSolve solve;
  double strain_energy = 0; ///< N mm
  double height = 0, area = 0;
  std::optional<double> displacement, force, strain, stress, stiffness, apparent_modulus, angle,
      moment, rotational_stiffness;
  std::optional<double> mask_area; ///< of a mask in a layer of the bone, of tests with a force
  std::vector<BoneReaction> reactions;
  std::vector<BoneLabel> labels;        ///< with a mask
  std::optional<BoneSections> sections; ///< with a mask, of a test along an axis
  std::vector<BoneState> states;        ///< of remodelling
};

/// Called after each iteration; may throw to end the solve.
using BoneObserver = std::function<void(int iteration, double residual)>;

/// The result of a test, with the arrays that fields are made from.
class BoneAnswer {
public:
  virtual ~BoneAnswer();
  virtual const BoneNumbers& numbers() const = 0;

  /// out [nz + 1, ny + 1, nx + 1, 3] in mm; nodes of the void are left as they are.
  virtual void displacement(double* out) const = 0;
  /// A field of VoxelFields by its name: out [nz, ny, nx, num_components(name)]; the void is left.
  virtual void field(const std::string& name, float* out) const = 0;
  /// d W / d E of each voxel in mm^3: the strain energy by Young's modulus at the displacements
  /// that are prescribed. Added to out [nz, ny, nx].
  virtual void energy_gradient(double* out) const = 0;
  /// d J / d E of each voxel of a number J of the displacements, from d J / d u in `weight` [nz +
  /// 1, ny + 1, nx + 1, 3], by one solve with the same supports. Added to out [nz, ny, nx].
  virtual BoneSolve adjoint(const double* weight, const BoneOptions& options,
                            const BoneObserver& observe, double* out) const = 0;
};

/// 6 for "strain" and "stress", 1 for "energy_density", "von_mises", "effective_strain" and
/// "modulus"; 0 for other names.
int num_components(const std::string& name);

/// Solves a test, of the bone that a mask chooses where there is one. Throws InputError for images,
/// masks and supports that make no test, UsageError for options, BackendError for an unknown
/// backend.
std::unique_ptr<BoneAnswer> solve_bone(const std::string& backend, const BoneImage& image,
                                       const std::optional<BoneMask>& mask, const BoneTest& test,
                                       const BoneOptions& options, const BoneObserver& observe);

/// The same of an image of densities (g/cm3), which follow the load by the steps of `adaptation`:
/// the answer is that of the last state. States end with the first that does not converge. Throws
/// as solve_bone().
std::unique_ptr<BoneAnswer> remodel_bone(const std::string& backend, const BoneImage& density,
                                         const std::optional<BoneMask>& mask, const BoneTest& test,
                                         const BoneAdaptation& adaptation,
                                         const BoneOptions& options, const BoneObserver& observe);

struct BoneStiffness {
  using Matrix = std::array<std::array<double, 6>, 6>;
  BoneModelNumbers model;
  Matrix stiffness{}, voigt{}, reuss{};
  std::vector<BoneSolve> solves;
};

/// The result of a homogenisation.
class BoneHomogenised {
public:
  virtual ~BoneHomogenised();
  virtual const BoneStiffness& numbers() const = 0;
  /// d J / d E of each voxel of a number J of the stiffness, from d J / d C in `weight`, with the
  /// displacements of the six loads. Added to out [nz, ny, nx]. Throws UsageError where they were
  /// not kept.
  virtual void gradient(const BoneStiffness::Matrix& weight, double* out) const = 0;
};

/// The apparent stiffness by six kinematic-uniform loads, or of a cell that repeats; `keep` their
/// displacements, 144 bytes a node, for gradients. Throws as solve_bone().
std::unique_ptr<BoneHomogenised> homogenise_bone(const std::string& backend, const BoneImage& image,
                                                 const BoneOptions& options, bool periodic,
                                                 bool keep, const BoneObserver& observe);

} // namespace ossatura::python
