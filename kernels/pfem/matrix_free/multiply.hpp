// SPDX-License-Identifier: Apache-2.0
// The matrix-free product of hierarchical hexahedra: the sums of element_sums.hpp, on devices a
// team for some elements, on cores a thread for a pack of them (batches/matrix_free_batches.hpp).
#pragma once

#include <ossatura/core/parallel/wide_teams.hpp>
#include <ossatura/kernels/pfem/batches/matrix_free_batches.hpp>
#include <ossatura/kernels/pfem/matrix_free/element_sums.hpp>
#include <ossatura/kernels/pfem/matrix_free/packed_multiply.hpp>
#include <ossatura/kernels/pfem/matrix_free/plan.hpp>

namespace ossatura {

namespace detail {

template<class Exec>
MatrixFreeArrays matrix_free_arrays(const HexaBatch<Exec>& batch, const ModeRanges<Exec>& ranges,
                                    const MatrixFreePlan& plan, const Array<double, Exec>& x,
                                    const Array<double, Exec>& y, std::int64_t first_y) {
  MatrixFreeArrays arrays{batch.order,
                          batch.points,
                          batch.num_modes,
                          ranges.num_pairs,
                          plan.planes,
                          plan.elems,
                          MatrixFreeLayout(batch.order, batch.points, batch.num_modes,
                                           ranges.num_pairs, plan.planes, plan.tile),
                          batch.num_elem,
                          batch.elem_stride,
                          batch.point_stride,
                          ranges.range,
                          batch.signed_mode,
                          batch.corner,
                          batch.jacobian,
                          batch.elasticity,
                          batch.point,
                          batch.weight,
                          batch.value,
                          batch.derivative,
                          x,
                          y};
  arrays.y.data += first_y;
  return arrays;
}

/// On devices.
template<class Exec, int tile>
struct MultiplyMatrixFree {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  MatrixFreeSums<void, true, tile, 1> sums;

  struct Barrier {
    const Team& team;
    KOKKOS_FORCEINLINE_FUNCTION void operator()() const { team.team_barrier(); }
  };

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    char* const memory = static_cast<char*>(team.team_scratch(int(scratch_level<Exec>))
                                                .get_shmem_aligned(sums.scratch_bytes(1) - 64, 64));
    sums.multiply(team.league_rank(), team.team_rank(), team.team_size(), memory, Barrier{team});
  }
};

template<class Exec, int tile>
void multiply_on_device(const Exec& exec, const MatrixFreeArrays& arrays, int threads) {
  const std::int64_t teams = (arrays.num_elem + arrays.elems - 1) / arrays.elems;
  Kokkos::parallel_for(
      "ossatura::multiply_matrix_free",
      Kokkos::TeamPolicy<Exec>(exec, int(teams), threads)
          .set_scratch_size(scratch_level<Exec>, Kokkos::PerTeam(arrays.scratch_bytes(1))),
      MultiplyMatrixFree<Exec, tile>{{arrays}});
}

/// On cores.
struct MultiplyMatrixFreeBatch {
  MatrixFreeArrays arrays;
  const MatrixFreeBatches* batches;

  KOKKOS_FUNCTION void operator()(const WideTeam& team) const {
    batches->multiply(arrays, team.league_rank, team.scratch);
  }
};

} // namespace detail

/// Element e times its part of x [num_modes, 3], with signs, into y [num_elem, 3 num_modes] from
/// first_y on. Does not fence.
template<class Exec>
void multiply_matrix_free(const Exec& exec, const HexaBatch<Exec>& batch,
                          const ModeRanges<Exec>& ranges, const MatrixFreePlan& plan,
                          const Array<double, Exec>& x, const Array<double, Exec>& y,
                          std::int64_t first_y = 0) {
  if (batch.num_elem == 0)
    return;
  const detail::MatrixFreeArrays arrays =
      detail::matrix_free_arrays(batch, ranges, plan, x, y, first_y);
  if constexpr (BackendTraits<Exec>::is_device) {
    switch (plan.tile) {
    case 2:
      return detail::multiply_on_device<Exec, 2>(exec, arrays, plan.threads);
    case 3:
      return detail::multiply_on_device<Exec, 3>(exec, arrays, plan.threads);
    case 4:
      return detail::multiply_on_device<Exec, 4>(exec, arrays, plan.threads);
    case 5:
      return detail::multiply_on_device<Exec, 5>(exec, arrays, plan.threads);
    default:
      return detail::multiply_on_device<Exec, 6>(exec, arrays, plan.threads);
    }
  } else {
    OSSATURA_REQUIRE(batch.points <= int(detail::most_host_points),
                     batch.points << " points along an axis");
    const detail::MatrixFreeBatches& batches = detail::matrix_free_batches();
    launch_wide_teams("ossatura::multiply_matrix_free", exec,
                      (batch.num_elem + batches.lanes - 1) / batches.lanes, 1,
                      std::size_t(arrays.scratch_bytes(batches.lanes)),
                      detail::MultiplyMatrixFreeBatch{arrays, &batches});
  }
}

} // namespace ossatura
