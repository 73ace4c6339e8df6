// SPDX-License-Identifier: Apache-2.0
// ResidentSolve runs conjugate gradients in batches: the host looks at the residual once a batch,
// and the scalars stay in the memory of the vectors (kernels/krylov/resident_cg.hpp).
//
// The library has two conjugate gradients. Here an iteration is shorter than the host's wait for a
// norm, and a solve takes few of them. cg.hpp is for all other operators, precisions and sizes.
#pragma once

#include <ossatura/core/parallel/launch_graph.hpp>
#include <ossatura/kernels/krylov/resident_cg.hpp>
#include <ossatura/kernels/krylov/resident_cg_batch.hpp>
#include <ossatura/solvers/krylov/solve_result.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

/// What a resident solve needs of a preconditioner: symmetric, positive definite.
template<class Exec>
class ResidentPreconditioner {
public:
  virtual ~ResidentPreconditioner() = default;

  /// z = M^-1 r with sums of r . z in rz_parts, and sets num_rz_parts. Launches kernels alone, the
  /// same each time. Does not fence.
  virtual void precondition(const Exec& exec, ResidentCg<Exec>& cg) = 0;

  /// cg_residual and cg_resident_step, with the residual as the preconditioner wants it.
  virtual void residual(const Exec& exec, const ResidentCg<Exec>& cg, double tolerance) {
    cg_residual(exec, cg, tolerance, {}, Array<double, Exec>());
  }
  virtual void step(const Exec& exec, const ResidentCg<Exec>& cg, int parity) {
    cg_resident_step(exec, cg, parity, {}, Array<double, Exec>());
  }

  /// A batch in one launch (run_cg_batch); false where it cannot, and nothing was done. The same
  /// each time for one object. Does not fence.
  virtual bool run_batch(const Exec&, ResidentCg<Exec>&, const CgBatchLength&) { return false; }
};

/// Solves A x = b for cg.b from cg.x; residuals are relative to |b|. Iterations run in pairs, so an
/// odd `max_iterations` is rounded up. `batch` of them between looks; 0: as many as the solve
/// before took, then a few, or all where a batch is one launch, which ends when it has converged.
/// Backends with graphs replay two iterations as one: solves of one object have the same arrays and
/// preconditioner. Fences.
template<class Exec>
class ResidentSolve {
public:
  /// With another product than that of the blocks, which stays as long as this does, iterations
  /// are not recorded: what it launches may not allow it.
  explicit ResidentSolve(const Operator<Exec, double>* product = nullptr)
      : product_(product)
      , graph_(product == nullptr) {}

  SolveResult solve(const Exec& exec, ResidentCg<Exec>& cg,
                    ResidentPreconditioner<Exec>& preconditioner, double tolerance,
                    int max_iterations, int batch) {
    SolveResult result;
    bool in_one_launch = product_ == nullptr;
    int planned = batch > 0 ? batch : last_ + last_ % 2;
    int failed_claims = 0;
    double claimed = 0, starting = tolerance;
    for (int done = 0;;) {
      const auto pairs_of = [&](int wanted) {
        return std::max(1, std::min(wanted, max_iterations - done + 1) / 2);
      };
      int pairs = pairs_of(batch > 0 ? batch : max_iterations);
      in_one_launch = in_one_launch && preconditioner.run_batch(exec, cg, {starting, 2 * pairs});
      if (!in_one_launch) {
        pairs = pairs_of(planned);
        run_kernels(exec, cg, preconditioner, starting, pairs);
      }
      starting = 0;
      const CgLook look = in_one_launch ? look_at_batch(exec, cg) : look_at_cg(exec, cg);
      done += 2 * pairs;
      result.iterations = look.iterations;
      result.reference = std::sqrt(look.reference);
      result.residual = relative(look.true_norm2, look.reference);
      result.recurrent_residual =
          look.iterations > 0 ? relative(look.norm2, look.reference) : result.residual;
      // The square of a norm that overflows is no bound.
      result.converged = std::isfinite(look.reference) && std::isfinite(look.true_norm2) &&
                         look.true_norm2 <= tolerance * tolerance * look.reference;
      result.broken = !result.converged && (look.stop == 2 || !std::isfinite(result.residual));
      // The recurrence stopped, or left the true residual, which does not agree: it was replaced,
      // and the iteration goes on as long as that gains.
      const bool claim = look.iterations < done && !result.converged;
      if (claim || look.restarted) {
        const bool gained = claimed == 0 || look.true_norm2 <= 0.25 * claimed;
        failed_claims = gained ? 0 : failed_claims + 1;
        claimed = gained ? look.true_norm2 : claimed;
      }
      if (result.converged || result.broken || done >= max_iterations || failed_claims > 2)
        break;
      if (claim)
        done = look.iterations;
      planned = batch > 0 ? batch : 4;
    }
    last_ = result.iterations;
    return result;
  }

  /// Iterations that the next solve runs before its first look, where it has no `batch`: part of
  /// the state of solves whose bits are to come again.
  int planned() const { return last_; }
  void plan(int iterations) { last_ = iterations; }

private:
  /// A batch by a launch for each step of it.
  void run_kernels(const Exec& exec, ResidentCg<Exec>& cg,
                   ResidentPreconditioner<Exec>& preconditioner, double tolerance, int pairs) {
    if (tolerance > 0)
      preconditioner.residual(exec, cg, tolerance);
    for (int k = 0; k < pairs; ++k)
      graph_.run(exec, [&] {
        for (int parity = 0; parity < 2; ++parity) {
          preconditioner.precondition(exec, cg);
          if (product_)
            cg_product(exec, cg, parity, *product_);
          else
            cg_product(exec, cg, parity);
          preconditioner.step(exec, cg, parity);
        }
      });
    preconditioner.residual(exec, cg, 0);
  }

  /// Of squares; what is not finite stays so.
  static double relative(double norm2, double reference2) {
    if (!std::isfinite(norm2))
      return norm2;
    return reference2 > 0 ? std::sqrt(norm2 / reference2) : 0;
  }

  const Operator<Exec, double>* product_;
  LaunchGraph<Exec> graph_;
  int last_ = 0; ///< iterations of the solve before
};

} // namespace ossatura
