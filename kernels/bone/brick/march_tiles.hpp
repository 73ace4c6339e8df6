// SPDX-License-Identifier: Apache-2.0
// A thread of a core marches through a tile of the brick operator (operator.hpp): it takes
// all rows of elements, with the elements of a row as lanes in vector registers
// (core/parallel/lanes.hpp). GPUs have march_warp.hpp.
#pragma once

#include <ossatura/core/parallel/lanes.hpp>
#include <ossatura/kernels/algebra/fused_updates/fused.hpp>
#include <ossatura/kernels/bone/brick/tiles.hpp>
#include <ossatura/kernels/bone/element.hpp>
#include <ossatura/kernels/bone/lame_field.hpp>

namespace ossatura {

namespace detail {

template<class Exec, class Scalar, class Update, bool OneModulus>
struct MarchTiles {
  static constexpr int CX = BrickShape::columns_x, CY = BrickShape::columns_y;
  static constexpr int W = CX, R = CY; ///< lanes and rows of a thread
  static constexpr int pitch = CX + 1, plane_size = (CY + 1) * pitch;
  static constexpr int rim_slots = CX + CY + 1;
  static constexpr int columns = CX * CY, exchange_size = 3 * R * CX;
  static constexpr int ring = 4; ///< planes kept at a time
  static constexpr int scratch_bytes =
      (ring * 3 * plane_size + exchange_size) * int(sizeof(Scalar)) +
      ring * columns * (OneModulus ? 8 : 12);
  using Policy = Kokkos::TeamPolicy<Exec>;
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

  /// Plane z of nodes, with its elements, lies at place z % ring.
  struct TeamMemory {
    Scalar* planes;          ///< [ring][3][plane_size] displacements
    Scalar* exchange;        ///< [3 R][CX] forces for the lane beyond
    float *moduli, *lambdas; ///< [ring][columns] of the element above a node
    int* nodes;              ///< [ring][columns] -1 where there is none

    KOKKOS_FORCEINLINE_FUNCTION explicit TeamMemory(const Member& team)
        : planes(static_cast<Scalar*>(team.team_shmem().get_shmem_aligned(int(scratch_bytes), 16)))
        , exchange(planes + ring * 3 * plane_size)
        , moduli(reinterpret_cast<float*>(exchange + exchange_size))
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

  /// What is kept while marching. Two variables because compilers take one with arrays apart only
  /// when all loops are unrolled: numbers beside the arrays would miss what is optimised before,
  /// and cost up to 4 % of the instructions.
  struct Kept {
    Column own[R][W];
    Column rim[rim_slots]; ///< beyond the tile's last row and column
    int rim_place[rim_slots];
    Pack modes[2][R][4][3]; ///< in the lower and the upper plane, alternating
    Pack force[R][4][3];    ///< of the layer below, on the lower plane, by mode
  };
  struct Thread {
    Kept& kept;
    BrickTile tile;
  };

  KOKKOS_FORCEINLINE_FUNCTION Thread take_place(const Member& team, Kept& kept) const {
    const Thread t{kept, tile(team.league_rank())};
    for (int r = 0; r < R; ++r)
      for (int w = 0; w < W; ++w)
        t.kept.own[r][w] = column(t.tile.x - 1 + w, t.tile.y - 1 + r);
    for (int q = 0; q < rim_slots; ++q) {
      const int qx = q <= CY ? CX : q - CY - 1, qy = q <= CY ? q : CY;
      t.kept.rim_place[q] = qx + pitch * qy;
      t.kept.rim[q] = column(t.tile.x - 1 + qx, t.tile.y - 1 + qy);
    }
    for (int r = 0; r < R; ++r)
      for (int p = 0; p < 4; ++p)
        for (int c = 0; c < 3; ++c)
          t.kept.force[r][p][c] = Pack(Scalar(0));
    return t;
  }

  /// Zeros where there is no node.
  KOKKOS_FORCEINLINE_FUNCTION void load_node(Scalar* to, int n) const {
    const Scalar* const from = x.data() + (n >= 0 ? 3 * std::int64_t(n) : 0);
    for (int c = 0; c < 3; ++c)
      to[c * plane_size] = n >= 0 ? from[c] : Scalar(0);
  }

  /// Loads plane z into its place of the ring.
  KOKKOS_INLINE_FUNCTION void load_plane(const TeamMemory& memory, const Thread& t, int z,
                                         bool first) const {
    Scalar* const plane = memory.plane(z);
    const int columns_of = memory.first_column(z);
    for (int r = 0; r < R; ++r)
      for (int w = 0; w < W; ++w) {
        const int n = next_node(t.kept.own[r][w], z, first);
        load_node(plane + r * pitch + w, n);
        const int column_of = columns_of + r * CX + w;
        memory.moduli[column_of] = n >= 0 ? lame.mu_value(n) : 0.0f;
        if (!OneModulus)
          memory.lambdas[column_of] = n >= 0 ? lame.lambda_value(n) : 0.0f;
        memory.nodes[column_of] = n;
      }
    for (int s = 0; s < rim_slots; ++s)
      load_node(plane + t.kept.rim_place[s], next_node(t.kept.rim[s], z, first));
  }

