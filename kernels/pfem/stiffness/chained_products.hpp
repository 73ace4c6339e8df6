// SPDX-License-Identifier: Apache-2.0
// Chained products form the stiffness by sum factorisation (kernels/pfem/stiffness/
// sum_factorised.hpp) with the fp64 matrix instructions of compute capability 9.0, 16 x 8 x 8. What
// a warp has summed along eta never leaves its registers: the accumulators of that product, rows of
// pairs of second indices and columns of points along zeta, are the left operand of the product
// along zeta as they stand, if the points along zeta are counted 0, 2, 4, 6, 1, 3, 5, 7.
//
//   along xi:   C, 45 numbers at each point, times the functions of pairs of first indices: A
//   along eta:  [16 pairs of second indices] x [points, derivatives] times A: S, of 3 of 9
//               components and 4 kinds of derivatives along zeta
//   along zeta: S times [points, derivatives] x [8 pairs of third indices]
//
// Four points, or those beyond eight, are shared by two components: an accumulator of two has a
// point of each, and instructions along zeta take two kinds of derivatives at a time. From p = 8 on
// C, three of nine components, is in memory and read once a pass.
//
// kernels/pfem/stiffness/tensor_cores.hpp, with S in scratch memory, is the form for order 1 and
// for other devices. A team forms a matrix; kernels/pfem/stiffness/chained_schedule.hpp lists what
// warps take from a queue. Deterministic: which warp takes what does not change an entry.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/parallel/wide_teams.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/pfem/hexa_point.hpp>
#include <ossatura/kernels/pfem/stiffness/chained_first_sums.hpp>
#include <ossatura/kernels/pfem/stiffness/chained_items.hpp>
#include <ossatura/kernels/pfem/stiffness/chained_schedule.hpp>
#include <ossatura/kernels/pfem/stiffness/chained_tables.hpp>
#include <ossatura/kernels/pfem/stiffness/pulled_back.hpp>

#include <algorithm>
#include <cstdint>

namespace ossatura::detail {

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)

template<int P>
struct FormChainedProducts {
  using Layout = ChainedLayout<P>;
  static constexpr int N = P + 1, plane = N * N;
  static constexpr int warps = Layout::warps, slots = Layout::slots;
  static constexpr bool by_row = Layout::by_row;
  static constexpr int max_threads = 32 * warps, min_teams = Layout::shape.teams;
  static constexpr int filled = Layout::filled;
  static constexpr int point_batches = (plane * N + 31) / 32;

  HexaBatchPointers batch;
  ArrayPointer<double> pulled;           ///< C of the teams, [teams, c_size], or none: in scratch
  ArrayPointer<const double> xi_table;   ///< [plane, 4, filled] products, by derivatives of i, j
  ArrayPointer<const double> eta_table;  ///< [plane, eta_stride]
  ArrayPointer<const double> zeta_table; ///< [zeta_rows, zeta_stride]
  ArrayPointer<const ChainedPass> pass;
  ChainedFirstSums<P> first;
  ChainedItems<P> items;
  int num_passes;
  std::int64_t first_elem, num_elem;

  /// C at point q, of row `component` of components if they are one after the other.
  __device__ void pull_back(std::int64_t e, int q, int component, double* c_of) const {
    if constexpr (by_row) {
      if (component == 0)
        pull_back<0>(e, q, c_of);
      else if (component == 1)
        pull_back<1>(e, q, c_of);
      else
        pull_back<2>(e, q, c_of);
    } else {
      pull_back<-1>(e, q, c_of);
    }
  }

  /// Row: of components, or -1 for all.
  template<int Row>
  __device__ void pull_back(std::int64_t e, int q, double* c_of) const {
    const double* const from = batch.elasticity(e, q);
    double d_upper[elasticity_entries]; // under way while the map is worked out
#pragma unroll
    for (int i = 0; i < elasticity_entries; ++i)
      d_upper[i] = __ldcs(from + i); // lists are to stay in the cache instead
    const HexaPoint point = batch.point(e, q);
    const int xi = q / plane, in_plane = q % plane;
    pull_back_elasticity<Row>(point, d_upper, [&](int k, int l, int c, int d, double x) {
      const int row = Row < 0 ? Layout::c_row(k, l, c, d) : Layout::c_row(k, l, d);
      c_of[Layout::c_place(xi, row + in_plane)] = x;
    });
  }

