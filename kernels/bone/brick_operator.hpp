// SPDX-License-Identifier: Apache-2.0
// The brick operator computes the stiffness product of voxels by marching through z with tiles
// ("bricks") of voxels.
//
// A tile is a few columns of elements each way. A team fetches one plane of nodes after the other,
// transforms it in the plane (kernels/bone/element.hpp: the Hadamard transform factorises by
// axis), combines it with the plane before along z, multiplies the 45 coefficients of each element
// by its moduli, and transforms back; a node plane is finished when the layer above it is. Each
// node is read once per tile, an element's forces never leave the team, and tiles overlap by one
// row of elements, so that every node is finished by one tile: no atomics, a fixed order of
// additions, bitwise reproducible for any number of threads. Only runs of planes that hold nodes
// are visited; their list takes 16 bytes per run of some 10^3 nodes, and nothing else is stored.
//
// The source is the same on devices and cores: there a thread is a lane of a row, here one thread
// takes all rows, with the lanes in vector registers (core/parallel/lanes.hpp).
#pragma once

#include <ossatura/core/parallel/async_copy.hpp>
#include <ossatura/core/parallel/lanes.hpp>
#include <ossatura/kernels/algebra/fused_updates.hpp>
#include <ossatura/kernels/bone/element.hpp>
#include <ossatura/kernels/bone/lame_field.hpp>

#include <type_traits>

namespace ossatura {

namespace detail {

/// A run of node planes of one tile column.
struct alignas(16) BrickTile {
  int x, y;           ///< first node that the tile finishes; its elements begin one column below
  int z_begin, z_end; ///< node planes to finish
};

/// Columns of elements of a tile, one more each way than columns of nodes that it finishes, and how
/// many of them one thread takes. Large tiles repeat less at their seams, small ones waste less on
/// void: docs/performance/bone.md has the choices measured.
template<class Exec, class Scalar>
struct BrickShape {
  static constexpr bool device = BackendTraits<Exec>::is_device;
  static constexpr int columns_x = 8, columns_y = 8;
  static constexpr int lanes = device ? 1 : columns_x; ///< of a row that one thread takes
  static constexpr int rows = device ? 1 : columns_y;
  static constexpr int planes = 32;                              ///< of nodes per tile, at most 64
  static constexpr int min_teams = sizeof(Scalar) == 4 ? 10 : 6; ///< bounds registers by threads
};

/// Pitch of a plane of columns in which the rows that are read together, `rows` apart, fall on
/// different ones of the `banks` words that team memory gives at a time.
constexpr int bank_pitch(int columns, int rows, int banks) {
  int pitch = columns + 1;
  while (columns < banks && rows * pitch % banks != columns % banks &&
         rows * pitch % banks != banks - columns)
    ++pitch;
  return pitch;
}

template<class Exec, class Scalar, class Update, bool OneModulus, class Shape>
struct MarchTiles {
  static constexpr int CX = Shape::columns_x, CY = Shape::columns_y;
  static constexpr int W = Shape::lanes, R = Shape::rows;
  static constexpr int threads_x = CX / W, threads_y = CY / R, team_size = threads_x * threads_y;
  static constexpr int pitch = W == 1 ? bank_pitch(CX, R, 128 / int(sizeof(Scalar))) : CX + 1,
                       plane_size = (CY + 1) * pitch;
  static constexpr int rim_slots = (CX + CY + 1 + team_size - 1) / team_size;
  static constexpr int columns = CX * CY, exchange_pitch = CX * threads_y,
                       exchange_size = (3 * R + 6) * exchange_pitch;
  static constexpr int ring = 4; ///< planes kept at a time
  static constexpr int scratch_bytes =
      (ring * 3 * plane_size + 2 * exchange_size) * int(sizeof(Scalar)) +
      ring * columns * (OneModulus ? 8 : 12);
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<team_size, Shape::min_teams>>;
  using Member = typename Policy::member_type;
  using Pack = ossatura::Pack<Scalar, W>;

  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  Scalar lambda_scale, mu_scale; ///< times the edge
  Array<Scalar, Exec> x;
  Array<BrickTile, Exec> tile;
  Update update;

  /// A column of nodes of the lattice that is read plane by plane, upwards.
  struct Column {
    int block; ///< index of the column's block in the lowest layer; -1 off the lattice
    int bit;   ///< place in a plane of a block
    std::uint64_t mask, next_mask;
    int begin, next_begin; ///< number of the first node of the current plane of the block
  };

