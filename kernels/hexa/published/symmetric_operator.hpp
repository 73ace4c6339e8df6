// SPDX-License-Identifier: Apache-2.0
// The symmetric operator multiplies with the entries of the element matrices on and above the
// diagonal, 8 threads an element [1]: 300 numbers in two arrays, of the 8 blocks on the diagonal (6
// numbers each) and the 28 above it (9 each), element fastest on devices. A thread is a node of an
// element: it takes its own block times its displacement, and then the blocks it shares with the 7
// other nodes, half of them transposed. Both nodes of a shared block are in one team and read the
// block once from memory. Displacements are put on chip first; the sums into y are atomic, so that
// last bits vary from run to run.
//
// [1] S. K. Ratnakar, U. Kiran, D. Sharma. Acceleration of structural topology optimization using
//     symmetric element-by-element strategy for unstructured meshes on GPU. Eng. Comput. 39 (2022),
//     doi:10.1108/EC-01-2022-0022.
#pragma once

#include <ossatura/kernels/hexa/checked_operator.hpp>
#include <ossatura/kernels/hexa/published/matrices.hpp>
#include <ossatura/kernels/hexa/published/thread_operator.hpp>

namespace ossatura {

/// Upper halves of the element matrices.
template<class Exec, class Scalar>
struct HexaSymmetricMatrices {
  int num_elem = 0;
  Array<Scalar, Exec>
      diagonal;              ///< [6, 8, num_elem]: (0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)
  Array<Scalar, Exec> above; ///< [9, 28, num_elem]: blocks (a, b), a < b, row-major

