// SPDX-License-Identifier: Apache-2.0
// The packed product multiplies with packed symmetric matrices, one an element
// (MatrixStorage::packed). An entry is read once and used twice, for its row and, transposed, for
// its column.
//
// On devices a team has an element. A lane has columns 32 apart, whose part of x and whose sums
// stay in registers while the lane's warp goes down the rows, eight at a time: loads are along
// rows, contiguous over the lanes. Matrices of more columns are multiplied panel by panel. CUDA
// devices of compute capability 9.0 and more do that for order 1 alone, and stream the matrices of
// others through team memory (kernels/pfem/matrix_free/packed_stream.hpp). On cores a thread has an
// element, and packs of columns.
#pragma once

#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/core/parallel/lanes.hpp>
#include <ossatura/core/parallel/warp_sum.hpp>
#include <ossatura/kernels/pfem/hexa_batch.hpp>
#include <ossatura/kernels/pfem/matrix_free/packed_stream.hpp>
#include <ossatura/kernels/pfem/matrix_free/signed_component.hpp>

#include <algorithm>
#include <type_traits>

namespace ossatura {

namespace detail {

/// On devices a lane has `width` columns of a panel; on cores that is the width of packs.
template<class Exec, int width>
struct PackedMultiply {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr bool is_device = BackendTraits<Exec>::is_device;
  static constexpr int panel = 32 * width;

  int n;     ///< rows of a matrix
  int warps; ///< of an element
  std::int64_t num_elem;
  ArrayPointer<const double> matrix;   ///< [num_elem, n (n + 1) / 2]
  ArrayPointer<const int> signed_mode; ///< [num_elem, n / 3]
  ArrayPointer<const double> x;        ///< [num_modes, 3]
  ArrayPointer<double> y;              ///< [num_elem, n]

  /// Of one element.
  int scratch_doubles() const { return is_device ? n + warps * int(panel) : 2 * n; }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const int threads = is_device ? 32 * warps : 1; // of an element
    const int own = team.team_rank() / threads, elems = team.team_size() / threads;
    const std::int64_t elem = std::int64_t(team.league_rank()) * elems + own;
    const int doubles = is_device ? n + warps * int(panel) : 2 * n;
    double* const scratch = static_cast<double*>(
        team.team_scratch(int(scratch_level<Exec>)).get_shmem_aligned(8 * elems * doubles, 64));
    multiply(team, team.team_rank() % threads, elem, scratch + own * doubles);
  }

private:
  KOKKOS_FORCEINLINE_FUNCTION void multiply(const Team& team, int rank, std::int64_t elem,
                                            double* u) const {
    const bool inside = elem < num_elem;
    const double* const entries =
        matrix.data + (inside ? elem : 0) * (std::int64_t(n) * (n + 1) / 2);
    double* const result = y.data + (inside ? elem : 0) * n;
    const int threads = is_device ? 32 * warps : 1;
    if (inside)
      for (int i = rank; i < n; i += threads)
        u[i] = signed_component(x.data, signed_mode(elem * (n / 3) + i / 3), i % 3);
    if constexpr (!is_device) {
      multiply_rows(entries, u, u + n, result);
    } else {
      double* const sums = u + n; // [warps, panel] of columns
      const int lane = rank % 32, warp = rank / 32;
      for (int first = 0; first < n; first += int(panel)) {
        team.team_barrier();
        if (inside)
          multiply_panel(entries, u, first, warp, lane, sums + warp * int(panel), result);
        team.team_barrier();
        if (inside)
          for (int c = rank; c < int(panel) && first + c < n; c += threads) {
            double sum = result[first + c];
            for (int w = 0; w < warps; ++w)
              sum += sums[w * int(panel) + c];
            result[first + c] = sum;
          }
      }
    }
  }

  /// Columns first .. first + panel - 1, rows from `first` on, eight and eight by turns of warps.
  KOKKOS_FORCEINLINE_FUNCTION void multiply_panel(const double* entries, const double* u, int first,
                                                  int warp, int lane, double* sums,
                                                  double* result) const {
    double x_of[width], column[width];
    for (int k = 0; k < width; ++k) {
      const int j = first + 32 * k + lane;
      x_of[k] = j < n ? u[j] : 0;
      column[k] = 0;
    }
    int row = first + 8 * warp;
    for (; row < first + int(panel) && row < n; row += 8 * warps)
      multiply_eight<true>(entries, u, first, row, lane, x_of, column, result);
    for (; row < n; row += 8 * warps)
      multiply_eight<false>(entries, u, first, row, lane, x_of, column, result);
    for (int k = 0; k < width; ++k)
      sums[32 * k + lane] = column[k];
  }

