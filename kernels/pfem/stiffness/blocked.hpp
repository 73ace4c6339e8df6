// SPDX-License-Identifier: Apache-2.0
// The blocked method forms the stiffness of hierarchical hexahedra from the gradients of all modes
// at the points, as a product of matrices: a team has the gradients of two groups of modes on chip,
// at some points at a time, and a thread 2 x 2 blocks in registers. Elements of one material take
//
//   H_ab = sum over points of w g_a g_b^T,  K_ab[c][d] = sum_jl D(voigt(c, j), voigt(d, l))
//   H_ab[j][l],
//
// 9 products a block and point; where D varies from point to point, K_ab itself is summed from g_a
// and D B_b, 27 products.
#pragma once

#include <ossatura/kernels/pfem/hexa_point.hpp>

#include <algorithm>

namespace ossatura {

namespace detail {

/// Modes in groups: a team forms the blocks of one group with another of `num_groups`, of one or,
/// where they are small, of several elements.
struct BlockedShape {
  int group, num_groups; ///< modes of a group, even
  int elements;          ///< of a team
  int points;            ///< on chip at a time
  int entries;           ///< of a mode and point: gradient, or that and D B, 18
  int team_size;

  KOKKOS_FORCEINLINE_FUNCTION int num_tiles(bool diagonal) const {
    const int half = group / 2;
    return diagonal ? half * (half + 1) / 2 : half * half;
  }
  KOKKOS_FORCEINLINE_FUNCTION int scratch_bytes() const {
    return 8 * elements * points * (10 + group * (3 + entries));
  }
};

inline BlockedShape blocked_shape(int num_modes, int num_points, bool varying, bool on_device) {
  BlockedShape shape;
  const int largest = on_device ? 32 : 16;
  shape.num_groups = (num_modes + largest - 1) / largest;
  shape.group = (num_modes + shape.num_groups - 1) / shape.num_groups;
  shape.group += shape.group % 2;
  shape.entries = varying ? 18 : 3;
  const int tiles = shape.num_tiles(shape.num_groups == 1);
  shape.elements = on_device ? std::max(1, (varying ? 64 : 128) / tiles) : 1;
  shape.team_size = on_device ? (shape.elements * tiles + 31) / 32 * 32 : 1;
  // On cores all points, so that gradients are formed once.
  shape.points = 1;
  const int most = (on_device ? 32 << 10 : 8 << 20) / shape.scratch_bytes();
  shape.points = std::max(1, std::min({num_points, most, on_device ? 8 : num_points}));
  return shape;
}

/// Vectors are at [element][point][entry][mode].
template<class Exec, bool varying>
struct FormBlocked {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<256, 2>>;
  using Team = typename Policy::member_type;
  HexaBatchPointers batch;
  StiffnessOutput output;
  BlockedShape shape;
  std::int64_t begin, end;

  /// The task of a team.
  struct Task {
    std::int64_t first; ///< element
    int num_elem, row_group, column_group;
    double *point, *row, *column; ///< geometry [points, 10], gradients, gradients or D B
    KOKKOS_FORCEINLINE_FUNCTION bool is_diagonal() const { return row_group == column_group; }
  };

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const int num_pairs = shape.num_groups * (shape.num_groups + 1) / 2;
    const int pair = team.league_rank() % num_pairs;
    double* const scratch =
        static_cast<double*>(team.team_scratch(int(scratch_level<Exec>))
                                 .get_shmem_aligned(shape.scratch_bytes(), sizeof(double)));
    Task task;
    task.row_group = triangle_row(pair);
    task.column_group = pair - task.row_group * (task.row_group + 1) / 2;
    task.first = begin + std::int64_t(team.league_rank() / num_pairs) * shape.elements;
    task.num_elem =
        int(end - task.first < shape.elements ? end - task.first : std::int64_t(shape.elements));
    task.point = scratch;
    task.row = task.point + 10 * shape.elements * shape.points;
    task.column = task.row + 3 * shape.elements * shape.points * shape.group;
    if (!varying && task.is_diagonal())
      task.column = task.row;

