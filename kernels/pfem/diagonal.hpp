// SPDX-License-Identifier: Apache-2.0
// These kernels compute the 3 x 3 blocks on the diagonals of element matrices, slot by slot
// (mode_gather.hpp): from the matrices or, where there are none, from the points.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/pfem/hexa_batch.hpp>
#include <ossatura/kernels/pfem/hexa_point_stress.hpp>

namespace ossatura {

namespace detail {

/// Entry (i, j) of a symmetric matrix of n rows.
KOKKOS_FORCEINLINE_FUNCTION double stored_entry(const double* matrix, bool packed, int n, int i,
                                                int j) {
  if (!packed)
    return matrix[std::int64_t(i) * n + j];
  return i >= j ? matrix[std::int64_t(i) * (i + 1) / 2 + j]
                : matrix[std::int64_t(j) * (j + 1) / 2 + i];
}

template<class Exec>
struct DiagonalOfMatrices {
  int num_modes;
  bool packed;
  ArrayPointer<const double> matrix;
  ArrayPointer<const int> of_elem; ///< which matrix an element has, or none: its own
  ArrayPointer<double> block;      ///< [num_elem, num_modes, 9]

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const std::int64_t slot = item / 9, e = slot / num_modes;
    const int a = int(slot % num_modes), r = int(item % 9) / 3, c = int(item % 3),
              n = 3 * num_modes;
    const std::int64_t entries =
        matrix_entries(packed ? MatrixStorage::packed : MatrixStorage::full, n);
    block(item) = stored_entry(matrix.data + (of_elem.data ? of_elem(e) : e) * entries, packed, n,
                               3 * a + r, 3 * a + c);
  }
};

/// K_aa = sum over points and k <= l of dpsi_a / dxi_k dpsi_a / dxi_l times a symmetric matrix of
/// the point: six by six numbers, which a team has for some points at a time.
template<class Exec>
struct DiagonalFromPoints {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int most = 32; ///< points at a time
  static constexpr int scratch_bytes = most * 36 * 8 + 64;

  int order, points, num_modes;
  std::int64_t elem_stride, point_stride;
  ArrayPointer<const double> corner, jacobian, elasticity, point, weight, value, derivative;
  ArrayPointer<const int> mode;
  ArrayPointer<double> block; ///< [num_elem, num_modes, 9]

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    double* const table =
        static_cast<double*>(team.team_shmem().get_shmem_aligned(int(scratch_bytes) - 64, 64));
    const std::int64_t e = team.league_rank();
    const int rank = team.team_rank(), size = team.team_size();
    const int num_points = points * points * points;
    for (int first = 0; first < num_points; first += int(most)) {
      const int count = num_points - first < int(most) ? num_points - first : int(most);
      team.team_barrier();
      for (int q = rank; q < count; q += size)
        fill(e, first + q, table + 36 * q);
      team.team_barrier();
      for (int a = rank; a < num_modes; a += size)
        add(e, a, first, count, table);
    }
  }

private:
  /// [k l][c d], k <= l and c <= d row by row.
  KOKKOS_FORCEINLINE_FUNCTION void fill(std::int64_t e, int q, double* table) const {
    const int q0 = q / (points * points), q1 = q / points % points, q2 = q % points;
    double column[3][3];
    if (jacobian.data) {
      const double* const own = jacobian.data + 9 * (e * points * points * points + q);
      for (int k = 0; k < 3; ++k)
        for (int i = 0; i < 3; ++i)
          column[k][i] = own[3 * i + k];
    } else {
      double modes[21];
      for (int m = 0; m < 21; ++m)
        modes[m] = trilinear_coefficient(corner.data + 24 * e, m);
      LineGeometry<double>(modes, point(q1), point(q2)).at(point(q0), column);
    }
    const double* const d = elasticity.data + e * elem_stride + q * point_stride;
    double work[9][9]; // [l d][k c]
    for (int from = 0; from < 9; ++from) {
      for (int to = 0; to < 9; ++to)
        work[from][to] = to == from;
      point_stress(
          column, weight(q0) * weight(q1) * weight(q2), [=](int m) { return d[m]; }, work[from]);
    }
    int at = 0;
    for (int k = 0; k < 3; ++k)
      for (int l = k; l < 3; ++l)
        for (int c = 0; c < 3; ++c)
          for (int f = c; f < 3; ++f, ++at)
            table[at] = work[3 * l + f][3 * k + c] + (k == l ? 0 : work[3 * k + f][3 * l + c]);
  }

