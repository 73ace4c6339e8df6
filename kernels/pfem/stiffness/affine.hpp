// SPDX-License-Identifier: Apache-2.0
// The affine method forms the stiffness of parallelepipeds of one material each. With constant
// gradients of the coordinates,
//
//   K_ab[c][d] = sum_kl C[c][d][k][l] A_kl[a][b],  A_kl = integral of d_k psi_a d_l psi_b,
//   C[c][d][k][l] = det J sum_jl' J^-1(k, j) D(voigt(c, j), voigt(d, l')) J^-1(l, l'),
//
// A_kl are nine reference matrices that no element changes, products of three integrals along an
// axis, which a team keeps on chip in their stead. There is no point of quadrature, and an entry of
// the matrix is written once.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/pfem/hexa_point.hpp>

#include <algorithm>
#include <limits>

namespace ossatura {

namespace detail {

struct AffineShape {
  int elements = 8;   ///< of a team
  int entries = 1024; ///< of each of their matrices
  int order;

  /// Integrals along an axis and C.
  KOKKOS_FORCEINLINE_FUNCTION int scratch_bytes() const {
    return 8 * (4 * (order + 1) * (order + 1) + 81 * elements);
  }
};

template<class Exec>
struct FormAffine {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  HexaBatchPointers batch;
  StiffnessOutput output;
  AffineShape shape;
  std::int64_t begin, end;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const int num_entries = output.num_dofs * (output.num_dofs + 1) / 2,
              num_tiles = (num_entries + shape.entries - 1) / shape.entries;
    const int entry = team.league_rank() % num_tiles * shape.entries;
    const std::int64_t first =
        begin + std::int64_t(team.league_rank() / num_tiles) * shape.elements;
    const int num_elem =
        int(end - first < shape.elements ? end - first : std::int64_t(shape.elements));
    double* const integral =
        static_cast<double*>(team.team_scratch(int(scratch_level<Exec>))
                                 .get_shmem_aligned(shape.scratch_bytes(), sizeof(double)));
    double* const coefficient = integral + 4 * (shape.order + 1) * (shape.order + 1);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, (shape.order + 1) * (shape.order + 1)),
                         [&](int item) { integrate(item, integral + 4 * item); });
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 9 * num_elem), [&](int item) {
      transform(first + item / 9, item % 9, coefficient + 9 * item);
    });
    team.team_barrier();
    const int count =
        num_entries - entry < shape.entries ? num_entries - entry : int(shape.entries);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](int item) {
      form_entry(first, num_elem, entry + item, integral, coefficient);
    });
  }

  /// Of psi_i psi_j, psi_i psi_j', psi_i' psi_j and psi_i' psi_j'.
  KOKKOS_INLINE_FUNCTION void integrate(int item, double* sum) const {
    const int stride = shape.order + 1, i = item / stride, j = item % stride;
    for (int t = 0; t < 4; ++t)
      sum[t] = 0;
    for (int q = 0; q < batch.points; ++q) {
      const int row = q * stride;
      const double w = batch.weight(q), value = w * batch.value(row + i),
                   slope = w * batch.derivative(row + i);
      sum[0] += value * batch.value(row + j);
      sum[1] += value * batch.derivative(row + j);
      sum[2] += slope * batch.value(row + j);
      sum[3] += slope * batch.derivative(row + j);
    }
  }

  /// C[c][d], 3 x 3 by k and l, for pair = 3 c + d.
  KOKKOS_INLINE_FUNCTION void transform(std::int64_t e, int pair, double* to) const {
    const Matrix3 jacobian = batch.trilinear(e).centre_jacobian(), cofactors = cofactor(jacobian);
    const double det = dot(jacobian.row[0], cofactors.row[0]);
    const double* const d_upper = batch.elasticity(e, 0);
    Matrix3 stiffness;
    for (int j = 0; j < 3; ++j)
      for (int l = 0; l < 3; ++l)
        stiffness(j, l) = d_upper[elasticity_entry(voigt(pair / 3, j), voigt(pair % 3, l))];
    const Matrix3 c = (1 / det) * (transpose(cofactors) * stiffness * cofactors);
    for (int t = 0; t < 9; ++t)
      to[t] = c(t / 3, t % 3);
  }

  KOKKOS_INLINE_FUNCTION void form_entry(std::int64_t first, int num_elem, int t,
                                         const double* integral, const double* coefficient) const {
    const int i = triangle_row(t), j = t - i * (i + 1) / 2, a = i / 3, b = j / 3,
              pair = 3 * (i % 3) + j % 3;
    const double* along[3];
    for (int axis = 0; axis < 3; ++axis)
      along[axis] =
          integral + 4 * (batch.mode(3 * a + axis) * (shape.order + 1) + batch.mode(3 * b + axis));
    double reference[9]; // A_kl
    for (int k = 0; k < 3; ++k)
      for (int l = 0; l < 3; ++l) {
        double product = 1;
        for (int axis = 0; axis < 3; ++axis)
          product *= along[axis][(k == axis ? 2 : 0) + (l == axis ? 1 : 0)];
        reference[3 * k + l] = product;
      }
    for (int k = 0; k < num_elem; ++k) {
      const double* const c = coefficient + 9 * (9 * k + pair);
      double sum = 0;
      for (int s = 0; s < 9; ++s)
        sum += reference[s] * c[s];
      output.set(first - begin + k, i, j, sum);
    }
  }
};

