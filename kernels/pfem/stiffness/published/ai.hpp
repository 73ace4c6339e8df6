// SPDX-License-Identifier: Apache-2.0
// Method AI forms the stiffness of hierarchical hexahedra with one thread for an element.
//
// Scheme AI of [1]: at each point the matrix B of 6 x (3 modes), then every entry of the matrix,
// B_i . D B_j, added to the number in memory, in dense vectors of six: the matrix goes through
// memory once a point.
//
// With the points innermost: for each mode a, T_a = w J^-1 D B_a at all points; then K_ab = sum
// over points of the derivatives of mode b by xi, eta, zeta, times T_a, written once.
//
// [1] A. Novikov, I. Kuzmin, N. Nedozhogin, S. Kopysov. Formation of finite element systems on
//     GPGPU (in Russian). Parallel Computational Technologies (PaVT) 2014, algorithm of levels I
//     and II.
#pragma once

#include <ossatura/kernels/pfem/hexa_point.hpp>
#include <ossatura/kernels/pfem/stiffness/published/worker_memory.hpp>

namespace ossatura {

namespace detail {

/// Devices keep at most so much for the threads of a launch.
inline constexpr double stiffness_workspace = 4e9;

/// B of element e at point q, [3 modes, 6], into `memory`. Returns the weight.
template<class Exec>
KOKKOS_INLINE_FUNCTION double strain_matrix(const HexaBatchPointers& batch, std::int64_t e, int q,
                                            const WorkerMemory<Exec>& memory, std::int64_t worker) {
  const HexaPoint here = batch.point(e, q);
  for (int a = 0; a < batch.num_modes; ++a) {
    const Vector3 g = here.to_gradient * batch.derivatives(a, q);
    for (int c = 0; c < 3; ++c) {
      double column[6] = {0, 0, 0, 0, 0, 0};
      for (int j = 0; j < 3; ++j)
        column[voigt(c, j)] = g[j];
      for (int i = 0; i < 6; ++i)
        memory(worker, 6 * (3 * a + c) + i) = column[i];
    }
  }
  return here.weight;
}

/// Row i of w D B, as 6 numbers.
template<class Exec>
KOKKOS_FORCEINLINE_FUNCTION void stress_row(const double* d_upper, double w,
                                            const WorkerMemory<Exec>& strain, std::int64_t worker,
                                            int i, double (&row)[6]) {
  for (int r = 0; r < 6; ++r) {
    double sum = 0;
    for (int k = 0; k < 6; ++k)
      sum += d_upper[elasticity_entry(r, k)] * strain(worker, 6 * i + k);
    row[r] = w * sum;
  }
}

template<class Exec>
KOKKOS_FORCEINLINE_FUNCTION double stiffness_entry(const double (&row)[6],
                                                   const WorkerMemory<Exec>& strain,
                                                   std::int64_t worker, int j) {
  double sum = 0;
  for (int k = 0; k < 6; ++k)
    sum += row[k] * strain(worker, 6 * j + k);
  return sum;
}

template<class Exec>
struct FormAi {
  HexaBatchPointers batch;
  StiffnessOutput output;
  std::int64_t begin, end;
  WorkerMemory<Exec> strain; ///< [3 modes, 6]

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    for (std::int64_t e = begin + worker; e < end; e += strain.num_workers)
      for (int q = 0; q < batch.num_points(); ++q)
        add_point(worker, e, q);
  }
  KOKKOS_INLINE_FUNCTION void add_point(std::int64_t worker, std::int64_t e, int q) const {
    const double w = strain_matrix(batch, e, q, strain, worker);
    double* const matrix = output.matrix.data + (e - begin) * output.entries;
    const int n = output.num_dofs;
    for (int i = 0; i < n; ++i) {
      double row[6];
      stress_row(batch.elasticity(e, q), w, strain, worker, i, row);
      double* const to =
          matrix + (output.packed ? std::int64_t(i) * (i + 1) / 2 : std::int64_t(i) * n);
      for (int j = 0; j <= i; ++j) {
        const double x = (q == 0 ? 0 : to[j]) + stiffness_entry(row, strain, worker, j);
        to[j] = x;
        if (!output.packed)
          matrix[std::int64_t(j) * n + i] = x;
      }
    }
  }
};

template<class Exec>
struct FormAiInner {
  HexaBatchPointers batch;
  StiffnessOutput output;
  std::int64_t begin, end;
  WorkerMemory<Exec> transformed; ///< [points^3, 27] T_a: of component c of a, d of b, derivative k

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    for (std::int64_t e = begin + worker; e < end; e += transformed.num_workers)
      for (int a = 0; a < batch.num_modes; ++a) {
        transform(worker, e, a);
        for (int b = 0; b <= a; ++b)
          block(worker, e, a, b);
      }
  }
  KOKKOS_INLINE_FUNCTION void transform(std::int64_t worker, std::int64_t e, int a) const {
    for (int q = 0; q < batch.num_points(); ++q) {
      const HexaPoint here = batch.point(e, q);
      double stress[6][3];
      mode_stress(batch.elasticity(e, q),
                  here.weight * (here.to_gradient * batch.derivatives(a, q)), stress);
      for (int c = 0; c < 3; ++c)
        for (int d = 0; d < 3; ++d)
          for (int k = 0; k < 3; ++k) {
            double sum = 0;
            for (int l = 0; l < 3; ++l)
              sum += stress[voigt(d, l)][c] * here.to_gradient(l, k);
            transformed(worker, 27 * q + 9 * c + 3 * d + k) = sum;
          }
    }
  }
  KOKKOS_INLINE_FUNCTION void block(std::int64_t worker, std::int64_t e, int a, int b) const {
    double sum[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    for (int q = 0; q < batch.num_points(); ++q) {
      const Vector3 g = batch.derivatives(b, q);
      for (int i = 0; i < 9; ++i)
        for (int k = 0; k < 3; ++k)
          sum[i] += transformed(worker, 27 * q + 3 * i + k) * g[k];
    }
    output.set_block(e - begin, a, b, sum);
  }
};

} // namespace detail

