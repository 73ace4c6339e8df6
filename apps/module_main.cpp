// SPDX-License-Identifier: Apache-2.0
// The ossatura executable as a part of the module of a Python wheel, for its launcher
// (python/launcher/main.cpp), which knows this function by its name.
#include "apps/command_line.hpp"

extern "C" __attribute__((visibility("default"))) int ossatura_main(int argc, char* argv[]) {
  return ossatura::run_command_line(argc, argv);
}
