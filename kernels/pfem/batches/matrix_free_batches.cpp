// SPDX-License-Identifier: Apache-2.0
#include <ossatura/kernels/pfem/batches/matrix_free_batches.hpp>

namespace ossatura::detail {

const MatrixFreeBatches& matrix_free_batches() {
  return choose_by_instruction_set(baseline_matrix_free_batches(), avx2_matrix_free_batches(),
                                   avx512_matrix_free_batches());
}

} // namespace ossatura::detail