/// Elements begin .. end - 1 into `matrix`, one behind the other. Fences.
template<class Exec>
void form_ai(const Exec& exec, const HexaBatch<Exec>& batch, MatrixStorage storage,
             std::int64_t begin, std::int64_t end, const Array<double, Exec>& matrix) {
  const detail::WorkerMemory<Exec> strain = detail::make_worker_memory(
      exec, end - begin, 6 * std::int64_t(batch.num_dofs()), detail::stiffness_workspace);
  Kokkos::parallel_for(
      "ossatura::form_ai", range(exec, strain.num_workers),
      detail::FormAi<Exec>{detail::HexaBatchPointers(batch),
                           detail::StiffnessOutput(matrix, storage, batch.num_dofs()), begin, end,
                           strain});
  fence(exec, "ossatura::form_ai");
}

/// The same with the points innermost. Fences.
template<class Exec>
void form_ai_inner(const Exec& exec, const HexaBatch<Exec>& batch, MatrixStorage storage,
                   std::int64_t begin, std::int64_t end, const Array<double, Exec>& matrix) {
  const detail::WorkerMemory<Exec> transformed = detail::make_worker_memory(
      exec, end - begin, 27 * std::int64_t(batch.num_points()), detail::stiffness_workspace);
  Kokkos::parallel_for(
      "ossatura::form_ai_inner", range(exec, transformed.num_workers),
      detail::FormAiInner<Exec>{detail::HexaBatchPointers(batch),
                                detail::StiffnessOutput(matrix, storage, batch.num_dofs()), begin,
                                end, transformed});
  fence(exec, "ossatura::form_ai_inner");
}

} // namespace ossatura
