// SPDX-License-Identifier: Apache-2.0
// Catch2 version 2 (one header) or 3 (a library), whichever is installed. Test sources write
// `Approx` and the matcher `ContainsSubstring`, as version 3 calls it, without a namespace.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
#else
#include <catch2/catch.hpp> // declares Approx itself; Catch::Approx is also a matcher there

inline auto ContainsSubstring(const std::string& text) {
  return Catch::Matchers::Contains(text);
}
#endif
