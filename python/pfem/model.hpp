// SPDX-License-Identifier: Apache-2.0
// Hexahedra of high order as the module calls them: pointers and numbers, without Kokkos and
// without Python. All functions but those of PfemMesh run on the engine's thread. SI units.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ossatura::python {

/// A mesh on the host, and the shape of its elements.
class PfemMesh {
public:
  virtual ~PfemMesh();
  virtual std::vector<double> points() const = 0;         ///< [num_points, 3] m
  virtual std::vector<std::int32_t> elements() const = 0; ///< [num_elem, 8] in the order of VTK
  virtual bool is_curved() const = 0;
};

/// `quadratic` [num_elem, 27, 3] in the order of make_quadratic_map(), or empty: trilinear. Throws
/// std::invalid_argument for meshes that are none.
std::shared_ptr<const PfemMesh> make_pfem_mesh(std::vector<double> point,
                                               std::vector<std::int32_t> node,
                                               std::vector<double> quadratic, bool says_unit);
/// make_sphere_octant() and make_cylinder_quarter(): shapes that are exact.
std::shared_ptr<const PfemMesh> make_pfem_sphere(double inner, double outer, int along, int across);
std::shared_ptr<const PfemMesh> make_pfem_cylinder(double inner, double outer, double height,
                                                   int along, int across, int up);

struct PfemChoice {
  bool is_tensor = false; ///< the tensor space; else the trunk space
  int points = 0;         ///< of quadrature along each axis; 0: order + 1
};

struct PfemSolverChoice {
  std::string preconditioner = "vertex-stars", operator_kind = "auto";
  double tolerance = 1e-8;
  int max_iterations = 5000;
};

/// Called after each iteration; may throw to end the solve.
using PfemObserver = std::function<void(int iteration, double residual)>;

struct PfemSolve {
  int iterations = 0;
  double residual = 0;
  bool converged = false;
  bool in_energy = false; ///< the residual is the error in energy, of a direct solve
  bool broken = false;    ///< as by a matrix that is not positive definite
};

struct PfemNumbers {
  PfemSolve solve;
  double strain_energy = 0, compliance = 0;     ///< J: 1/2 u' K u, f . u
  std::int64_t num_modes = 0, num_unknowns = 0; ///< components of modes that are free
  std::string operator_kind, preconditioner;
  std::vector<std::array<double, 3>> reactions; ///< N, of each hold()
};

/// The derivatives of a number J.
struct PfemGradient {
  PfemSolve solve;                          ///< of the adjoint, or of the solution where that is it
  std::vector<double> elasticity;           ///< [num_elem, 21] by D of each element
  std::vector<std::array<double, 3>> loads; ///< by the value of each load; of pressures [0]
};

/// Points of a grid of n^3 in each element, xi slowest.
struct PfemSamples {
  std::vector<double> position, displacement; ///< [num_elem, n^3, 3] m
  std::vector<double> stress;                 ///< [num_elem, n^3, 6] Pa: xx yy zz yz zx xy
  std::vector<double> energy;                 ///< [num_elem, n^3] J / m^3
};

/// A solution, and the system that it is of.
class PfemAnswer {
public:
  virtual ~PfemAnswer();
  virtual const PfemNumbers& numbers() const = 0;
  virtual std::vector<double> displacement() const = 0; ///< [num_points, 3] m at the vertices
  virtual PfemSamples sample(int points) const = 0;
  /// Of the strain energy or of the compliance, "strain_energy" or "compliance".
  virtual PfemGradient gradient(const std::string& quantity, const PfemSolverChoice& choice,
                                const PfemObserver& observe) const = 0;
  /// Of a number J of the vertices' displacements, weight [num_points, 3] dJ/du.
  virtual PfemGradient adjoint(const double* weight, const PfemSolverChoice& choice,
                               const PfemObserver& observe) const = 0;
};

enum class PfemLoadKind { pressure, traction, force, body_force };

/// A body with supports and loads.
class PfemModel {
public:
  virtual ~PfemModel();
  /// D [21] or [num_elem, 21].
  virtual void set_elasticity(std::vector<double> elasticity) = 0;
  /// Holds the faces of the boundary all of whose vertices are chosen, with their edges, and the
  /// chosen vertices. `chosen` [num_points]; bit c: component c.
  virtual void hold(const std::vector<std::uint8_t>& chosen, int components,
                    const std::array<double, 3>& displacement) = 0;
  /// Returns the number of the load.
  virtual int add_load(PfemLoadKind kind, const std::vector<std::uint8_t>& chosen,
                       const std::array<double, 3>& value) = 0;
  virtual void set_load(int number, const std::array<double, 3>& value) = 0;
  virtual std::unique_ptr<PfemAnswer> solve(const PfemSolverChoice& choice,
                                            const PfemObserver& observe) = 0;
};

/// `order` [1] or [num_elem]. Throws std::invalid_argument and its kinds for orders and D that
/// cannot be.
std::unique_ptr<PfemModel> make_pfem(const std::string& backend,
                                     const std::shared_ptr<const PfemMesh>& mesh,
                                     const std::vector<std::uint8_t>& order,
                                     std::vector<double> elasticity, const PfemChoice& choice);

} // namespace ossatura::python
