// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/interrupt.hpp"

#include "apps/driver/exit_code.hpp"
#include <ossatura/core/base/region_poll.hpp>
#include <ossatura/core/io/text/atomic_file.hpp>
#include <ossatura/core/machine/other_threads.hpp>

#include <atomic>
#include <csignal>
#include <ctime>

#include <unistd.h>

namespace ossatura {

namespace {

constexpr unsigned patience = 2; // seconds

// Seconds in which a signal that comes again is the same one: `timeout` sends it to the process and
// to its group, a terminal to a launcher, which passes it on, and to the process.
constexpr double echo = 0.1;

std::atomic<int> noted_signal{0}; // another thread may take the second while one takes the first
std::atomic<double> noted_at{-1}; // seconds of a clock; -1: not yet
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<double>::is_always_lock_free,
              "signal handlers take no lock");
volatile std::sig_atomic_t nothing_to_lose = 0;
bool has_thrown = false;
bool has_others = false; ///< ranks

// The handlers call only what is safe in one: clock_gettime, signal, raise, alarm, unlink, write,
// _exit, and in stop_other_threads() calls of the kernel.

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

extern "C" void note_signal(int signal) {
  int first = 0;
  if (noted_signal.compare_exchange_strong(first, signal)) {
    noted_at = now();
    if (nothing_to_lose != 0)
      alarm(patience);
    return;
  }
  if (signal == first && (noted_at < 0 || now() - noted_at < echo))
    return;
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  stop_other_threads();
  remove_temporary_files();
  ::raise(signal);
}

extern "C" void end_setup(int) {
  if (nothing_to_lose == 0)
    return;
  stop_other_threads();
  remove_temporary_files();
  const char text[] = "ossatura: stopped by a signal before there was a result\n";
  (void)!::write(STDERR_FILENO, text, sizeof text - 1);
  _exit(exit_stopped);
}

void set_handler(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaddset(&action.sa_mask, SIGINT); // two at once are a first and a second
  sigaddset(&action.sa_mask, SIGTERM);
  sigaction(signal, &action, nullptr);
}

bool are_regions_interruptible = false;

void poll_at_region() {
  if (are_regions_interruptible)
    throw_if_interrupted();
  if (nothing_to_lose == 0 || noted_signal == 0)
    return;
  if (has_others)
    end_setup(0);
  throw_if_interrupted();
}

} // namespace

void note_interrupts(bool one_of_several) {
  has_others = one_of_several;
  nothing_to_lose = 1;
  set_handler(SIGALRM, end_setup);
  set_handler(SIGINT, note_signal);
  set_handler(SIGTERM, note_signal);
  set_region_poll(poll_at_region);
}

void protect_results() {
  nothing_to_lose = 0;
}

void throw_if_interrupted() {
  if (noted_signal == 0 || has_thrown)
    return;
  has_thrown = true;
  nothing_to_lose = 0; // the summary is to be written
  throw Interrupted{noted_signal};
}

InterruptibleRegions::InterruptibleRegions() {
  are_regions_interruptible = true;
}

InterruptibleRegions::~InterruptibleRegions() {
  are_regions_interruptible = false;
}

bool is_interrupted() {
  return noted_signal != 0;
}

int noted_interrupt() {
  return noted_signal;
}

void throw_interrupted_by(int signal) {
  int none = 0;
  if (noted_signal.compare_exchange_strong(none, signal))
    noted_at = now();
  throw_if_interrupted();
}

} // namespace ossatura
