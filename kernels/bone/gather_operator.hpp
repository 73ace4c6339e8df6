// SPDX-License-Identifier: Apache-2.0
// The gather operator computes the stiffness product node by node: each node gathers the rows of
// its eight voxels. No atomics and a fixed order of additions: bitwise reproducible on a backend
// for any number of threads. Nothing is stored beyond the grid and the moduli.
//
// Rows of K sum to zero, so that a voxel gives node q the sum over its other vertices of
// K_qv (x_v - x_q). Differences are taken first because entries are rounded: of x_v as they are, a
// bone that moves as a whole had forces of that rounding, which in single precision hold it better
// than supports at few nodes do.
#pragma once

#include <ossatura/kernels/algebra/fused_updates/fused.hpp>
#include <ossatura/kernels/bone/element.hpp>
#include <ossatura/kernels/bone/lame_field.hpp>

#include <type_traits>
#include <utility>

namespace ossatura {

namespace detail {

template<class Exec, class Scalar, class Update>
struct GatherVoxels {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  double edge;
  Array<Scalar, Exec> x;
  Update update;

  /// Adds the rows of vertex Q, this node with displacement x_q, of the voxel with lowest corner at
  /// neighbour `lowest_k`.
  template<int Q, int... V>
  KOKKOS_FUNCTION void add_voxel(const int (&neighbour)[27], const Scalar (&xq)[3],
                                 Scalar (&sum)[3], std::integer_sequence<int, V...>) const {
    constexpr int lowest_k = (1 - (Q & 1)) + 3 * (1 - (Q >> 1 & 1)) + 9 * (1 - (Q >> 2));
    const int lowest = neighbour[lowest_k];
    if (lowest < 0 || !lame.solid(lowest))
      return;
    const VoxelStiffnessEntries<Scalar> k(Scalar(edge * lame.lambda(lowest)),
                                          Scalar(edge * lame.mu(lowest)));
    const auto add_vertex = [&](auto vertex) {
      constexpr int v = decltype(vertex)::value;
      if constexpr (v != Q) {
        const std::int64_t first =
            3 * std::int64_t(neighbour[lowest_k + (v & 1) + 3 * (v >> 1 & 1) + 9 * (v >> 2)]);
        const Scalar difference[3] = {x(first) - xq[0], x(first + 1) - xq[1], x(first + 2) - xq[2]};
        k.template add_block_product<Q, v>(difference, sum);
      }
    };
    (add_vertex(std::integral_constant<int, V>()), ...);
  }

  template<int... Q>
  KOKKOS_FUNCTION void add_voxels(const int (&neighbour)[27], const Scalar (&xq)[3],
                                  Scalar (&sum)[3],
                                  std::integer_sequence<int, Q...> vertices) const {
    (add_voxel<Q>(neighbour, xq, sum, vertices), ...);
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t node = grid.owned.begin + i;
    const Site s = grid.site(int(node));
    int neighbour[27]; // nodes of the eight voxels around, x fastest
    for (int k = 0; k < 27; ++k)
      neighbour[k] =
          k == 13 ? int(node) : grid.find(s.x + k % 3 - 1, s.y + k / 3 % 3 - 1, s.z + k / 9 - 1);
    const Scalar xq[3] = {x(3 * node), x(3 * node + 1), x(3 * node + 2)};
    Scalar sum[3] = {0, 0, 0};
    add_voxels(neighbour, xq, sum, std::make_integer_sequence<int, 8>());
    finish_node(update, int(node), x, sum);
  }
};

} // namespace detail

/// y = A x with A the stiffness matrix of the voxels, without constraints.
template<class Exec>
class GatherOperator {
public:
  static constexpr const char* name = "gather";
  static constexpr const char* description = "by node, bitwise reproducible";
  static constexpr bool published = false;
  static constexpr bool fuses_updates = true;
  static constexpr bool is_reproducible = true;
  static constexpr int flops_per_voxel = 8 * 7 * (3 + 2 * 9);

  /// `edge` is the voxel's edge in mm.
  GatherOperator(const Exec&, const VoxelGrid<Exec>& grid, const LameField<Exec>& lame, double edge)
      : grid_(grid)
      , lame_(lame)
      , edge_(edge) {}

  static double bytes_kept(double, double) { return 0; }
  double index_bytes() const { return grid_.bytes(); }

  /// y = A x at owned nodes; x and y [3 num_nodes] must not alias. Does not fence.
  template<class Scalar>
  void apply(const Exec& exec, const Array<Scalar, Exec>& x, const Array<Scalar, Exec>& y) const {
    apply_then(exec, x, StoreProduct<Exec, Scalar>{y});
  }

  /// Finishes every owned node with `update`: see kernels/algebra/fused_updates/fused.hpp. Does not
  /// fence.
  template<class Scalar, class Update>
  void apply_then(const Exec& exec, const Array<Scalar, Exec>& x, const Update& update) const {
    Kokkos::parallel_for(
        "ossatura::GatherOperator::apply", range(exec, grid_.owned.count()),
        detail::GatherVoxels<Exec, Scalar, Update>{grid_, lame_, edge_, x, update});
  }

private:
  VoxelGrid<Exec> grid_;
  LameField<Exec> lame_;
  double edge_;
};

} // namespace ossatura
