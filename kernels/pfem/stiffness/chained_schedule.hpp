// SPDX-License-Identifier: Apache-2.0
// The schedule lists the sums of kernels/pfem/stiffness/chained_products.hpp as tiles of 16 x 8 x 8
// matrix products, once for a space and an order. A slot is a pair of first indices; some slots
// make a pass. An item is up to 16 pairs of second indices of a slot, and its tiles are the pairs
// of third indices that any of them needs, 8 at a time. Each entry of the lower triangle is stored
// once. Host memory, no Kokkos.
#pragma once

#include <ossatura/core/base/function.hpp>
#include <ossatura/core/pfem/modes.hpp>

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <utility>
#include <vector>

namespace ossatura::detail {

/// Pairs of first indices that are summed at a time, at most: columns of an instruction.
inline constexpr int max_chained_slots = 8;

/// Launches that run well, by measurement; no warps: the order is not for chained products.
struct ChainedShape {
  int slots, warps, teams; ///< pairs of first indices; of a team; on a multiprocessor
  bool by_row;             ///< of 3 x 3 components, the rows one after the other
  bool c_in_memory;        ///< coefficients, for which scratch has no room
  int max_tiles;           ///< of an item: more of them share the work out better
};
constexpr ChainedShape chained_shape(int order) {
  constexpr ChainedShape shapes[max_hexa_order + 1] = {{},
                                                       {},
                                                       {4, 4, 4, false, false, 99},
                                                       {4, 6, 2, false, false, 99},
                                                       {4, 12, 1, false, false, 99},
                                                       {4, 12, 1, false, false, 99},
                                                       {7, 8, 1, true, false, 4},
                                                       {4, 8, 1, true, false, 3},
                                                       {8, 8, 1, true, true, 99},
                                                       {6, 8, 1, true, true, 99},
                                                       {5, 8, 1, true, true, 99}};
  return shapes[order];
}

/// Tests at once whether third indices are those of a pair and the entry is in the lower triangle.
/// A pair has its highest ones, with a guard bit above each; an entry, its own; their difference
/// keeps all guards if none of the entry's exceeds the pair's.
namespace chained_key {
inline constexpr int row_bits = 12, j_at = 12, i_at = 17, above_at = 22; ///< guards end each
inline constexpr std::uint32_t guards = 1u << 16 | 1u << 21 | 1u << 29;
inline constexpr int level = 40; ///< of `above`, at the diagonal
} // namespace chained_key

/// Where a pair of second indices is in the matrix.
struct alignas(8) ChainedPair {
  std::int32_t base;     ///< i (i + 1) / 2 + j of its first row i and column j
  std::uint32_t row_key; ///< i in the low `row_bits`, and above them what its entries may be

  OSSATURA_FORCEINLINE_FUNCTION constexpr int row() const {
    return int(row_key & ((1u << chained_key::row_bits) - 1));
  }
  /// The same from row c of its blocks on, 0 <= c < 3.
  OSSATURA_FORCEINLINE_FUNCTION constexpr ChainedPair from_row(int c) const {
    return {base + c * row() + c * (c + 1) / 2,
            row_key + std::uint32_t(c) + (std::uint32_t(c) << chained_key::above_at)};
  }
};

/// Where entry (3 i3, 3 j3 + d) is, from the first row and column of a pair.
struct alignas(8) ChainedEntry {
  std::uint32_t step; ///< a (a + 1) / 2 + b, and 16 bits up, a = 3 i3; b = 3 j3 + d
  std::uint32_t key;

