// SPDX-License-Identifier: Apache-2.0
// The assembled matrix of hierarchical hexahedra in 3 x 3 blocks. There is no map from element
// matrices to blocks, which would take as much memory as they: a row goes through the elements
// around its mode in their order and finds the columns by bisection, so that sums do not depend on
// threads. Element matrices come in worksets, in the order of the slots.
#pragma once

#include "kernels/block_matrix.hpp"
#include "kernels/mode_gather.hpp"
#include "kernels/upload.hpp"

#include <algorithm>
#include <limits>

namespace femura {

/// Modes that share an element, values of zero. Throws std::invalid_argument where 32 bits do not
/// count the blocks. Fences.
template<class Exec>
BlockMatrix<Exec> make_mode_block_pattern(const Exec& exec, const HierarchicModel<Exec>& model) {
  struct Batch {
    std::vector<int> signed_mode;
    std::size_t num_modes;
  };
  std::vector<Batch> batches;
  std::vector<std::vector<std::pair<int, int>>> around(std::size_t(model.num_modes)); // batch, elem
  for (std::size_t b = 0; b < model.batch.size(); ++b) {
    batches.push_back(
        {download(exec, model.batch[b].signed_mode), std::size_t(model.batch[b].num_modes)});
    const Batch& own = batches.back();
    for (std::size_t k = 0; k < own.signed_mode.size(); ++k)
      if (own.signed_mode[k] >= 0)
        around[std::size_t(own.signed_mode[k] / 2)].push_back({int(b), int(k / own.num_modes)});
  }
  std::vector<int> row_begin(1, 0), column, mark(std::size_t(model.num_modes), -1);
  for (int row = 0; row < model.num_modes; ++row) {
    const std::size_t begin = column.size();
    mark[std::size_t(row)] = row;
    column.push_back(row);
    for (const auto& [b, elem] : around[std::size_t(row)]) {
      const Batch& own = batches[std::size_t(b)];
      const int* const mode = own.signed_mode.data() + std::size_t(elem) * own.num_modes;
      for (std::size_t a = 0; a < own.num_modes; ++a) {
        const int other = mode[a] / 2;
        if (mode[a] >= 0 && mark[std::size_t(other)] != row) {
          mark[std::size_t(other)] = row;
          column.push_back(other);
        }
      }
    }
    FEMURA_REQUIRE(column.size() <= std::size_t(std::numeric_limits<int>::max()),
                   "more blocks than 31 bits count; take another operator");
    std::sort(column.begin() + std::ptrdiff_t(begin), column.end());
    row_begin.push_back(int(column.size()));
  }
  BlockMatrix<Exec> matrix;
  matrix.num_rows = model.num_modes;
  matrix.row_begin = upload(exec, "femura::block_matrix::row_begin", row_begin);
  matrix.column = upload(exec, "femura::block_matrix::column", column);
  matrix.value =
      make_zeros<double>(exec, 9 * std::int64_t(column.size()), "femura::block_matrix::value");
  return matrix;
}

namespace detail {

template<class Exec>
struct AddElementMatrices {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  ArrayPointer<const int> begin;          ///< of ModeGather
  ArrayPointer<const std::uint32_t> slot; ///< of ModeGather
  std::int64_t batch_slot;                ///< first one of the batch
  std::int64_t first, last;               ///< elements of the workset in the batch
  int num_modes;                          ///< of an element
  ArrayPointer<const int> signed_mode;    ///< [elements of the batch, num_modes]
  ArrayPointer<const double> matrix;      ///< [last - first, packed]
  ArrayPointer<const int> row_begin, column;
  ArrayPointer<double> value;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const int row = team.league_rank();
    const std::int64_t low = batch_slot + first * num_modes, high = batch_slot + last * num_modes;
    for (int k = begin(row); k < begin(row + 1); ++k) {
      const std::int64_t own = slot(k) >> 1;
      if (own < low || own >= high)
        continue; // the same for the whole team
      const std::int64_t elem = (own - batch_slot) / num_modes;
      const int a = int((own - batch_slot) % num_modes);
      const bool negative = slot(k) & 1u;
      for (int item = team.team_rank(); item < 9 * num_modes; item += team.team_size())
        add(row, elem, a, negative, item / 9, item % 9);
      team.team_barrier();
    }
  }

private:
  KOKKOS_FORCEINLINE_FUNCTION void add(int row, std::int64_t elem, int a, bool negative, int b,
                                       int place) const {
    const int other = signed_mode(elem * num_modes + b);
    if (other < 0)
      return;
    int low = row_begin(row), high = row_begin(row + 1) - 1;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (column(middle) < other / 2)
        low = middle + 1;
      else
        high = middle;
    }
    const int i = 3 * a + place / 3, j = 3 * b + place % 3, n = 3 * num_modes;
    const double* const own = matrix.data + (elem - first) * (std::int64_t(n) * (n + 1) / 2);
    const double entry =
        i >= j ? own[std::int64_t(i) * (i + 1) / 2 + j] : own[std::int64_t(j) * (j + 1) / 2 + i];
    value(9 * std::int64_t(low) + place) += negative != bool(other & 1) ? -entry : entry;
  }
};

} // namespace detail

/// Adds the packed matrices of elements first .. last - 1 of batch number `b` of the model. Does
/// not fence.
template<class Exec>
void add_element_matrices(const Exec& exec, const HierarchicModel<Exec>& model,
                          const ModeGather<Exec>& gather, std::size_t b, std::int64_t first,
                          std::int64_t last, const Array<double, Exec>& matrix,
                          const BlockMatrix<Exec>& blocks) {
  const HexaBatch<Exec>& batch = model.batch[b];
  Kokkos::parallel_for(
      "femura::add_element_matrices",
      Kokkos::TeamPolicy<Exec>(exec, model.num_modes, BackendTraits<Exec>::is_device ? 128 : 1),
      detail::AddElementMatrices<Exec>{gather.begin, gather.slot, gather.first_slot[b], first, last,
                                       batch.num_modes, batch.signed_mode, matrix, blocks.row_begin,
                                       blocks.column, blocks.value});
}

namespace detail {
template<class Exec>
struct DiagonalOfRows {
  ArrayPointer<const int> row_begin, column;
  ArrayPointer<const double> value;
  ArrayPointer<double> block;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    for (int k = row_begin(row); k < row_begin(row + 1); ++k)
      if (column(k) == row)
        for (int place = 0; place < 9; ++place)
          block(9 * row + place) = value(9 * std::int64_t(k) + place);
  }
};
} // namespace detail

/// block [num_rows, 9]. Does not fence.
template<class Exec>
void diagonal_blocks(const Exec& exec, const BlockMatrix<Exec>& matrix,
                     const Array<double, Exec>& block) {
  Kokkos::parallel_for(
      "femura::diagonal_blocks", range(exec, matrix.num_rows),
      detail::DiagonalOfRows<Exec>{matrix.row_begin, matrix.column, matrix.value, block});
}

} // namespace femura
