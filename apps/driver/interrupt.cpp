// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/interrupt.hpp"

#include <csignal>
#include <cstdlib>

namespace femura {

namespace {

volatile std::sig_atomic_t noted_signal = 0;

extern "C" void note_signal(int signal) {
  noted_signal = signal;
}

void set_handler(int signal) {
  struct sigaction action = {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigaction(signal, &action, nullptr);
}

} // namespace

void note_interrupts() {
  set_handler(SIGINT);
  set_handler(SIGTERM);
}

void throw_if_interrupted() {
  if (noted_signal != 0)
    throw Interrupted{noted_signal};
}

void end_by_signal(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  std::_Exit(128 + signal);
}

} // namespace femura
