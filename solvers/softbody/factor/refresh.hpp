// SPDX-License-Identifier: Apache-2.0
// The factor preconditions the systems of soft bodies; this file decides when the factor is made
// anew.
#pragma once

#include <ossatura/kernels/factor/published/dissection_solve.hpp>
#include <ossatura/kernels/factor/published/level_solve.hpp>
#include <ossatura/kernels/factor/supernode_solve.hpp>
#include <ossatura/kernels/softbody/elements/motion.hpp>
#include <ossatura/kernels/softbody/elements/node_rotations.hpp>
#include <ossatura/solvers/softbody/factor/inverse_choice.hpp>
#include <ossatura/solvers/softbody/factor/preconditioner.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace ossatura {

/// Replaces `automatic` by a choice.
template<class Exec>
SoftOptions resolve(SoftOptions options) {
  constexpr bool is_device = BackendTraits<Exec>::is_device;
  if (options.apply == FactorApply::automatic)
    options.apply = is_device ? FactorApply::inverse : FactorApply::supernodes;
  const bool background = options.refresh == FactorRefresh::background;
  const bool beside = is_device && options.apply == FactorApply::inverse; // has arrays of its own
  if (options.place == FactorPlace::automatic)
    options.place = is_device && (beside || !background) ? FactorPlace::device : FactorPlace::host;
  options.storage = resolve_storage(options, is_device);
  OSSATURA_REQUIRE(
      !background || beside || options.place == FactorPlace::host,
      "refresh background: on cores it is a thread of the host, and on devices only the inverse "
      "factor can be made beside the one in use: take the factor host or auto");
  return options;
}

template<class Exec>
class FactorRefreshing {
public:
  /// `options` with nothing automatic; `rotations` of the nodes, for the warp.
  FactorRefreshing(const Exec& exec, const FactorPattern& pattern, const BlockMatrix<Exec>& matrix,
                   const NodeRotations<Exec>& rotations, const SoftOptions& options)
      : options_(options)
      , rotations_(rotations)
      , maker_(exec, pattern, download(exec, matrix.row_begin), download(exec, matrix.column),
               options.place == FactorPlace::device)
      , beside_(options.refresh == FactorRefresh::background ? make_concurrent_instance(exec)
                                                             : exec) {
    const std::int64_t entries = 9 * std::int64_t(pattern.num_nodes);
    if (options.warp) {
      now_ = make_zeros<double>(exec, entries, "ossatura::warp::now");
      made_at_ = make_zeros<double>(exec, entries, "ossatura::warp::made_at");
      next_at_ = make_zeros<double>(exec, entries, "ossatura::warp::next_at");
      warp_ = make_zeros<double>(exec, entries, "ossatura::warp");
    }
    const bool background = options.refresh == FactorRefresh::background;
    if (background && options.place == FactorPlace::device) {
      snapshot_ = matrix;
      snapshot_.value = make_zeros<double>(exec, matrix.value.extent(0), "ossatura::snapshot");
    }
    preconditioner_ = make_preconditioner(exec, pattern, background);
  }

  ~FactorRefreshing() {
    if (running_)
      fence(beside_, "ossatura::factor_refresh");
  }
  FactorRefreshing(const FactorRefreshing&) = delete;
  FactorRefreshing& operator=(const FactorRefreshing&) = delete;

  /// Brings the factor up to date, as the policy says, for the matrix at positions x; with `force`
  /// at once. Fences where a factor is made on the host or was made in the background.
  void update(const Exec& exec, const BlockMatrix<Exec>& matrix, const Array<double, Exec>& x,
              bool force) {
    refreshed_ = false;
    if (options_.warp)
      node_rotations(exec, rotations_, x, now_);
    const bool background = options_.refresh == FactorRefresh::background;
    if (background && !force && made_)
      follow_background(exec, matrix);
    else if (force || !made_ || options_.refresh == FactorRefresh::sync ||
             staleness_ + 1 >= options_.refresh_every)
      make_now(exec, matrix);
    else
      ++staleness_;
    if (options_.warp)
      relative_rotation(exec, now_, made_at_, warp_);
  }

  /// Makes the factor of an earlier system, that at positions x, and takes it for `staleness`
  /// systems old: the state of a run that goes on.
  void restore(const Exec& exec, const BlockMatrix<Exec>& matrix, const Array<double, Exec>& x,
               int staleness) {
    update(exec, matrix, x, true);
    staleness_ = staleness;
  }

