// SPDX-License-Identifier: Apache-2.0
// A plan cuts the work of kernels/pfem/matrix_free/multiply.hpp: which modes sums go over, how many
// points and elements a team has at once, and where these are in its scratch memory.
#pragma once

#include <ossatura/core/parallel/lanes.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/pfem/hexa_batch.hpp>
#include <ossatura/kernels/pfem/matrix_free/layout.hpp>

#include <algorithm>
#include <vector>

namespace ossatura {

/// The ranges of the indices of modes: those of index[0] = i have places begin[i] .. begin[i + 1] -
/// 1 of pairs (index[0], index[1]), and a pair has modes first[pair] .. first[pair + 1] - 1.
template<class Exec>
struct ModeRanges {
  int num_pairs = 0;
  Array<int, Exec> range; ///< [order + 2] and [num_pairs + 1] one after the other
};

/// Throws std::invalid_argument unless the modes are lexicographic and each index has all values
/// from 0 to one that depends on those before it. Fences.
template<class Exec>
ModeRanges<Exec> make_mode_ranges(const Exec& exec, const HexaBatch<Exec>& batch) {
  const std::vector<int> mode = download(exec, batch.mode);
  std::vector<int> begin, first;
  int before[3] = {-1, 0, 0};
  for (int m = 0; m < batch.num_modes; ++m) {
    const int* const own = &mode[std::size_t(3 * m)];
    const bool new_line = own[0] == before[0] + 1, new_pair = own[1] == before[1] + 1;
    if (new_line)
      begin.push_back(int(first.size()));
    if (new_line || own[1] != before[1])
      first.push_back(m);
    OSSATURA_REQUIRE(new_line              ? own[1] == 0 && own[2] == 0
                     : own[0] != before[0] ? false
                     : new_pair            ? own[2] == 0
                                           : own[1] == before[1] && own[2] == before[2] + 1,
                     "mode " << m << " is out of order");
    std::copy(own, own + 3, before);
  }
  OSSATURA_REQUIRE(int(begin.size()) == batch.order + 1,
                   begin.size() << " functions along an axis for order " << batch.order);
  ModeRanges<Exec> ranges;
  ranges.num_pairs = int(first.size());
  begin.push_back(ranges.num_pairs);
  first.push_back(batch.num_modes);
  begin.insert(begin.end(), first.begin(), first.end());
  ranges.range = upload(exec, "ossatura::mode_ranges", begin);
  return ranges;
}

/// The cuts of the work; see plan_matrix_free.
struct MatrixFreePlan {
  int tile = 2;    ///< points of a line that a thread has
  int planes = 2;  ///< of points, at once
  int elems = 1;   ///< of a team: packs of them on cores
  int threads = 1; ///< of a team
};

/// The plan that should take the least time on a multiprocessor.
template<class Exec>
MatrixFreePlan plan_matrix_free(const HexaBatch<Exec>& batch, int num_pairs) {
  const int n = batch.points, ranges = batch.order + 3 + num_pairs;
  MatrixFreePlan plan;
  if constexpr (!BackendTraits<Exec>::is_device) {
    constexpr int cache = 256 * 1024; // of the widest vectors, so that sums are the same with all
    plan.tile = detail::host_tile;
    plan.planes = n;
    while (plan.planes > 1 && detail::MatrixFreeLayout(batch.order, n, batch.num_modes, num_pairs,
                                                       plan.planes, plan.tile)
                                      .bytes(n, ranges, 1, detail::batch_size) > cache)
      --plan.planes;
    return plan;
  } else {
    // Of a multiprocessor, a team of 48 KiB at most, of which Kokkos takes some.
    constexpr int chip_memory = 227 * 1024, team_memory = 48 * 1024, registers = 65536;
    constexpr int of_thread[] = {0, 0, 128, 168, 168, 232, 248}; // registers, for a tile
    const int parts = (n + 5) / 6;
    plan.tile = std::max(2, (n + parts - 1) / parts);
    const int per_line = (n + plan.tile - 1) / plan.tile;
    const auto up = [&](int count) { return (count + plan.tile - 1) / plan.tile * plan.tile; };
    double best = -1;
    for (int planes = n; planes >= 1; --planes) {
      const detail::MatrixFreeLayout at(batch.order, n, batch.num_modes, num_pairs, planes,
                                        plan.tile);
      const int groups = (n + planes - 1) / planes;
      for (int elems = 1; elems <= 16; ++elems) {
        const int lines = elems * n * planes * per_line, threads = (lines + 31) / 32 * 32;
        const int bytes = at.bytes(n, ranges, elems, 1) + 8 * (threads + 2);
        if (bytes > team_memory || threads > 256)
          break;
        const int teams = std::min(
            {chip_memory / (bytes + 1024), 32, registers / (of_thread[plan.tile] * threads)});
        // Operations of a group of planes: lines, with lanes that idle; other sums, with what tiles
        // compute in vain; barriers.
        const double line = double(threads) * plan.tile * (18 * (batch.order + 1) + 150);
        const double sums = 6.0 * batch.num_modes * (up(planes) + 1.5 * planes + 3) +
                            18.0 * num_pairs * up(n) * planes;
        const double time = groups * (line + elems * sums + 400.0 * threads) / elems;
        const int warps = teams * (threads / 32); // the more, the better waits are hidden
        const double rate = warps / (time * (warps + 8));
        if (rate > best) {
          best = rate;
          plan.planes = planes;
          plan.elems = elems;
          plan.threads = threads;
        }
      }
    }
    OSSATURA_REQUIRE(best > 0, "matrix-free: elements of " << batch.num_modes << " modes and " << n
                                                           << " points along an axis do not fit on "
                                                              "chip");
    return plan;
  }
}

/// Operations of a product with an element.
inline double flops_of_matrix_free(int order, int points, int num_modes, int num_pairs) {
  const double n = points;
  return 24 * num_modes * n + 36 * num_pairs * n * n + (36 * (order + 1) + 210) * n * n * n;
}

} // namespace ossatura