  __device__ void fetch_tables(const WideTeam& team, const ChainedScratch<P>& at,
                               int number) const {
    const ChainedPass& now = pass(number);
    team.each(4 * filled * now.num_slots, [&](int i) {
      at.xi()[i / (4 * filled) * Layout::xi_stride + i % (4 * filled)] =
          xi_table(4 * filled * now.slot[i / (4 * filled)] + i % (4 * filled));
    });
  }

  /// By one thread.
  __device__ void set_turn(const WideTeam& team, volatile ChainedTurn& turn, std::int64_t matrix,
                           int component, int number) const {
    const ChainedPass& now = pass(number);
    const bool makes_next = number + 1 == num_passes && (component + 1 < Layout::sweeps ||
                                                         matrix + team.league_size < num_elem);
    turn.matrix = matrix;
    turn.component = component;
    turn.number = number;
    turn.num_slots = now.num_slots;
    turn.first_item = now.first_item;
    turn.num_batches = makes_next ? point_batches : 0;
    turn.num_tasks = (makes_next ? point_batches : 0) + (by_row ? 1 : 3) * now.num_items;
    turn.next = 0;
  }

  /// By one thread: what comes after `turn`.
  __device__ void set_next(const WideTeam& team, const volatile ChainedTurn& turn,
                           volatile ChainedTurn& next) const {
    const bool same_c = turn.number + 1 < num_passes,
               same_matrix = same_c || turn.component + 1 < Layout::sweeps;
    set_turn(team, next, turn.matrix + (same_matrix ? 0 : team.league_size),
             same_c        ? turn.component
             : same_matrix ? turn.component + 1
                           : 0,
             same_c ? turn.number + 1 : 0);
  }

  /// What is read before it is written is 0, what the products are not to see is finite.
  __device__ void prepare(const WideTeam& team, const ChainedScratch<P>& at) const {
    team.each(slots * Layout::a_size, [&](int i) { at.a()[i] = 0; });
    team.each(Layout::c_size, [&](int i) { at.c()[i] = 0; });
    team.each(plane * Layout::eta_stride, [&](int i) { at.eta()[i] = eta_table(i); });
    team.each(Layout::zeta_rows * Layout::zeta_stride,
              [&](int i) { at.zeta()[i] = zeta_table(i); });
    if (!Layout::c_in_memory)
      team.each(Layout::c_rows, [&](int i) { at.place()[i] = first.place(i); });
    team.each(plane + 1, [&](int i) { at.third()[i] = ChainedEntry::of(i / N, i % N); });
    if (Layout::folded)
      team.each(plane + 1, [&](int i) { at.folded_row()[i] = Layout::folded_row(i / N, i % N); });
    team.each(32, [&](int i) { const_cast<unsigned*>(at.numbers())[i] = items.numbers_of(i); });
    fetch_tables(team, at, 0);
    if (team.rank == 0)
      set_turn(team, at.turn()[0], team.league_rank, 0, 0);
    team.barrier();
    team.each(N * plane, [&](int q) { pull_back(first_elem + team.league_rank, q, 0, at.c()); });
    team.barrier();
  }

  /// The next task, the same for all lanes.
  __device__ static int take(volatile ChainedTurn& turn, int lane) {
    int taken = 0;
    if (lane == 0)
      taken = atomicAdd(const_cast<int*>(&turn.next), 1);
    return __shfl_sync(0xffffffffu, taken, 0);
  }

  __device__ void run_task(const WideTeam& team, const ChainedScratch<P>& at,
                           const volatile ChainedTurn& turn, int task, int lane) const {
    const int batches = turn.num_batches;
    if (task < batches) {
      const bool same = turn.component + 1 < Layout::sweeps;
      const int q = 32 * task + lane;
      if (q < N * plane)
        pull_back(first_elem + turn.matrix + (same ? 0 : team.league_size), q,
                  same ? turn.component + 1 : 0, at.c());
      __syncwarp();
    } else {
      const int item = task - batches;
      items.form(at, turn.first_item + (by_row ? item : item / 3),
                 by_row ? turn.component : item % 3, turn, lane);
    }
  }

