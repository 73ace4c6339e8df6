// SPDX-License-Identifier: Apache-2.0
// update_nodes is the pass of an update (fused.hpp defines the word) over a product that is
// stored already.
#pragma once

#include <ossatura/kernels/algebra/fused_updates/fused.hpp>

namespace ossatura {

/// Finishes every node of the product A x [3 num_nodes] with `update`. Does not fence.
template<class Exec, class Scalar, class Update>
void update_nodes(const Exec& exec, const Array<Scalar, Exec>& x,
                  const Array<Scalar, Exec>& product, const Update& update) {
  Kokkos::parallel_for("ossatura::update_nodes", range(exec, product.extent(0) / 3),
                       detail::UpdateNodes<Exec, Scalar, Update>{x, product, update});
}

} // namespace ossatura