  /// `diagonal`: rows that end in the panel. Rows past the last one are the last one times zero.
  template<bool diagonal>
  KOKKOS_FORCEINLINE_FUNCTION void multiply_eight(const double* entries, const double* u, int first,
                                                  int row, int lane, const double (&x_of)[width],
                                                  double (&column)[width], double* result) const {
    double u_row[8], sum[8];
    int begin[8];
    for (int r = 0; r < 8; ++r) {
      const int i = row + r < n ? row + r : n - 1;
      begin[r] = i * (i + 1) / 2 + first + lane;
      u_row[r] = row + r < n ? u[row + r] : 0;
      sum[r] = 0;
    }
    for (int k = 0; k < width; ++k) {
      if (diagonal && first + 32 * k > row + 7)
        break;
      const int j = first + 32 * k + lane;
      double entry[8];
      for (int r = 0; r < 8; ++r)
        entry[r] = !diagonal || (j <= row + r && row + r < n) ? entries[begin[r] + 32 * k] : 0;
      for (int r = 0; r < 8; ++r) {
        sum[r] += entry[r] * x_of[k];
        column[k] += (diagonal && j == row + r ? 0.0 : entry[r]) * u_row[r];
      }
    }
    const double whole = warp_sums(sum, lane);
    const int i = row + lane / 4;
    if (lane % 4 == 0 && i < n)
      result[i] = first == 0 ? whole : result[i] + whole;
  }

  /// All rows by one thread.
  KOKKOS_FORCEINLINE_FUNCTION void multiply_rows(const double* entries, const double* u,
                                                 double* sums, double* result) const {
    constexpr int pack = width;
    const double* row = entries;
    for (int i = 0; i < n; row += ++i) {
      const Pack<double, pack> own(u[i]);
      Pack<double, pack> sum(0.0);
      int j = 0;
      for (; j + pack <= i; j += pack) {
        const auto entry = load_pack<pack>(row + j);
        sum += entry * load_pack<pack>(u + j);
        store_pack<pack>(sums + j, load_pack<pack>(sums + j) + entry * own);
      }
      double rest = 0;
      for (; j < i; ++j) {
        rest += row[j] * u[j];
        sums[j] += row[j] * u[i];
      }
      for (int k = 0; k < pack; ++k)
        rest += sum.value[k];
      sums[i] = rest + row[i] * u[i];
    }
    for (int i = 0; i < n; ++i)
      result[i] = sums[i];
  }
};

template<class Exec, int width>
void launch_packed_multiply(const Exec& exec, PackedMultiply<Exec, width> kernel) {
  constexpr bool is_device = BackendTraits<Exec>::is_device;
  const int threads = is_device ? 32 * kernel.warps : 1;
  const int elems = is_device ? std::max(1, 128 / threads) : 1;
  Kokkos::parallel_for(
      "ossatura::multiply_packed",
      Kokkos::TeamPolicy<Exec>(exec, int((kernel.num_elem + elems - 1) / elems), elems * threads)
          .set_scratch_size(scratch_level<Exec>,
                            Kokkos::PerTeam(8 * elems * kernel.scratch_doubles() + 64)),
      kernel);
}

template<class Exec>
void multiply_packed_panels(const Exec& exec, int n, std::int64_t num_elem,
                            ArrayPointer<const double> matrix, ArrayPointer<const int> signed_mode,
                            ArrayPointer<const double> x, ArrayPointer<double> y) {
  const auto launch = [&](auto width, int warps) {
    const PackedMultiply<Exec, int(decltype(width)::value)> kernel{
        n, warps, num_elem, matrix, signed_mode, x, y};
    launch_packed_multiply(exec, kernel);
  };
  if constexpr (BackendTraits<Exec>::is_device) {
    if (n <= 32)
      launch(std::integral_constant<int, 1>(), 1);
    else if (n <= 64)
      launch(std::integral_constant<int, 2>(), 1);
    else if (n <= 128)
      launch(std::integral_constant<int, 4>(), 2);
    else
      launch(std::integral_constant<int, 8>(), n <= 256 ? 4 : n <= 1024 ? 8 : 4);
  } else {
    launch(std::integral_constant<int, register_lanes>(), 1);
  }
}

} // namespace detail

/// Element e of `batch` times its part of x [num_modes, 3], with the signs in which it sees it,
/// into y [num_elem, 3 num_modes]. `matrix` [num_elem, matrix_entries(packed, 3 num_modes)]. Does
/// not fence.
template<class Exec>
void multiply_packed_elements(const Exec& exec, const HexaBatch<Exec>& batch,
                              const Array<double, Exec>& matrix, const Array<double, Exec>& x,
                              const Array<double, Exec>& y, std::int64_t first_y = 0) {
  if (batch.num_elem == 0)
    return;
  const int n = batch.num_dofs();
  ArrayPointer<double> result = y;
  result.data += first_y;
#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
  if constexpr (std::is_same_v<Exec, Cuda>) {
    const detail::PackedElements elements{n, batch.num_elem, matrix, batch.signed_mode, x, result};
    if (detail::multiply_packed_stream(exec, elements))
      return;
  }
#endif
  detail::multiply_packed_panels(exec, n, batch.num_elem, matrix, batch.signed_mode, x, result);
}

} // namespace ossatura
