// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/interruption.hpp"

#include <csignal>
#include <unistd.h>

namespace ossatura::bench {

namespace {

volatile std::sig_atomic_t noted_signal = 0;

extern "C" void note_signal_of_bench(int signal) {
  noted_signal = signal;
  static const char text[] =
      "ossatura_bench: ends after this row; the next signal ends it at once\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text, sizeof text - 1);
}

} // namespace

void note_interruption() {
  struct sigaction action = {};
  action.sa_handler = note_signal_of_bench;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

const char* interruption() {
  return noted_signal == 0 ? nullptr : noted_signal == SIGINT ? "SIGINT" : "SIGTERM";
}

} // namespace ossatura::bench