  OSSATURA_FORCEINLINE_FUNCTION static constexpr ChainedEntry of(int i3, int j3) {
    return {std::uint32_t(3 * i3 * (3 * i3 + 1) / 2 + 3 * j3) | std::uint32_t(3 * i3) << 16,
            std::uint32_t(j3) << chained_key::j_at | std::uint32_t(i3) << chained_key::i_at |
                std::uint32_t(3 * (j3 - i3) + chained_key::level) << chained_key::above_at};
  }
  OSSATURA_FORCEINLINE_FUNCTION constexpr ChainedEntry column(int d) const {
    return {step + std::uint32_t(d), key + (std::uint32_t(d) << chained_key::above_at)};
  }
  OSSATURA_FORCEINLINE_FUNCTION constexpr int a() const { return int(step >> 16); }
  /// Whether a pair has it. Pairs are of a row of blocks.
  OSSATURA_FORCEINLINE_FUNCTION constexpr bool is_in(const ChainedPair& pair) const {
    return ((pair.row_key - key) & chained_key::guards) == chained_key::guards;
  }
  /// Place in the packed triangle: (a + i) (a + i + 1) / 2 = a (a + 1) / 2 + i (i + 1) / 2 + a i.
  OSSATURA_FORCEINLINE_FUNCTION constexpr int place(const ChainedPair& pair) const {
    return pair.base + a() * pair.row() + int(step & 0xffff);
  }
  OSSATURA_FORCEINLINE_FUNCTION constexpr int row(const ChainedPair& pair) const {
    return pair.row() + a();
  }
  OSSATURA_FORCEINLINE_FUNCTION constexpr int column_of(const ChainedPair& pair) const {
    return pair.base - pair.row() * (pair.row() + 1) / 2 + int(step & 0xffff) - a() * (a() + 1) / 2;
  }
};

/// Up to 16 pairs of second indices of one slot.
struct alignas(16) ChainedItem {
  std::uint8_t row[16]; ///< i2 (order + 1) + j2; those that there are not repeat the last one
  std::int32_t first_tile, num_tiles;
  std::int32_t slot, num_pairs;
};

/// Eight pairs of third indices, i3 (order + 1) + j3; i3 = order + 1 where there is none.
struct alignas(8) ChainedTile {
  std::uint8_t row[8];
};

struct ChainedPass {
  std::int32_t num_slots, first_item, num_items;
  std::int32_t slot[max_chained_slots]; ///< pairs of first indices, i1 (order + 1) + j1
};

struct ChainedSchedule {
  std::vector<ChainedPass> pass;
  std::vector<ChainedItem> item; ///< of a pass, those with the most tiles first
  std::vector<ChainedPair> pair; ///< 16 of each item
  std::vector<ChainedTile> tile;
};

/// A pair of second indices of a slot, with the numbers of third ones on either side.
struct ChainedLine {
  int i2, j2, count_i, count_j;
  bool diagonal;

