// SPDX-License-Identifier: Apache-2.0
// The quadrature rules of all kinds of solid elements, with shape functions at their points, in the
// memory of a backend.
#pragma once

#include <ossatura/core/mesh/solids/shape.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace ossatura {

/// The rule of each kind: shape values [points, nodes], slopes by r, s, t [points, nodes, 3],
/// weights.
template<class Exec>
struct SolidRules {
  std::int64_t first_point[num_solid_kinds + 1], first_value[num_solid_kinds];
  Array<double, Exec> value, slope, weight;
};

/// rule_of(kind) are the points of a kind. Fences.
template<class Exec, class RuleOf>
SolidRules<Exec> make_solid_rules(const Exec& exec, const std::string& label,
                                  const RuleOf& rule_of) {
  SolidRules<Exec> rules;
  std::vector<double> value, slope, weight;
  for (int k = 0; k < num_solid_kinds; ++k) {
    const SolidKind kind = SolidKind(k);
    rules.first_point[k] = std::int64_t(weight.size());
    rules.first_value[k] = std::int64_t(value.size());
    for (const SolidQuadraturePoint& at : rule_of(kind)) {
      const SolidShapeValues shape = evaluate_shape(kind, at.at);
      for (std::size_t a = 0; a < std::size_t(nodes_per_elem(kind)); ++a) {
        value.push_back(shape.value[a]);
        slope.insert(slope.end(), shape.slope[a].begin(), shape.slope[a].end());
      }
      weight.push_back(at.weight);
    }
  }
  rules.first_point[num_solid_kinds] = std::int64_t(weight.size());
  rules.value = upload(exec, label + "_values", value);
  rules.slope = upload(exec, label + "_slopes", slope);
  rules.weight = upload(exec, label + "_weights", weight);
  return rules;
}

} // namespace ossatura
