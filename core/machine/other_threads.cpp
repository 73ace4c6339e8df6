// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/machine/other_threads.hpp>

#if defined(__linux__)

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ossatura {

namespace {

std::atomic<int> ending_thread{0};
std::array<std::atomic<int>, 1024> stopped_threads; ///< filled from the front
static_assert(std::atomic<int>::is_always_lock_free, "signal handlers take no lock");

int this_thread() {
  return int(::syscall(SYS_gettid));
}

bool has_stopped(int thread) {
  for (const std::atomic<int>& place : stopped_threads) {
    const int there = place.load();
    if (there == thread || there == 0)
      return there == thread;
  }
  return false;
}

extern "C" void stop_here(int) {
  const int self = this_thread();
  for (std::atomic<int>& place : stopped_threads)
    if (int empty = 0; place.compare_exchange_strong(empty, self))
      break;
  for (;;)
    ::pause();
}

/// Sends the signal to all threads that have not stopped; whether there was one.
bool signal_others(int self) {
  const int directory = ::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0)
    return false;
  const pid_t process = ::getpid();
  bool any = false;
  alignas(std::uint64_t) char entries[4096];
  for (;;) {
    const long size = ::syscall(SYS_getdents64, directory, entries, sizeof entries);
    if (size <= 0)
      break;
    for (long at = 0; at < size;) {
      // Of a directory's entry as the kernel writes it: its length at 16, its name at 19.
      std::uint16_t length = 0;
      std::memcpy(&length, entries + at + 16, sizeof length);
      int thread = 0;
      for (const char* digit = entries + at + 19; *digit >= '0' && *digit <= '9'; ++digit)
        thread = 10 * thread + (*digit - '0');
      at += length;
      if (thread != 0 && thread != self && !has_stopped(thread) &&
          ::syscall(SYS_tgkill, process, thread, SIGUSR2) == 0)
        any = true;
    }
  }
  ::close(directory);
  return any;
}

} // namespace

void stop_other_threads() noexcept {
  const int self = this_thread();
  int other = 0;
  if (!ending_thread.compare_exchange_strong(other, self) && other != self)
    for (;;)
      ::pause();
  struct sigaction action = {};
  action.sa_handler = stop_here;
  sigfillset(&action.sa_mask);
  if (::sigaction(SIGUSR2, &action, nullptr) != 0)
    return;
  const timespec wait = {0, 200'000};
  for (int round = 0; round < 500 && signal_others(self); ++round)
    ::nanosleep(&wait, nullptr);
}

} // namespace ossatura

#else

namespace ossatura {

void stop_other_threads() noexcept {}

} // namespace ossatura

#endif
