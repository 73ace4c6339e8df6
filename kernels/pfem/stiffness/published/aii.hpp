// SPDX-License-Identifier: Apache-2.0
// Method AII forms the stiffness of hierarchical hexahedra with one thread for a point or for a
// block of the matrix.
//
// Scheme AII of [1]: a thread forms the part of a matrix that one point gives, with dense vectors
// of six; parts are summed over the points of an element afterwards. Parts of an element of order
// 10 take gigabytes: those of as many elements as fit are formed together, or of some points of
// one.
//
// With the points innermost: a thread a block of 3 x 3, from what the geometry is at the points.
//
// [1] as in kernels/pfem/stiffness/published/ai.hpp.
#pragma once

#include <ossatura/kernels/pfem/stiffness/published/ai.hpp>

namespace ossatura {

namespace detail {

/// Points first_point .. + num_points - 1 of elements from `begin` on.
struct PointRange {
  std::int64_t begin;
  int first_point, num_points;
};

template<class Exec>
struct FormParts {
  HexaBatchPointers batch;
  PointRange range;
  WorkerMemory<Exec> strain; ///< [3 modes, 6]
  WorkerMemory<Exec> part;   ///< packed

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    for (std::int64_t k = worker; k < part.num_workers; k += strain.num_workers)
      form(worker, k);
  }
  KOKKOS_INLINE_FUNCTION void form(std::int64_t worker, std::int64_t k) const {
    const std::int64_t e = range.begin + k / range.num_points;
    const int q = range.first_point + int(k % range.num_points);
    const double w = strain_matrix(batch, e, q, strain, worker);
    std::int64_t next = 0;
    for (int i = 0; i < 3 * batch.num_modes; ++i) {
      double row[6];
      stress_row(batch.elasticity(e, q), w, strain, worker, i, row);
      for (int j = 0; j <= i; ++j, ++next)
        part(k, next) = stiffness_entry(row, strain, worker, j);
    }
  }
};

template<class Exec>
struct SumPointParts {
  StiffnessOutput output;
  PointRange range;
  std::int64_t first_matrix; ///< of `output`
  WorkerMemory<Exec> part;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const std::int64_t k = item / part.entries, t = item % part.entries;
    const int i = triangle_row(int(t)), j = int(t) - i * (i + 1) / 2;
    double sum = 0;
    if (range.first_point > 0)
      sum = output.matrix((first_matrix + k) * output.entries +
                          (output.packed ? t : std::int64_t(i) * output.num_dofs + j));
    for (int q = 0; q < range.num_points; ++q)
      sum += part(k * range.num_points + q, t);
    output.set(first_matrix + k, i, j, sum);
  }
};

struct FormPointGeometry {
  HexaBatchPointers batch;
  std::int64_t begin;
  ArrayPointer<double> geometry; ///< [elements, points^3, 10] to_gradient, weight

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const HexaPoint here =
        batch.point(begin + item / batch.num_points(), int(item % batch.num_points()));
    for (int i = 0; i < 9; ++i)
      geometry(10 * item + i) = here.to_gradient(i / 3, i % 3);
    geometry(10 * item + 9) = here.weight;
  }
};

struct FormBlocks {
  HexaBatchPointers batch;
  StiffnessOutput output;
  std::int64_t begin, first_matrix;
  ArrayPointer<const double> geometry;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const int num_pairs = batch.num_modes * (batch.num_modes + 1) / 2, n = batch.num_points();
    const std::int64_t k = item / num_pairs;
    const int t = int(item % num_pairs), a = triangle_row(t), b = t - a * (a + 1) / 2;
    double block[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    for (int q = 0; q < n; ++q) {
      const double* const g = geometry.data + 10 * (k * n + q);
      const Matrix3 to_gradient{{{{g[0], g[1], g[2]}}, {{g[3], g[4], g[5]}}, {{g[6], g[7], g[8]}}}};
      const Vector3 ga = g[9] * (to_gradient * batch.derivatives(a, q)),
                    gb = to_gradient * batch.derivatives(b, q);
      double stress[6][3];
      mode_stress(batch.elasticity(begin + k, q), gb, stress);
      for (int c = 0; c < 3; ++c)
        for (int d = 0; d < 3; ++d)
          for (int j = 0; j < 3; ++j)
            block[3 * c + d] += ga[j] * stress[voigt(c, j)][d];
    }
    output.set_block(first_matrix + k, a, b, block);
  }
};

} // namespace detail

