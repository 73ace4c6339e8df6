// SPDX-License-Identifier: Apache-2.0
// Batches of pfem with AVX2. kernels/CMakeLists.txt has the flags of this source, which are for
// x86-64 alone.
#include <ossatura/kernels/pfem/batches/matrix_free_kernel.hpp>
#include <ossatura/kernels/pfem/batches/stiffness_kernel.hpp>

namespace ossatura::detail {

#if defined(__AVX2__)
namespace {
struct Avx2 {
  static constexpr int register_bytes = 32;
};
} // namespace

const StiffnessBatches* avx2_stiffness_batches() {
  static constexpr StiffnessBatches batches = make_stiffness_batches<Avx2>();
  return &batches;
}
const MatrixFreeBatches* avx2_matrix_free_batches() {
  static constexpr MatrixFreeBatches batches = make_matrix_free_batches<Avx2>();
  return &batches;
}
#else
const StiffnessBatches* avx2_stiffness_batches() {
  return nullptr;
}
const MatrixFreeBatches* avx2_matrix_free_batches() {
  return nullptr;
}
#endif

} // namespace ossatura::detail
