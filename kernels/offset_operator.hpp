// SPDX-License-Identifier: BSD-3-Clause
// Element-by-element stiffness product with the compressed element tables of CUDA-ParOSol
// [1], 3.2.2.
//
// An element stores the number of its lowest node and the distances from there to its other seven
// nodes. Along the Morton curve most distances are small, so elements fall into three classes with
// distances of 1, 2 or 4 bytes: at least 64.4 % and 93.8 % of a solid cube fit 1 and 2 bytes [1,
// Appendix A]. Where elements run concurrently, contributions are added with atomics: the sum's
// order, hence its last bits, vary from run to run except on the Serial backend.
//
// [1] P. Arbenz, C. Flaig, D. Kellenberger. Bone structure analysis on multiple GPGPUs. J. Parallel
//     Distrib. Comput. 74 (2014) 2941-2950, doi:10.1016/j.jpdc.2014.06.014.
#pragma once

#include "kernels/lame_field.hpp"
#include "kernels/voxel_element.hpp"

#include <type_traits>

namespace femura {

namespace detail {

/// Elements whose node distances fit Offset.
template<class Exec, class Offset>
struct OffsetElements {
  Array<int, Exec> lowest; ///< [n] node
  Kokkos::View<Offset* [7], typename Exec::array_layout, typename Exec::memory_space> distance;

  std::int64_t size() const { return lowest.extent(0); }
};

template<class Exec>
KOKKOS_INLINE_FUNCTION int largest_distance(const VoxelGrid<Exec>& grid, int lowest) {
  const Site s = grid.site(lowest);
  int largest = 0;
  for (int v = 1; v < 8; ++v) {
    const int d = grid.find(s.x + (v & 1), s.y + (v >> 1 & 1), s.z + (v >> 2)) - lowest;
    largest = d > largest ? d : largest;
  }
  return largest;
}

template<class Exec, class Offset>
OffsetElements<Exec, Offset> select_elements(const Exec& exec, const VoxelGrid<Exec>& grid,
                                             const LameField<Exec>& lame, int min_distance,
                                             int max_distance) {
  OffsetElements<Exec, Offset> elements;
  std::int64_t count = 0;
  // Two passes: count, then fill in Morton order.
  for (int pass = 0; pass < 2; ++pass) {
    const auto lowest = elements.lowest;
    const auto distance = elements.distance;
    Kokkos::parallel_scan(
        "femura::OffsetOperator::select", range(exec, grid.num_nodes),
        KOKKOS_LAMBDA(std::int64_t node, std::int64_t & sum, bool final) {
          if (!lame.solid(int(node)))
            return;
          const int largest = largest_distance(grid, int(node));
          if (largest < min_distance || largest > max_distance)
            return;
          if (final && pass == 1) {
            lowest(sum) = int(node);
            const Site s = grid.site(int(node));
            for (int v = 1; v < 8; ++v)
              distance(sum, v - 1) =
                  Offset(grid.find(s.x + (v & 1), s.y + (v >> 1 & 1), s.z + (v >> 2)) - int(node));
          }
          ++sum;
        },
        count);
    if (pass == 0) {
      elements.lowest = make_uninitialized<int>(exec, count, "femura::element_nodes");
      elements.distance = decltype(elements.distance)(
          Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "femura::element_offsets"), count);
    }
  }
  return elements;
}

template<class Exec, class Scalar, class Offset>
struct ApplyElements {
  OffsetElements<Exec, Offset> elements;
  LameField<Exec> lame;
  double edge;
  Array<Scalar, Exec> x, y;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    const int lowest = elements.lowest(e);
    std::int64_t first[8];
    first[0] = 3 * std::int64_t(lowest);
    for (int v = 1; v < 8; ++v)
      first[v] = 3 * (std::int64_t(lowest) + std::int64_t(elements.distance(e, v - 1)));
    Scalar u[24];
    for (int v = 0; v < 8; ++v)
      for (int c = 0; c < 3; ++c)
        u[3 * v + c] = x(first[v] + c);
    apply_voxel_stiffness(Scalar(edge * lame.lambda(lowest)), Scalar(edge * lame.mu(lowest)), u);
    for (int v = 0; v < 8; ++v)
      for (int c = 0; c < 3; ++c) {
        if constexpr (std::is_same_v<Exec, Serial>)
          y(first[v] + c) += u[3 * v + c];
        else
          Kokkos::atomic_add(&y(first[v] + c), u[3 * v + c]);
      }
  }
};

} // namespace detail

/// Sizes of the three classes of elements.
struct OffsetClasses {
  std::int64_t num_short, num_medium, num_long;
};

/// y = A x with A the stiffness matrix of the voxels, without constraints.
template<class Exec>
class OffsetOperator {
public:
  static constexpr const char* name = "offset";

  /// `edge` is the voxel's edge in mm. Fences.
  OffsetOperator(const Exec& exec, const VoxelGrid<Exec>& grid, const LameField<Exec>& lame,
                 double edge)
      : lame_(lame)
      , edge_(edge)
      , long_(detail::select_elements<Exec, std::int32_t>(exec, grid, lame, 1 << 16, INT32_MAX))
      , medium_(
            detail::select_elements<Exec, std::uint16_t>(exec, grid, lame, 1 << 8, (1 << 16) - 1))
      , short_(detail::select_elements<Exec, std::uint8_t>(exec, grid, lame, 0, (1 << 8) - 1)) {}

  OffsetClasses classes() const { return {short_.size(), medium_.size(), long_.size()}; }

  /// y = A x; x and y [3 num_nodes] must not alias. Does not fence.
  template<class Scalar>
  void apply(const Exec& exec, const Array<Scalar, Exec>& x, const Array<Scalar, Exec>& y) const {
    Kokkos::deep_copy(exec, y, Scalar(0));
    launch(exec, long_, x, y);
    launch(exec, medium_, x, y);
    launch(exec, short_, x, y);
  }

private:
  template<class Offset, class Scalar>
  void launch(const Exec& exec, const detail::OffsetElements<Exec, Offset>& elements,
              const Array<Scalar, Exec>& x, const Array<Scalar, Exec>& y) const {
    if (elements.size() > 0)
      Kokkos::parallel_for(
          "femura::OffsetOperator::apply", range(exec, elements.size()),
          detail::ApplyElements<Exec, Scalar, Offset>{elements, lame_, edge_, x, y});
  }

  LameField<Exec> lame_;
  double edge_;
  detail::OffsetElements<Exec, std::int32_t> long_;
  detail::OffsetElements<Exec, std::uint16_t> medium_;
  detail::OffsetElements<Exec, std::uint8_t> short_;
};

} // namespace femura
