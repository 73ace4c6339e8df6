// SPDX-License-Identifier: Apache-2.0
// Problems and options share these names of choices.
#pragma once

#include "apps/driver/options/named_values.hpp"
#include "apps/pfem/input/document.hpp"

#include <vector>

namespace ossatura {

/// A member of the solver's options within those of a problem.
template<class Value>
auto of_solver(Value HierarchicSolverOptions::*member) {
  return member_of(&PfemOptions::solver, member);
}

inline NamedValues<HexaSpace> space_choices() {
  return with_names<HexaSpace>({HexaSpace::trunk, HexaSpace::tensor});
}

inline NamedValues<ModeScaling> scaling_choices() {
  return with_names<ModeScaling>({ModeScaling::orthonormal, ModeScaling::paper});
}

inline NamedValues<QuadratureRule> quadrature_choices() {
  return with_names<QuadratureRule>(
      {QuadratureRule::order_plus_1, QuadratureRule::order_plus_2, QuadratureRule::paper});
}

inline NamedValues<HierarchicOperatorKind> hierarchic_operator_choices() {
  return with_names<HierarchicOperatorKind>(
      {HierarchicOperatorKind::automatic, HierarchicOperatorKind::packed,
       HierarchicOperatorKind::bsr, HierarchicOperatorKind::matrix_free,
       HierarchicOperatorKind::shared});
}

inline NamedValues<StiffnessMethod> form_choices() {
  std::vector<StiffnessMethod> methods = {StiffnessMethod::automatic};
  methods.insert(methods.end(), std::begin(all_stiffness_methods), std::end(all_stiffness_methods));
  return with_names<StiffnessMethod>(methods);
}

inline NamedValues<HierarchicPreconditioner> hierarchic_preconditioner_choices() {
  return with_names<HierarchicPreconditioner>({HierarchicPreconditioner::none,
                                               HierarchicPreconditioner::jacobi,
                                               HierarchicPreconditioner::vertex_stars});
}

} // namespace ossatura