  /// Transforms plane z: to[r][p][c], p = 0..3, is the transform in the plane of column r.
  KOKKOS_INLINE_FUNCTION void transform_plane(const TeamMemory& memory, int z,
                                              Pack (&to)[R][4][3]) const {
    for (int c = 0; c < 3; ++c) {
      const Scalar* first = memory.plane(z) + c * plane_size;
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

  /// Multiplies the elements of layer z; low[r][p][c] gets all forces on its lower plane, by mode.
  KOKKOS_FORCEINLINE_FUNCTION void multiply(const TeamMemory& memory, const Thread& t, int z,
                                            Pack (&low)[R][4][3]) const {
    const int column_of = memory.first_column(z);
    for (int r = 0; r < R; ++r) {
      Pack m, l;
      for (int w = 0; w < W; ++w) {
        m.value[w] = Scalar(memory.moduli[column_of + r * CX + w]);
        l.value[w] = Scalar(memory.lambdas[column_of + r * CX + w]);
      }
      Pack u[24];
      for (int p = 0; p < 4; ++p)
        for (int c = 0; c < 3; ++c) {
          u[3 * p + c] = t.kept.modes[1][r][p][c] + t.kept.modes[0][r][p][c];
          u[12 + 3 * p + c] = t.kept.modes[1][r][p][c] - t.kept.modes[0][r][p][c];
        }
      apply_mode_stiffness(Pack(lambda_scale) * l, Pack(mu_scale) * m, u);
      for (int p = 0; p < 4; ++p)
        for (int c = 0; c < 3; ++c) {
          low[r][p][c] = t.kept.force[r][p][c] + u[3 * p + c] - u[12 + 3 * p + c];
          t.kept.force[r][p][c] = u[3 * p + c] + u[12 + 3 * p + c];
        }
    }
  }

  /// Transforms back in the plane. `here` is what columns give to nodes of their own lanes; `to`
  /// gets what they give to those of the lane beyond. Other tiles finish the row beyond.
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
        store_pack<W>(to + (3 * r + c) * CX, low_sum + low_difference);
      }
    }
  }

  /// Finishes the nodes of plane z; `exchanged` are the forces of their neighbours.
  KOKKOS_FORCEINLINE_FUNCTION void store(const TeamMemory& memory, int z, const Pack (&here)[R][3],
                                         const Scalar* exchanged, UpdateSum<Update>& added) const {
    const int column_of = memory.first_column(z);
    for (int r = 0; r < R; ++r)
      for (int w = 0; w < W; ++w) {
        const int n = w > 0 && r > 0 ? memory.nodes[column_of + r * CX + w] : -1;
        if (!grid.owned.has(n))
          continue;
        Scalar sum[3];
        for (int c = 0; c < 3; ++c) {
          const Scalar* const from = exchanged + w - 1;
          Scalar s = here[r][c].value[w];
          s += from[(3 * r + c) * CX];
          sum[c] = s;
        }
        const Scalar* const here_x = memory.plane(z) + r * pitch + w;
        const Scalar x_node[3] = {here_x[0], here_x[plane_size], here_x[2 * plane_size]};
        finish_and_add(update, n, update.load(n), x_node, sum, added);
      }
  }

  /// Takes layer z, between the node planes z and z + 1, and finishes plane z. `modes[1]` are those
  /// of the upper plane.
  KOKKOS_FORCEINLINE_FUNCTION void advance(const TeamMemory& memory, const Thread& t, int z,
                                           UpdateSum<Update>& added) const {
    if (z + 2 < t.tile.z_end)
      load_plane(memory, t, z + 3, false);
    transform_plane(memory, z + 1, t.kept.modes[1]);
    Pack low[R][4][3], here[R][3];
    multiply(memory, t, z, low);
    transform_back(low, memory.exchange, here);
    if (z >= t.tile.z_begin)
      store(memory, z, here, memory.exchange, added);
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const TeamMemory memory(team);
    Kept kept;
    const Thread t = take_place(team, kept);
    const int z_begin = t.tile.z_begin, z_end = t.tile.z_end;
    for (int z = z_begin - 1; z < z_begin + 2; ++z)
      if (z <= z_end)
        load_plane(memory, t, z, z == z_begin - 1);
    transform_plane(memory, z_begin - 1, t.kept.modes[0]);
    UpdateSum<Update> added{};
    for (int z = z_begin - 1; z < z_end; ++z) {
      advance(memory, t, z, added);
      for (int r = 0; r < R; ++r)
        for (int p = 0; p < 4; ++p)
          for (int c = 0; c < 3; ++c)
            t.kept.modes[0][r][p][c] = t.kept.modes[1][r][p][c];
    }
    if constexpr (SumsUp<Update>::value)
      update.partial_sum[team.league_rank()] = added;
  }
};

} // namespace detail

} // namespace ossatura
