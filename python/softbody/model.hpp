// SPDX-License-Identifier: Apache-2.0
// Soft bodies as the module calls them: pointers and numbers, without Kokkos and without Python.
// All functions run on the engine's thread. SI units.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ossatura::python {

/// A SoftObject, read while a model is made.
struct SoftBody {
  std::string name, law = "corotational";
  std::vector<double> point;      ///< [num_points, 3]
  std::vector<std::int32_t> node; ///< [num_elem, nodes]
  int nodes_per_elem = 4;         ///< 3: triangles, 4: tetrahedra, 8: hexahedra
  double young = 1e5, poisson = 0.4, c1 = 0, c2 = 0, bulk = 0, thickness = 0.001, density = 1000;
  std::vector<std::int32_t> fixed;
  std::vector<double> load, velocity; ///< [num_points, 3], or empty
};

/// A SoftObstacle.
struct SoftWall {
  bool is_sphere = false;
  std::array<double, 3> point{0, 0, 0}, normal{0, 0, 1};
  double radius = 1, friction = 0;
};

/// SoftScene and SoftOptions, as far as Python has them.
struct SoftWorld {
  std::vector<SoftBody> bodies;
  std::vector<SoftWall> walls;
  std::array<double, 3> gravity{0, 0, 0};
  bool contact_between_objects = false;
  double contact_friction = 0, contact_distance = 0.01;
  double time_step = 0.01, rayleigh_mass = 0, rayleigh_stiffness = 0;
  int newton_iterations = 1;
  double tolerance = 1e-9;
  int max_iterations = 2000;
};

struct SoftNumbers {
  double time = 0;
  bool converged = false;
  int newton_iterations = 0, iterations = 0, halvings = 0, inverted = 0, contacts = 0;
  double residual = 0, penetration = 0, seconds = 0;
};

/// Derivatives of an objective that SoftModel::pull_back() takes back over a step, where they are.
struct SoftDerivatives {
  double *positions, *velocities; ///< [num_points, 3], in and out
  double* loads;                  ///< [num_points, 3], out
  double* bodies;                 ///< [bodies, 6], out: by young, poisson, c1, c2, bulk, density
};

struct SoftAdjointNumbers {
  int iterations = 0;
  double residual = 0;
  bool converged = false;
};

class SoftModel {
public:
  virtual ~SoftModel();
  virtual std::int64_t num_points() const = 0;
  virtual SoftNumbers step() = 0;
  virtual double time() const = 0;
  virtual void positions(double* out) const = 0;    ///< [num_points, 3] of all bodies
  virtual void velocities(double* out) const = 0;   ///< likewise
  virtual std::array<double, 3> energy() const = 0; ///< J: kinetic, elastic, potential
  /// SoftSolver's of the same names: [num_points, 3] of all bodies.
  virtual void set_loads(const double* load) = 0;
  virtual void set_fixed_velocities(const double* velocity) = 0;
  virtual void set_state(const double* positions, const double* velocities, double time) = 0;
  /// The parameters of the law of `body`, whose number is `index`.
  virtual void set_moduli(std::size_t index, const SoftBody& body) = 0;
  /// Of a step with these velocities before it and this end, [num_points, 3] each.
  virtual SoftAdjointNumbers pull_back(const double* start_velocities, const double* positions,
                                       const double* velocities, const SoftDerivatives& by) = 0;
};

/// Throws std::invalid_argument and its kinds for worlds that cannot be stepped.
std::unique_ptr<SoftModel> make_soft(const std::string& backend, const SoftWorld& world);

} // namespace ossatura::python
