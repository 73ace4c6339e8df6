// SPDX-License-Identifier: Apache-2.0
// Topology optimisation as the module calls it: pointers and numbers, without Kokkos and without
// Python. All functions run on the engine's thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ossatura::python {

/// A DesignProblem, read while a model is made.
struct DesignInput {
  const double* point; ///< [num_points, 3] m
  std::int64_t num_points;
  const std::int32_t* node; ///< [num_elem, 8] in the order of VTK
  std::int64_t num_elem;
  double young, poisson;
  const std::uint8_t* held; ///< [num_points] bit c: component c
  const std::uint8_t* role; ///< [num_elem] as DesignRole, or null: all free
  std::vector<std::pair<const double*, double>> cases; ///< forces [num_points, 3] in N, weights
  std::vector<std::pair<int, double>> mirrors;         ///< axes, places
  bool says_unit = false;                              ///< of the points
};

/// DesignOptions, as far as Python has them.
struct DesignChoice {
  double volume = 0.3, radius = 0, min_modulus = 1e-9, move = 0.2, change_tolerance = 0.01,
         multiplier_tolerance = 1e-12;
  std::array<double, 4> penalty{3, 3, 0, 0}; ///< start, end, every so many steps, increment
  std::string filter = "density", method = "oc";
  int max_steps = 200;
  double tolerance = 1e-6;   ///< of solves, relative to |f|
  double step_tolerance = 0; ///< of those of steps, as DesignOptions has it
  int max_iterations = 2000;
};

struct DesignNumbers {
  int number = 0;
  double objective = 0, volume = 0, grey = 0, change = 0, penalty = 0;
  std::vector<double> cases;
  std::vector<int> iterations; ///< of each solve
};

class DesignModel {
public:
  virtual ~DesignModel();
  virtual std::int64_t num_elem() const = 0;
  virtual std::int64_t num_points() const = 0;
  virtual const double* points() const = 0;     ///< [num_points, 3], as long as the model is there
  virtual const std::int32_t* hexa() const = 0; ///< [num_elem, 8], likewise
  virtual double radius() const = 0;
  virtual bool is_done() const = 0;
  virtual bool has_converged() const = 0;
  virtual DesignNumbers step() = 0;
  /// Analyses the present design, or that of variables x [num_elem], which replaces it; gradients
  /// [num_elem] by variables.
  virtual DesignNumbers analyse(const double* x, double* objective_gradient,
                                double* volume_gradient) = 0;
  /// The variables x [num_elem] from 0 to 1; those of elements that are not free do not count.
  virtual void set_variables(const double* x) = 0;
  virtual void densities(double* out) const = 0;               ///< [num_elem]
  virtual void variables(double* out) const = 0;               ///< [num_elem]
  virtual void energies(double* out) const = 0;                ///< [num_elem] J / m^3
  virtual void displacement(int which, double* out) const = 0; ///< [num_points, 3] m
};

/// Throws std::invalid_argument for problems and options that make no sense, UsageError for names.
std::unique_ptr<DesignModel> make_design(const std::string& backend, const DesignInput& input,
                                         const DesignChoice& choice);

} // namespace ossatura::python
