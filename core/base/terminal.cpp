// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/base/terminal.hpp>

#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace ossatura {

bool is_terminal(std::FILE* stream) {
  const char* kind = std::getenv("TERM");
  return isatty(fileno(stream)) != 0 && kind != nullptr && std::strcmp(kind, "dumb") != 0;
}

} // namespace ossatura
