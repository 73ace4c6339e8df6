// SPDX-License-Identifier: Apache-2.0
// The thread operator multiplies with stored element matrices, 8, 24 or 64 threads an element [1]:
// a thread takes the three rows of a node, a row or a block of K_e (matrices.hpp). A team takes
// several elements and first puts their nodes and displacements on chip. The blocks of 64 threads
// are summed there, so that every strategy adds 24 numbers an element to y, with atomics: the order
// of the sums, and so the last bits, vary from run to run.
//
// [1] S. K. Ratnakar, S. Sanfui, D. Sharma. Graphics processing unit-based element-by-element
//     strategies for accelerating topology optimization of three-dimensional continuum structures
//     using unstructured all-hexahedral mesh. J. Comput. Inf. Sci. Eng. 22 (2022) 021013,
//     doi:10.1115/1.4052892.
#pragma once

#include <ossatura/kernels/hexa/checked_operator.hpp>
#include <ossatura/kernels/hexa/published/matrices.hpp>

namespace ossatura {

namespace detail {

template<class Exec, class Scalar, int Threads>
struct ApplyHexaThreads {
  static constexpr int elems = 256 / Threads, team_size = elems * Threads;
  /// Numbers from an element to the next: not a multiple of the number of banks.
  static constexpr int stride = 25;
  static constexpr int rows = Threads == 24 ? 1 : 3; ///< of a thread
  static constexpr int columns = Threads == 64 ? 3 : 24;
  static constexpr int partials = Threads == 64 ? 3 * team_size : 0;
  static constexpr int scratch_bytes =
      (elems * stride + partials) * int(sizeof(Scalar)) + 8 * elems * int(sizeof(int));
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<team_size, 2>>;
  using Team = typename Policy::member_type;

  HexaArrays<Exec> arrays;
  HexaMatrices<Exec, Scalar, Threads> matrices;
  ArrayPointer<const double> modulus;
  ArrayPointer<const Scalar> x;
  ArrayPointer<Scalar> y;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scalar* const u =
        static_cast<Scalar*>(team.team_shmem().get_shmem_aligned(int(scratch_bytes), 16));
    Scalar* const partial = u + elems * stride;
    int* const node = reinterpret_cast<int*>(partial + partials);
    const int rank = team.team_rank(), size = team.team_size();
    const int first = team.league_rank() * elems;
    const int left = arrays.num_elem - first, num = Kokkos::min(int(elems), left);

    for (int i = rank; i < 8 * num; i += size)
      node[8 * (i % num) + i / num] = arrays.node_of(first + i % num, i / num);
    team.team_barrier();
    for (int i = rank; i < 24 * num; i += size)
      u[stride * (i / 24) + i % 24] = x(3 * std::int64_t(node[i / 3]) + i % 3);
    team.team_barrier();
    for (int i = rank; i < Threads * num; i += size) {
      const int e = i / Threads, thread = i % Threads;
      Scalar sum[rows];
      for (int r = 0; r < rows; ++r)
        sum[r] = 0;
      const Scalar* const part = u + stride * e + (Threads == 64 ? 3 * (thread % 8) : 0);
      for (int c = 0; c < columns; ++c)
        for (int r = 0; r < rows; ++r)
          sum[r] += matrices(first + e, thread, columns * r + c) * part[c];
      if constexpr (Threads == 64) {
        for (int r = 0; r < rows; ++r)
          partial[3 * i + r] = sum[r];
      } else {
        for (int r = 0; r < rows; ++r)
          add(first + e, node + 8 * e, rows * thread + r, sum[r]);
      }
    }
    if constexpr (Threads == 64) {
      team.team_barrier();
      for (int i = rank; i < 24 * num; i += size) {
        const int e = i / 24, row = i % 24;
        Scalar sum = 0;
        for (int b = 0; b < 8; ++b)
          sum += partial[3 * (64 * e + 8 * (row / 3) + b) + row % 3];
        add(first + e, node + 8 * e, row, sum);
      }
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void add(int elem, const int* node, int row, Scalar sum) const {
    Kokkos::atomic_add(&y(3 * std::int64_t(node[row / 3]) + row % 3), Scalar(modulus(elem)) * sum);
  }
};

/// Launches a kernel for teams of `elems` elements.
template<class Exec, class Kernel>
void launch_hexa_teams(const Exec& exec, const char* label, int num_elem, const Kernel& kernel) {
  typename Kernel::Policy policy(exec, (num_elem + Kernel::elems - 1) / Kernel::elems,
                                 BackendTraits<Exec>::is_device ? int(Kernel::team_size) : 1, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(int(Kernel::scratch_bytes) + 16));
  Kokkos::parallel_for(label, policy, kernel);
}

} // namespace detail

/// `ebe8`, `ebe24`, `ebe64`
template<class Exec, class Scalar, int Threads>
class HexaThreadOperator final : public HexaScaledOperator<Exec, Scalar> {
public:
  /// Does not fence.
  HexaThreadOperator(const Exec& exec, const HexaArrays<Exec>& arrays, const UnitLame& lame)
      : HexaScaledOperator<Exec, Scalar>(arrays, 576 * sizeof(Scalar))
      , matrices_(make_hexa_matrices<Threads, Scalar>(exec, arrays, lame)) {}

  bool is_deterministic() const override { return false; }

protected:
  void multiply(const Exec& exec, const Array<Scalar, Exec>& x,
                const Array<Scalar, Exec>& y) const override {
    fill_zeros(exec, y);
    detail::launch_hexa_teams(exec, "ossatura::apply_hexa_threads", matrices_.num_elem,
                              detail::ApplyHexaThreads<Exec, Scalar, Threads>{
                                  this->arrays_, matrices_, this->modulus_, x, y});
  }

private:
  HexaMatrices<Exec, Scalar, Threads> matrices_;
};

} // namespace ossatura
