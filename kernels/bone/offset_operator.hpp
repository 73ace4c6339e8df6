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

/// The distances from a node to the other corners of the voxel whose lowest corner it is.
template<class Exec>
KOKKOS_INLINE_FUNCTION void find_distances(const VoxelGrid<Exec>& grid, int lowest,
                                           int (&distance)[7]) {
  const Site s = grid.site(lowest);
  for (int v = 1; v < 8; ++v)
    distance[v - 1] = grid.find(s.x + (v & 1), s.y + (v >> 1 & 1), s.z + (v >> 2)) - lowest;
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

/// The numbers of elements in each list of OffsetTables.
struct OffsetCounts {
  static constexpr int num_lists = 3;
  int count[num_lists];

  KOKKOS_FUNCTION OffsetCounts()
      : count{0, 0, 0} {}
  KOKKOS_FUNCTION void operator+=(const OffsetCounts& other) {
    for (int list = 0; list < num_lists; ++list)
      count[list] += other.count[list];
  }
};

/// list(node): that of the voxel whose lowest corner it is, by its largest distance; no voxel: 3.
template<class Exec>
struct ChooseLists {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  Array<std::uint8_t, Exec> list;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    int chosen = OffsetCounts::num_lists;
    if (lame.solid(int(node))) {
      int distance[7], largest = 0;
      find_distances(grid, int(node), distance);
      for (const int d : distance)
        largest = Kokkos::max(largest, d);
      chosen = largest >= 1 << 16 ? 0 : largest >= 1 << 8 ? 1 : 2;
    }
    list(node) = std::uint8_t(chosen);
  }
};

/// Numbers the elements of each list in the order of the nodes, and writes them in the second pass.
template<class Exec>
struct FillLists {
  OffsetTables<Exec> tables;
  Array<std::uint8_t, Exec> list;
  bool writes;

  template<class Offset>
  KOKKOS_FUNCTION static void write(const OffsetElements<Exec, Offset>& elements, int place,
                                    int lowest, const int (&distance)[7]) {
    elements.lowest(place) = lowest;
    for (int v = 0; v < 7; ++v)
      elements.distance(place, v) = Offset(distance[v]);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t node, OffsetCounts& sum, bool final) const {
    const int chosen = list(node);
    if (chosen == OffsetCounts::num_lists)
      return;
    const int place = sum.count[chosen]++;
    if (!final || !writes)
      return;
    int distance[7];
    find_distances(tables.grid, int(node), distance);
    if (chosen == 0)
      write(tables.long_elements, place, int(node), distance);
    else if (chosen == 1)
      write(tables.medium_elements, place, int(node), distance);
    else
      write(tables.short_elements, place, int(node), distance);
  }
};

template<class Exec, class Offset>
void allocate_elements(const Exec& exec, int count, OffsetElements<Exec, Offset>& elements) {
  elements.lowest = make_uninitialized<int>(exec, count, "ossatura::element_nodes");
  elements.distance = decltype(elements.distance)(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "ossatura::element_offsets"), count);
}

/// Fences.
template<class Exec>
OffsetTables<Exec> make_offset_tables(const Exec& exec, const VoxelGrid<Exec>& grid,
                                      const LameField<Exec>& lame, double edge) {
  constexpr const char* label = "ossatura::OffsetOperator::select";
  OffsetTables<Exec> tables{{}, {}, {}, grid, lame, edge};
  const auto list =
      make_uninitialized<std::uint8_t>(exec, grid.num_nodes, "ossatura::element_lists");
  Kokkos::parallel_for(label, range(exec, grid.num_nodes), ChooseLists<Exec>{grid, lame, list});
  OffsetCounts total;
  for (const bool writes : {false, true}) {
    Kokkos::parallel_scan(label, range(exec, grid.num_nodes), FillLists<Exec>{tables, list, writes},
                          total);
    if (!writes) {
      allocate_elements(exec, total.count[0], tables.long_elements);
      allocate_elements(exec, total.count[1], tables.medium_elements);
      allocate_elements(exec, total.count[2], tables.short_elements);
    }
  }
  return tables;
}

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
  static constexpr int flops_per_voxel = 72 + 44 + 72 + 24; ///< to the modes, on them, back, to y

  /// `edge` is the voxel's edge in mm. Fences.
  OffsetOperator(const Exec& exec, const VoxelGrid<Exec>& grid, const LameField<Exec>& lame,
                 double edge)
      : tables_(detail::make_offset_tables(exec, grid, lame, edge))
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
