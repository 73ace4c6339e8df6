// SPDX-License-Identifier: Apache-2.0
// library_message is the message of an error of the library about input, without the place in our
// sources.
#pragma once

#include <exception>
#include <string>

namespace ossatura {

/// The message of OSSATURA_REQUIRE without the place in our sources.
std::string library_message(const std::exception& error);

} // namespace ossatura
