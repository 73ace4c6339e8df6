// SPDX-License-Identifier: Apache-2.0
// A FactorMaker makes L and D of a matrix that changes, on the host or on the device, at once or in
// the background.
#pragma once

#include <ossatura/core/machine/processor_binding.hpp>
#include <ossatura/core/parallel/launch_graph.hpp>
#include <ossatura/kernels/factor/batched.hpp>
#include <ossatura/kernels/factor/diagonal_inverse.hpp>
#include <ossatura/kernels/factor/make_factor_pattern.hpp>
#include <ossatura/solvers/factor/on_host.hpp>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace ossatura {

/// The factor and what is always made with it.
template<class Exec>
struct MadeFactor {
  SupernodalFactor<Exec> factor;
  DiagonalInverse<Exec> diagonal;
  Array<double, Exec> inverse_pivot; ///< [3 num_nodes], D^-1
};

template<class Exec>
MadeFactor<Exec> allocate_factor(const Exec& exec, const FactorPattern& pattern) {
  MadeFactor<Exec> made;
  made.factor.pattern = upload_pattern(exec, pattern);
  made.factor.panel = make_zeros<double>(exec, pattern.begin.back(), "ossatura::factor::panel");
  const std::int64_t n = 3 * std::int64_t(pattern.num_nodes);
  made.factor.pivot = make_zeros<double>(exec, n, "ossatura::factor::pivot");
  made.inverse_pivot = make_zeros<double>(exec, n, "ossatura::factor::inverse_pivot");
  made.diagonal = make_diagonal_inverse(exec, pattern);
  return made;
}

template<class Exec>
class FactorMaker {
public:
  /// `row_begin`, `column` of the matrix; it is factored on the device, or by threads of the host.
  FactorMaker(const Exec& exec, const FactorPattern& pattern, std::vector<int> row_begin,
              std::vector<int> column, bool on_device)
      : pattern_(pattern)
      , row_begin_(std::move(row_begin))
      , column_(std::move(column))
      , made_(allocate_factor(exec, pattern))
      , replaced_(make_zeros<int>(exec, 1, "ossatura::factor::replaced")) {
    if (on_device)
      batched_.emplace(exec, pattern, row_begin_, column_);
  }
  ~FactorMaker() {
    if (running_.valid())
      running_.wait();
  }
  FactorMaker(const FactorMaker&) = delete;
  FactorMaker& operator=(const FactorMaker&) = delete;

  const MadeFactor<Exec>& made() const { return made_; }

  /// Factors `matrix` into made(). On the host it fences, and poll_region() may end it; on the
  /// device it does not.
  void make(const Exec& exec, const BlockMatrix<Exec>& matrix) {
    if (batched_) {
      Kokkos::deep_copy(exec, replaced_, 0);
      graph_.run(exec, [&] {
        batched_->factor(exec, matrix, made_.factor, made_.inverse_pivot, made_.diagonal,
                         replaced_);
      });
      return;
    }
    const auto factor = [&](const double* value, double* panel, double* pivot) {
      return factor_on_host(pattern_, row_begin_, column_, value, panel, pivot, FactorThreads::all);
    };
    if constexpr (BackendTraits<Exec>::is_device) {
      value_ = download(exec, matrix.value);
      host_.resize(pattern_);
      host_.num_replaced = factor(value_.data(), host_.panel.data(), host_.pivot.data());
      upload_host(exec);
    } else {
      fence(exec, "ossatura::factor_maker::make");
      finish(exec,
             factor(matrix.value.data(), made_.factor.panel.data(), made_.factor.pivot.data()));
    }
  }

  /// The host's way in two parts: a copy of the matrix is factored on one thread of its own; take()
  /// brings the factor to made() when is_ready() says that it is there (or waits). Both fence.
  void start(const Exec& exec, const BlockMatrix<Exec>& matrix) {
    value_ = download(exec, matrix.value);
    host_.resize(pattern_);
    running_ = std::async(std::launch::async, [this] {
      unbind_thread();
      host_.num_replaced = factor_on_host(pattern_, row_begin_, column_, value_.data(),
                                          host_.panel.data(), host_.pivot.data());
    });
  }
  bool is_running() const { return running_.valid(); }
  bool is_ready() const {
    return running_.valid() &&
           running_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
  void take(const Exec& exec) {
    running_.get();
    upload_host(exec);
  }

  /// Pivots of the last factor that were replaced: the matrix was not positive definite. Fences.
  int num_replaced(const Exec& exec) const { return read_count(exec, replaced_); }

private:
  void upload_host(const Exec& exec) {
    upload_to(exec, host_.panel, made_.factor.panel);
    upload_to(exec, host_.pivot, made_.factor.pivot);
    finish(exec, host_.num_replaced);
  }

  /// What is made with a factor of the host. Fences.
  void finish(const Exec& exec, int num_replaced) {
    Kokkos::deep_copy(exec, replaced_, num_replaced);
    invert_diagonal_blocks(exec, made_.factor, made_.diagonal, made_.inverse_pivot);
    fence(exec, "ossatura::factor_maker::finish");
  }

  FactorPattern pattern_;
  std::vector<int> row_begin_, column_;
  MadeFactor<Exec> made_;
  std::optional<BatchedFactor<Exec>> batched_;
  LaunchGraph<Exec> graph_;
  Array<int, Exec> replaced_;
  std::vector<double> value_; ///< of the matrix that is being factored on the host
  HostFactor host_;
  std::future<void> running_;
};

} // namespace ossatura
