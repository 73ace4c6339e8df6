// SPDX-License-Identifier: Apache-2.0
// The material that a process sees of a cut image.
#pragma once

#include <ossatura/kernels/bone/lame_field.hpp>
#include <ossatura/kernels/image/local_grid.hpp>

namespace ossatura {

/// A copy of a material that is void where a process does not see (keep_visible in local_grid.hpp).
/// Does not fence.
template<class Exec>
MaterialImage<Exec> keep_visible(const Exec& exec, const CutTable<Exec>& table,
                                 const MaterialImage<Exec>& material, int halo = cut_halo) {
  MaterialImage<Exec> visible = material;
  if (material.uniform_poisson()) {
    visible.first = keep_visible(exec, table, material.first, halo);
  } else { // lambda is not seen where mu is void, and may be negative
    visible.second = keep_visible(exec, table, material.second, halo);
  }
  return visible;
}

} // namespace ossatura
