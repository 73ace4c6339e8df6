// SPDX-License-Identifier: Apache-2.0
// A warp marches through a tile of the brick operator (operator.hpp) on a GPU.
//
// The warp has its tile alone: eight lanes along x, four groups of them along y, two rows of
// elements a thread. It fetches one plane of nodes after the other into a ring of four. What a
// thread keeps of a plane are sums and differences along x, of the three rows of edges of its two
// rows of elements, and as many sums of forces: 12 numbers a row of edges in place of the 24 of a
// row of elements. Elements are transformed along x, z and y, and back in the reverse order, so
// that rows of a thread share what they have in common. Forces for the next group and the next lane
// pass by shuffles, and nobody waits for another warp.
//
// The nodes of a plane are finished in the next layer, after that layer's loads from shared memory
// are issued: fewer registers, and no wait for either.
#pragma once

#include <ossatura/core/parallel/async_copy.hpp>
#include <ossatura/core/parallel/wide_teams.hpp>
#include <ossatura/kernels/algebra/fused_updates/fused.hpp>
#include <ossatura/kernels/algebra/reproducible_sums/integers.hpp>
#include <ossatura/kernels/bone/brick/tiles.hpp>
#include <ossatura/kernels/bone/element.hpp>
#include <ossatura/kernels/bone/lame_field.hpp>

namespace ossatura {

namespace detail {

/// The value of the lane `distance` below in the warp, all of whose lanes are here; the lowest get
/// their own.
template<class T>
KOKKOS_FORCEINLINE_FUNCTION T from_lane_below(T value, [[maybe_unused]] int distance) {
#if defined(__CUDA_ARCH__)
  return __shfl_up_sync(0xffffffffu, value, distance);
#else
  return value;
#endif
}

KOKKOS_FORCEINLINE_FUNCTION void sync_warp() {
#if defined(__CUDA_ARCH__)
  __syncwarp();
#endif
}

/// A column of nodes of the lattice that is read plane by plane, upwards.
struct NodeColumn {
  /// The words of a NodeBlock. A block that is asked for is not touched before it is taken, and all
  /// of its words are used then: else the compiler has the warp wait for it, or for the word left
  /// out, at once.
  struct alignas(16) Words {
    std::uint32_t low, high;
    std::int32_t begin, zero;
  };

  int block;               ///< index of its block in the lowest layer; -1 off the lattice
  std::uint32_t bit;       ///< of its node in a plane of a block
  std::uint32_t low, high; ///< mask of the block from the current plane on
  int begin;               ///< number of the first node of the current plane of the block
  Words next;              ///< the block above

  /// Starts to load the block at `from`.
  KOKKOS_FORCEINLINE_FUNCTION void ask(const NodeBlock* from) {
#if defined(__CUDA_ARCH__)
    const int4 words = __ldg(reinterpret_cast<const int4*>(from));
    next = {std::uint32_t(words.x), std::uint32_t(words.y), words.z, words.w};
#else
    next = {std::uint32_t(from->mask), std::uint32_t(from->mask >> 32), from->begin, from->zero};
#endif
  }
  /// Goes to the lowest plane of the block that was asked for.
  KOKKOS_FORCEINLINE_FUNCTION void take() {
    low = next.low;
    high = next.high;
    begin = next.begin + next.zero;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool has_node() const {
    return low & bit;
  }
  /// Number of the column's node in the current plane, if it has one.
  KOKKOS_FORCEINLINE_FUNCTION int node() const {
    return begin + count_ones(low & (bit - 1));
  }
  KOKKOS_FORCEINLINE_FUNCTION void step() {
    begin += count_ones(low & 0xffffu);
    low = low >> 16 | high << 16;
    high >>= 16;
  }
};

/// A kernel of wide teams (core/parallel/wide_teams.hpp): a warp for each tile.
template<class Exec, class Scalar, class Update, bool OneModulus>
struct MarchWarp {
  static constexpr int CX = BrickShape::columns_x, CY = BrickShape::columns_y; ///< elements
  static constexpr int R = 2;                                                  ///< rows a thread
  static constexpr int rim = CX + CY + 1; ///< nodes beyond the last row and column of elements
  /// Rows R apart then lie in different banks of shared memory, for both sizes of numbers.
  static constexpr int pitch = 12, plane_size = (CY + 1) * pitch;
  static constexpr int ring = 4; ///< planes kept at a time
  static constexpr int max_threads = 32;
  /// Bounds registers: 255 in double precision, 168 in single. (With 128, updates spill.)
  static constexpr int min_teams = sizeof(Scalar) == 8 ? 8 : 12;
  static constexpr int scratch_bytes =
      ring * plane_size * (3 * int(sizeof(Scalar)) + (OneModulus ? 8 : 12));
  static_assert(CX == 8 && CY == 8, "a warp is 8 lanes along x and 4 groups of 2 rows along y");

  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  Scalar lambda_scale, mu_scale;   ///< times the edge
  Array<NodeBlock, Exec> no_block; ///< [1] without nodes, for places off the lattice
  Array<Scalar, Exec> x;
  Array<BrickTile, Exec> tile;
  Update update;

