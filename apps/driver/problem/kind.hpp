// SPDX-License-Identifier: Apache-2.0
// The name of a problem means a problem file, a mesh file or a generator; this file tells which.
#pragma once

#include <string>
#include <vector>

namespace ossatura {

enum class ProblemKind {
  generator, ///< one of a few names
  json,      ///< a file that ends so
  mesh       ///< any other file
};

ProblemKind problem_kind(const std::string& problem, const std::vector<std::string>& generators);

} // namespace ossatura
