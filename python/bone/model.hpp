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
  std::vector<BoneReaction> reactions;
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

/// 6 for "strain" and "stress", 1 for "energy_density", "von_mises" and "effective_strain"; 0 for
/// other names.
int num_components(const std::string& name);

/// Solves a test. Throws InputError for images and supports that make no test, UsageError for
/// options, BackendError for an unknown backend.
std::unique_ptr<BoneAnswer> solve_bone(const std::string& backend, const BoneImage& image,
                                       const BoneTest& test, const BoneOptions& options,
                                       const BoneObserver& observe);

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