  /// Plane z of nodes, with the elements above them, lies at place z % ring.
  struct Memory {
    Scalar* planes; ///< [ring][3][plane_size] displacements

    KOKKOS_FORCEINLINE_FUNCTION Scalar* plane(int z) const {
      return planes + (z & (ring - 1)) * 3 * plane_size;
    }
    /// [plane_size] of the element above a node.
    KOKKOS_FORCEINLINE_FUNCTION float* moduli(int z) const {
      return reinterpret_cast<float*>(planes + ring * 3 * plane_size) +
             (z & (ring - 1)) * plane_size;
    }
    KOKKOS_FORCEINLINE_FUNCTION float* lambdas(int z) const {
      return OneModulus ? moduli(z) : moduli(z) + ring * plane_size;
    }
    /// [plane_size] numbers of nodes that the tile finishes, else -1.
    KOKKOS_FORCEINLINE_FUNCTION int* nodes(int z) const {
      return reinterpret_cast<int*>(lambdas(z) + ring * plane_size);
    }
  };

  /// What a thread fetches. Its columns are not those of its elements: the rows of an instruction
  /// lie in few blocks of nodes, and in different banks.
  struct Fetched {
    NodeColumn own[R], beyond;
    int place[R], place_beyond;
    std::uint32_t finished[R]; ///< `bit` where the tile finishes the column's nodes, else 0
  };

  /// Of a thread's elements, by row of edges along x, sum or difference along x, and component.
  struct Kept {
    Scalar edge[2][R + 1][2][3];        ///< displacements, the lower and upper plane alternating
    Scalar force[R + 1][2][3];          ///< of the layer below, on the plane between
    Scalar low[R][2][3], low_top[2][3]; ///< all forces on the plane that is to be finished
    int node[R];                        ///< in that plane; -1 for none
  };
  using Sum = UpdateSum<Update>; ///< of a thread

  KOKKOS_FORCEINLINE_FUNCTION NodeColumn column(int gx, int gy) const {
    const bool inside = gx >= 0 && gy >= 0 && gx <= grid.shape[0] && gy <= grid.shape[1];
    return {inside ? (gx >> 2) + grid.num_blocks[0] * (gy >> 2) : -1,
            std::uint32_t(1) << ((gx & 3) + 4 * (gy & 3)),
            0,
            0,
            0,
            {0, 0, 0, 0}};
  }

  KOKKOS_FORCEINLINE_FUNCTION void ask(NodeColumn& c, int layer) const {
    const bool there = c.block >= 0 && layer >= 0 && layer < grid.num_blocks[2];
    c.ask(there ? grid.block.data() + c.block +
                      std::int64_t(grid.num_blocks[0]) * grid.num_blocks[1] * layer
                : no_block.data());
  }

  /// Place of the lowest node of a thread's elements in a plane.
  KOKKOS_FORCEINLINE_FUNCTION static int first_place(int lane) {
    return lane % CX + lane / CX * R * pitch;
  }

