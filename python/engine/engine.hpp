// SPDX-License-Identifier: Apache-2.0
// The engine runs every call of the library on one thread of its own. Kokkos starts, works and ends
// there, libgomp has one pool for it, and whoever waits for a call can look for signals.
#pragma once

#include "python/engine/runtime.hpp"

#include <nanobind/nanobind.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include <sys/types.h>

namespace ossatura::python {

/// Called by a solver after each iteration, on the engine's thread.
using Observer = std::function<void(int iteration, double residual)>;

class Engine {
public:
  /// The engine of this process, whose thread starts with the first call. It is never destroyed.
  static Engine& instance();

  /// Runs call(observer) on the engine's thread and returns its result, or throws its exception.
  /// The caller has the GIL, which others may take meanwhile. `callback(iteration, residual)` runs
  /// on the caller's thread, unless it is None. A signal whose handler throws, and a callback that
  /// does, end the call at its next iteration or phase; their exception is the result.
  template<class Call>
  auto run(nanobind::handle callback, Call&& call) {
    using Result = decltype(call(std::declval<const Observer&>()));
    if constexpr (std::is_void_v<Result>) {
      wait_for([&](const Observer& observe) { call(observe); }, callback);
    } else {
      std::optional<Result> result;
      wait_for([&](const Observer& observe) { result.emplace(call(observe)); }, callback);
      return std::move(*result);
    }
  }
  template<class Call>
  auto run(Call&& call) {
    return run(nanobind::handle(), [&](const Observer&) { return call(); });
  }

  /// Has `destroy` run on the engine's thread later, and does not wait. After the end it never
  /// runs. For destructors: the garbage collector may be anywhere, even in a callback.
  void discard(std::function<void()> destroy) noexcept;

  /// Threads of openmp, before the first call. Throws UsageError after it.
  void set_threads(std::optional<int> threads);
  /// log(level, text, code) gets the messages of calls, on the thread of the caller. It is kept for
  /// ever.
  void set_log(nanobind::object log) { log_ = log.release(); }

  /// Ends the calls that run, Kokkos and the thread, and waits until their callers have the GIL
  /// back: one that takes it when the interpreter is ending ends the process. Whoever is in a
  /// callback is waited for 5 s. The caller has the GIL. Later calls throw.
  void stop();

private:
  /// What a caller waits for.
  struct Task {
    std::function<void(const Observer&)> work;
    bool wants_iterations = false;
    std::atomic<bool> is_cancelled{false};
    // What follows is the mutex's.
    bool is_done = false, asks = false;
    int iteration = 0;
    double residual = 0;
    std::vector<LogMessage> messages;
    std::exception_ptr error;
  };
  struct Order {
    Task* task; ///< or null:
    std::function<void()> destroy;
  };

  Engine() = default;
  void loop();
  void work_on(Task& task);
  void observe(Task& task, int iteration, double residual);
  void wait_for(std::function<void(const Observer&)> work, nanobind::handle callback);
  void wait_without_lock(Task& task, nanobind::handle callback, std::exception_ptr& raised);
  void attend(Task& task, nanobind::handle callback, std::exception_ptr& raised);
  void hand_over(const std::vector<LogMessage>& messages);
  void require_usable() const;

  static bool must_end();
  static void throw_if_it_must_end();
  static void take_message(const LogMessage& message);

  std::atomic<pid_t> process_{0}; ///< that has the thread; 0 before there is one
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Order> orders_;
  bool is_stopped_ = false;
  std::atomic<bool> is_ending_{false}; ///< set by who has the GIL
  std::atomic<int> callers_{0};        ///< that wait; changed by who has the GIL
  Task* present_ = nullptr;            ///< the engine's thread's alone
  std::optional<int> threads_;
  std::atomic<bool> is_started_{false};
  nanobind::handle log_;
  std::thread thread_;
};

/// Owns an object of the library for Python: it is destroyed on the engine's thread.
template<class T>
class Owned {
public:
  explicit Owned(std::unique_ptr<T> object)
      : object_(object.release()) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    Engine::instance().discard([object = object_] { delete object; });
  }
  T* operator->() const { return object_; }

private:
  T* object_;
};

} // namespace ossatura::python
