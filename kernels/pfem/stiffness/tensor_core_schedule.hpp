// SPDX-License-Identifier: Apache-2.0
// The schedule lists the sums of kernels/pfem/stiffness/tensor_cores.hpp as tiles of matrix
// products, once for a space and an order. Pairs of first indices go in passes, their pairs of
// second indices in chunks. Pairs of third indices depend only on how many there are on either
// side, so that a chunk takes its columns by these counts. Each entry of the lower triangle is
// stored once. Host memory, no Kokkos.
#pragma once

#include <ossatura/core/pfem/modes.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ossatura::detail {

/// Launches that run well, by measurement.
struct TensorCoreShape {
  int slots, rows, threads, teams;
  bool in_scratch; ///< C
};
constexpr TensorCoreShape tensor_core_shape(int order) {
  constexpr TensorCoreShape shapes[max_hexa_order + 1] = {{},
                                                          {3, 12, 64, 8, true},
                                                          {3, 18, 128, 4, true},
                                                          {4, 24, 256, 2, true},
                                                          {3, 15, 256, 2, false},
                                                          {3, 18, 256, 2, false},
                                                          {3, 36, 384, 1, false},
                                                          {2, 40, 384, 1, false},
                                                          {2, 36, 384, 1, false},
                                                          {1, 32, 384, 1, false},
                                                          {1, 22, 512, 1, false}};
  return shapes[order];
}

/// Some pairs of first indices, (i, j), i >= j: the slots of a pass.
struct TensorCorePass {
  std::int32_t first_pair, num_slots, first_chunk, last_chunk;
};

/// As many pairs of second indices as S has room for.
struct TensorCoreChunk {
  std::int32_t first_second, last_second, first_third, last_third, first_eight, last_eight;
};

/// Up to 16 pairs of second indices of one slot.
struct alignas(8) SecondTile {
  std::int16_t slot, num_rows;
  std::int32_t first; ///< of the pairs of the chunk
};

/// Up to 16 pairs of third indices for some columns (pair, cd), all of pairs that have the same
/// ones.
struct alignas(16) ThirdTile {
  std::int32_t columns;     ///< the first 8, of the chunk's
  std::int16_t num_columns; ///< in eights
  std::int16_t num_j;       ///< third indices of the columns' side
  std::int16_t first, end;  ///< pairs of third indices, i num_j + j
  std::int32_t reciprocal;  ///< 65536 / num_j, rounded up
};

/// One of these columns.
struct alignas(16) ThirdColumn {
  std::int32_t place; ///< of its numbers in S of the chunk
  std::int32_t at_i;  ///< row of the matrix for third indices 0
  std::int32_t base;  ///< at_i (at_i + 1) / 2 + at_j, where at_j is the column
  std::int32_t below; ///< at_i - at_j; far below 0 if there is no such column
};

struct TensorCoreSchedule {
  std::vector<std::uint8_t> pair; ///< [num_pairs, 2] first indices
  std::vector<TensorCorePass> pass;
  std::vector<TensorCoreChunk> chunk;
  std::vector<SecondTile> second;
  std::vector<std::int16_t> row; ///< 16 of each of these: rows of the table
  std::vector<ThirdTile> third;
  std::vector<ThirdColumn> column; ///< in eights
};

/// Columns that a warp takes at once, in eights, where it takes 8 or 16 rows.
inline constexpr int third_columns[2] = {3, 2};

/// Lists what a chunk has along zeta: its columns by their numbers of third indices.
inline void close_chunk(const std::map<std::pair<int, int>, std::vector<ThirdColumn>>& columns,
                        TensorCoreSchedule& s) {
  for (const auto& [counts, list] : columns) {
    const int num_entries = counts.first * counts.second, first_eight = int(s.column.size()) / 8,
              num_eights = int(list.size() + 7) / 8;
    s.column.insert(s.column.end(), list.begin(), list.end());
    s.column.resize(std::size_t(8 * (first_eight + num_eights)),
                    ThirdColumn{list[0].place, 0, 0, -30000});
    for (int first = 0; first < num_entries; first += 16) {
      const int end = std::min(first + 16, num_entries),
                at_once = third_columns[end - first > 8 ? 1 : 0];
      for (int eight = 0; eight < num_eights; eight += at_once)
        s.third.push_back({first_eight - s.chunk.back().first_eight + eight,
                           std::int16_t(std::min(at_once, num_eights - eight)),
                           std::int16_t(counts.second), std::int16_t(first), std::int16_t(end),
                           65536 / counts.second + 1});
    }
  }
  // The longest first.
  std::stable_sort(s.third.begin() + s.chunk.back().first_third, s.third.end(),
                   [](const ThirdTile& a, const ThirdTile& b) {
                     const auto work = [](const ThirdTile& t) {
                       return (t.end - t.first > 8 ? 2 : 1) * t.num_columns;
                     };
                     return work(a) > work(b);
                   });
  s.chunk.back().last_second = int(s.second.size());
  s.chunk.back().last_third = int(s.third.size());
  s.chunk.back().last_eight = int(s.column.size()) / 8;
}

