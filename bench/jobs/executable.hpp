// SPDX-License-Identifier: Apache-2.0
// The executable `ossatura` that whole runs are of.
#pragma once

#include <string>

namespace ossatura::bench {

/// The one asked for, or that beside this program; empty where there is none.
std::string ossatura_executable(const std::string& asked);

} // namespace ossatura::bench
