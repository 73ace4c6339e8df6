// SPDX-License-Identifier: Apache-2.0
// Lists for matrix instructions, followed on the host as the kernel follows them: which modes an
// entry is of, where it is stored, and that each is stored once.
#include "tests/catch.hpp"
#include <ossatura/kernels/pfem/stiffness/tensor_core_schedule.hpp>

#include <array>

namespace {

using namespace ossatura;
using namespace ossatura::detail;

/// A pair of second indices, with the first ones that it goes with.
struct PairOfLines {
  int i1, j1, i2, j2;
};

class Followed {
public:
  std::vector<int> stored; ///< how often, by place in the packed lower triangle
  int wrong_modes = 0, wrong_places = 0, out_of_bounds = 0;

  Followed(HexaSpace space, int order, int slots, int max_rows)
      : order_(order)
      , slots_(slots)
      , max_rows_(max_rows)
      , schedule_(make_tensor_core_schedule(space, order, slots, max_rows)) {
    const std::vector<HierarchicMode> modes = hierarchic_modes(space, order);
    for (auto& plane : mode_)
      for (auto& line : plane)
        line.fill(-1);
    for (std::size_t a = 0; a < modes.size(); ++a)
      mode_[modes[a].index[0]][modes[a].index[1]][modes[a].index[2]] = int(a);
    stored.assign(3 * modes.size() * (3 * modes.size() + 1) / 2, 0);
    for (const TensorCorePass& pass : schedule_.pass) {
      out_of_bounds += pass.num_slots > slots_;
      for (int at = pass.first_chunk; at < pass.last_chunk; ++at)
        follow(schedule_.chunk[std::size_t(at)], lines_of(pass, schedule_.chunk[std::size_t(at)]));
    }
  }

private:
  int order_, slots_, max_rows_;
  TensorCoreSchedule schedule_;
  std::array<std::array<std::array<int, max_hexa_order + 1>, max_hexa_order + 1>,
             max_hexa_order + 1>
      mode_; ///< by indices, -1 where there is none

  /// By place in S.
  std::vector<PairOfLines> lines_of(const TensorCorePass& pass, const TensorCoreChunk& chunk) {
    std::vector<PairOfLines> lines;
    for (int number = chunk.first_second; number < chunk.last_second; ++number) {
      const SecondTile& tile = schedule_.second[std::size_t(number)];
      out_of_bounds +=
          tile.slot >= pass.num_slots || tile.num_rows > 16 || tile.first != int(lines.size());
      const std::size_t pair = 2 * std::size_t(pass.first_pair + tile.slot);
      for (int k = 0; k < tile.num_rows; ++k) {
        const int row = schedule_.row[std::size_t(16 * number + k)];
        lines.push_back({schedule_.pair[pair], schedule_.pair[pair + 1], row / (order_ + 1),
                         row % (order_ + 1)});
      }
    }
    out_of_bounds += int(lines.size()) > max_rows_;
    return lines;
  }

  void follow(const TensorCoreChunk& chunk, const std::vector<PairOfLines>& lines) {
    for (int number = chunk.first_third; number < chunk.last_third; ++number) {
      const ThirdTile& tile = schedule_.third[std::size_t(number)];
      const bool two_rows = tile.end - tile.first > 8;
      out_of_bounds += tile.end - tile.first > 16 || tile.num_columns > third_columns[two_rows] ||
                       chunk.first_eight + tile.columns + tile.num_columns > chunk.last_eight;
      for (int column = 0; column < 8 * tile.num_columns; ++column) {
        const ThirdColumn& at =
            schedule_.column[std::size_t(8 * (chunk.first_eight + tile.columns) + column)];
        if (at.place < 0 || at.place >= 9 * int(lines.size())) {
          ++out_of_bounds;
          continue;
        }
        for (int entry = tile.first; entry < tile.end; ++entry)
          store(tile, at, entry, lines[std::size_t(at.place / 9)]);
      }
    }
  }

  void store(const ThirdTile& tile, const ThirdColumn& at, int entry, const PairOfLines& line) {
    const int i3 = int(unsigned(entry) * unsigned(tile.reciprocal) >> 16),
              j3 = entry - i3 * tile.num_j;
    if (3 * (j3 - i3) > at.below)
      return;
    const int c = at.place % 9 / 3, d = at.place % 3;
    if (i3 > order_ || j3 < 0 || j3 > order_) {
      ++wrong_modes;
      return;
    }
    const int a = mode(line.i1, line.i2, i3), b = mode(line.j1, line.j2, j3), i = 3 * a + c,
              j = 3 * b + d;
    wrong_modes += a < 0 || b < 0 || j > i;
    const int row = at.at_i + 3 * i3, // of a full matrix
        column = at.at_i - at.below + 3 * j3,
              place = at.base + 3 * i3 * (3 * i3 + 1) / 2 + 3 * j3 + 3 * i3 * at.at_i;
    wrong_places += row != i || column != j || place != i * (i + 1) / 2 + j;
    if (place >= 0 && place < int(stored.size()))
      ++stored[std::size_t(place)];
    else
      ++out_of_bounds;
  }

  int mode(int i, int j, int k) const {
    return mode_[std::size_t(i)][std::size_t(j)][std::size_t(k)];
  }
};

void check_lists(HexaSpace space, int order, int slots, int rows) {
  INFO(name_of(space) << ", order " << order << ", " << slots << " slots, " << rows << " rows");
  const Followed followed(space, order, slots, rows);
  CHECK(followed.wrong_modes == 0);
  CHECK(followed.wrong_places == 0);
  CHECK(followed.out_of_bounds == 0);
  CHECK(std::size_t(std::count(followed.stored.begin(), followed.stored.end(), 1)) ==
        followed.stored.size());
}

TEST_CASE("Tiles of matrix instructions store each entry of the lower triangle once",
          "[tensor_core_schedule]") {
  for (const HexaSpace space : {HexaSpace::trunk, HexaSpace::tensor}) {
    for (int order = 1; order <= max_hexa_order; ++order)
      check_lists(space, order, tensor_core_shape(order).slots, tensor_core_shape(order).rows);
    // One pair at a time, and all at once.
    for (int order = 1; order <= 4; ++order) {
      check_lists(space, order, 1, 1);
      check_lists(space, order, (order + 1) * (order + 2) / 2, 1000);
    }
  }
}

} // namespace