/// Finds the first element that is no parallelepiped.
template<class Exec>
struct FindNotAffine {
  HexaBatchPointers batch;
  double tolerance;

  KOKKOS_FUNCTION void operator()(std::int64_t e, std::int64_t& first) const {
    const HexaModes modes = batch.trilinear(e);
    double edge = 0, bend = 0, far = 0;
    for (int k = 0; k < 7; ++k)
      for (int c = 0; c < 3; ++c) {
        const double size = modes.c[k][c] < 0 ? -modes.c[k][c] : modes.c[k][c];
        double& largest = k < 3 ? edge : bend;
        largest = Kokkos::max(largest, size);
      }
    for (int c = 0; c < 24; ++c) {
      const double x = batch.corner(24 * e + c);
      far = (x < 0 ? -x : x) > far ? (x < 0 ? -x : x) : far;
    }
    if (!(bend <= tolerance * (edge + far)) && e < first)
      first = e;
  }
};

} // namespace detail

/// The first of the elements begin .. end - 1 that is not a parallelepiped, to the rounding of its
/// coordinates; `end` if all are. For trilinear elements. Fences.
template<class Exec>
std::int64_t find_not_affine(const Exec& exec, const HexaBatch<Exec>& batch, std::int64_t begin,
                             std::int64_t end) {
  std::int64_t first = end;
  Kokkos::parallel_reduce(
      "ossatura::find_not_affine",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, begin, end),
      detail::FindNotAffine<Exec>{detail::HexaBatchPointers(batch),
                                  8 * std::numeric_limits<double>::epsilon()},
      Kokkos::Min<std::int64_t>(first));
  return std::min(first, end);
}

/// Elements begin .. end - 1, parallelepipeds with one D each (point_stride is 0), into `matrix`,
/// one behind the other. Does not fence.
template<class Exec>
void form_affine(const Exec& exec, const HexaBatch<Exec>& batch, MatrixStorage storage,
                 std::int64_t begin, std::int64_t end, const Array<double, Exec>& matrix) {
  detail::AffineShape shape;
  shape.order = batch.order;
  const std::int64_t entries = matrix_entries(MatrixStorage::packed, batch.num_dofs()),
                     num_tiles = (entries + shape.entries - 1) / shape.entries,
                     most = (std::int64_t(1) << 30) / num_tiles * shape.elements; // of a league
  detail::FormAffine<Exec> kernel{detail::HexaBatchPointers(batch),
                                  detail::StiffnessOutput(matrix, storage, batch.num_dofs()), shape,
                                  begin, end};
  for (std::int64_t first = begin; first < end; first += most) {
    kernel.begin = first;
    kernel.end = std::min(end, first + most);
    const std::int64_t teams =
        (kernel.end - first + shape.elements - 1) / shape.elements * num_tiles;
    Kokkos::parallel_for(
        "ossatura::form_affine",
        Kokkos::TeamPolicy<Exec>(exec, int(teams), BackendTraits<Exec>::is_device ? 256 : 1)
            .set_scratch_size(scratch_level<Exec>, Kokkos::PerTeam(shape.scratch_bytes() + 8)),
        kernel);
    kernel.output.matrix.data += (kernel.end - first) * kernel.output.entries;
  }
}

} // namespace ossatura
