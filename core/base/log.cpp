// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/base/log.hpp>

#include <ossatura/core/base/terminal.hpp>

#include <cstdlib>
#include <utility>

namespace ossatura {

namespace {

LogSink& current_sink() {
  static LogSink sink;
  return sink;
}

thread_local std::vector<LogMessage>* captured = nullptr;

bool has_text(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr && *text != '\0';
}

} // namespace

LogSink set_log_sink(LogSink sink) {
  return std::exchange(current_sink(), std::move(sink));
}

void log_message(const LogMessage& message) {
  if (captured != nullptr)
    captured->push_back(message);
  else if (const LogSink& sink = current_sink())
    sink(message);
}

LogCapture::LogCapture(std::vector<LogMessage>& messages)
    : before_(std::exchange(captured, &messages)) {}

LogCapture::~LogCapture() {
  captured = before_;
}

StreamLog::StreamLog(std::FILE* stream, LogLevel level)
    : stream_(stream)
    , level_(level)
    , terminal_(is_terminal(stream))
    , colour_(terminal_ && !has_text("NO_COLOR")) {}

StreamLog::~StreamLog() {
  clear_progress();
}

void StreamLog::message(LogLevel level, const std::string& text) {
  if (level > level_)
    return;
  clear_progress();
  const bool highlight = colour_ && level == LogLevel::quiet;
  std::fprintf(stream_, "%s%s%s\n", highlight ? "\033[33m" : "", text.c_str(),
               highlight ? "\033[0m" : "");
  std::fflush(stream_);
}

void StreamLog::progress(const std::string& text) {
  if (!terminal_ || level_ == LogLevel::quiet)
    return;
  std::fprintf(stream_, "\r\033[K%s", text.c_str());
  std::fflush(stream_);
  progress_shown_ = true;
}

void StreamLog::clear_progress() {
  if (!progress_shown_)
    return;
  std::fputs("\r\033[K", stream_);
  std::fflush(stream_);
  progress_shown_ = false;
}

} // namespace ossatura
