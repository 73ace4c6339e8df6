// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/base/log.hpp>

#include "tests/catch.hpp"

#include <cstdio>
#include <thread>
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

TEST_CASE("messages of a thread are kept for the main one", "[log]") {
  std::vector<LogMessage> heard, kept;
  const LogSink before = set_log_sink([&](const LogMessage& message) { heard.push_back(message); });
  std::thread thread([&] {
    const LogCapture capture(kept);
    log_warning("not-finite", "a field");
  });
  log_info("meanwhile");
  thread.join();
  {
    std::vector<LogMessage> inner;
    const LogCapture capture(kept);
    {
      const LogCapture nested(inner);
      log_info("inner");
    }
    log_info("outer");
    CHECK(inner.size() == 1);
  }
  log_info("after");
  set_log_sink(before);
  REQUIRE(heard.size() == 2);
  CHECK(heard[0].text == "meanwhile");
  CHECK(heard[1].text == "after");
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].code == "not-finite");
  CHECK(kept[1].text == "outer");
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
