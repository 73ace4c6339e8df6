// SPDX-License-Identifier: Apache-2.0
// Batches of pfem for every processor of the family.
#include <ossatura/kernels/pfem/batches/matrix_free_kernel.hpp>
#include <ossatura/kernels/pfem/batches/stiffness_kernel.hpp>

namespace ossatura::detail {

namespace {
struct Baseline {
  static constexpr int register_bytes = 16;
};
} // namespace

const StiffnessBatches* baseline_stiffness_batches() {
  static constexpr StiffnessBatches batches = make_stiffness_batches<Baseline>();
  return &batches;
}
const MatrixFreeBatches* baseline_matrix_free_batches() {
  static constexpr MatrixFreeBatches batches = make_matrix_free_batches<Baseline>();
  return &batches;
}

} // namespace ossatura::detail
