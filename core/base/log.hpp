// SPDX-License-Identifier: Apache-2.0
// The log carries messages from the library to its user. The library itself writes nowhere:
// messages go to one sink, which is empty until a program sets one.
#pragma once

#include <cstdio>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace ossatura {

/// The amount of messages. A message is shown where its own level is at most the chosen one.
enum class LogLevel {
  quiet,  ///< warnings only
  normal, ///< and what is being done
  verbose ///< and details for whoever looks into a problem
};

struct LogMessage {
  LogLevel level;
  std::string text; ///< without a newline at its end
  std::string code; ///< of a warning, as "not-converged": for programs to look for; else empty
};

using LogSink = std::function<void(const LogMessage&)>;

/// Sets the sink of this process and returns the one before; an empty sink drops everything. Not
/// thread safe: messages and sinks come from the main thread; other threads have a LogCapture.
LogSink set_log_sink(LogSink sink);

/// Hands a message to the sink, if there is one.
void log_message(const LogMessage& message);

/// While it lives, messages of the calling thread are appended to a list in place of the sink; the
/// main thread hands them to log_message() later.
class LogCapture {
public:
  explicit LogCapture(std::vector<LogMessage>& messages);
  ~LogCapture();
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

private:
  std::vector<LogMessage>* before_;
};

namespace detail {
template<class... Parts>
void log_parts(LogLevel level, const char* code, const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  log_message({level, text.str(), code});
}
} // namespace detail

/// Something the user should know about the result; shown even when quiet. `code` names its kind,
/// in words joined by hyphens, and stands in docs/warnings.md.
template<class... Parts>
void log_warning(const char* code, const Parts&... parts) {
  detail::log_parts(LogLevel::quiet, code, "warning: ", parts...);
}

/// Reports what the library does: `log_info("read ", path, ": ", count, " voxels")`.
template<class... Parts>
void log_info(const Parts&... parts) {
  detail::log_parts(LogLevel::normal, "", parts...);
}

/// A detail, shown with -v.
template<class... Parts>
void log_verbose(const Parts&... parts) {
  detail::log_parts(LogLevel::verbose, "", parts...);
}

/// Writes messages to a stream (a program's stderr) and keeps one line of progress under them,
/// rewritten in place, while the stream is a terminal. Colour (of warnings) is for terminals too
/// and goes away when the environment has NO_COLOR (no-color.org) or TERM=dumb.
class StreamLog {
public:
  StreamLog(std::FILE* stream, LogLevel level);
  ~StreamLog();
  StreamLog(const StreamLog&) = delete;
  StreamLog& operator=(const StreamLog&) = delete;

  LogLevel level() const { return level_; }
  void message(LogLevel level, const std::string& text);

  /// Shows `text` as the line of progress; nothing on anything but a terminal, or when quiet.
  void progress(const std::string& text);
  void clear_progress();

private:
  std::FILE* stream_;
  LogLevel level_;
  bool terminal_;
  bool colour_;
  bool progress_shown_ = false;
};

} // namespace ossatura
