// SPDX-License-Identifier: Apache-2.0
#include "python/engine/engine.hpp"

#include <nanobind/stl/string.h>
#include <ossatura/core/base/require.hpp>

#include <chrono>
#include <csignal>

#include <unistd.h>

namespace nb = nanobind;

namespace ossatura::python {

namespace {

constexpr std::chrono::milliseconds patience(50);    ///< between two looks for signals
constexpr std::chrono::seconds callback_patience(5); ///< at the end

/// Whether this thread is within a callback, a handler of signals or of messages: what it asks the
/// engine for now would wait for itself.
thread_local bool is_within_call = false;

class WithinCall {
public:
  WithinCall() { is_within_call = true; }
  ~WithinCall() { is_within_call = false; }
};

class Counted {
public:
  explicit Counted(std::atomic<int>& count)
      : count_(count) {
    ++count_;
  }
  ~Counted() { --count_; }

private:
  std::atomic<int>& count_;
};

} // namespace

Engine& Engine::instance() {
  static Engine* const engine = new Engine; // threads may be in it until the process is gone
  return *engine;
}

void Engine::require_usable() const {
  if (process_ != 0 && ::getpid() != process_)
    throw std::runtime_error(
        "ossatura was in use before this process was forked, and cannot be used "
        "here: start workers with multiprocessing's 'spawn' or 'forkserver'");
  if (is_within_call)
    throw std::runtime_error("ossatura was called from a callback or a signal's handler while the "
                             "call that it belongs to runs: wait for that one");
}

void Engine::set_threads(std::optional<int> threads) {
  require_usable();
  if (is_started_)
    throw UsageError("ossatura has started: set the number of threads before the first call");
  threads_ = threads;
}

void Engine::discard(std::function<void()> destroy) noexcept {
  try {
    if (::getpid() != process_)
      return;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_stopped_)
      return; // for good: what is left has dropped its arrays
    orders_.push_back({nullptr, std::move(destroy)});
    changed_.notify_all();
  } catch (...) { // without memory for the order the object stays
  }
}

void Engine::wait_for(std::function<void(const Observer&)> work, nb::handle callback) {
  require_usable();
  if (is_ending_) // whoever gave the GIL away now might not get it back
    throw std::runtime_error("ossatura has ended: the interpreter is shutting down");
  const Counted counted(callers_);
  Task task;
  task.work = std::move(work);
  task.wants_iterations = callback.is_valid() && !callback.is_none();
  std::exception_ptr raised; // in Python, while waiting
  {
    const nb::gil_scoped_release release;
    wait_without_lock(task, callback, raised);
  }
  hand_over(task.messages);
  if (raised)
    std::rethrow_exception(raised);
  if (task.error)
    std::rethrow_exception(translated(task.error));
}

/// Gives the task to the engine and waits for its end, attending to signals and callbacks.
void Engine::wait_without_lock(Task& task, nb::handle callback, std::exception_ptr& raised) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!thread_.joinable()) {
    process_ = ::getpid();
    thread_ = std::thread([this] { loop(); });
  }
  orders_.push_back({&task, {}});
  changed_.notify_all();
  while (true) {
    changed_.wait_for(lock, patience, [&] { return task.is_done || task.asks; });
    if (task.is_done)
      break;
    std::vector<LogMessage> messages;
    messages.swap(task.messages);
    lock.unlock();
    if (!raised) {
      const nb::gil_scoped_acquire acquire;
      try {
        hand_over(messages);
        attend(task, callback, raised);
      } catch (...) {
        raised = std::current_exception();
      }
      if (raised)
        task.is_cancelled = true;
    }
    lock.lock();
    if (task.asks) {
      task.asks = false;
      changed_.notify_all();
    }
  }
}

/// Looks for signals and calls back where the task asks for it. The caller has the GIL.
void Engine::attend(Task& task, nb::handle callback, std::exception_ptr& raised) {
  const WithinCall within;
  try {
    if (PyErr_CheckSignals() != 0)
      throw nb::python_error();
    bool asks;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      asks = task.asks;
    }
    if (asks)
      callback(task.iteration, task.residual);
  } catch (...) {
    raised = std::current_exception();
  }
}

void Engine::hand_over(const std::vector<LogMessage>& messages) {
  if (!log_.is_valid())
    return;
  const WithinCall within;
  for (const LogMessage& message : messages)
    log_(int(message.level), message.text, message.code);
}

void Engine::observe(Task& task, int iteration, double residual) {
  throw_if_it_must_end();
  if (!task.wants_iterations)
    return;
  std::unique_lock<std::mutex> lock(mutex_);
  task.iteration = iteration;
  task.residual = residual;
  task.asks = true;
  changed_.notify_all();
  changed_.wait(lock, [&] { return !task.asks || is_ending_; });
  lock.unlock();
  throw_if_it_must_end();
}

void Engine::work_on(Task& task) {
  present_ = &task;
  try {
    if (!is_runtime_started()) {
      if (is_ending_)
        throw Interrupted("ossatura is ending");
      start_runtime({threads_, throw_if_it_must_end, must_end, take_message});
      is_started_ = true;
    }
    task.work([&](int iteration, double residual) { observe(task, iteration, residual); });
  } catch (...) {
    task.error = std::current_exception();
  }
  present_ = nullptr;
}

void Engine::loop() {
  sigset_t all; // signals are for Python's main thread
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !orders_.empty() || is_stopped_; });
    if (orders_.empty())
      break;
    const Order order = std::move(orders_.front());
    orders_.pop_front();
    lock.unlock();
    if (order.task != nullptr)
      work_on(*order.task);
    else
      order.destroy();
    lock.lock();
    if (order.task != nullptr) {
      order.task->is_done = true;
      changed_.notify_all();
    }
  }
  lock.unlock();
  if (is_runtime_started())
    finish_runtime();
}

void Engine::stop() {
  if (process_ != 0 && ::getpid() != process_)
    return;
  require_usable();
  is_ending_ = true;
  const nb::gil_scoped_release release;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable())
    thread_.join();
  const auto deadline = std::chrono::steady_clock::now() + callback_patience;
  while (callers_ != 0 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

bool Engine::must_end() {
  const Engine& engine = instance();
  return engine.is_ending_ || (engine.present_ != nullptr && engine.present_->is_cancelled);
}

void Engine::throw_if_it_must_end() {
  if (must_end())
    throw Interrupted(instance().is_ending_ ? "ossatura is ending: the interpreter is shutting down"
                                            : "interrupted");
}

void Engine::take_message(const LogMessage& message) {
  Engine& engine = instance();
  const std::lock_guard<std::mutex> lock(engine.mutex_);
  if (engine.present_ != nullptr)
    engine.present_->messages.push_back(message);
}

} // namespace ossatura::python