  KOKKOS_FORCEINLINE_FUNCTION Column column(int gx, int gy) const {
    const bool inside = gx >= 0 && gy >= 0 && gx <= grid.shape[0] && gy <= grid.shape[1];
    return {inside ? (gx >> 2) + grid.num_blocks[0] * (gy >> 2) : -1,
            (gx & 3) + 4 * (gy & 3),
            0,
            0,
            0,
            0};
  }

  KOKKOS_FORCEINLINE_FUNCTION void load_block(const Column& c, int layer, std::uint64_t& mask,
                                              int& begin) const {
    mask = 0;
    if (c.block >= 0 && layer >= 0 && layer < grid.num_blocks[2]) {
      const NodeBlock b =
          grid.block(c.block + std::int64_t(grid.num_blocks[0]) * grid.num_blocks[1] * layer);
      mask = b.mask;
      begin = b.begin;
    }
  }

  /// The column's node in plane z, which is one above the last asked for; -1 if there is none. Asks
  /// for the next block two planes ahead.
  KOKKOS_FORCEINLINE_FUNCTION int next_node(Column& c, int z, bool first) const {
    const int local_z = z & 3;
    if (first) {
      load_block(c, z >> 2, c.mask, c.begin);
      if (local_z > 0)
        c.begin += count_ones(c.mask & ((std::uint64_t(1) << 16 * local_z) - 1));
    } else if (local_z == 0) {
      c.mask = c.next_mask;
      c.begin = c.next_begin;
    }
    if (local_z == 2 || (first && local_z == 3))
      load_block(c, (z >> 2) + 1, c.next_mask, c.next_begin);
    const std::uint32_t plane = std::uint32_t(c.mask >> 16 * local_z) & 0xffffu;
    const int node =
        plane >> c.bit & 1 ? c.begin + count_ones(plane & ((std::uint32_t(1) << c.bit) - 1)) : -1;
    c.begin += count_ones(plane);
    return node;
  }

  /// A team shares this memory: plane z of nodes, with its elements, lies at place z % ring.
  struct TeamMemory {
    Scalar* planes;          ///< [ring][3][plane_size] displacements
    Scalar* exchange;        ///< [2][3 R + 6][exchange_pitch] forces for neighbouring threads
    float *moduli, *lambdas; ///< [ring][columns] of the element above a node
    int* nodes;              ///< [ring][columns] -1 where there is none

    KOKKOS_FORCEINLINE_FUNCTION explicit TeamMemory(const Member& team)
        : planes(static_cast<Scalar*>(team.team_shmem().get_shmem_aligned(int(scratch_bytes), 16)))
        , exchange(planes + ring * 3 * plane_size)
        , moduli(reinterpret_cast<float*>(exchange + 2 * exchange_size))
        , lambdas(OneModulus ? moduli : moduli + ring * columns)
        , nodes(reinterpret_cast<int*>(lambdas + ring * columns)) {}

    KOKKOS_FORCEINLINE_FUNCTION Scalar* plane(int z) const {
      return planes + (z & (ring - 1)) * 3 * plane_size;
    }
    /// Index of the plane's first column in moduli, lambdas and nodes.
    KOKKOS_FORCEINLINE_FUNCTION static int first_column(int z) {
      return (z & (ring - 1)) * columns;
    }
  };

  /// A thread keeps its place and these arrays while it marches; on devices, in registers. They are
  /// two variables because compilers take one with arrays apart only when all loops are unrolled:
  /// numbers beside the arrays would miss what is optimised before, and cost up to 4 % of the
  /// instructions.
  struct Kept {
    Column own[R][W];
    Column rim[rim_slots]; ///< its part of the rim beyond the tile's last row and column
    int rim_place[rim_slots];
    Pack modes[2][R][4][3]; ///< in the lower and the upper plane, alternating
    Pack force[R][4][3];    ///< of the layer below, on the lower plane, by mode
  };
  struct Thread {
    Kept& kept;
    BrickTile tile;
    int rank, lane, row_group, row; ///< `lane` and `row` of the first of its columns
  };

  /// A thread of one lane finishes `num_finishing` nodes with a layer; their updates load operands
  /// early.
  struct Finishing {
    int node;
    typename Update::Operands operands;
  };
  static constexpr int num_finishing = W == 1 ? R : 1;