  bool has(int i3, int j3) const { return i3 < count_i && j3 < count_j && (!diagonal || j3 <= i3); }
};

/// Pairs of third indices, by i3 (max_hexa_order + 1) + j3.
using ThirdPairs = std::bitset<(max_hexa_order + 1) * (max_hexa_order + 1)>;

inline ThirdPairs third_pairs(const ChainedLine& line) {
  ThirdPairs needed;
  for (int i = 0; i < line.count_i; ++i)
    for (int j = 0; j < line.count_j; ++j)
      needed[std::size_t(i * (max_hexa_order + 1) + j)] = line.has(i, j);
  return needed;
}

/// Those that any of the lines needs.
inline ThirdPairs third_pairs(const ChainedLine* line, std::size_t num) {
  ThirdPairs needed;
  for (std::size_t k = 0; k < num; ++k)
    needed |= third_pairs(line[k]);
  return needed;
}

/// The tiles of all items.
inline std::size_t num_chained_tiles(const std::vector<ChainedLine>& lines) {
  std::size_t tiles = 0;
  for (std::size_t k = 0; k < lines.size(); k += 16)
    tiles += (third_pairs(&lines[k], std::min<std::size_t>(16, lines.size() - k)).count() + 7) / 8;
  return tiles;
}

/// To the first line that is left, in turns, those that add the fewest third pairs, `weight` times,
/// for the pairs that they have.
inline std::vector<ChainedLine> grouped_chained_lines(std::vector<ChainedLine> rest, int weight) {
  std::vector<ChainedLine> grouped;
  ThirdPairs needed;
  while (!rest.empty()) {
    std::size_t next = 0;
    if (grouped.size() % 16 == 0) {
      needed.reset();
    } else {
      int least = 1 << 30;
      for (std::size_t k = 0; k < rest.size(); ++k) {
        const ThirdPairs own = third_pairs(rest[k]);
        const int cost = weight * int((own & ~needed).count()) - int(own.count());
        if (cost < least) {
          least = cost;
          next = k;
        }
      }
    }
    needed |= third_pairs(rest[next]);
    grouped.push_back(rest[next]);
    rest.erase(rest.begin() + std::ptrdiff_t(next));
  }
  return grouped;
}

/// Sorts the lines of a slot so that those of an item need much the same.
inline void sort_chained_lines(std::vector<ChainedLine>& lines) {
  const bool alike = std::all_of(lines.begin(), lines.end(), [&](const ChainedLine& x) {
    return x.count_i == lines[0].count_i && x.count_j == lines[0].count_j;
  });
  std::vector<ChainedLine> best;
  std::size_t fewest = std::size_t(-1);
  const auto try_order = [&](const std::vector<ChainedLine>& order) {
    const std::size_t tiles = num_chained_tiles(order);
    if (tiles < fewest) {
      fewest = tiles;
      best = order;
    }
  };
  std::vector<std::vector<ChainedLine>> orders;
  for (int way = 0; way < 4; ++way) {
    std::vector<ChainedLine> sorted = lines;
    std::stable_sort(sorted.begin(), sorted.end(), [&](const ChainedLine& a, const ChainedLine& b) {
      const auto key = [&](const ChainedLine& x) {
        const int low = std::min(x.count_i, x.count_j), high = std::max(x.count_i, x.count_j);
        return way == 0   ? 100 * x.count_i * x.count_j
               : way == 1 ? 100 * high + low
               : way == 2 ? 100 * x.count_i + x.count_j
                          : 100 * x.count_j + x.count_i;
      };
      return key(a) > key(b);
    });
    try_order(sorted);
    orders.push_back(sorted);
  }
  for (const std::vector<ChainedLine>& order : orders)
    for (const int weight : {1, 2, 4, 100})
      if (!alike)
        try_order(grouped_chained_lines(order, weight));
  lines = best;
}

/// Takes lines by the rests of their table rows modulo 4 in turns: rows next to one another are
/// then in different banks.
inline void alternate_table_rows(int order, ChainedLine* line, std::size_t num) {
  std::vector<ChainedLine> of[4], sorted;
  for (std::size_t k = 0; k < num; ++k)
    of[(line[k].i2 * (order + 1) + line[k].j2) % 4].push_back(line[k]);
  for (std::size_t turn = 0; sorted.size() < num; ++turn)
    for (const std::vector<ChainedLine>& rest : of)
      if (turn < rest.size())
        sorted.push_back(rest[turn]);
  std::copy(sorted.begin(), sorted.end(), line);
}

/// Modes by their first and second indices.
struct ChainedModes {
  int order;
  HexaSpace space;
  std::vector<std::vector<int>> begin; ///< mode of these with third index 0

  ChainedModes(HexaSpace space_, int order_)
      : order(order_)
      , space(space_)
      , begin(std::size_t(order_) + 1) {
    int mode = 0;
    for (int i = 0; i <= order; ++i)
      for (int j = 0; j < count(order - degree(i)); ++j) {
        begin[std::size_t(i)].push_back(mode);
        mode += count_third(i, j);
      }
  }

