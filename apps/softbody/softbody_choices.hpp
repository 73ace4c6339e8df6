// SPDX-License-Identifier: BSD-3-Clause
// The names that scenes and options share.
#pragma once

#include "solvers/soft_options.hpp"

#include <utility>
#include <vector>

namespace femura {

template<class Value>
using NamedValues = std::vector<std::pair<const char*, Value>>;

namespace detail {
template<class Value>
NamedValues<Value> with_names(const std::vector<Value>& values) {
  NamedValues<Value> named;
  for (const Value value : values)
    named.emplace_back(name_of(value), value);
  return named;
}
} // namespace detail

inline NamedValues<SoftAssembly> assembly_choices() {
  return detail::with_names<SoftAssembly>({SoftAssembly::elements, SoftAssembly::triplets});
}

inline NamedValues<SoftProduct> product_choices() {
  return detail::with_names<SoftProduct>({SoftProduct::blocks, SoftProduct::kokkos_kernels});
}

inline NamedValues<SoftPreconditioner> preconditioner_choices() {
  return detail::with_names<SoftPreconditioner>(
      {SoftPreconditioner::none, SoftPreconditioner::jacobi, SoftPreconditioner::block_jacobi,
       SoftPreconditioner::ldlt});
}

inline NamedValues<FactorPlace> factor_choices() {
  return detail::with_names<FactorPlace>(
      {FactorPlace::automatic, FactorPlace::host, FactorPlace::device});
}

inline NamedValues<FactorApply> apply_choices() {
  return detail::with_names<FactorApply>({FactorApply::automatic, FactorApply::levels,
                                          FactorApply::dissection, FactorApply::supernodes,
                                          FactorApply::inverse});
}

inline NamedValues<FactorStorage> storage_choices() {
  return detail::with_names<FactorStorage>(
      {FactorStorage::automatic, FactorStorage::fp64, FactorStorage::fp32, FactorStorage::fp16});
}

} // namespace femura
