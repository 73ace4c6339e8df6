// SPDX-License-Identifier: Apache-2.0
// Activation times as the module calls them: pointers and numbers, without Kokkos and without
// Python. All functions run on the engine's thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ossatura::python {

/// A mesh of tetrahedra, read while a solver is made.
struct EikonalMesh {
  const double* point; ///< [num_points, 3] mm
  std::int64_t num_points;
  const std::int32_t* tetra; ///< [num_tetra, 4]
  std::int64_t num_tetra;
  const std::int32_t* tag;    ///< [num_tetra], or null: 0
  const float *fibre, *sheet; ///< [num_tetra, 3], or null
};

/// Velocities in m/s = mm/ms along fibres, sheets and their normal: of tags, or of each
/// tetrahedron.
struct EikonalVelocities {
  std::vector<std::pair<int, std::array<double, 3>>> by_tag;
  bool is_one = false;              ///< the same for all tags, because they were given as one
  const double* by_tetra = nullptr; ///< [num_tetra, columns], or null: by tag; maybe on a GPU
  std::int64_t num_rows = 0, num_columns = 0;
};

struct EikonalChoice {
  bool is_double = true; ///< times in double; else in single
  std::string method;    ///< "" or "auto", "spread", "queue", "scan", "patch"
  bool deterministic = false;
  double tolerance = 1e-7;
  int max_iterations = 1000000;
};

using EikonalStart = std::vector<std::pair<std::int32_t, double>>; ///< vertices, times in ms

/// Called when some of the sets are solved, with their number and that of all; may throw.
using EikonalObserver = std::function<void(int done, double total)>;

struct EikonalNumbers {
  int iterations = 0;     ///< of the set that takes most
  bool converged = false; ///< its checks passed, of the residual and of the certificate
  bool is_steady = false; ///< the iteration ended by itself, and `residual` is within its bound
  double residual = 0, certificate = 0, certificate_ms = 0;
  double seconds = 0; ///< of the iterations
  std::vector<std::int64_t> num_unreached;
};

class EikonalModel {
public:
  virtual ~EikonalModel();
  virtual std::int64_t num_points() const = 0;
  virtual std::int64_t num_tetra() const = 0;
  virtual void set_velocities(const EikonalVelocities& velocities) = 0;
  /// times [sets, num_points] of double or float as chosen, infinity where no wave arrives.
  virtual EikonalNumbers solve(const std::vector<EikonalStart>& sets, void* times,
                               const EikonalObserver& observe) = 0;
  /// EikonalSolver::gradient(): times [num_points] as solve() gave them, weight [num_points],
  /// by_velocity [num_tetra, 3]. Returns the derivatives by the sites' times.
  virtual std::vector<double> gradient(const EikonalStart& sites, const void* times,
                                       const double* weight, double* by_velocity) = 0;
};

/// Throws InputError and std::invalid_argument for meshes and velocities, UsageError for choices.
std::unique_ptr<EikonalModel> make_eikonal(const std::string& backend, const EikonalMesh& mesh,
                                           const EikonalVelocities& velocities,
                                           const EikonalChoice& choice);

} // namespace ossatura::python