  /// Row of nodes that a lane fetches in slot s.
  KOKKOS_FORCEINLINE_FUNCTION static int fetched_row(int s, int group) {
    if (sizeof(Scalar) == 4)
      return s + R * group;
    return 4 * s + (group == 1 || group == 2 ? 3 - group : group);
  }

  /// Goes to plane z.
  KOKKOS_FORCEINLINE_FUNCTION void start_column(NodeColumn& c, int z) const {
    ask(c, z >> 2);
    c.take();
    for (int below = 0; below < (z & 3); ++below)
      c.step();
    if ((z & 3) == 3)
      ask(c, (z >> 2) + 1);
    else if ((z & 3) == 0)
      ask(c, z >> 2); // `fetch` takes it
  }

  KOKKOS_FORCEINLINE_FUNCTION void take_place(const BrickTile& t, int lane, Fetched& f) const {
    for (int s = 0; s < R; ++s) {
      const int qx = lane % CX, qy = fetched_row(s, lane / CX);
      f.own[s] = column(t.x - 1 + qx, t.y - 1 + qy);
      f.place[s] = qx + pitch * qy;
      f.finished[s] = qx > 0 && qy > 0 ? f.own[s].bit : 0;
      start_column(f.own[s], t.z_begin - 1);
    }
    const int q = lane < rim ? lane : 0;
    const int qx = q <= CY ? CX : q - CY - 1, qy = q <= CY ? q : CY;
    f.beyond = column(t.x - 1 + qx, t.y - 1 + qy);
    f.place_beyond = qx + pitch * qy;
    if (lane >= rim) { // writes zeros where nobody reads
      f.beyond.block = -1;
      f.place_beyond = CX + 1 + (lane - rim) % 3 + pitch * ((lane - rim) / 3);
    }
    start_column(f.beyond, t.z_begin - 1);
  }

  /// Starts to load plane z, one above the last, into its place of the ring. Asks for the next
  /// blocks two planes ahead.
  KOKKOS_FORCEINLINE_FUNCTION void fetch(const Memory& memory, Fetched& f, int z) const {
    if ((z & 3) == 0) {
      for (int s = 0; s < R; ++s)
        f.own[s].take();
      f.beyond.take();
    }
    if ((z & 3) == 2) {
      for (int s = 0; s < R; ++s)
        ask(f.own[s], (z >> 2) + 1);
      ask(f.beyond, (z >> 2) + 1);
    }
    for (int s = 0; s < R; ++s) {
      NodeColumn& c = f.own[s];
      const int n = c.node(), place = f.place[s];
      const bool there = c.has_node();
      start_strided_copies<3, plane_size>(memory.plane(z) + place, x.data() + 3 * std::int64_t(n),
                                          there);
      start_strided_copies<1, 1>(memory.moduli(z) + place, lame.mu_value.data() + n, there);
      if (!OneModulus)
        start_strided_copies<1, 1>(memory.lambdas(z) + place, lame.lambda_value.data() + n, there);
      memory.nodes(z)[place] = c.low & f.finished[s] && grid.owned.has(n) ? n : -1;
      c.step();
    }
    start_strided_copies<3, plane_size>(memory.plane(z) + f.place_beyond,
                                        x.data() + 3 * std::int64_t(f.beyond.node()),
                                        f.beyond.has_node());
    f.beyond.step();
  }

  /// Sums and differences along x of plane z.
  KOKKOS_FORCEINLINE_FUNCTION static void read_edges(const Memory& memory, int place, int z,
                                                     Scalar (&to)[R + 1][2][3]) {
    const Scalar* const from = memory.plane(z) + place;
    for (int r = 0; r <= R; ++r)
      for (int c = 0; c < 3; ++c) {
        to[r][0][c] = from[r * pitch + c * plane_size];
        to[r][1][c] = from[r * pitch + c * plane_size + 1];
        split(to[r][0][c], to[r][1][c]);
      }
  }

  KOKKOS_FORCEINLINE_FUNCTION void load_operands(const Kept& kept,
                                                 typename Update::Operands (&operands)[R]) const {
    for (int r = 0; r < R; ++r)
      if (kept.node[r] >= 0)
        operands[r] = update.load(kept.node[r]);
  }

