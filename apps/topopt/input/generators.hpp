// SPDX-License-Identifier: Apache-2.0
// The generators make problems of topology optimisation that need no file; docs/topopt.md describes
// them.
#pragma once

#include "apps/topopt/input/problem_document.hpp"
#include <ossatura/core/mesh/hexa_model.hpp>

#include <string>
#include <vector>

namespace ossatura {

struct GeneratorInfo {
  const char* name;
  std::array<int, 3> cells, least; ///< if none are given, and at least
  const char* summary;
};

const std::vector<GeneratorInfo>& generator_infos();
std::vector<std::string> generator_names();

/// Fills mesh, sets, supports and load cases of `model`, for a Young's modulus of 1 Pa, Poisson's
/// ratio 0.3 and loads of 1 N in all, and adds to `problem` what refers to these sets: passive
/// elements, planes of symmetry and mechanisms. The box of `cells` has the given `size`. Throws
/// InputError for fewer cells than the problem needs.
void generate_design(const std::string& name, const std::array<int, 3>& cells,
                     const std::array<double, 3>& size, HexaModel& model, ProblemDocument& problem);

} // namespace ossatura
