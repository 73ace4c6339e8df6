// SPDX-License-Identifier: Apache-2.0
// Defaults as help shows them, from the struct that has them.
#pragma once

#include <ossatura/core/base/exact_digits.hpp>
#include <ossatura/core/base/names.hpp>

#include <array>
#include <string>
#include <type_traits>

namespace ossatura {

/// A name, or a number in as few digits as it has: "auto", "1e-9", "40". Text stays as it is.
template<class Value>
std::string default_text(const Value& value) {
  if constexpr (std::is_convertible_v<Value, std::string>) {
    return value;
  } else if constexpr (std::is_enum_v<Value>) {
    return name_of(value);
  } else if constexpr (std::is_floating_point_v<Value>) {
    std::string text = exact_digits(value);
    const std::size_t exponent = text.find('e'); // of two digits at least
    if (exponent != std::string::npos && text[exponent + 2] == '0')
      text.erase(exponent + 2, 1);
    return text;
  } else {
    static_assert(std::is_integral_v<Value>);
    return std::to_string(value);
  }
}

/// With `separator` between them: "64,64,64".
template<class Value, std::size_t n>
std::string default_text(const std::array<Value, n>& values, char separator) {
  std::string text;
  for (const Value& value : values)
    text += (text.empty() ? "" : std::string(1, separator)) + default_text(value);
  return text;
}

/// "DESCRIPTION (DEFAULT)".
template<class Value>
std::string with_default(const std::string& description, const Value& value) {
  return description + " (" + default_text(value) + ')';
}

} // namespace ossatura
