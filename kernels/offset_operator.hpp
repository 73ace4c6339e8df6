// SPDX-License-Identifier: BSD-3-Clause
// Element-by-element stiffness product with the compressed element tables of CUDA-ParOSol
// [1], 3.2.2.
//
// An element stores the number of its lowest node and the distances from there to its other seven
// nodes. Along the curve most distances are small, so elements fall into three classes with
// distances of 1, 2 or 4 bytes: at least 64.4 % and 93.8 % of a solid cube fit 1 and 2 bytes [1,
// Appendix A]. On devices contributions are added with atomics, as in [1]: the sum's order, hence
// its last bits, vary from run to run. On cores, where atomics are dear, elements are taken in
// blocks of 8 x 8 x 8, a run of the Morton curve, one thread each; blocks of the same parity share
// no node and run together. That is bitwise reproducible for any number of threads.
//
// [1] P. Arbenz, C. Flaig, D. Kellenberger. Bone structure analysis on multiple GPGPUs. J. Parallel
//     Distrib. Comput. 74 (2014) 2941-2950, doi:10.1016/j.jpdc.2014.06.014.
#pragma once

#include "kernels/lame_field.hpp"
#include "kernels/upload.hpp"
#include "kernels/voxel_element.hpp"

#include <array>
#include <map>
#include <vector>

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
    Kokkos::parallel_scan("femura::OffsetOperator::select", range(exec, grid.num_nodes),
                          SelectElements<Exec, Offset>{grid, lame, min_distance, max_distance, pass,
                                                       lowest, distance},
                          count);
    if (pass == 0) {
      elements.lowest = make_uninitialized<int>(exec, count, "femura::element_nodes");
      elements.distance = decltype(elements.distance)(
          Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "femura::element_offsets"), count);
    }
  }
  return elements;
}

/// Adds the product of one element to y.
template<bool Atomic, class Exec, class Scalar, class Offset>
KOKKOS_INLINE_FUNCTION void add_element_product(const OffsetElements<Exec, Offset>& elements,
                                                const LameField<Exec>& lame, double edge,
                                                const Array<Scalar, Exec>& x,
                                                const Array<Scalar, Exec>& y, std::int64_t e) {
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
      if constexpr (Atomic)
        Kokkos::atomic_add(&y(first[v] + c), u[3 * v + c]);
      else
        y(first[v] + c) += u[3 * v + c];
    }
}

/// One element per thread, with atomics.
template<class Exec, class Scalar, class Offset>
struct ApplyElements {
  OffsetElements<Exec, Offset> elements;
  LameField<Exec> lame;
  double edge;
  Array<Scalar, Exec> x, y;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    add_element_product<true>(elements, lame, edge, x, y, e);
  }
};

/// Where the elements of a block begin and end in each class.
struct ElementBlock {
  int begin[3], end[3]; ///< long, medium, short
};

/// Blocks of elements, those that share no node next to each other: colour k is the blocks
/// colour_begin[k] .. colour_begin[k + 1].
template<class Exec>
struct ElementBlocks {
  Array<ElementBlock, Exec> block;
  std::array<std::int64_t, 9> colour_begin{};
};