/// Elements begin .. end - 1 into `matrix`, one behind the other. Fences.
template<class Exec>
void form_aii(const Exec& exec, const HexaBatch<Exec>& batch, MatrixStorage storage,
              std::int64_t begin, std::int64_t end, const Array<double, Exec>& matrix) {
  const std::int64_t entries = matrix_entries(MatrixStorage::packed, batch.num_dofs());
  const double bytes = BackendTraits<Exec>::is_device ? detail::stiffness_workspace : 8e6;
  const std::int64_t fit = std::max<std::int64_t>(1, std::int64_t(bytes / (8.0 * double(entries)))),
                     num_points = batch.num_points(), points_at_once = std::min(fit, num_points),
                     elements_at_once =
                         std::max<std::int64_t>(1, std::min(fit / num_points, end - begin));
  const detail::HexaBatchPointers pointers(batch);
  const detail::StiffnessOutput output(matrix, storage, batch.num_dofs());
  detail::WorkerMemory<Exec> part;
  part.entries = entries;
  part.data = make_uninitialized<double>(exec, elements_at_once * points_at_once * entries,
                                         "ossatura::form_aii::part");
  const detail::WorkerMemory<Exec> strain =
      detail::make_worker_memory(exec, elements_at_once * points_at_once,
                                 6 * std::int64_t(batch.num_dofs()), detail::stiffness_workspace);
  for (std::int64_t first = begin; first < end; first += elements_at_once) {
    const std::int64_t num_elem = std::min(elements_at_once, end - first);
    for (std::int64_t q = 0; q < num_points; q += points_at_once) {
      const detail::PointRange points{first, int(q), int(std::min(points_at_once, num_points - q))};
      part.num_workers = num_elem * points.num_points;
      Kokkos::parallel_for("ossatura::form_aii::parts",
                           range(exec, std::min(part.num_workers, strain.num_workers)),
                           detail::FormParts<Exec>{pointers, points, strain, part});
      Kokkos::parallel_for("ossatura::form_aii::sum", range(exec, num_elem * entries),
                           detail::SumPointParts<Exec>{output, points, first - begin, part});
    }
  }
  fence(exec, "ossatura::form_aii");
}

/// The same with the points innermost, a thread a block of 3 x 3. Fences.
template<class Exec>
void form_aii_inner(const Exec& exec, const HexaBatch<Exec>& batch, MatrixStorage storage,
                    std::int64_t begin, std::int64_t end, const Array<double, Exec>& matrix) {
  const std::int64_t num_points = batch.num_points(),
                     num_pairs = std::int64_t(batch.num_modes) * (batch.num_modes + 1) / 2;
  const std::int64_t at_once = std::min<std::int64_t>(
      end - begin, std::max<std::int64_t>(
                       1, std::int64_t(detail::stiffness_workspace / double(80 * num_points))));
  const detail::HexaBatchPointers pointers(batch);
  const detail::StiffnessOutput output(matrix, storage, batch.num_dofs());
  const Array<double, Exec> geometry = make_uninitialized<double>(
      exec, 10 * at_once * num_points, "ossatura::form_aii_inner::geometry");
  for (std::int64_t first = begin; first < end; first += at_once) {
    const std::int64_t num_elem = std::min(at_once, end - first);
    Kokkos::parallel_for("ossatura::form_aii_inner::geometry", range(exec, num_elem * num_points),
                         detail::FormPointGeometry{pointers, first, geometry});
    Kokkos::parallel_for("ossatura::form_aii_inner", range(exec, num_elem * num_pairs),
                         detail::FormBlocks{pointers, output, first, first - begin, geometry});
  }
  fence(exec, "ossatura::form_aii_inner");
}

} // namespace ossatura
