// SPDX-License-Identifier: Apache-2.0
// Scenes and options share these names of choices.
#pragma once

#include "apps/driver/options/named_values.hpp"
#include <ossatura/solvers/softbody/options.hpp>

namespace ossatura {

inline NamedValues<SoftAssembly> assembly_choices() {
  return with_names<SoftAssembly>({SoftAssembly::elements, SoftAssembly::triplets});
}

inline NamedValues<SoftProduct> product_choices() {
  return with_names<SoftProduct>({SoftProduct::blocks, SoftProduct::kokkos_kernels});
}

inline NamedValues<SoftPreconditioner> preconditioner_choices() {
  return with_names<SoftPreconditioner>({SoftPreconditioner::none, SoftPreconditioner::jacobi,
                                         SoftPreconditioner::block_jacobi,
                                         SoftPreconditioner::ldlt});
}

inline NamedValues<FactorPlace> factor_choices() {
  return with_names<FactorPlace>({FactorPlace::automatic, FactorPlace::host, FactorPlace::device});
}

inline NamedValues<FactorApply> apply_choices() {
  return with_names<FactorApply>({FactorApply::automatic, FactorApply::levels,
                                  FactorApply::dissection, FactorApply::supernodes,
                                  FactorApply::inverse});
}

inline NamedValues<FactorStorage> storage_choices() {
  return with_names<FactorStorage>(
      {FactorStorage::automatic, FactorStorage::fp64, FactorStorage::fp32, FactorStorage::fp16});
}

} // namespace ossatura
