// SPDX-License-Identifier: Apache-2.0
// The offset operator multiplies element by element with the compressed element tables of
// CUDA-ParOSol [1], 3.2.2.
//
// An element stores the number of its lowest node and the distances from there to its other seven
// nodes. Along the curve most distances are small, so elements fall into three classes with
// distances of 1, 2 or 4 bytes: at least 64.4 % and 93.8 % of a solid cube fit 1 and 2 bytes [1,
// Appendix A]. Products are added as element_by_element.hpp says: bitwise reproducible on cores,
// not on devices. Cores take eight elements at a time (batches/batch_products.hpp).
//
// [1] P. Arbenz, C. Flaig, D. Kellenberger. Bone structure analysis on multiple GPGPUs. J. Parallel
//     Distrib. Comput. 74 (2014) 2941-2950, doi:10.1016/j.jpdc.2014.06.014.
#pragma once

#include <ossatura/kernels/bone/batches/batch_products.hpp>
#include <ossatura/kernels/bone/element_by_element.hpp>

namespace ossatura {

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
    largest = Kokkos::max(largest, d);
  }
  return largest;
}

/// Numbers the voxels whose largest distance is within bounds; writes them in the second pass.
template<class Exec, class Offset>
struct SelectElements {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  int min_distance;
  int max_distance;
  int pass;
  Array<int, Exec> lowest;
  Kokkos::View<Offset* [7], typename Exec::array_layout, typename Exec::memory_space> distance;

  KOKKOS_FUNCTION void operator()(std::int64_t node, std::int64_t& sum, bool final) const {
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
  }
};

template<class Exec, class Offset>
OffsetElements<Exec, Offset> select_elements(const Exec& exec, const VoxelGrid<Exec>& grid,
                                             const LameField<Exec>& lame, int min_distance,
                                             int max_distance) {
  OffsetElements<Exec, Offset> elements;
  std::int64_t count = 0;
  // Two passes: count, then fill in node order.
  for (int pass = 0; pass < 2; ++pass) {
    const auto lowest = elements.lowest;
    const auto distance = elements.distance;
    Kokkos::parallel_scan("ossatura::OffsetOperator::select", range(exec, grid.num_nodes),
                          SelectElements<Exec, Offset>{grid, lame, min_distance, max_distance, pass,
                                                       lowest, distance},
                          count);
    if (pass == 0) {
      elements.lowest = make_uninitialized<int>(exec, count, "ossatura::element_nodes");
      elements.distance = decltype(elements.distance)(
          Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "ossatura::element_offsets"),
          count);
    }
  }
  return elements;
}

/// The elements of all classes.
template<class Exec>
struct OffsetTables {
  static constexpr int num_lists = 3;
  OffsetElements<Exec, std::int32_t> long_elements;
  OffsetElements<Exec, std::uint16_t> medium_elements;
  OffsetElements<Exec, std::uint8_t> short_elements;
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  double edge;

  KOKKOS_FUNCTION const auto& elements(std::integral_constant<int, 0>) const {
    return long_elements;
  }
  KOKKOS_FUNCTION const auto& elements(std::integral_constant<int, 1>) const {
    return medium_elements;
  }
  KOKKOS_FUNCTION const auto& elements(std::integral_constant<int, 2>) const {
    return short_elements;
  }

  template<class List>
  std::int64_t size(List list) const {
    return elements(list).size();
  }
  template<class List>
  Site site(List list, std::int64_t e) const {
    return grid.site(elements(list).lowest(e));
  }
  template<class List>
  KOKKOS_FUNCTION void nodes(List list, std::int64_t e, int (&node)[8]) const {
    const auto& table = elements(list);
    node[0] = table.lowest(e);
    for (int v = 1; v < 8; ++v)
      node[v] = node[0] + int(table.distance(e, v - 1));
  }
};

/// One block per thread, in batches.
template<class Exec, class Scalar>
struct ApplyOffsetBlocks {
  ElementBlocks<Exec, 3> blocks;
  OffsetTables<Exec> tables;
  BatchFunctions<Scalar> batch;
  BatchInput<Scalar> input;
  Scalar* y;
  std::int64_t first_block;