  /// x in plane z, also where there is no node to finish: in a branch it would cost registers.
  KOKKOS_FORCEINLINE_FUNCTION static void read_nodes(const Memory& memory, int lane, int z,
                                                     Scalar (&to)[R][3]) {
    const Scalar* const from = memory.plane(z) + first_place(lane);
    for (int r = 0; r < R; ++r)
      for (int c = 0; c < 3; ++c)
        to[r][c] = from[r * pitch + c * plane_size];
  }

  /// Passes the forces on the plane to be finished to its nodes, and finishes these.
  KOKKOS_FORCEINLINE_FUNCTION void finish(int lane, Kept& kept,
                                          const typename Update::Operands (&operands)[R],
                                          const Scalar (&x_node)[R][3], Sum& sum) const {
    for (int i = 0; i < 2; ++i)
      for (int c = 0; c < 3; ++c) {
        const Scalar below = from_lane_below(kept.low_top[i][c], CX);
        if (lane >= CX)
          kept.low[0][i][c] += below;
      }
    for (int r = 0; r < R; ++r) {
      Scalar product[3];
      for (int c = 0; c < 3; ++c) {
        Scalar here = kept.low[r][0][c], right = kept.low[r][1][c];
        merge(here, right);
        product[c] = here + from_lane_below(right, 1);
      }
      if (kept.node[r] < 0)
        continue;
      // A copy, and arrays in place of a struct: otherwise nvcc spills up to 40 registers.
      const Scalar x_here[3] = {x_node[r][0], x_node[r][1], x_node[r][2]};
      finish_and_add(update, kept.node[r], operands[r], x_here, product, sum);
    }
  }

  /// Sums and differences along z of a row of edges; `edge[P]` is the upper plane's.
  template<int P>
  KOKKOS_FORCEINLINE_FUNCTION static void split_layer(const Kept& kept, int r,
                                                      Scalar (&to)[2][2][3]) {
    for (int i = 0; i < 2; ++i)
      for (int c = 0; c < 3; ++c) {
        to[i][0][c] = kept.edge[1 - P][r][i][c];
        to[i][1][c] = kept.edge[P][r][i][c];
        split(to[i][0][c], to[i][1][c]);
      }
  }

  /// Adds the forces [along x][along z] of the layer on a row of edges to those of the layer below:
  /// `low` gets all on the lower plane.
  KOKKOS_FORCEINLINE_FUNCTION static void add_layer(const Scalar (&forces)[2][2][3],
                                                    Scalar (&force)[2][3], Scalar (&low)[2][3]) {
    for (int i = 0; i < 2; ++i)
      for (int c = 0; c < 3; ++c) {
        low[i][c] = force[i][c] + (forces[i][0][c] - forces[i][1][c]);
        force[i][c] = forces[i][0][c] + forces[i][1][c];
      }
  }

  /// Multiplies an element whose rows of edges have `near` and `far` [along x][along z]; `forces`
  /// has the forces of the row before on the edges between, and gets all there; `on_far` gets those
  /// on the other.
  KOKKOS_FORCEINLINE_FUNCTION static void
  multiply(Scalar lambda, Scalar mu, const Scalar (&near)[2][2][3], const Scalar (&far)[2][2][3],
           Scalar (&forces)[2][2][3], Scalar (&on_far)[2][2][3]) {
    Scalar u[24];
    for (int i = 0; i < 2; ++i)
      for (int k = 0; k < 2; ++k)
        for (int c = 0; c < 3; ++c) {
          const int p = i + 4 * k;
          u[3 * p + c] = far[i][k][c] + near[i][k][c];
          u[3 * (p + 2) + c] = far[i][k][c] - near[i][k][c];
        }
    apply_mode_stiffness(lambda, mu, u);
    for (int i = 0; i < 2; ++i)
      for (int k = 0; k < 2; ++k)
        for (int c = 0; c < 3; ++c) {
          const Scalar odd = u[3 * (i + 4 * k + 2) + c];
          if (i + k == 0) { // translations carry nothing, which the compiler may not assume
            forces[i][k][c] -= odd;
            on_far[i][k][c] = odd;
          } else {
            const Scalar even = u[3 * (i + 4 * k) + c];
            forces[i][k][c] += even - odd;
            on_far[i][k][c] = even + odd;
          }
        }
  }

