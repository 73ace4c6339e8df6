// SPDX-License-Identifier: Apache-2.0
// Which call fails is asked for in the environment: the head of failing_calls.cpp has the
// variables.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

/// By system calls, which are not counted.
inline void mark(const char* text) {
  const char* marker = std::getenv("FAULT_MARKER");
  if (marker == nullptr)
    return;
  const long file = ::syscall(SYS_openat, AT_FDCWD, marker, O_CREAT | O_WRONLY | O_TRUNC, 0666);
  ::syscall(SYS_write, file, text, std::strlen(text));
  ::syscall(SYS_close, file);
}

enum class Threads { all, main, other };

/// Names as in FAULT_THREAD; `all` where there is none.
inline Threads threads_asked_for() {
  const char* asked = std::getenv("FAULT_THREAD");
  if (asked == nullptr)
    return Threads::all;
  return std::strcmp(asked, "main") == 0 ? Threads::main : Threads::other;
}

enum class Kind { write, read, memory, clock, device_memory, device };

/// Names as in FAULT_KIND; `write` where there is none.
inline Kind kind_asked_for() {
  const char* asked = std::getenv("FAULT_KIND");
  for (const auto& [name, kind] :
       {std::make_pair("read", Kind::read), std::make_pair("memory", Kind::memory),
        std::make_pair("clock", Kind::clock), std::make_pair("device_memory", Kind::device_memory),
        std::make_pair("device", Kind::device)})
    if (asked != nullptr && std::strcmp(asked, name) == 0)
      return kind;
  return Kind::write;
}

/// Counts the calls of the kind that is asked for.
class Counter {
public:
  Counter() {
    if (const char* at = std::getenv("FAULT_AT"))
      at_ = std::atol(at);
  }
  ~Counter() {
    char text[32];
    std::snprintf(text, sizeof text, "%ld", count_.load());
    if (at_ == 0)
      mark(text);
  }
  /// Counts a call; true where it is to fail, with errno set.
  bool fails(const char* call, Kind kind) {
    if (kind != kind_ || !counts_here())
      return false;
    const long number = ++count_;
    if (at_ == 0 || number < at_ || (number > at_ && !lasting_))
      return false;
    if (number == at_)
      mark(call);
    errno = kind == Kind::read ? EIO : kind == Kind::write ? ENOSPC : ENOMEM;
    return true;
  }

private:
  /// Whether calls of this thread count.
  bool counts_here() const {
    if (threads_ == Threads::all)
      return true;
    const bool is_main = ::syscall(SYS_gettid) == ::syscall(SYS_getpid);
    return is_main == (threads_ == Threads::main);
  }

  long at_ = 0;
  std::atomic<long> count_ = 0;
  bool lasting_ = std::getenv("FAULT_LASTING") != nullptr;
  Kind kind_ = kind_asked_for();
  Threads threads_ = threads_asked_for();
};

/// Counts a call of this name; true where it is to fail.
inline bool fails(const char* call, Kind kind = Kind::write) {
  static Counter counter;
  return counter.fails(call, kind);
}