  KOKKOS_FORCEINLINE_FUNCTION Thread take_place(const Member& team, Kept& kept) const {
    const int rank = team.team_rank(), row_group = rank / threads_x;
    const Thread t{kept,         tile(team.league_rank()), rank, W * (rank % threads_x), row_group,
                   R * row_group};
    for (int r = 0; r < R; ++r)
      for (int w = 0; w < W; ++w)
        t.kept.own[r][w] = column(t.tile.x - 1 + t.lane + w, t.tile.y - 1 + t.row + r);
    for (int s = 0; s < rim_slots; ++s) {
      const int q = t.rank + s * team_size;
      const int qx = q <= CY ? CX : q - CY - 1, qy = q <= CY ? q : CY;
      t.kept.rim_place[s] = q < CX + CY + 1 ? qx + pitch * qy : -1;
      t.kept.rim[s] = t.kept.rim_place[s] >= 0 ? column(t.tile.x - 1 + qx, t.tile.y - 1 + qy)
                                               : Column{-1, 0, 0, 0, 0, 0};
    }
    for (int r = 0; r < R; ++r)
      for (int p = 0; p < 4; ++p)
        for (int c = 0; c < 3; ++c)
          t.kept.force[r][p][c] = Pack(Scalar(0));
    return t;
  }

  /// Starts to load plane z into its place of the ring.
  KOKKOS_INLINE_FUNCTION void load_plane(const TeamMemory& memory, const Thread& t, int z,
                                         bool first) const {
    Scalar* const plane = memory.plane(z);
    const int columns_of = memory.first_column(z);
    for (int r = 0; r < R; ++r)
      for (int w = 0; w < W; ++w) {
        const int n = next_node(t.kept.own[r][w], z, first);
        const bool valid = n >= 0;
        const Scalar* const from = x.data() + (valid ? 3 * std::int64_t(n) : 0);
        for (int c = 0; c < 3; ++c)
          start_copy(plane + c * plane_size + (t.row + r) * pitch + t.lane + w, from + c, valid);
        const int column_of = columns_of + (t.row + r) * CX + t.lane + w;
        start_copy(memory.moduli + column_of, lame.mu_value.data() + (valid ? n : 0), valid);
        if (!OneModulus)
          start_copy(memory.lambdas + column_of, lame.lambda_value.data() + (valid ? n : 0), valid);
        memory.nodes[column_of] = n;
      }
    for (int s = 0; s < rim_slots; ++s) {
      if (t.kept.rim_place[s] < 0)
        continue;
      const int n = next_node(t.kept.rim[s], z, first);
      const Scalar* const from = x.data() + (n >= 0 ? 3 * std::int64_t(n) : 0);
      for (int c = 0; c < 3; ++c)
        start_copy(plane + c * plane_size + t.kept.rim_place[s], from + c, n >= 0);
    }
  }

  /// Transforms plane z: to[r][p][c], p = 0..3, is the transform in the plane of column r.
  KOKKOS_INLINE_FUNCTION void transform_plane(const TeamMemory& memory, const Thread& t, int z,
                                              Pack (&to)[R][4][3]) const {
    for (int c = 0; c < 3; ++c) {
      const Scalar* first = memory.plane(z) + c * plane_size + t.row * pitch + t.lane;
      Pack sum = load_pack<W>(first), difference = load_pack<W>(first + 1);
      split(sum, difference);
      for (int r = 0; r < R; ++r) {
        Pack next_sum = load_pack<W>(first + (r + 1) * pitch),
             next_difference = load_pack<W>(first + (r + 1) * pitch + 1);
        split(next_sum, next_difference);
        to[r][0][c] = next_sum + sum;
        to[r][1][c] = next_difference + difference;
        to[r][2][c] = next_sum - sum;
        to[r][3][c] = next_difference - difference;
        sum = next_sum;
        difference = next_difference;
      }
    }
  }

  /// Finds the nodes of plane z that the thread finishes, and starts to load for their updates.
  KOKKOS_FORCEINLINE_FUNCTION void load_finishing(const TeamMemory& memory, const Thread& t, int z,
                                                  Finishing (&finishing)[num_finishing]) const {
    const int column_of = memory.first_column(z) + t.row * CX + t.lane;
    for (int r = 0; r < R; ++r) {
      finishing[r].node = z >= t.tile.z_begin && t.lane > 0 && t.row + r > 0
                              ? memory.nodes[column_of + r * CX]
                              : -1;
      if (finishing[r].node >= 0)
        finishing[r].operands = update.load(finishing[r].node);
    }
  }

