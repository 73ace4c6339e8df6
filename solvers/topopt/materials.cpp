// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/materials.hpp>

#include <ossatura/core/base/require.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

std::vector<double> relative_moduli(const DesignProblem& problem) {
  OSSATURA_REQUIRE(problem.material.empty() || problem.material.size() == problem.num_elem(),
                   problem.material.size()
                       << " materials of " << problem.num_elem() << " elements");
  std::vector<double> part;
  bool differs = false;
  for (const HexaMaterial& one : problem.materials) {
    OSSATURA_REQUIRE(one.young > 0 && std::isfinite(one.young),
                     "material " << one.name << ": a modulus of " << one.young);
    part.push_back(one.young / problem.young);
    differs = differs || part.back() != 1;
  }
  std::vector<double> relative;
  for (const std::uint8_t number : problem.material) {
    OSSATURA_REQUIRE(number < part.size(),
                     "material " << int(number) << " of " << part.size() << " for an element");
    if (differs)
      relative.push_back(part[number]);
  }
  if (differs && problem.material.empty())
    relative.assign(problem.num_elem(), part[0]);
  return relative;
}

namespace {

/// [num_elem] what the material of each element has.
std::vector<double> by_element(const DesignProblem& problem, double HexaMaterial::*what) {
  std::vector<double> values;
  for (const std::uint8_t number : problem.material)
    values.push_back(problem.materials[number].*what);
  if (problem.material.empty())
    values.assign(problem.num_elem(), problem.materials[0].*what);
  return values;
}

} // namespace

std::vector<double> mass_densities(const DesignProblem& problem, const char* why) {
  OSSATURA_REQUIRE(!problem.materials.empty(),
                   why << ": materials with a mass density are missing");
  for (const HexaMaterial& one : problem.materials)
    OSSATURA_REQUIRE(one.density > 0 && std::isfinite(one.density),
                     why << ", but the material " << one.name << " has a mass density of "
                         << one.density);
  return by_element(problem, &HexaMaterial::density);
}

std::vector<double> expansions(const DesignProblem& problem) {
  bool expands = false;
  for (const HexaMaterial& one : problem.materials) {
    OSSATURA_REQUIRE(std::isfinite(one.expansion), "material " << one.name
                                                               << ": a coefficient of expansion of "
                                                               << one.expansion);
    expands = expands || one.expansion != 0;
  }
  OSSATURA_REQUIRE(expands, "temperatures act by expansion, and no material has a coefficient");
  return by_element(problem, &HexaMaterial::expansion);
}

void require_one_poisson(const DesignProblem& problem) {
  for (const HexaMaterial& one : problem.materials)
    OSSATURA_REQUIRE(one.poisson == problem.poisson,
                     "materials of several Poisson's ratios are not known of this body (voxels and "
                     "elements beside hexahedra): "
                         << one.name << " has " << one.poisson << ", " << problem.materials[0].name
                         << " has " << problem.poisson << "; give them the same");
}

} // namespace ossatura