    const int half = shape.group / 2, num_tiles = shape.num_tiles(task.is_diagonal()),
              num_items = task.num_elem * num_tiles;
    for (int round = 0; round * team.team_size() < num_items; ++round) {
      const int item = round * team.team_size() + team.team_rank();
      const int k = item / num_tiles, tile = item % num_tiles;
      const int i = task.is_diagonal() ? triangle_row(tile) : tile / half,
                j = task.is_diagonal() ? tile - i * (i + 1) / 2 : tile % half;
      double sum[2][2][9] = {};
      for (int q = 0; q < batch.num_points(); q += shape.points) {
        const int num =
            shape.points < batch.num_points() - q ? shape.points : batch.num_points() - q;
        if (round == 0 || shape.points < batch.num_points())
          load_points(team, task, q, num);
        if (item < num_items)
          add_points(task, k, i, j, num, sum);
      }
      if (item < num_items) {
        store(task, k, i, j, 0, 0, sum[0][0]);
        store(task, k, i, j, 0, 1, sum[0][1]);
        store(task, k, i, j, 1, 0, sum[1][0]);
        store(task, k, i, j, 1, 1, sum[1][1]);
      }
    }
  }

  KOKKOS_INLINE_FUNCTION void load_points(const Team& team, const Task& task, int first,
                                          int num) const {
    team.team_barrier(); // the points before are done with
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, task.num_elem * num), [&](int item) {
      const int k = item / num, q = item % num;
      const HexaPoint here = batch.point(task.first + k, first + q);
      double* const to = task.point + 10 * (k * shape.points + q);
      for (int t = 0; t < 9; ++t)
        to[t] = here.to_gradient(t / 3, t % 3);
      to[9] = varying ? here.weight : sqrt(here.weight);
    });
    team.team_barrier();
    const int sides = varying || !task.is_diagonal() ? 2 : 1;
    Kokkos::parallel_for(
        Kokkos::TeamThreadRange(team, task.num_elem * num * sides * shape.group), [&](int item) {
          const int mode = item % shape.group, side = item / shape.group % sides,
                    q = item / (shape.group * sides) % num, k = item / (shape.group * sides * num);
          load_mode(task, k, q, first + q, side, mode);
        });
    team.team_barrier();
  }

  /// Side 0: rows, 1: columns.
  KOKKOS_INLINE_FUNCTION void load_mode(const Task& task, int k, int q, int point_number, int side,
                                        int mode) const {
    const double* const g = task.point + 10 * (k * shape.points + q);
    const int a = (side == 0 ? task.row_group : task.column_group) * shape.group + mode;
    Vector3 gradient{{0, 0, 0}};
    if (a < batch.num_modes) {
      const Matrix3 to_gradient{{{{g[0], g[1], g[2]}}, {{g[3], g[4], g[5]}}, {{g[6], g[7], g[8]}}}};
      gradient = to_gradient * batch.derivatives(a, point_number);
      if (!varying || side == 0)
        gradient = g[9] * gradient;
    }
    if (varying && side == 1) {
      double stress[6][3];
      mode_stress(batch.elasticity(task.first + k, point_number), gradient, stress);
      double* const to = task.column + 18 * (k * shape.points + q) * shape.group + mode;
      for (int t = 0; t < 18; ++t)
        to[t * shape.group] = stress[t / 3][t % 3];
    } else {
      double* const to =
          (side == 0 ? task.row : task.column) + 3 * (k * shape.points + q) * shape.group + mode;
      for (int t = 0; t < 3; ++t)
        to[t * shape.group] = gradient[t];
    }
  }

  /// Modes i and i + group / 2 of the rows, j and j + group / 2 of the columns.
  KOKKOS_FORCEINLINE_FUNCTION void add_points(const Task& task, int k, int i, int j, int num,
                                              double (&sum)[2][2][9]) const {
    const int half = shape.group / 2;
    for (int q = 0; q < num; ++q) {
      const double* const row = task.row + 3 * (k * shape.points + q) * shape.group + i;
      const double* const column =
          task.column + shape.entries * (k * shape.points + q) * shape.group + j;
      double g[2][3];
      for (int r = 0; r < 2; ++r)
        for (int t = 0; t < 3; ++t)
          g[r][t] = row[t * shape.group + r * half];
      for (int s = 0; s < 2; ++s) {
        if constexpr (varying) {
          for (int d = 0; d < 3; ++d) {
            double stress[6];
            for (int t = 0; t < 6; ++t)
              stress[t] = column[(3 * t + d) * shape.group + s * half];
            for (int r = 0; r < 2; ++r)
              for (int c = 0; c < 3; ++c)
                for (int t = 0; t < 3; ++t)
                  sum[r][s][3 * c + d] += g[r][t] * stress[voigt(c, t)];
          }
        } else {
          for (int l = 0; l < 3; ++l) {
            const double h = column[l * shape.group + s * half];
            for (int r = 0; r < 2; ++r)
              for (int t = 0; t < 3; ++t)
                sum[r][s][3 * t + l] += g[r][t] * h;
          }
        }
      }
    }
  }

  /// Blocks r and s of a tile. Not a loop over both: devices would keep sums in memory.
  KOKKOS_FORCEINLINE_FUNCTION void store(const Task& task, int k, int i, int j, int r, int s,
                                         const double (&sum)[9]) const {
    const int half = shape.group / 2;
    const std::int64_t e = task.first + k;
    const int a = task.row_group * shape.group + i + r * half,
              b = task.column_group * shape.group + j + s * half;
    if (a >= batch.num_modes || b >= batch.num_modes ||
        (task.is_diagonal() && i == j && r < s)) // the mirror of another
      return;
    if constexpr (varying) {
      output.set_block(e - begin, a, b, sum);
    } else {
      double block[9];
      contract(batch.elasticity(e, 0), sum, block);
      output.set_block(e - begin, a, b, block);
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION static void contract(const double* d_upper, const double (&h)[9],
                                                   double (&block)[9]) {
    for (int c = 0; c < 3; ++c)
      for (int d = 0; d < 3; ++d) {
        double sum = 0;
        for (int j = 0; j < 3; ++j)
          for (int l = 0; l < 3; ++l)
            sum += d_upper[elasticity_entry(voigt(c, j), voigt(d, l))] * h[3 * j + l];
        block[3 * c + d] = sum;
      }
  }
};

template<bool varying, class Exec>
void launch_blocked(const Exec& exec, const HexaBatch<Exec>& batch, const StiffnessOutput& output,
                    std::int64_t begin, std::int64_t end) {
  const BlockedShape shape =
      blocked_shape(batch.num_modes, batch.num_points(), varying, BackendTraits<Exec>::is_device);
  const FormBlocked<Exec, varying> kernel{HexaBatchPointers(batch), output, shape, begin, end};
  const int num_pairs = shape.num_groups * (shape.num_groups + 1) / 2;
  const std::int64_t most = (std::int64_t(1) << 30) / num_pairs * shape.elements; // of a league
  for (std::int64_t first = begin; first < end; first += most) {
    FormBlocked<Exec, varying> part = kernel;
    part.begin = first;
    part.end = std::min(end, first + most);
    part.output.matrix.data += (first - begin) * output.entries;
    const std::int64_t teams = (part.end - first + shape.elements - 1) / shape.elements * num_pairs;
    Kokkos::parallel_for(
        "ossatura::form_blocked",
        typename FormBlocked<Exec, varying>::Policy(exec, int(teams), shape.team_size)
            .set_scratch_size(scratch_level<Exec>, Kokkos::PerTeam(shape.scratch_bytes() + 8)),
        part);
  }
}

} // namespace detail

/// Elements begin .. end - 1 into `matrix`, one behind the other. Does not fence.
template<class Exec>
void form_blocked(const Exec& exec, const HexaBatch<Exec>& batch, MatrixStorage storage,
                  std::int64_t begin, std::int64_t end, const Array<double, Exec>& matrix) {
  const detail::StiffnessOutput output(matrix, storage, batch.num_dofs());
  if (batch.point_stride == 0)
    detail::launch_blocked<false>(exec, batch, output, begin, end);
  else
    detail::launch_blocked<true>(exec, batch, output, begin, end);
}

} // namespace ossatura
