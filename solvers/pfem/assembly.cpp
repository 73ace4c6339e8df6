// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/pfem/assembly.hpp>

#include <ossatura/kernels/pfem/mode_block_matrix.hpp>
#include <ossatura/solvers/pfem/stiffness.hpp>

#include <algorithm>

namespace ossatura::detail {

template<class Exec>
BlockMatrix<Exec> assemble_modes(const Exec& exec, const HierarchicModel<Exec>& model,
                                 StiffnessMethod form) {
  constexpr std::int64_t workset_bytes = std::int64_t(1) << 28; // of elements at a time
  const ModeGather<Exec> gather = make_mode_gather(exec, model);
  const BlockMatrix<Exec> matrix = make_mode_block_pattern(exec, model, gather);
  for (std::size_t b = 0; b < model.batch.size(); ++b) {
    const HexaBatch<Exec>& batch = model.batch[b];
    const std::int64_t entries = matrix_entries(MatrixStorage::packed, batch.num_dofs()),
                       most = std::min(batch.num_elem,
                                       std::max<std::int64_t>(1, workset_bytes / (8 * entries)));
    const auto workset =
        make_uninitialized<double>(exec, most * entries, "ossatura::assemble_modes::workset");
    for (std::int64_t first = 0; first < batch.num_elem; first += most) {
      const std::int64_t last = std::min(batch.num_elem, first + most);
      form_stiffness(exec, form, batch, MatrixStorage::packed, first, last, workset);
      add_element_matrices(exec, model, gather, b, first, last, workset, matrix);
    }
    fence(exec, "ossatura::assemble_modes"); // workset goes
  }
  return matrix;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template BlockMatrix<Exec> assemble_modes(const Exec&, const HierarchicModel<Exec>&,             \
                                            StiffnessMethod);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura::detail