  /// A league has no more teams than there are elements.
  __device__ void operator()(const WideTeam& team) const {
    const int lane = team.rank % 32, warp = team.rank / 32;
    const ChainedScratch<P> at{team.scratch,
                               Layout::c_in_memory ? pulled.data + team.league_rank * Layout::c_size
                                                   : nullptr,
                               208 * warp};
    prepare(team, at);
    typename ChainedFirstSums<P>::Fetched begun;
    first.begin(at, warp, lane, begun);
    for (int k = 0; at.turn()[k].matrix < num_elem; k = 1 - k) {
      volatile ChainedTurn& turn = at.turn()[k];
      first.sum(at, turn.num_slots, warp, lane, begun);
      team.barrier();
      fetch_tables(team, at, turn.number + 1 == num_passes ? 0 : turn.number + 1);
      if (team.rank == 0)
        set_next(team, turn, at.turn()[1 - k]);
      for (int task = take(turn, lane); task < turn.num_tasks; task = take(turn, lane))
        run_task(team, at, turn, task, lane);
      const bool same_c = turn.number + 1 < num_passes;
      begun = {};
      if (same_c)
        first.begin(at, warp, lane, begun);
      team.barrier();
      if (!same_c)
        first.begin(at, warp, lane, begun);
    }
  }
};

/// The tables of a space and an order, on the device. P: the order.
template<int P>
struct ChainedPlan {
  using Kernel = FormChainedProducts<P>;
  static constexpr std::size_t scratch_bytes = sizeof(double) * ChainedLayout<P>::scratch_doubles;
  static_assert((scratch_bytes + 1024) * Kernel::min_teams <= 228 * 1024,
                "the scratch of the teams of a multiprocessor");

  Array<double, Cuda> xi, eta, zeta;
  Array<typename ChainedLayout<P>::Place, Cuda> place;
  Array<ChainedPass, Cuda> pass;
  Array<ChainedItem, Cuda> item;
  Array<ChainedPair, Cuda> pair;
  Array<ChainedTile, Cuda> tile;

  /// Fences.
  ChainedPlan(const Cuda& exec, HexaSpace space, ModeScaling scaling) {
    const ChainedSchedule schedule =
        make_chained_schedule(space, P, Kernel::slots, ChainedLayout<P>::shape.max_tiles);
    const ChainedTables<P> tables(make_basis_tables(P, P + 1, scaling));
    xi = upload(exec, "ossatura::chained_products::xi", tables.xi);
    eta = upload(exec, "ossatura::chained_products::eta", tables.eta);
    zeta = upload(exec, "ossatura::chained_products::zeta", tables.zeta);
    place = upload(exec, "ossatura::chained_products::place", tables.place);
    pass = upload(exec, "ossatura::chained_products::pass", schedule.pass);
    item = upload(exec, "ossatura::chained_products::item", schedule.item);
    pair = upload(exec, "ossatura::chained_products::pair", schedule.pair);
    tile = upload(exec, "ossatura::chained_products::tile", schedule.tile);
  }

  /// Matrices of the elements begin .. end - 1. Does not fence, except to free C where that is in
  /// memory.
  void form(const Cuda& exec, const HexaBatch<Cuda>& batch, MatrixStorage storage,
            std::int64_t begin, std::int64_t end, const Array<double, Cuda>& matrix) const {
    const std::int64_t league =
        std::min(end - begin, wide_team_concurrency(exec, Kernel::min_teams));
    Array<double, Cuda> pulled;
    if (Kernel::Layout::c_in_memory)
      pulled = make_uninitialized<double>(exec, league * Kernel::Layout::c_size,
                                          "ossatura::chained_products::c");
    const Kernel kernel{HexaBatchPointers(batch),
                        pulled,
                        xi,
                        eta,
                        zeta,
                        pass,
                        {place},
                        {StiffnessOutput(matrix, storage, batch.num_dofs()), item, pair, tile, 0},
                        int(pass.extent(0)),
                        begin,
                        end - begin};
    launch_wide_teams("ossatura::form_chained_products", exec, league, Kernel::max_threads,
                      scratch_bytes, kernel);
  }
};

#endif

} // namespace ossatura::detail
