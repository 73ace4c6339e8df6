// SPDX-License-Identifier: Apache-2.0
// The ossatura executable.
#include "apps/command_line.hpp"

int main(int argc, char* argv[]) {
  return ossatura::run_command_line(argc, argv);
}