/// For `slots` pairs of first indices a pass and chunks of up to `max_rows` pairs of second ones.
inline TensorCoreSchedule make_tensor_core_schedule(HexaSpace space, int order, int slots,
                                                    int max_rows) {
  TensorCoreSchedule s;
  const auto degree = [](int n) { return n < 2 ? 0 : n; };
  const auto count = [&](int rest) { // indices of degree up to `rest`
    return space == HexaSpace::tensor ? order + 1 : rest < 2 ? 2 : rest + 1;
  };
  std::vector<std::vector<int>> begin(std::size_t(order) + 1); // modes of first and second indices
  int mode = 0;
  for (int i = 0; i <= order; ++i)
    for (int j = 0; j < count(order - degree(i)); ++j) {
      begin[std::size_t(i)].push_back(mode);
      mode += count(order - degree(i) - degree(j));
    }
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i <= order; ++i)
    for (int j = 0; j <= i; ++j)
      pairs.emplace_back(i, j);
  std::stable_sort(pairs.begin(), pairs.end(), [&](const auto& a, const auto& b) {
    return begin[std::size_t(a.first)].size() * begin[std::size_t(a.second)].size() >
           begin[std::size_t(b.first)].size() * begin[std::size_t(b.second)].size();
  });
  for (const auto& [i, j] : pairs) {
    s.pair.push_back(std::uint8_t(i));
    s.pair.push_back(std::uint8_t(j));
  }
  const int num_pairs = int(pairs.size());
  for (int first = 0; first < num_pairs; first += slots) {
    TensorCorePass pass{first, std::min(slots, num_pairs - first), int(s.chunk.size()), 0};
    std::map<std::pair<int, int>, std::vector<ThirdColumn>> columns; // by counts of third indices
    int num_rows = max_rows;                                         // of the chunk
    for (int slot = 0; slot < pass.num_slots; ++slot) {
      const auto [i1, j1] = pairs[std::size_t(first + slot)];
      const std::vector<int>&begin_i = begin[std::size_t(i1)], &begin_j = begin[std::size_t(j1)];
      for (int i2 = 0; i2 < int(begin_i.size()); ++i2)
        for (int j2 = 0; j2 < (i1 == j1 ? i2 + 1 : int(begin_j.size())); ++j2) {
          if (num_rows == max_rows) {
            if (!columns.empty())
              close_chunk(columns, s);
            columns.clear();
            num_rows = 0;
            s.chunk.push_back(
                {int(s.second.size()), 0, int(s.third.size()), 0, int(s.column.size()) / 8, 0});
          }
          const std::int16_t table_row = std::int16_t(i2 * (order + 1) + j2);
          if (int(s.second.size()) == s.chunk.back().first_second || s.second.back().slot != slot ||
              s.second.back().num_rows == 16) {
            s.second.push_back({std::int16_t(slot), 0, num_rows});
            s.row.resize(16 * s.second.size(), table_row);
          }
          s.row[16 * (s.second.size() - 1) + std::size_t(s.second.back().num_rows++)] = table_row;
          auto& list = columns[{count(order - degree(i1) - degree(i2)),
                                count(order - degree(j1) - degree(j2))}];
          for (int cd = 0; cd < 9; ++cd) {
            const int i = 3 * begin_i[std::size_t(i2)] + cd / 3,
                      j = 3 * begin_j[std::size_t(j2)] + cd % 3;
            list.push_back({9 * num_rows + cd, i, i * (i + 1) / 2 + j, i - j});
          }
          ++num_rows;
        }
    }
    close_chunk(columns, s);
    pass.last_chunk = int(s.chunk.size());
    s.pass.push_back(pass);
  }
  return s;
}

/// Doubles that the lists of a chunk along zeta take, at most.
inline int max_list_doubles(const TensorCoreSchedule& s) {
  static_assert(sizeof(ThirdTile) == 16 && sizeof(ThirdColumn) == 16, "two doubles each");
  int most = 0;
  for (const TensorCoreChunk& chunk : s.chunk)
    most = std::max(most, 2 * (chunk.last_third - chunk.first_third) +
                              16 * (chunk.last_eight - chunk.first_eight));
  return most;
}

} // namespace ossatura::detail