  /// Multiplies the elements of layer z; low[r][p][c] gets all forces on its lower plane, by mode.
  /// `P` as for `advance`.
  template<int P>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(const TeamMemory& memory, const Thread& t, int z,
                                            Pack (&low)[R][4][3]) const {
    const int column_of = memory.first_column(z) + t.row * CX + t.lane;
    for (int r = 0; r < R; ++r) {
      Pack m, l;
      if constexpr (W == 1) {
        m = Scalar(memory.moduli[column_of + r * CX]);
        l = OneModulus ? m : Scalar(memory.lambdas[column_of + r * CX]);
      } else {
        for (int w = 0; w < W; ++w) {
          m.value[w] = Scalar(memory.moduli[column_of + r * CX + w]);
          l.value[w] = Scalar(memory.lambdas[column_of + r * CX + w]);
        }
      }
      Pack u[24];
      for (int p = 0; p < 4; ++p)
        for (int c = 0; c < 3; ++c) {
          u[3 * p + c] = t.kept.modes[P][r][p][c] + t.kept.modes[1 - P][r][p][c];
          u[12 + 3 * p + c] = t.kept.modes[P][r][p][c] - t.kept.modes[1 - P][r][p][c];
        }
      apply_mode_stiffness(Pack(lambda_scale) * l, Pack(mu_scale) * m, u);
      for (int p = 0; p < 4; ++p)
        for (int c = 0; c < 3; ++c) {
          low[r][p][c] = t.kept.force[r][p][c] + u[3 * p + c] - u[12 + 3 * p + c];
          t.kept.force[r][p][c] = u[3 * p + c] + u[12 + 3 * p + c];
        }
    }
  }

  /// Transforms back in the plane. `here` is what the thread's columns give to nodes of its own
  /// lanes; `to`, its place in the exchange, gets the rest: for the lane beyond and for the row
  /// group beyond.
  KOKKOS_FORCEINLINE_FUNCTION static void transform_back(const Pack (&low)[R][4][3], Scalar* to,
                                                         Pack (&here)[R][3]) {
    for (int c = 0; c < 3; ++c) {
      Pack sum = Pack(Scalar(0)), difference = Pack(Scalar(0));
      for (int r = 0; r < R; ++r) {
        const Pack low_sum = sum + (low[r][0][c] - low[r][2][c]);
        const Pack low_difference = difference + (low[r][1][c] - low[r][3][c]);
        sum = low[r][0][c] + low[r][2][c];
        difference = low[r][1][c] + low[r][3][c];
        here[r][c] = low_sum - low_difference;
        store_pack<W>(to + (3 * r + c) * exchange_pitch, low_sum + low_difference);
      }
      store_pack<W>(to + (3 * R + c) * exchange_pitch, sum - difference);
      store_pack<W>(to + (3 * R + 3 + c) * exchange_pitch, sum + difference);
    }
  }

  /// Finishes the thread's nodes of plane z; around `exchanged`, the thread's place in the
  /// exchange, are the forces of its neighbours.
  KOKKOS_FORCEINLINE_FUNCTION void store(const TeamMemory& memory, const Thread& t, int z,
                                         const Pack (&here)[R][3], const Scalar* exchanged,
                                         const Finishing (&finishing)[num_finishing]) const {
    const int column_of = memory.first_column(z) + t.row * CX + t.lane;
    for (int r = 0; r < R; ++r)
      for (int w = 0; w < W; ++w) {
        int n;
        if constexpr (W == 1)
          n = finishing[r].node;
        else
          n = t.lane + w > 0 && t.row + r > 0 ? memory.nodes[column_of + r * CX + w] : -1;
        if (n < 0)
          continue;
        Scalar sum[3];
        for (int c = 0; c < 3; ++c) {
          const Scalar* const from = exchanged + w - 1;
          Scalar s;
          if constexpr (W == 1)
            s = here[r][c];
          else
            s = here[r][c].value[w];
          s += from[(3 * r + c) * exchange_pitch];
          if (r == 0)
            s += from[(3 * R + c) * exchange_pitch - CX + 1] +
                 from[(3 * R + 3 + c) * exchange_pitch - CX];
          sum[c] = s;
        }
        const Scalar* const here_x = memory.plane(z) + (t.row + r) * pitch + t.lane + w;
        const Scalar x_node[3] = {here_x[0], here_x[plane_size], here_x[2 * plane_size]};
        if constexpr (W == 1)
          update.finish(n, finishing[r].operands, x_node, sum);
        else
          update.finish(n, update.load(n), x_node, sum);
      }
  }

