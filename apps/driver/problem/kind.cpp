// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/problem/kind.hpp"

#include <algorithm>
#include <filesystem>

namespace ossatura {

ProblemKind problem_kind(const std::string& problem, const std::vector<std::string>& generators) {
  if (std::count(generators.begin(), generators.end(), problem) > 0)
    return ProblemKind::generator;
  return std::filesystem::path(problem).extension() == ".json" ? ProblemKind::json
                                                               : ProblemKind::mesh;
}

} // namespace ossatura
