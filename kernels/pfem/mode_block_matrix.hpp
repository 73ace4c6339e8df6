// SPDX-License-Identifier: Apache-2.0
// The assembled matrix of hierarchical hexahedra has 3 x 3 blocks. A map from element matrices to
// blocks would take as much memory as the matrices, so there is none: a row goes through the
// elements around its mode in their order and finds the columns by bisection, so that sums do not
// depend on threads. Element matrices come in worksets, in the order of the slots.
#pragma once

#include <ossatura/kernels/algebra/offsets.hpp>
#include <ossatura/kernels/algebra/sparse/block_matrix.hpp>
#include <ossatura/kernels/pfem/mode_gather.hpp>

namespace ossatura {

namespace detail {

/// The modes of each element, ascending, -1 for those that are not there. An item is an entry.
struct SortElementModes {
  int num_modes; ///< of an element
  ArrayPointer<const int> signed_mode;
  ArrayPointer<int> sorted;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const std::int64_t first = item / num_modes * num_modes;
    const int own = signed_mode(item);
    int place = 0;
    for (std::int64_t k = first; k < first + num_modes; ++k)
      place += signed_mode(k) < own || (signed_mode(k) == own && k < item);
    sorted(first + place) = own < 0 ? -1 : own / 2;
  }
};

/// Columns of the rows, which are merged from the lists of the elements around a mode.
struct MergeElementModes {
  static constexpr int past_all = 0x7fffffff;
  int num_batches;
  std::int64_t first_slot[max_hexa_order + 1]; ///< of batches, and past the last one
  int num_modes[max_hexa_order];               ///< of an element of each batch
  ArrayPointer<const int> begin;               ///< of ModeGather
  ArrayPointer<const std::uint32_t> slot;      ///< of ModeGather
  ArrayPointer<const int> sorted;              ///< [slots]

  /// The least of what the element of a slot has above `column`.
  KOKKOS_FORCEINLINE_FUNCTION int next(std::int64_t own, int column) const {
    int b = 0;
    while (own >= first_slot[b + 1])
      ++b;
    const int count = num_modes[b];
    const int* const list =
        sorted.data + first_slot[b] + (own - first_slot[b]) / count * std::int64_t(count);
    int low = 0, high = count;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (list[middle] > column)
        high = middle;
      else
        low = middle + 1;
    }
    return low < count ? list[low] : int(past_all);
  }
  /// visit(k, column) for the columns of a row, ascending. Returns how many there are.
  template<class Visit>
  KOKKOS_FORCEINLINE_FUNCTION int for_each(std::int64_t row, const Visit& visit) const {
    int column = -1;
    for (int count = 0;; ++count) {
      int least = column < row ? int(row) : int(past_all); // the diagonal is there in any case
      for (int k = begin(row); k < begin(row + 1); ++k) {
        const int other = next(slot(k) >> 1, column);
        least = Kokkos::min(least, other);
      }
      if (least == past_all)
        return count;
      column = least;
      visit(count, column);
    }
  }
};

struct CountColumns {
  MergeElementModes merge;
  ArrayPointer<int> length;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    length(row) = merge.for_each(row, [](int, int) {});
  }
};

struct ListColumns {
  MergeElementModes merge;
  ArrayPointer<const int> row_begin;
  ArrayPointer<int> column;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    int* const to = column.data + row_begin(row);
    merge.for_each(row, [=](int k, int other) { to[k] = other; });
  }
};

} // namespace detail

/// Modes that share an element, values of zero. Throws std::invalid_argument where 31 bits do not
/// count the blocks. Fences.
template<class Exec>
BlockMatrix<Exec> make_mode_block_pattern(const Exec& exec, const HierarchicModel<Exec>& model,
                                          const ModeGather<Exec>& gather) {
  OSSATURA_REQUIRE(model.batch.size() <= std::size_t(max_hexa_order),
                   model.batch.size() << " batches of elements: more than there are orders");
  const auto sorted =
      make_uninitialized<int>(exec, gather.num_slots(), "ossatura::mode_block_pattern::sorted");
  detail::MergeElementModes merge{
      int(model.batch.size()), {}, {}, gather.begin, gather.slot, sorted};
  for (std::size_t b = 0; b < model.batch.size(); ++b) {
    const HexaBatch<Exec>& batch = model.batch[b];
    merge.first_slot[b] = gather.first_slot[b];
    merge.num_modes[b] = batch.num_modes;
    detail::SortElementModes sort{batch.num_modes, batch.signed_mode, sorted};
    sort.sorted.data += gather.first_slot[b];
    Kokkos::parallel_for("ossatura::make_mode_block_pattern::sort",
                         range(exec, batch.num_elem * batch.num_modes), sort);
  }
  merge.first_slot[model.batch.size()] = gather.num_slots();
  BlockMatrix<Exec> matrix;
  matrix.num_rows = model.num_modes;
  matrix.row_begin = make_uninitialized<int>(exec, std::int64_t(model.num_modes) + 1,
                                             "ossatura::block_matrix::row_begin");
  Kokkos::parallel_for("ossatura::make_mode_block_pattern::count", range(exec, model.num_modes),
                       detail::CountColumns{merge, matrix.row_begin});
  const std::int64_t num_blocks = lengths_to_begins(exec, matrix.row_begin, "blocks");
  matrix.column = make_uninitialized<int>(exec, num_blocks, "ossatura::block_matrix::column");
  Kokkos::parallel_for("ossatura::make_mode_block_pattern::list", range(exec, model.num_modes),
                       detail::ListColumns{merge, matrix.row_begin, matrix.column});
  matrix.value = make_zeros<double>(exec, 9 * num_blocks, "ossatura::block_matrix::value");
  fence(exec, "ossatura::make_mode_block_pattern"); // sorted goes
  return matrix;
}

template<class Exec>
BlockMatrix<Exec> make_mode_block_pattern(const Exec& exec, const HierarchicModel<Exec>& model) {
  return make_mode_block_pattern(exec, model, make_mode_gather(exec, model));
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
      "ossatura::add_element_matrices",
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
      "ossatura::diagonal_blocks", range(exec, matrix.num_rows),
      detail::DiagonalOfRows<Exec>{matrix.row_begin, matrix.column, matrix.value, block});
}

} // namespace ossatura