  /// On cores the numbers of an element are together.
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t place(int num_elem, int elem, int blocks,
                                                        int size, int block, int m) {
    return BackendTraits<Exec>::is_device ? (std::int64_t(m) * blocks + block) * num_elem + elem
                                          : (std::int64_t(elem) * blocks + block) * size + m;
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar& on_diagonal(int elem, int a, int m) const {
    return diagonal(place(num_elem, elem, 8, 6, a, m));
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar& above_diagonal(int elem, int pair, int m) const {
    return above(place(num_elem, elem, 28, 9, pair, m));
  }
  /// The number of block (a, b), a < b, row by row.
  KOKKOS_FORCEINLINE_FUNCTION static int pair_of(int a, int b) {
    return a * (15 - a) / 2 + b - a - 1;
  }
};

namespace detail {

/// The blocks (a, b), b >= a, of an element.
template<class Exec, class Scalar>
struct FillHexaSymmetric {
  HexaStiffnessFromMesh<Exec> source;
  HexaSymmetricMatrices<Exec, Scalar> matrices;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const int elem = int(item % matrices.num_elem), a = int(item / matrices.num_elem);
    double block[8][9];
    source.block_rows(elem, a, block);
    for (int b = 0; b < 8; ++b) {
      if (b == a) {
        int m = 0;
        for (int r = 0; r < 3; ++r)
          for (int c = r; c < 3; ++c, ++m)
            matrices.on_diagonal(elem, a, m) = Scalar(block[b][3 * r + c]);
      } else if (b > a) {
        for (int m = 0; m < 9; ++m)
          matrices.above_diagonal(elem, matrices.pair_of(a, b), m) = Scalar(block[b][m]);
      }
    }
  }
};

/// On devices neighbouring threads have the same node of neighbouring elements; on cores, where one
/// thread does all of a team, an element comes after the other.
template<class Exec, class Scalar>
struct ApplyHexaSymmetric {
  static constexpr int elems = 32, team_size = 8 * elems;
  static constexpr int scratch_bytes =
      24 * elems * int(sizeof(Scalar)) + 8 * elems * int(sizeof(int));
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<team_size, 2>>;
  using Team = typename Policy::member_type;

  HexaArrays<Exec> arrays;
  HexaSymmetricMatrices<Exec, Scalar> matrices;
  ArrayPointer<const double> modulus;
  ArrayPointer<const Scalar> x;
  ArrayPointer<Scalar> y;

  KOKKOS_FORCEINLINE_FUNCTION static int element_of(int i) {
    return BackendTraits<Exec>::is_device ? i % elems : i / 8;
  }
  KOKKOS_FORCEINLINE_FUNCTION static int node_of(int i) {
    return BackendTraits<Exec>::is_device ? i / elems : i % 8;
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    // Component j of element e at elems j + e.
    Scalar* const u =
        static_cast<Scalar*>(team.team_shmem().get_shmem_aligned(int(scratch_bytes), 16));
    int* const node = reinterpret_cast<int*>(u + 24 * elems);
    const int rank = team.team_rank(), size = team.team_size();
    const int first = team.league_rank() * elems;
    const int left = arrays.num_elem - first, num = Kokkos::min(int(elems), left);

    for (int i = rank; i < 8 * elems; i += size) {
      const int e = element_of(i), a = node_of(i);
      if (e >= num)
        continue;
      const int here = arrays.node_of(first + e, a);
      node[i] = here;
      for (int c = 0; c < 3; ++c)
        u[elems * (3 * a + c) + e] = x(3 * std::int64_t(here) + c);
    }
    team.team_barrier();
    for (int i = rank; i < 8 * elems; i += size) {
      const int e = element_of(i), a = node_of(i);
      if (e >= num)
        continue;
      Scalar sum[3];
      multiply_diagonal(first + e, a, u + elems * 3 * a + e, sum);
      for (int k = 1; k < 8; ++k) { // both nodes of a block come to it in the same round
        const int b = a ^ k;
        if (b < a)
          add_shared<true>(first + e, matrices.pair_of(b, a), u + elems * 3 * b + e, sum);
        else
          add_shared<false>(first + e, matrices.pair_of(a, b), u + elems * 3 * b + e, sum);
      }
      const Scalar scale = Scalar(modulus(first + e));
      for (int c = 0; c < 3; ++c)
        Kokkos::atomic_add(&y(3 * std::int64_t(node[i]) + c), scale * sum[c]);
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void multiply_diagonal(int elem, int a, const Scalar* u,
                                                     Scalar (&sum)[3]) const {
    const Scalar u0 = u[0], u1 = u[elems], u2 = u[2 * elems];
    const Scalar k01 = matrices.on_diagonal(elem, a, 1), k02 = matrices.on_diagonal(elem, a, 2),
                 k12 = matrices.on_diagonal(elem, a, 4);
    sum[0] = matrices.on_diagonal(elem, a, 0) * u0 + k01 * u1 + k02 * u2;
    sum[1] = k01 * u0 + matrices.on_diagonal(elem, a, 3) * u1 + k12 * u2;
    sum[2] = k02 * u0 + k12 * u1 + matrices.on_diagonal(elem, a, 5) * u2;
  }

  template<bool transposed>
  KOKKOS_FORCEINLINE_FUNCTION void add_shared(int elem, int pair, const Scalar* u,
                                              Scalar (&sum)[3]) const {
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c)
        sum[r] +=
            matrices.above_diagonal(elem, pair, transposed ? 3 * c + r : 3 * r + c) * u[elems * c];
  }
};

} // namespace detail

/// `ebeSym`
template<class Exec, class Scalar>
class HexaSymmetricOperator final : public HexaScaledOperator<Exec, Scalar> {
public:
  /// Does not fence.
  HexaSymmetricOperator(const Exec& exec, const HexaArrays<Exec>& arrays, const UnitLame& lame)
      : HexaScaledOperator<Exec, Scalar>(arrays, 300 * sizeof(Scalar))
      , matrices_{arrays.num_elem,
                  make_uninitialized<Scalar>(exec, 48 * std::int64_t(arrays.num_elem),
                                             "ossatura::hexa_symmetric::diagonal"),
                  make_uninitialized<Scalar>(exec, 252 * std::int64_t(arrays.num_elem),
                                             "ossatura::hexa_symmetric::above")} {
    Kokkos::parallel_for("ossatura::make_hexa_symmetric",
                         range(exec, 8 * std::int64_t(arrays.num_elem)),
                         detail::FillHexaSymmetric<Exec, Scalar>{{arrays, lame}, matrices_});
  }

  bool is_deterministic() const override { return false; }

protected:
  void multiply(const Exec& exec, const Array<Scalar, Exec>& x,
                const Array<Scalar, Exec>& y) const override {
    fill_zeros(exec, y);
    detail::launch_hexa_teams(
        exec, "ossatura::apply_hexa_symmetric", matrices_.num_elem,
        detail::ApplyHexaSymmetric<Exec, Scalar>{this->arrays_, matrices_, this->modulus_, x, y});
  }

private:
  HexaSymmetricMatrices<Exec, Scalar> matrices_;
};

} // namespace ossatura
