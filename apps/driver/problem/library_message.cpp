// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/problem/library_message.hpp"

namespace ossatura {

std::string library_message(const std::exception& error) {
  const std::string message = error.what();
  for (const char* extension : {".hpp:", ".cpp:"})
    if (const std::size_t place = message.find(extension); place != std::string::npos) {
      const std::size_t end = message.find(": ", place + 5);
      return end == std::string::npos ? message : message.substr(end + 2);
    }
  return message;
}

} // namespace ossatura
