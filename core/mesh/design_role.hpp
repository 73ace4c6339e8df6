// SPDX-License-Identifier: Apache-2.0
// A design role says what topology optimisation may do with an element.
#pragma once

#include <cstdint>

namespace ossatura {

enum class DesignRole : std::uint8_t {
  free,  ///< a design variable
  solid, ///< density 1 throughout
  void_  ///< density 0 throughout
};

} // namespace ossatura
