// SPDX-License-Identifier: Apache-2.0
// Which ossatura this is: for --version and for the provenance of results.
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