  /// Takes layer z, between the node planes z and z + 1, and finishes plane z - 1. `edge[P]` are
  /// those of the upper plane.
  template<int P>
  KOKKOS_FORCEINLINE_FUNCTION void advance(const Memory& memory, const BrickTile& t, int lane,
                                           Fetched& fetched, Kept& kept, int z, Sum& sum) const {
    typename Update::Operands operands[R];
    load_operands(kept, operands);
    wait_for_copies<1>(); // plane z + 1
    Scalar x_node[R][3];
    read_nodes(memory, lane, z - 1, x_node);
    sync_warp(); // nobody reads plane z - 1 any more
    if (z + 2 < t.z_end)
      fetch(memory, fetched, z + 3);
    commit_copies();
    const int place = first_place(lane);
    read_edges(memory, place, z + 1, kept.edge[P]);
    finish(lane, kept, operands, x_node, sum);
    for (int r = 0; r < R; ++r)
      kept.node[r] = z >= t.z_begin ? memory.nodes(z)[place + r * pitch] : -1;

    static_assert(R == 2, "the rows are spelled out: one array a row keeps them in registers");
    Scalar v0[2][2][3], v1[2][2][3], v2[2][2][3], on_0[2][2][3] = {}, on_1[2][2][3], on_2[2][2][3];
    split_layer<P>(kept, 0, v0);
    split_layer<P>(kept, 1, v1);
    const Scalar m0 = Scalar(memory.moduli(z)[place]), m1 = Scalar(memory.moduli(z)[place + pitch]);
    const Scalar l0 = OneModulus ? m0 : Scalar(memory.lambdas(z)[place]),
                 l1 = OneModulus ? m1 : Scalar(memory.lambdas(z)[place + pitch]);
    multiply(lambda_scale * l0, mu_scale * m0, v0, v1, on_0, on_1);
    add_layer(on_0, kept.force[0], kept.low[0]);
    split_layer<P>(kept, 2, v2);
    multiply(lambda_scale * l1, mu_scale * m1, v1, v2, on_1, on_2);
    add_layer(on_1, kept.force[1], kept.low[1]);
    add_layer(on_2, kept.force[2], kept.low_top);
  }

  KOKKOS_FUNCTION void operator()(const WideTeam& team) const {
    const Memory memory{reinterpret_cast<Scalar*>(team.scratch)};
    const int lane = team.rank;
    const BrickTile t = tile(team.league_rank);
    Fetched fetched;
    take_place(t, lane, fetched);
    for (int z = t.z_begin - 1; z < t.z_begin + 2; ++z) {
      if (z <= t.z_end)
        fetch(memory, fetched, z);
      commit_copies();
    }
    wait_for_copies<2>();
    sync_warp();
    Kept kept{};
    Sum sum{};
    for (int r = 0; r < R; ++r)
      kept.node[r] = -1;
    read_edges(memory, first_place(lane), t.z_begin - 1, kept.edge[0]);
    for (int z = t.z_begin - 1; z < t.z_end; z += 2) {
      advance<1>(memory, t, lane, fetched, kept, z, sum);
      if (z + 1 < t.z_end)
        advance<0>(memory, t, lane, fetched, kept, z + 1, sum);
    }
    typename Update::Operands operands[R];
    load_operands(kept, operands);
    Scalar x_node[R][3];
    read_nodes(memory, lane, t.z_end - 1, x_node);
    finish(lane, kept, operands, x_node, sum);
    if constexpr (SumsUp<Update>::value)
      store_sum(team, sum);
  }

private:
  KOKKOS_FORCEINLINE_FUNCTION void store_sum(const WideTeam& team, const Sum& sum) const {
    const Sum total = warp_total(sum);
    if (team.rank == 0)
      update.partial_sum[team.league_rank] = total;
  }
};

} // namespace detail

} // namespace ossatura