/// Host backends only: reads the lists where they are.
template<class Exec, class... Offsets>
ElementBlocks<Exec> make_element_blocks(const Exec& exec, const VoxelGrid<Exec>& grid,
                                        const OffsetElements<Exec, Offsets>&... classes) {
  fence(exec, "femura::OffsetOperator::make_element_blocks");
  // A level this small costs less than handing it out to threads.
  constexpr int small = 2048;
  const bool whole = grid.num_elem <= small;
  std::array<std::map<std::uint64_t, ElementBlock>, 8> colours;
  int k = 0;
  const auto add_class = [&](const Array<int, Exec>& lowest) {
    for (int e = 0; e < int(lowest.extent(0)); ++e) {
      const Site s = grid.site(lowest(e));
      const std::uint64_t key = whole ? 0 : morton_key(s.x / 8, s.y / 8, s.z / 8);
      ElementBlock& block =
          colours[key & 7].try_emplace(key, ElementBlock{{0, 0, 0}, {0, 0, 0}}).first->second;
      if (block.end[k] == 0)
        block.begin[k] = e;
      block.end[k] = e + 1;
    }
    ++k;
  };
  (add_class(classes.lowest), ...);
  std::vector<ElementBlock> list;
  ElementBlocks<Exec> blocks;
  for (int colour = 0; colour < 8; ++colour) {
    for (const auto& entry : colours[colour])
      list.push_back(entry.second);
    blocks.colour_begin[colour + 1] = std::int64_t(list.size());
  }
  blocks.block = upload(exec, "femura::element_blocks", list);
  return blocks;
}

/// One block per thread, without atomics.
template<class Exec, class Scalar>
struct ApplyBlocks {
  ElementBlocks<Exec> blocks;
  OffsetElements<Exec, std::int32_t> long_elements;
  OffsetElements<Exec, std::uint16_t> medium_elements;
  OffsetElements<Exec, std::uint8_t> short_elements;
  LameField<Exec> lame;
  double edge;
  Array<Scalar, Exec> x, y;
  std::int64_t first_block;

  template<class Offset>
  KOKKOS_FUNCTION void add(const OffsetElements<Exec, Offset>& elements, int begin, int end) const {
    for (int e = begin; e < end; ++e)
      add_element_product<false>(elements, lame, edge, x, y, e);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const ElementBlock& block = blocks.block(first_block + i);
    add(long_elements, block.begin[0], block.end[0]);
    add(medium_elements, block.begin[1], block.end[1]);
    add(short_elements, block.begin[2], block.end[2]);
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
  static constexpr bool fuses_updates = false;

  /// `edge` is the voxel's edge in mm. Fences.
  OffsetOperator(const Exec& exec, const VoxelGrid<Exec>& grid, const LameField<Exec>& lame,
                 double edge)
      : lame_(lame)
      , edge_(edge)
      , long_(detail::select_elements<Exec, std::int32_t>(exec, grid, lame, 1 << 16, INT32_MAX))
      , medium_(
            detail::select_elements<Exec, std::uint16_t>(exec, grid, lame, 1 << 8, (1 << 16) - 1))
      , short_(detail::select_elements<Exec, std::uint8_t>(exec, grid, lame, 0, (1 << 8) - 1)) {
    if constexpr (!BackendTraits<Exec>::is_device)
      blocks_ = detail::make_element_blocks(exec, grid, long_, medium_, short_);
  }

  OffsetClasses classes() const { return {short_.size(), medium_.size(), long_.size()}; }

  /// y = A x; x and y [3 num_nodes] must not alias. Does not fence.
  template<class Scalar>
  void apply(const Exec& exec, const Array<Scalar, Exec>& x, const Array<Scalar, Exec>& y) const {
    Kokkos::deep_copy(exec, y, Scalar(0));
    if constexpr (BackendTraits<Exec>::is_device) {
      launch(exec, long_, x, y);
      launch(exec, medium_, x, y);
      launch(exec, short_, x, y);
    } else {
      for (int colour = 0; colour < 8; ++colour) {
        const std::int64_t begin = blocks_.colour_begin[colour],
                           count = blocks_.colour_begin[colour + 1] - begin;
        if (count > 0)
          Kokkos::parallel_for("femura::OffsetOperator::apply",
                               Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>,
                                                   Kokkos::IndexType<std::int64_t>>(exec, 0, count),
                               detail::ApplyBlocks<Exec, Scalar>{blocks_, long_, medium_, short_,
                                                                 lame_, edge_, x, y, begin});
      }
    }
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
  detail::ElementBlocks<Exec> blocks_; ///< on cores
};

} // namespace femura
