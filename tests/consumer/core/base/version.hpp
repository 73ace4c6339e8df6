// SPDX-License-Identifier: Apache-2.0
// Of the program: the library has a core/base/version.hpp, too, and neither hides the other.
#pragma once

inline const char* consumer_version() {
  return "1.0";
}