  /// Takes layer z, between the node planes z and z + 1, and finishes plane z. `modes[P]` are
  /// those of the upper plane.
  template<int P>
  KOKKOS_FORCEINLINE_FUNCTION void advance(const Member& team, const TeamMemory& memory,
                                           const Thread& t, int z) const {
    if (z + 2 < t.tile.z_end)
      load_plane(memory, t, z + 3, false);
    commit_copies();
    Finishing finishing[num_finishing];
    if constexpr (W == 1)
      load_finishing(memory, t, z, finishing);
    transform_plane(memory, t, z + 1, t.kept.modes[P]);
    Pack low[R][4][3], here[R][3];
    multiply<P>(memory, t, z, low);
    Scalar* const exchanged = memory.exchange + P * exchange_size + t.row_group * CX + t.lane;
    transform_back(low, exchanged, here);
    wait_for_copies<1>(); // plane z + 2
    team.team_barrier();
    if (z >= t.tile.z_begin)
      store(memory, t, z, here, exchanged, finishing);
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const TeamMemory memory(team);
    Kept kept;
    const Thread t = take_place(team, kept);
    const int z_begin = t.tile.z_begin, z_end = t.tile.z_end;
    for (int z = z_begin - 1; z < z_begin + 2; ++z) {
      if (z <= z_end)
        load_plane(memory, t, z, z == z_begin - 1);
      commit_copies();
    }
    wait_for_copies<1>();
    team.team_barrier();
    transform_plane(memory, t, z_begin - 1, t.kept.modes[0]);
    if constexpr (W == 1) {
      for (int z = z_begin - 1; z < z_end; z += 2) {
        advance<1>(team, memory, t, z);
        if (z + 1 < z_end)
          advance<0>(team, memory, t, z + 1);
      }
    } else { // half the code; the copy is cheap where arrays are not registers
      for (int z = z_begin - 1; z < z_end; ++z) {
        advance<1>(team, memory, t, z);
        for (int r = 0; r < R; ++r)
          for (int p = 0; p < 4; ++p)
            for (int c = 0; c < 3; ++c)
              t.kept.modes[0][r][p][c] = t.kept.modes[1][r][p][c];
      }
    }
  }
};

/// Lists the runs of planes that hold nodes of a tile column; writes them in the second pass.
template<class Exec>
struct ListTiles {
  VoxelGrid<Exec> grid;
  int step_x, step_y, planes; ///< nodes that a tile finishes
  int tiles_x, tiles_y;
  bool write;
  Array<BrickTile, Exec> tile;