  KOKKOS_FORCEINLINE_FUNCTION void add(std::int64_t e, int a, int first, int count,
                                       const double* table) const {
    const int i0 = mode(3 * a), i1 = mode(3 * a + 1), i2 = mode(3 * a + 2), stride = order + 1;
    double sum[6] = {0, 0, 0, 0, 0, 0};
    for (int q = 0; q < count; ++q, table += 36) {
      const int at = first + q, q0 = at / (points * points), q1 = at / points % points,
                q2 = at % points;
      const double v0 = value(q0 * stride + i0), v1 = value(q1 * stride + i1),
                   v2 = value(q2 * stride + i2);
      const double g0 = derivative(q0 * stride + i0) * v1 * v2,
                   g1 = v0 * derivative(q1 * stride + i1) * v2,
                   g2 = v0 * v1 * derivative(q2 * stride + i2);
      const double product[6] = {g0 * g0, g0 * g1, g0 * g2, g1 * g1, g1 * g2, g2 * g2};
      for (int k = 0; k < 6; ++k)
        for (int c = 0; c < 6; ++c)
          sum[c] += product[k] * table[6 * k + c];
    }
    double* const own = block.data + 9 * (e * num_modes + a);
    int at = 0;
    for (int c = 0; c < 3; ++c)
      for (int f = c; f < 3; ++f, ++at) {
        const double entry = first == 0 ? sum[at] : own[3 * c + f] + sum[at];
        own[3 * c + f] = own[3 * f + c] = entry;
      }
  }
};

} // namespace detail

/// block [num_elem, num_modes, 9] from first_block on, of matrices as `storage` says: one an
/// element, or that of its class, of_elem [num_elem]. Does not fence.
template<class Exec>
void diagonal_of_matrices(const Exec& exec, const HexaBatch<Exec>& batch, MatrixStorage storage,
                          const Array<double, Exec>& matrix, const Array<int, Exec>& of_elem,
                          const Array<double, Exec>& block, std::int64_t first_block) {
  detail::DiagonalOfMatrices<Exec> kernel{batch.num_modes, storage == MatrixStorage::packed, matrix,
                                          of_elem, block};
  kernel.block.data += first_block;
  Kokkos::parallel_for("ossatura::diagonal_of_matrices",
                       range(exec, 9 * batch.num_elem * batch.num_modes), kernel);
}

/// The same without matrices. Does not fence.
template<class Exec>
void diagonal_from_points(const Exec& exec, const HexaBatch<Exec>& batch,
                          const Array<double, Exec>& block, std::int64_t first_block) {
  if (batch.num_elem == 0)
    return;
  using Kernel = detail::DiagonalFromPoints<Exec>;
  Kernel kernel{batch.order,        batch.points, batch.num_modes, batch.elem_stride,
                batch.point_stride, batch.corner, batch.jacobian,  batch.elasticity,
                batch.point,        batch.weight, batch.value,     batch.derivative,
                batch.mode,         block};
  kernel.block.data += first_block;
  Kokkos::parallel_for(
      "ossatura::diagonal_from_points",
      Kokkos::TeamPolicy<Exec>(exec, int(batch.num_elem), BackendTraits<Exec>::is_device ? 64 : 1)
          .set_scratch_size(0, Kokkos::PerTeam(int(Kernel::scratch_bytes))),
      kernel);
}

} // namespace ossatura
