// SPDX-License-Identifier: Apache-2.0
// Precision says in what a solver keeps its numbers; every solver refuses a value that it lacks.
#pragma once

#include <ossatura/core/base/names.hpp>
#include <ossatura/core/base/require.hpp>

#include <string>

namespace ossatura {

/// Of the vectors of an iteration, of its preconditioner (a multigrid cycle, inverses of parts),
/// and of the result with the true residual by which it counts as converged.
enum class Precision {
  fp64,  ///< vectors, preconditioner and result in double
  mixed, ///< the preconditioner in single; vectors and result in double
  lean,  ///< vectors and preconditioner in single; the result in double
  fp32   ///< all in single, the result too
};

constexpr Names<Precision> names_of(Precision) {
  return {{Precision::fp64, "double"},
          {Precision::mixed, "mixed"},
          {Precision::lean, "lean"},
          {Precision::fp32, "single"}};
}

/// Those of solvers whose vectors are always double.
inline constexpr Names<Precision> double_iterations =
    name_table<Precision>.without(Precision::lean).without(Precision::fp32);

/// Throws UsageError unless the precision is one of `known`, those of `solver`.
inline void require_known(Precision precision, const Names<Precision>& known, const char* solver) {
  if (known.find(precision) != nullptr)
    return;
  std::string names;
  for (const Named<Precision>& entry : known)
    names += std::string(names.empty() ? "" : ", ") + entry.name;
  fail<UsageError>(solver, " has no ", name_of(precision), " precision; choose one of ", names);
}

} // namespace ossatura
