// SPDX-License-Identifier: Apache-2.0
// Catch2's main, compiled once for all test executables (Catch2 version 2; version 3 brings its
// own). A test without an assertion and a selection without a test are failures.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

int main(int argc, char* argv[]) {
  Catch::Session session;
  session.configData().warnings =
      Catch::WarnAbout::What(Catch::WarnAbout::NoAssertions | Catch::WarnAbout::NoTests);
  const int usage_error = session.applyCommandLine(argc, argv);
  return usage_error != 0 ? usage_error : session.run();
}
