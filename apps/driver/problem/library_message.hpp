// SPDX-License-Identifier: Apache-2.0
// What the library finds wrong with input that only it can check, for users.
#pragma once

#include <exception>
#include <string>

namespace ossatura {

/// The message of OSSATURA_REQUIRE without the place in our sources.
std::string library_message(const std::exception& error);

} // namespace ossatura
