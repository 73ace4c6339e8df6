// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/base/log.hpp>

#include "tests/catch.hpp"

#include <cstdio>
#include <utility>
#include <vector>

using namespace ossatura;

namespace {

std::string read_back(std::FILE* file) {
  std::string text;
  std::rewind(file);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file))
    text += static_cast<char>(c);
  return text;
}

} // namespace

TEST_CASE("log messages reach the sink with their level and code, and none without a sink",
          "[log]") {
  std::vector<LogMessage> heard;
  const LogSink before = set_log_sink([&](const LogMessage& message) { heard.push_back(message); });
  log_info("read ", 3, " voxels of ", 0.5, " mm");
  log_warning("thin-part", "thin: ", 2);
  log_verbose("detail");
  set_log_sink({});
  log_info("nobody hears this");
  set_log_sink(before);

  REQUIRE(heard.size() == 3);
  CHECK(heard[0].level == LogLevel::normal);
  CHECK(heard[0].text == "read 3 voxels of 0.5 mm");
  CHECK(heard[0].code.empty());
  CHECK(heard[1].level == LogLevel::quiet);
  CHECK(heard[1].text == "warning: thin: 2");
  CHECK(heard[1].code == "thin-part");
  CHECK(heard[2].level == LogLevel::verbose);
  CHECK(heard[2].text == "detail");
}

TEST_CASE("a stream that is no terminal gets whole lines up to the level, and no progress",
          "[log]") {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  {
    StreamLog log(file, LogLevel::normal);
    log.progress("10 %");
    log.message(LogLevel::quiet, "warning: a");
    log.message(LogLevel::normal, "b");
    log.message(LogLevel::verbose, "c");
  }
  CHECK(read_back(file) == "warning: a\nb\n");
  std::fclose(file);
}
