// SPDX-License-Identifier: Apache-2.0
// The runtime is the library as a whole: its start, its end, its log, and whatever must be gone
// before Kokkos is. All functions but the last group run on the engine's thread.
#pragma once

#include <ossatura/core/base/log.hpp>

#include <functional>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace ossatura::python {

/// A call was stopped before its end: by a signal, a callback that threw, or the interpreter's end.
struct Interrupted : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A solve did not meet its tolerance, and there is no result.
struct NotConverged : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Memory was short: as std::bad_alloc, with what the library says.
class OutOfMemory : public std::bad_alloc {
public:
  explicit OutOfMemory(std::string text)
      : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

private:
  std::string text_;
};

/// An object with arrays of Kokkos, which no array may outlive. It is made and destroyed on the
/// engine's thread; one that is still there at the end drops its arrays and is never destroyed.
class Holder {
public:
  Holder();
  virtual ~Holder();
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  virtual void drop() noexcept = 0;
  Holder* next() const { return next_; }

private:
  Holder *next_, **place_;
};

/// What the engine tells the library.
struct RuntimeHooks {
  std::optional<int> threads; ///< of openmp; none: as the executable chooses
  void (*poll)();             ///< throws Interrupted where the present call is to end
  bool (*is_cancelled)();     ///< the same as a question
  void (*log)(const LogMessage& message);
};

/// Starts Kokkos. Throws BackendError where it cannot be started.
void start_runtime(const RuntimeHooks& hooks);
bool is_runtime_started();
/// Has all holders drop their arrays and ends Kokkos.
void finish_runtime();

/// Whether the present call is to end; for solvers that ask.
bool is_cancelled();
/// Throws Interrupted where it is.
void throw_if_cancelled();

/// The error that Python is to see in place of `error`: OutOfMemory for what means that.
std::exception_ptr translated(std::exception_ptr error);

/// A message of OSSATURA_REQUIRE without the file and line of our source, which tell a caller from
/// Python nothing.
std::string without_place(const std::string& message);

/// Threads of a backend. Kokkos is started.
int count_threads(const std::string& backend);

// On any thread, before the start too.
std::vector<std::string> list_backends();
std::string describe_build(); ///< one line: version, commit, Kokkos, compiler

} // namespace ossatura::python
