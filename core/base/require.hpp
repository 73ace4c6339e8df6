// SPDX-License-Identifier: Apache-2.0
// OSSATURA_REQUIRE throws an error unless a condition holds. Each type of error has one exit code
// of the executable.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace ossatura {

/// A command line or option that cannot be carried out (exit code 2).
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A backend, device or amount of device memory that is not there (exit code 4).
struct BackendError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An input or output file that cannot be used (exit code 5). The message names the file, the place
/// in it and the remedy.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws `E` with everything after it streamed into the message.
template<class E, class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw E(message.str());
}

} // namespace ossatura

/// Precondition of a public function, always on: `OSSATURA_REQUIRE(n > 0, "n = " << n)`.
/// Host side only; throws std::invalid_argument.
#define OSSATURA_REQUIRE(condition, message)                                                       \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      std::ostringstream ossatura_message_;                                                        \
      ossatura_message_ << __FILE__ << ':' << __LINE__ << ": " << message;                         \
      throw std::invalid_argument(ossatura_message_.str());                                        \
    }                                                                                              \
  } while (false)