  FactorPreconditioner<Exec>& preconditioner() { return *preconditioner_; }
  int staleness() const { return staleness_; } ///< systems since that of the factor in use
  bool refreshed() const { return refreshed_; }
  int number() const { return number_; } ///< factors that came into use so far
  /// Pivots that had to be replaced in the factor in use. Fences.
  int num_replaced(const Exec& exec) const {
    return published_replaced_ >= 0 ? published_replaced_ : maker_.num_replaced(exec);
  }
  const MadeFactor<Exec>& made() const { return maker_.made(); }
  /// Of the nodes since the factor in use was made; empty without the warp.
  const Array<double, Exec>& warp() const { return warp_; }
  /// Of the nodes now, and when the factor in use was made; likewise.
  const Array<double, Exec>& rotation() const { return now_; }
  const Array<double, Exec>& rotation_of_factor() const { return made_at_; }

private:
  std::unique_ptr<FactorPreconditioner<Exec>>
  make_preconditioner(const Exec& exec, const FactorPattern& pattern, bool background) {
    const auto& arrays = maker_.made().factor.pattern;
    switch (options_.apply) {
    case FactorApply::levels:
      return std::make_unique<SolvePreconditioner<Exec, LevelSolve<Exec>>>(exec, pattern, warp_);
    case FactorApply::dissection:
      return std::make_unique<SolvePreconditioner<Exec, DissectionSolve<Exec>>>(exec, pattern,
                                                                                warp_);
    case FactorApply::supernodes:
      return std::make_unique<SolvePreconditioner<Exec, SupernodeSolve<Exec>>>(exec, pattern,
                                                                               warp_);
    default:
      break;
    }
    const InverseLayout layout =
        choose_inverse(pattern, options_, BackendTraits<Exec>::is_device, false);
    switch (options_.storage) {
    case FactorStorage::fp64:
      return std::make_unique<InversePreconditioner<Exec, double>>(exec, pattern, layout, arrays,
                                                                   warp_, background);
    case FactorStorage::fp32:
      return std::make_unique<InversePreconditioner<Exec, float>>(exec, pattern, layout, arrays,
                                                                  warp_, background);
    case FactorStorage::automatic: // see resolve
    case FactorStorage::fp16:
      break;
    }
    return std::make_unique<InversePreconditioner<Exec, Half>>(exec, pattern, layout, arrays, warp_,
                                                               background);
  }

  void make_now(const Exec& exec, const BlockMatrix<Exec>& matrix) {
    wait(exec);
    maker_.make(exec, matrix);
    preconditioner_->prepare(exec, maker_.made());
    preconditioner_->publish(exec);
    if (options_.warp)
      Kokkos::deep_copy(exec, made_at_, now_);
    staleness_ = 0;
    published_replaced_ = -1;
    made_ = refreshed_ = true;
    ++number_;
  }

  /// Takes a factor that is finished, and starts the next.
  void follow_background(const Exec& exec, const BlockMatrix<Exec>& matrix) {
    ++staleness_;
    ++next_staleness_;
    if (options_.place == FactorPlace::host ? maker_.is_running() && !maker_.is_ready()
                                            : running_ && !is_idle(beside_))
      return;
    if (maker_.is_running() || running_) {
      if (maker_.is_running()) {
        maker_.take(exec);
        preconditioner_->prepare(exec, maker_.made());
      }
      preconditioner_->publish(exec);
      published_replaced_ = maker_.num_replaced(exec); // the next one counts its own
      if (options_.warp)
        Kokkos::deep_copy(exec, made_at_, next_at_);
      staleness_ = next_staleness_;
      refreshed_ = true;
      ++number_;
    }
    if (options_.warp)
      Kokkos::deep_copy(exec, next_at_, now_);
    next_staleness_ = 0;
    if (options_.place == FactorPlace::host) {
      maker_.start(exec, matrix);
      return;
    }
    Kokkos::deep_copy(exec, snapshot_.value, matrix.value);
    fence(exec, "ossatura::factor_refresh::snapshot"); // the other instance reads it
    maker_.make(beside_, snapshot_);
    preconditioner_->prepare(beside_, maker_.made());
    running_ = true;
  }

  /// Until nothing is being made.
  void wait(const Exec& exec) {
    if (maker_.is_running())
      maker_.take(exec);
    if (running_)
      fence(beside_, "ossatura::factor_refresh::wait");
    running_ = false;
  }

  SoftOptions options_;
  NodeRotations<Exec> rotations_;
  FactorMaker<Exec> maker_;
  Exec beside_;
  BlockMatrix<Exec> snapshot_;
  Array<double, Exec> now_, made_at_, next_at_, warp_;
  std::unique_ptr<FactorPreconditioner<Exec>> preconditioner_;
  int staleness_ = 0, next_staleness_ = 0, number_ = 0;
  int published_replaced_ = -1; ///< of a factor from the background; -1: the maker knows
  bool made_ = false, refreshed_ = false, running_ = false;
};

} // namespace ossatura
