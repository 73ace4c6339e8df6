// SPDX-License-Identifier: Apache-2.0
// Which of three things the name of a problem is.
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
