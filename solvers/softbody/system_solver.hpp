// SPDX-License-Identifier: Apache-2.0
// SoftSystems hold the linear systems of a run: their matrix, the preconditioner with its age, and
// conjugate gradients.
#pragma once

#include <ossatura/solvers/krylov/resident_solve.hpp>
#include <ossatura/solvers/softbody/factor/refresh.hpp>
#include <ossatura/solvers/softbody/published/kokkos_kernels_product.hpp>
#include <ossatura/solvers/softbody/solver.hpp>
#include <ossatura/solvers/softbody/system.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace ossatura {

/// `bands` of the inverse factor as they are to be: contact on devices takes one.
template<class Exec>
SoftOptions resolve_for(const SoftOptions& given, bool has_contact) {
  SoftOptions options = resolve<Exec>(given);
  if (BackendTraits<Exec>::is_device && has_contact && options.bands == 0)
    options.bands = 1; // see choose_inverse
  return options;
}

template<class Exec>
class SoftSystems {
public:
  using Vector = Array<double, Exec>;

  SoftOptions options; ///< with nothing automatic
  SoftNumbering numbering;
  SoftSystem<Exec> system;
  std::unique_ptr<NodePreconditioner<Exec>> by_node;
  std::unique_ptr<FactorRefreshing<Exec>> by_factor; ///< one of the two
  ResidentCg<Exec> cg;
  std::unique_ptr<MatrixMultiply<Exec>> product; ///< none: that of the blocks
  Vector factor_at, factor_velocity;             ///< positions and velocities that the factor is of
  double factor_step = 0;                        ///< the step that it was made for

  SoftSystems(const Exec& exec, const SoftScene& scene, const SoftOptions& given, bool has_contact)
      : options(resolve_for<Exec>(given, has_contact))
      , numbering(number_scene(scene))
      , system(exec, scene, numbering, options.assembly)
      , product(options.product == SoftProduct::kokkos_kernels
                    ? make_kokkos_kernels_multiply(exec, system.matrix())
                    : nullptr) {
    if (options.preconditioner == SoftPreconditioner::ldlt) {
      for (Vector* vector : {&factor_at, &factor_velocity})
        *vector = make_zeros<double>(exec, 3 * std::int64_t(numbering.num_nodes),
                                     "ossatura::soft::factor_at");
      by_factor = std::make_unique<FactorRefreshing<Exec>>(
          exec, numbering.pattern, system.matrix(),
          make_node_rotations(exec, system.elements(), numbering.num_nodes), options);
    } else {
      by_node = std::make_unique<NodePreconditioner<Exec>>(exec, numbering.num_nodes,
                                                           options.preconditioner);
    }
    cg = make_resident_cg(exec, system.matrix(),
                          by_factor ? by_factor->preconditioner().num_parts() : 0);
  }

  ResidentPreconditioner<Exec>& preconditioner() {
    if (by_factor)
      return by_factor->preconditioner();
    return *by_node;
  }

  /// Brings the preconditioner up to date as `options.refresh` says, for the matrix at positions
  /// `at` of a step h; with `force` at once. False where the matrix is not positive definite.
  bool refresh(const Exec& exec, double h, const Vector& at, bool force, SoftStep& report) {
    if (!by_factor) {
      by_node->update(exec, system.matrix());
      return true;
    }
    by_factor->update(exec, system.matrix(), at, force || h != factor_step);
    factor_step = h;
    report.staleness = std::max(report.staleness, by_factor->staleness());
    return !by_factor->refreshed() || took_factor(exec, at, report);
  }

  /// A factor of this system, whatever `options.refresh` says.
  bool refresh_now(const Exec& exec, const Vector& at, SoftStep& report) {
    by_factor->update(exec, system.matrix(), at, true);
    return took_factor(exec, at, report);
  }

  /// Solves A x = cg.b for cg.x from `start` zero, or from cg.x, with the matrix of the system,
  /// that at positions `at`. A stale factor that does not get there soon is made anew on the way.
  SolveResult solve(const Exec& exec, ResidentSolve<Exec>& solver, const Vector& at,
                    double tolerance, SoftStep& report, bool from_zero = true) {
    if (from_zero)
      Kokkos::deep_copy(exec, cg.x, 0.0);
    const bool stale = by_factor && by_factor->staleness() > 0;
    const int patience = std::min(options.max_iterations, 4 * options.refresh_after);
    SolveResult result = solver.solve(exec, cg, preconditioner(), tolerance,
                                      stale ? patience : options.max_iterations, options.batch);
    report.iterations += result.iterations;
    if (stale && !result.converged) {
      if (!refresh_now(exec, at, report)) {
        result.broken = true;
        return result;
      }
      result = solver.solve(exec, cg, preconditioner(), tolerance, options.max_iterations,
                            options.batch);
      report.iterations += result.iterations;
    }
    return result;
  }

  /// The factor of a step h of the system at positions `at`, `staleness` systems old.
  void restore_factor(const Exec& exec, const Vector& at, const Vector& velocity,
                      const Vector& load, double h, int staleness) {
    const SoftCoefficients c = step_coefficients(options, h);
    system.collect(exec, c, at, velocity);
    system.compress(exec, c, load, velocity, cg.b);
    by_factor->restore(exec, system.matrix(), at, staleness);
    set_factor_place(exec, at);
    factor_step = h;
  }

private:
  bool took_factor(const Exec& exec, const Vector& at, SoftStep& report) {
    report.refreshed = true;
    set_factor_place(exec, at);
    return by_factor->num_replaced(exec) == 0;
  }

  void set_factor_place(const Exec& exec, const Vector& at) {
    Kokkos::deep_copy(exec, factor_at, at);
    Kokkos::deep_copy(exec, factor_velocity, system.velocity());
  }
};

} // namespace ossatura