  static int degree(int n) { return n < 2 ? 0 : n; }
  int count(int rest) const { // indices of degree up to `rest`
    return space == HexaSpace::tensor ? order + 1 : rest < 2 ? 2 : rest + 1;
  }
  int count_third(int i, int j) const { return count(order - degree(i) - degree(j)); }
};

/// The items of a pair of first indices, and their pairs.
struct ChainedSlot {
  int row, num_tiles; ///< i1 (order + 1) + j1
  std::vector<ChainedItem> item;
  std::vector<ChainedPair> pair;
};

inline ChainedPair chained_pair(const ChainedLine& line, int i, int j, bool exists) {
  using namespace chained_key;
  const int above = !exists ? 0 : line.diagonal ? level : 120; // entries have 10 to 72
  return {i * (i + 1) / 2 + j, std::uint32_t(i) | std::uint32_t(line.count_j - 1) << j_at |
                                   std::uint32_t(line.count_i - 1) << i_at |
                                   std::uint32_t(above) << above_at | guards};
}

/// Appends its tiles to `tile`, at most max_tiles for an item.
inline ChainedSlot make_chained_slot(const ChainedModes& modes, int i1, int j1, int max_tiles,
                                     std::vector<ChainedTile>& tile) {
  const int width = modes.order + 1;
  const std::vector<int>&begin_i = modes.begin[std::size_t(i1)],
        &begin_j = modes.begin[std::size_t(j1)];
  std::vector<ChainedLine> lines;
  for (int i2 = 0; i2 < int(begin_i.size()); ++i2)
    for (int j2 = 0; j2 < (i1 == j1 ? i2 + 1 : int(begin_j.size())); ++j2)
      lines.push_back(
          {i2, j2, modes.count_third(i1, i2), modes.count_third(j1, j2), i1 == j1 && i2 == j2});
  sort_chained_lines(lines);
  ChainedSlot slot{i1 * width + j1, 0, {}, {}};
  for (std::size_t k = 0; k < lines.size(); k += 16) {
    const std::size_t num = std::min<std::size_t>(16, lines.size() - k);
    alternate_table_rows(modes.order, &lines[k], num);
    ChainedItem item{{}, std::int32_t(tile.size()), 0, 0, std::int32_t(num)};
    std::vector<ChainedPair> pairs;
    for (std::size_t r = 0; r < 16; ++r) {
      const ChainedLine& line = lines[k + std::min(r, num - 1)];
      item.row[r] = std::uint8_t(line.i2 * width + line.j2);
      pairs.push_back(chained_pair(line, 3 * begin_i[std::size_t(line.i2)],
                                   3 * begin_j[std::size_t(line.j2)], r < num));
    }
    int at = 0;
    const ThirdPairs needed = third_pairs(&lines[k], num);
    for (int i3 = 0; i3 < width; ++i3)
      for (int j3 = 0; j3 < width; ++j3) {
        if (!needed[std::size_t(i3 * (max_hexa_order + 1) + j3)])
          continue;
        if (at % 8 == 0) {
          tile.emplace_back();
          std::fill_n(tile.back().row, 8, std::uint8_t(width * width));
        }
        tile.back().row[at++ % 8] = std::uint8_t(i3 * width + j3);
      }
    const int num_tiles = int(tile.size()) - item.first_tile,
              parts = (num_tiles + max_tiles - 1) / max_tiles;
    for (int part = 0; part < parts; ++part) {
      item.num_tiles = num_tiles / parts + (part < num_tiles % parts ? 1 : 0);
      slot.item.push_back(item);
      slot.pair.insert(slot.pair.end(), pairs.begin(), pairs.end());
      item.first_tile += item.num_tiles;
    }
    slot.num_tiles += num_tiles;
  }
  return slot;
}

/// Appends a pass of `num` slots.
inline void append_chained_pass(const ChainedSlot* slot, int num, ChainedSchedule& s) {
  ChainedPass pass{num, std::int32_t(s.item.size()), 0, {}};
  std::vector<std::pair<ChainedItem, std::size_t>> items; // with their places among the slot's
  for (int k = 0; k < num; ++k) {
    pass.slot[k] = slot[k].row;
    for (std::size_t n = 0; n < slot[k].item.size(); ++n) {
      items.emplace_back(slot[k].item[n], n);
      items.back().first.slot = k;
    }
  }
  std::stable_sort(items.begin(), items.end(), [](const auto& a, const auto& b) {
    return a.first.num_tiles > b.first.num_tiles;
  });
  for (const auto& [item, n] : items) {
    const auto pairs = slot[item.slot].pair.begin() + std::ptrdiff_t(16 * n);
    s.item.push_back(item);
    s.pair.insert(s.pair.end(), pairs, pairs + 16);
  }
  pass.num_items = std::int32_t(s.item.size()) - pass.first_item;
  s.pass.push_back(pass);
}

/// For passes of so many pairs of first indices.
inline ChainedSchedule make_chained_schedule(HexaSpace space, int order, int slots_of_pass,
                                             int max_tiles) {
  const ChainedModes modes(space, order);
  ChainedSchedule s;
  std::vector<ChainedSlot> slots;
  for (int i1 = 0; i1 <= order; ++i1)
    for (int j1 = 0; j1 <= i1; ++j1)
      slots.push_back(make_chained_slot(modes, i1, j1, max_tiles, s.tile));
  // The largest last: the coefficients of the next element are made beside them.
  std::stable_sort(slots.begin(), slots.end(), [](const ChainedSlot& a, const ChainedSlot& b) {
    return a.num_tiles < b.num_tiles;
  });
  const int num_slots = int(slots.size());
  for (int first = 0; first < num_slots;) {
    const int rest = (num_slots - first) % slots_of_pass, num = rest > 0 ? rest : slots_of_pass;
    append_chained_pass(&slots[std::size_t(first)], num, s);
    first += num;
  }
  return s;
}

} // namespace ossatura::detail
