// SPDX-License-Identifier: BSD-3-Clause
// Catch2 version 2 (one header) or 3 (a library), whichever is installed. `Approx` is the
// comparison of numbers in both.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp> // declares Approx itself; Catch::Approx is also a matcher there
#endif
