// SPDX-License-Identifier: Apache-2.0
// Lists for chained products, followed on the host as the kernel follows them: which modes an entry
// is of, where it is stored, and that each is stored once.
#include "tests/catch.hpp"
#include <ossatura/kernels/pfem/stiffness/chained_schedule.hpp>

#include <array>

namespace {

using namespace ossatura;
using namespace ossatura::detail;

class FollowedChain {
public:
  std::vector<int> stored; ///< how often, by place in the packed lower triangle
  int wrong_places = 0, out_of_bounds = 0, wrong_tables = 0;

  FollowedChain(HexaSpace space, int order, int slots, int max_tiles)
      : width_(order + 1)
      , schedule_(make_chained_schedule(space, order, slots, max_tiles)) {
    const std::vector<HierarchicMode> modes = hierarchic_modes(space, order);
    for (auto& plane : mode_)
      for (auto& line : plane)
        line.fill(-1);
    for (std::size_t a = 0; a < modes.size(); ++a)
      mode_[modes[a].index[0]][modes[a].index[1]][modes[a].index[2]] = int(a);
    stored.assign(3 * modes.size() * (3 * modes.size() + 1) / 2, 0);
    for (const ChainedPass& pass : schedule_.pass) {
      out_of_bounds += pass.num_slots < 1 || pass.num_slots > slots;
      for (int number = pass.first_item; number < pass.first_item + pass.num_items; ++number)
        follow(pass, std::size_t(number));
    }
  }

private:
  int width_;
  ChainedSchedule schedule_;
  std::array<std::array<std::array<int, max_hexa_order + 1>, max_hexa_order + 1>,
             max_hexa_order + 1>
      mode_; ///< by indices, -1 where there is none

  void follow(const ChainedPass& pass, std::size_t number) {
    const ChainedItem& item = schedule_.item[number];
    if (item.slot < 0 || item.slot >= pass.num_slots || item.num_pairs > 16) {
      ++out_of_bounds;
      return;
    }
    for (std::size_t k = 0; k < 16; ++k)
      for (int n = item.first_tile; n < item.first_tile + item.num_tiles; ++n)
        for (const int row : schedule_.tile[std::size_t(n)].row)
          for (int cd = 0; cd < 9; ++cd)
            store(pass.slot[item.slot], item.row[k], row, cd / 3, cd % 3,
                  schedule_.pair[16 * number + k], int(k) < item.num_pairs);
  }

  void store(int first, int second, int third, int c, int d, const ChainedPair& pair, bool exists) {
    const int i3 = third / width_, j3 = third % width_;
    const ChainedPair at = pair.from_row(c);
    const ChainedEntry entry = ChainedEntry::of(i3, j3).column(d);
    if (!entry.is_in(at))
      return;
    wrong_tables += !exists;
    const int place = entry.place(at), i = 3 * mode(first / width_, second / width_, i3) + c,
              j = 3 * mode(first % width_, second % width_, j3) + d;
    wrong_places += i < 0 || j < 0 || j > i || place != i * (i + 1) / 2 + j || entry.row(at) != i ||
                    entry.column_of(at) != j;
    if (place >= 0 && place < int(stored.size()))
      ++stored[std::size_t(place)];
    else
      ++out_of_bounds;
  }

  /// Far below 0 if there is none.
  int mode(int i, int j, int k) const {
    if (i >= width_ || j >= width_ || k >= width_)
      return -1000;
    const int found = mode_[std::size_t(i)][std::size_t(j)][std::size_t(k)];
    return found < 0 ? -1000 : found;
  }
};

TEST_CASE("Tiles of chained products store each entry of the lower triangle once",
          "[chained_schedule]") {
  for (const HexaSpace space : {HexaSpace::trunk, HexaSpace::tensor})
    for (int order = 1; order <= max_hexa_order; ++order)
      for (const int slots : {1, 3, 4, max_chained_slots}) {
        const int max_tiles = slots == 1 ? 1 : slots == 3 ? 3 : 99;
        INFO(name_of(space) << ", order " << order << ", " << slots << " slots, " << max_tiles
                            << " tiles");
        const FollowedChain followed(space, order, slots, max_tiles);
        CHECK(followed.wrong_places == 0);
        CHECK(followed.wrong_tables == 0);
        CHECK(followed.out_of_bounds == 0);
        CHECK(std::size_t(std::count(followed.stored.begin(), followed.stored.end(), 1)) ==
              followed.stored.size());
      }
}

} // namespace
