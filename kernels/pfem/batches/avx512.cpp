// SPDX-License-Identifier: Apache-2.0
// Batches of pfem with AVX-512. kernels/CMakeLists.txt has the flags of this source, which are
// for x86-64 alone.
#include <ossatura/kernels/pfem/batches/matrix_free_kernel.hpp>
#include <ossatura/kernels/pfem/batches/stiffness_kernel.hpp>

namespace ossatura::detail {

#if defined(__AVX512F__)
namespace {
struct Avx512 {
  static constexpr int register_bytes = 64;
};
} // namespace

const StiffnessBatches* avx512_stiffness_batches() {
  static constexpr StiffnessBatches batches = make_stiffness_batches<Avx512>();
  return &batches;
}
const MatrixFreeBatches* avx512_matrix_free_batches() {
  static constexpr MatrixFreeBatches batches = make_matrix_free_batches<Avx512>();
  return &batches;
}
#else
const StiffnessBatches* avx512_stiffness_batches() {
  return nullptr;
}
const MatrixFreeBatches* avx512_matrix_free_batches() {
  return nullptr;
}
#endif

} // namespace ossatura::detail
