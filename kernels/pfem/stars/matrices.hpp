// SPDX-License-Identifier: Apache-2.0
// The matrices of vertex stars are gathered from the matrices of elements; this file also inverts
// them and sums over stars. All sums are the same for any number of threads.
#pragma once

#include <ossatura/kernels/algebra/dense/invert_packed.hpp>
#include <ossatura/kernels/pfem/stars/vertex_stars.hpp>

namespace ossatura {

/// Packed matrices of elements begin .. end - 1 of a batch, one behind the other.
template<class Exec>
struct ElementMatrices {
  int num_dofs;                 ///< of an element
  std::int64_t begin, end;      ///< places in the batch
  Array<int, Exec> batch_place; ///< [num_elem of the mesh], of each in the batch, or -1
  Array<double, Exec> matrix;
};

namespace detail {

template<class Exec>
struct AddToStars {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  ArrayPointer<const std::int64_t> mode_begin, matrix_begin, corner_begin, place_begin;
  ArrayPointer<const int> mode, place;
  ArrayPointer<const std::uint32_t> corner;
  ArrayPointer<const int> local_begin, local_mode; ///< CornerModes
  ArrayPointer<const std::uint8_t> held;
  ArrayPointer<const int> batch_place;
  ArrayPointer<const double> matrix;
  std::int64_t begin, end, entries;
  std::int64_t first_star;
  ArrayPointer<double> value;

  /// The block of two modes of an element.
  KOKKOS_FUNCTION void add_block(const double* a, int row_mode, int column_mode, double sign,
                                 int row, int column, int row_held, int column_held,
                                 double* star) const {
    for (int c = 0; c < 3; ++c)
      for (int d = 0; d < 3; ++d) {
        if ((row == column && d > c) || row_held >> c & 1 || column_held >> d & 1)
          continue;
        const int r = 3 * row_mode + c, s = 3 * column_mode + d;
        const int high = Kokkos::max(r, s), low = Kokkos::min(r, s);
        const int i = 3 * row + c, j = 3 * column + d;
        star[std::int64_t(i) * (i + 1) / 2 + j] +=
            sign * a[std::int64_t(high) * (high + 1) / 2 + low];
      }
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const std::int64_t s = first_star + team.league_rank();
    double* const star = value.data + (matrix_begin(s) - matrix_begin(first_star));
    const int* const star_mode = mode.data + mode_begin(s);
    for (std::int64_t k = corner_begin(s); k < corner_begin(s + 1); ++k) {
      const int at = batch_place(corner(k) / 8), vertex = int(corner(k) % 8);
      if (at < begin || at >= end) // the same for the whole team
        continue;
      const double* const a = matrix.data + (at - begin) * entries;
      const int* const local = local_mode.data + local_begin(vertex);
      const int count = local_begin(vertex + 1) - local_begin(vertex);
      const int* const at_place = place.data + place_begin(k);
      for (int pair = team.team_rank(); pair < count * count; pair += team.team_size()) {
        const int i = pair / count, j = pair % count, row = at_place[i] >> 1,
                  column = at_place[j] >> 1;
        if (at_place[i] < 0 || at_place[j] < 0 || row < column)
          continue;
        add_block(a, local[i], local[j], (at_place[i] ^ at_place[j]) & 1 ? -1 : 1, row, column,
                  held(star_mode[row]), held(star_mode[column]), star);
      }
      team.team_barrier();
    }
  }
};

} // namespace detail

/// CornerModes in the memory of a backend.
template<class Exec>
struct CornerModeArrays {
  Array<int, Exec> begin, mode;
};

template<class Exec>
CornerModeArrays<Exec> upload_corner_modes(const Exec& exec, const CornerModes& modes) {
  return {upload(exec, "ossatura::stars::corner_mode_begin", modes.begin),
          upload(exec, "ossatura::stars::corner_mode", modes.mode)};
}

/// Adds what the elements have to the matrices of stars first .. last - 1, whose entries are in
/// `value` from that of the first. Rows and columns of components that are `held` [num_modes] stay
/// as they are. Does not fence.
template<class Exec>
void add_to_stars(const Exec& exec, const VertexStars<Exec>& stars,
                  const CornerModeArrays<Exec>& local, const Array<std::uint8_t, Exec>& held,
                  const ElementMatrices<Exec>& elements, std::int64_t first, std::int64_t last,
                  const Array<double, Exec>& value) {
  if (first == last)
    return;
  Kokkos::parallel_for(
      "ossatura::add_to_stars",
      Kokkos::TeamPolicy<Exec>(exec, int(last - first), BackendTraits<Exec>::is_device ? 256 : 1),
      detail::AddToStars<Exec>{
          stars.mode_begin, stars.matrix_begin, stars.corner_begin, stars.place_begin, stars.mode,
          stars.place, stars.corner, local.begin, local.mode, held, elements.batch_place,
          elements.matrix, elements.begin, elements.end,
          matrix_entries(MatrixStorage::packed, elements.num_dofs), first, value});
}

namespace detail {

/// For invert_packed, with the entries of the first at the beginning.
struct StarMatrices {
  ArrayPointer<const std::int64_t> mode_begin, matrix_begin;
  std::int64_t first;

  KOKKOS_FUNCTION int size(std::int64_t item) const {
    return 3 * int(mode_begin(first + item + 1) - mode_begin(first + item));
  }
  KOKKOS_FUNCTION std::int64_t matrix(std::int64_t item) const {
    return matrix_begin(first + item) - matrix_begin(first);
  }
};

template<class Exec>
struct SumStars {
  ArrayPointer<const int> use_begin, use;
  ArrayPointer<const double> y, vertex;
  std::int64_t num_vertices;
  ArrayPointer<double> z;

  /// A mode.
  KOKKOS_FUNCTION void operator()(std::int64_t mode) const {
    double sum[3];
    for (int c = 0; c < 3; ++c)
      sum[c] = mode < num_vertices ? vertex(3 * mode + c) : 0;
    for (int k = use_begin(mode); k < use_begin(mode + 1); ++k)
      for (int c = 0; c < 3; ++c)
        sum[c] += y(3 * std::int64_t(use(k)) + c);
    for (int c = 0; c < 3; ++c)
      z(3 * mode + c) = sum[c];
  }
};

} // namespace detail

/// The inverses of the matrices of stars first .. last - 1, as add_to_stars left them, where they
/// are; zero rows stay. Does not fence.
template<class Exec>
void invert_stars(const Exec& exec, const VertexStars<Exec>& stars, std::int64_t first,
                  std::int64_t last, const Array<double, Exec>& value) {
  invert_packed(exec, detail::StarMatrices{stars.mode_begin, stars.matrix_begin, first},
                last - first, stars.most_rows, value);
}

/// z [num_modes, 3] = the sum of y over the stars, and of `vertex` [num_vertices, 3] on the first
/// modes. Does not fence.
template<class Exec>
void sum_stars(const Exec& exec, const VertexStars<Exec>& stars, const Array<double, Exec>& y,
               const Array<double, Exec>& vertex, const Array<double, Exec>& z) {
  Kokkos::parallel_for("ossatura::sum_stars", range(exec, z.extent(0) / 3),
                       detail::SumStars<Exec>{stars.use_begin, stars.use, y, vertex,
                                              std::int64_t(vertex.extent(0)) / 3, z});
}

} // namespace ossatura
