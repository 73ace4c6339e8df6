// SPDX-License-Identifier: Apache-2.0
// Connected components of the solid voxels are found by lock-free union-find on the device.
//
// [1] J. Jaiganesh, M. Burtscher, "A high-performance connected components implementation for
//     GPUs", HPDC 2018. doi:10.1145/3208040.3208041
//
// As in [1], the parent of a voxel is never greater than the voxel, so a component ends with its
// smallest voxel as root, whatever the order of the unions: labels are the same on every backend.
// Other than in [1], runs along x are joined by one sweep, and voxels next to each other in two
// runs that touch are joined once per contact, not once per voxel.
#pragma once

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/algebra/union_find.hpp>
#include <ossatura/kernels/image/array.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace ossatura {

/// Which voxels touch: those that share a face (6 neighbours) or at least a corner (26, the ones
/// whose elements share a node).
enum class Connectivity { face, node };

/// The components of an image. Voxels are numbered x + nx * (y + ny * z).
struct ComponentSummary {
  std::int64_t count = 0;
  std::int64_t num_solid = 0;     ///< voxels in all components
  std::int64_t largest_size = 0;  ///< voxels in the largest component
  std::int64_t largest_root = -1; ///< its smallest voxel; the first of equally large ones
};

namespace detail {

/// Parents of a row: the first voxel of its run, -1 in void.
template<class Index, class Exec>
struct JoinRuns {
  VoxelArray<Exec> image;
  Array<Index, Exec> parent;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    const Index begin = Index(row * image.shape[0]);
    Index first = -1;
    for (Index i = begin; i < begin + image.shape[0]; ++i) {
      first = !(image.value(i) > 0) ? Index(-1) : first < 0 ? i : first;
      parent(i) = first;
    }
  }
};

/// Joins each voxel to those of the earlier rows it touches. Whether a voxel is solid is read from
/// `parent`, whose sign never changes.
template<class Index, class Exec>
struct JoinRows {
  Kokkos::Array<int, 3> shape;
  bool corners; ///< node connectivity
  Array<Index, Exec> parent;

  KOKKOS_FUNCTION bool solid(Index i) const { return parent(i) >= 0; }

  /// `i` at x of its row, `j` at the same x of an earlier row.
  KOKKOS_FUNCTION void join(Index i, Index j, int x) const {
    const bool left = x > 0 && solid(i - 1);
    if (solid(j)) {
      if (!(left && solid(j - 1))) // else i - 1 has joined the two runs
        unite(parent.data(), i, j);
    } else if (corners) {
      if (x > 0 && !left && solid(j - 1))
        unite(parent.data(), i, Index(j - 1));
      if (x + 1 < shape[0] && !solid(i + 1) && solid(j + 1))
        unite(parent.data(), i, Index(j + 1));
    }
  }

  KOKKOS_FUNCTION void operator()(std::int64_t voxel) const {
    const Index i = Index(voxel);
    if (!solid(i))
      return;
    const Index nx = shape[0];
    const Index plane = nx * shape[1];
    const Index row = i / nx;
    const int x = int(i - row * nx);
    const int y = int(row % shape[1]);
    const bool below = row >= shape[1]; // z > 0
    if (y > 0)
      join(i, i - nx, x);
    if (below)
      join(i, i - plane, x);
    if (corners && below && y > 0)
      join(i, i - plane - nx, x);
    if (corners && below && y + 1 < shape[1])
      join(i, i - plane + nx, x);
  }
};

/// A thread counts a stretch of voxels and adds what it has when the component changes, so threads
/// seldom meet at the counter of a large component.
template<class Index, class Exec>
struct CountMembers {
  static constexpr std::int64_t stretch = 256;
  Array<Index, Exec> root;
  Array<Index, Exec> size;

