// SPDX-License-Identifier: Apache-2.0
// Problems and options share these names and notations.
#pragma once

#include "apps/driver/options/changes.hpp"
#include "apps/driver/options/named_values.hpp"
#include <ossatura/solvers/topopt/options.hpp>

#include <string>

namespace ossatura {

inline NamedValues<DesignFilter> filter_choices() {
  return with_names<DesignFilter>({DesignFilter::none, DesignFilter::sensitivity,
                                   DesignFilter::density, DesignFilter::helmholtz});
}

inline NamedValues<DesignMethod> method_choices() {
  return with_names<DesignMethod>({DesignMethod::oc, DesignMethod::mma});
}

inline NamedValues<HexaOperatorKind> operator_choices() {
  NamedValues<HexaOperatorKind> named = {{"auto", HexaOperatorKind::automatic}};
  for (const HexaOperatorKind kind : hexa_operator_kinds)
    named.emplace_back(name_of(kind), kind);
  return named;
}

inline NamedValues<HexaPreconditioner> hexa_preconditioner_choices() {
  return with_names<HexaPreconditioner>({HexaPreconditioner::jacobi,
                                         HexaPreconditioner::block_jacobi,
                                         HexaPreconditioner::chebyshev, HexaPreconditioner::amg});
}

inline NamedValues<HexaPrecision> hexa_precision_choices() {
  return {{"mixed", HexaPrecision::mixed}, {"double", HexaPrecision::fp64}};
}

/// A member of the solver's options within those of a design.
template<class Value>
auto of_solver(Value HexaSolverOptions::*member) {
  return member_of(&DesignOptions::solver, member);
}

/// "3", or "1:3:20:+0.5" (start, end, steps between changes, change) or "1:64:40:x2".
Continuation parse_continuation(const std::string& text); ///< throws std::invalid_argument
std::string continuation_text(const Continuation& continuation);

} // namespace ossatura
