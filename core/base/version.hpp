// SPDX-License-Identifier: Apache-2.0
// The version identifies the ossatura at hand: --version prints the fields, and results record
// them.
#pragma once

namespace ossatura {

/// "major.minor.patch".
const char* version();

/// Commit the library was built from, 12 hexadecimal digits; "+dirty" is appended when tracked
/// files had changes, "unknown" stands for a source tree without its history.
const char* git_hash();

/// Name and version of the host compiler, with CUDA's when the build has it.
const char* compiler();

} // namespace ossatura