  KOKKOS_FUNCTION void flush(Index r, Index members) const {
    if (members > 0)
      Kokkos::atomic_add(&size(r), members);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t part) const {
    const std::int64_t n = std::int64_t(root.extent(0));
    const std::int64_t begin = part * stretch;
    const std::int64_t end = begin + stretch < n ? begin + stretch : n;
    Index current = 0;
    Index members = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const Index r = root(i);
      if (r < 0)
        continue;
      if (r != current) {
        flush(current, members);
        current = r;
        members = 0;
      }
      ++members;
    }
    flush(current, members);
  }
};

template<class Index, class Exec>
struct SummariseSizes {
  Array<Index, Exec> size;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& count, std::int64_t& num_solid,
                                  std::int64_t& largest) const {
    const std::int64_t members = size(i);
    count += members > 0;
    num_solid += members;
    largest = Kokkos::max(largest, members);
  }
};

template<class Index, class Exec>
struct FirstOfSize {
  Array<Index, Exec> size;
  std::int64_t wanted;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& first) const {
    if (std::int64_t(size(i)) == wanted && i < first)
      first = i;
  }
};

} // namespace detail

/// The component of every voxel with a value > 0, named by the place of its smallest voxel in the
/// array; -1 for the others. Needs as many voxels <= the largest Index (std::int32_t or
/// std::int64_t). Bitwise reproducible. Does not fence.
template<class Index, class Exec>
Array<Index, Exec> label_components(const Exec& exec, const VoxelArray<Exec>& image,
                                    Connectivity connectivity) {
  static_assert(std::is_signed<Index>::value, "void is labelled -1");
  const std::int64_t n = image.num_voxels();
  OSSATURA_REQUIRE(n <= std::numeric_limits<Index>::max(), n << " voxels need 64-bit labels");
  const Array<Index, Exec> parent(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "ossatura::components"), n);
  Kokkos::parallel_for("ossatura::label_components::runs", range(exec, image.num_rows()),
                       detail::JoinRuns<Index, Exec>{image, parent});
  Kokkos::parallel_for(
      "ossatura::label_components::rows", range(exec, n),
      detail::JoinRows<Index, Exec>{image.shape, connectivity == Connectivity::node, parent});
  Kokkos::parallel_for("ossatura::label_components::roots", range(exec, n),
                       detail::PointAtRoot<Index, Exec>{parent});
  return parent;
}

/// Voxels of the component of each root, at the root; 0 elsewhere. `root` is what label_components
/// gives. Does not fence.
template<class Index, class Exec>
Array<Index, Exec> component_sizes(const Exec& exec, const Array<Index, Exec>& root) {
  using Kernel = detail::CountMembers<Index, Exec>;
  const std::int64_t n = root.extent(0);
  const Array<Index, Exec> size(Kokkos::view_alloc(exec, "ossatura::component_sizes"), n);
  Kokkos::parallel_for("ossatura::component_sizes",
                       range(exec, (n + Kernel::stretch - 1) / Kernel::stretch),
                       Kernel{root, size});
  return size;
}

/// Counts the components of `size`, at their roots (component_sizes). Fences.
template<class Index, class Exec>
ComponentSummary summarise_sizes(const Exec& exec, const Array<Index, Exec>& size) {
  const std::int64_t n = size.extent(0);
  ComponentSummary summary;
  Kokkos::parallel_reduce("ossatura::summarise_components::sizes", range(exec, n),
                          detail::SummariseSizes<Index, Exec>{size},
                          Kokkos::Sum<std::int64_t>(summary.count),
                          Kokkos::Sum<std::int64_t>(summary.num_solid),
                          Kokkos::Max<std::int64_t>(summary.largest_size));
  if (summary.count == 0)
    return ComponentSummary();
  Kokkos::parallel_reduce("ossatura::summarise_components::largest", range(exec, n),
                          detail::FirstOfSize<Index, Exec>{size, summary.largest_size},
                          Kokkos::Min<std::int64_t>(summary.largest_root));
  return summary;
}

/// Counts the components labelled in `root`; fences.
template<class Index, class Exec>
ComponentSummary summarise_components(const Exec& exec, const Array<Index, Exec>& root) {
  return summarise_sizes<Index>(exec, component_sizes<Index>(exec, root));
}

} // namespace ossatura