  /// Bit i: the plane z + i of the tile's window holds a node.
  KOKKOS_FUNCTION std::uint64_t occupied_planes(int x, int y, int z) const {
    const int x_end = Kokkos::min(x + step_x, grid.shape[0] + 1),
              y_end = Kokkos::min(y + step_y, grid.shape[1] + 1),
              z_end = Kokkos::min(z + planes, grid.shape[2] + 1);
    std::uint64_t occupied = 0;
    for (int by = y / 4; by <= (y_end - 1) / 4; ++by)
      for (int bx = x / 4; bx <= (x_end - 1) / 4; ++bx) {
        std::uint64_t window = 0;
        for (int ly = Kokkos::max(y - 4 * by, 0); ly < Kokkos::min(y_end - 4 * by, 4); ++ly)
          for (int lx = Kokkos::max(x - 4 * bx, 0); lx < Kokkos::min(x_end - 4 * bx, 4); ++lx)
            window |= std::uint64_t(1) << (lx + 4 * ly);
        for (int bz = z / 4; bz <= (z_end - 1) / 4; ++bz) {
          const std::uint64_t mask =
              grid.block(bx + grid.num_blocks[0] * (by + std::int64_t(grid.num_blocks[1]) * bz))
                  .mask;
          for (int lz = 0; lz < 4; ++lz)
            if (mask >> 16 * lz & window)
              occupied |= std::uint64_t(1) << (4 * bz + lz - z);
        }
      }
    return occupied;
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum, bool final) const {
    const int x = step_x * int(i % tiles_x), y = step_y * int(i / tiles_x % tiles_y),
              z = planes * int(i / tiles_x / tiles_y);
    const std::uint64_t occupied = occupied_planes(x, y, z);
    int begin = 0;
    while (begin < planes) {
      if (!(occupied >> begin & 1)) {
        ++begin;
        continue;
      }
      // A new run costs a layer and the time to fill the pipeline, so it takes a gap to start one.
      int end = begin + 1;
      for (int plane = end; plane < planes && plane < end + 3; ++plane)
        if (occupied >> plane & 1)
          end = plane + 1;
      if (final && write)
        tile(sum) = {x, y, z + begin, z + end};
      ++sum;
      begin = end;
    }
  }
};

} // namespace detail

/// y = A x with A the stiffness matrix of the voxels, without constraints.
template<class Exec>
class BrickOperator {
public:
  static constexpr const char* name = "brick";
  static constexpr const char* description = "by tiles that march through z, bitwise reproducible";
  static constexpr bool published = false;
  static constexpr bool fuses_updates = true;
  static constexpr bool is_reproducible = true;
  static constexpr int flops_per_voxel = 72 + 44 + 72 + 24; ///< without the seams of tiles

  /// `edge` is the voxel's edge in mm. Fences.
  BrickOperator(const Exec& exec, const VoxelGrid<Exec>& grid, const LameField<Exec>& lame,
                double edge)
      : grid_(grid)
      , lame_(lame)
      , edge_(edge) {
    using Shape = detail::BrickShape<Exec, float>; // the same tiles for every precision
    detail::ListTiles<Exec> list{
        grid, Shape::columns_x - 1, Shape::columns_y - 1, Shape::planes, 0, 0, false, {}};
    list.tiles_x = grid.shape[0] / list.step_x + 1;
    list.tiles_y = grid.shape[1] / list.step_y + 1;
    const std::int64_t n =
        std::int64_t(list.tiles_x) * list.tiles_y * (grid.shape[2] / list.planes + 1);
    std::int64_t count = 0;
    Kokkos::parallel_scan("ossatura::BrickOperator::count", range(exec, n), list, count);
    list.tile = tile_ = make_uninitialized<detail::BrickTile>(exec, count, "ossatura::brick_tiles");
    list.write = true;
    Kokkos::parallel_scan("ossatura::BrickOperator::list", range(exec, n), list, count);
  }

  static double bytes_kept(double, double) { return 0; }
  double index_bytes() const { return grid_.bytes(); }

  /// y = A x; x and y [3 num_nodes] must not alias. Does not fence.
  template<class Scalar>
  void apply(const Exec& exec, const Array<Scalar, Exec>& x, const Array<Scalar, Exec>& y) const {
    apply_then(exec, x, StoreProduct<Exec, Scalar>{y});
  }

  /// Finishes every node with `update`: see kernels/algebra/fused_updates.hpp. Does not fence.
  template<class Scalar, class Update>
  void apply_then(const Exec& exec, const Array<Scalar, Exec>& x, const Update& update) const {
    if (lame_.lambda_value.data() == lame_.mu_value.data())
      march<true>(exec, x, update);
    else
      march<false>(exec, x, update);
  }

private:
  template<bool OneModulus, class Scalar, class Update>
  void march(const Exec& exec, const Array<Scalar, Exec>& x, const Update& update) const {
    using Kernel =
        detail::MarchTiles<Exec, Scalar, Update, OneModulus, detail::BrickShape<Exec, Scalar>>;
    typename Kernel::Policy policy(exec, int(tile_.extent(0)), Kernel::team_size);
    policy.set_scratch_size(0, Kokkos::PerTeam(int(Kernel::scratch_bytes) + 16));
    Kokkos::parallel_for("ossatura::BrickOperator::apply", policy,
                         Kernel{grid_, lame_, Scalar(edge_ * lame_.lambda_scale),
                                Scalar(edge_ * lame_.mu_scale), x, tile_, update});
  }

  VoxelGrid<Exec> grid_;
  LameField<Exec> lame_;
  double edge_;
  Array<detail::BrickTile, Exec> tile_;
};

} // namespace ossatura