  template<class Offset>
  KOKKOS_FUNCTION void add(const OffsetElements<Exec, Offset>& elements, int begin, int end) const {
    if (begin < end)
      batch.add(static_cast<const Offset*>(nullptr))(input, &elements.lowest(begin),
                                                     &elements.distance(begin, 0), end - begin, y);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const ElementBlock<3> block = blocks.block(first_block + i);
    add(tables.long_elements, block.begin[0], block.end[0]);
    add(tables.medium_elements, block.begin[1], block.end[1]);
    add(tables.short_elements, block.begin[2], block.end[2]);
  }
};

} // namespace detail

/// Sizes of the three classes of elements.
struct OffsetClasses {
  std::int64_t num_short, num_medium, num_long;

  /// Of the tables: an element's lowest node and seven distances.
  double bytes() const {
    return double(num_short) * (4 + 7 * 1) + double(num_medium) * (4 + 7 * 2) +
           double(num_long) * (4 + 7 * 4);
  }
};

/// y = A x with A the stiffness matrix of the voxels, without constraints.
template<class Exec>
class OffsetOperator {
public:
  static constexpr const char* name = "offset";
  static constexpr const char* description = "by voxel, with atomics on devices";
  static constexpr bool published = false;
  static constexpr bool fuses_updates = false;
  static constexpr bool is_reproducible = !BackendTraits<Exec>::is_device;
  static constexpr bool allows_lean = false;
  static constexpr int flops_per_voxel = 72 + 44 + 72 + 24; ///< to the modes, on them, back, to y

  /// `edge` is the voxel's edge in mm. Fences.
  OffsetOperator(const Exec& exec, const VoxelGrid<Exec>& grid, const LameField<Exec>& lame,
                 double edge)
      : tables_{detail::select_elements<Exec, std::int32_t>(exec, grid, lame, 1 << 16, INT32_MAX),
                detail::select_elements<Exec, std::uint16_t>(exec, grid, lame, 1 << 8,
                                                             (1 << 16) - 1),
                detail::select_elements<Exec, std::uint8_t>(exec, grid, lame, 0, (1 << 8) - 1),
                grid,
                lame,
                edge}
      , blocks_(detail::make_element_blocks(exec, tables_)) {}

  OffsetClasses classes() const {
    return {tables_.short_elements.size(), tables_.medium_elements.size(),
            tables_.long_elements.size()};
  }

  static double bytes_kept(double, double num_elem) { return 14 * num_elem; }
  double index_bytes() const { return classes().bytes(); }

  /// y = A x; x and y [3 num_nodes] must not alias. Does not fence.
  template<class Scalar>
  void apply(const Exec& exec, const Array<Scalar, Exec>& x, const Array<Scalar, Exec>& y) const {
    constexpr const char* label = "ossatura::OffsetOperator::apply";
    if constexpr (BackendTraits<Exec>::is_device) {
      detail::apply_elements(exec, label, tables_, blocks_, x, y);
    } else {
      const LameField<Exec>& lame = tables_.lame;
      const detail::BatchInput<Scalar> input{lame.lambda_value.data(),
                                             lame.mu_value.data(),
                                             Scalar(tables_.edge * lame.lambda_scale),
                                             Scalar(tables_.edge * lame.mu_scale),
                                             x.data(),
                                             std::int64_t(x.extent(0)) / 3};
      Kokkos::deep_copy(exec, y, Scalar(0));
      detail::launch_blocks(exec, label, blocks_, [&](std::int64_t first_block) {
        return detail::ApplyOffsetBlocks<Exec, Scalar>{
            blocks_, tables_, detail::batch_products().of(Scalar()), input, y.data(), first_block};
      });
    }
  }

private:
  detail::OffsetTables<Exec> tables_;
  detail::ElementBlocks<Exec, 3> blocks_; ///< on cores
};

} // namespace ossatura
