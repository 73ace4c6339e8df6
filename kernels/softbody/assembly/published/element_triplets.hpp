// SPDX-License-Identifier: Apache-2.0
// Element triplets are the element matrices of a mesh for a CooMap: rows and columns, and values.
#pragma once

#include <ossatura/kernels/softbody/assembly/element_map.hpp>
#include <ossatura/kernels/softbody/elements/evaluate.hpp>

#include <limits>

namespace ossatura {

struct TripletIndices {
  std::vector<int> i, j; ///< [num_triplets]
};

/// Rows and columns of all blocks (a, b) of all elements, b fastest, on the host. Of scalars with
/// block_size 1, in the order in which blocks of 3 have them: values are the same array then.
inline TripletIndices element_triplets(const std::vector<ElementGroup>& groups,
                                       int block_size = 3) {
  OSSATURA_REQUIRE(block_size == 1 || block_size == 3, "blocks of " << block_size << " rows");
  const int scalars = block_size == 1 ? 3 : 1; // a side of a block
  TripletIndices triplets;
  std::size_t total = 0;
  for (const ElementGroup& group : groups)
    total += group.node.size() * std::size_t(nodes_per_elem(group.shape) * scalars * scalars);
  triplets.i.reserve(total);
  triplets.j.reserve(total);
  for (const ElementGroup& group : groups) {
    const std::size_t width = std::size_t(nodes_per_elem(group.shape));
    for (std::size_t first = 0; first + width <= group.node.size(); first += width)
      for (std::size_t a = first; a < first + width; ++a)
        for (std::size_t b = first; b < first + width; ++b)
          for (int r = 0; r < scalars; ++r)
            for (int c = 0; c < scalars; ++c) {
              triplets.i.push_back(scalars * group.node[a] + r);
              triplets.j.push_back(scalars * group.node[b] + c);
            }
  }
  return triplets;
}

namespace detail {
/// Element matrices with all blocks from those with the upper ones. The number of nodes is a
/// template parameter for the divisions.
template<int NumNodes>
struct CollectTriplets {
  static constexpr int pairs = NumNodes * (NumNodes + 1) / 2;
  const double* stiffness;
  double* value;

  KOKKOS_FUNCTION static int pair_of(int a, int b) {
    const int low = Kokkos::min(a, b), high = Kokkos::max(a, b);
    return low * NumNodes - low * (low - 1) / 2 + high - low;
  }
  /// A scalar of block k of an element.
  KOKKOS_FUNCTION void collect(std::int64_t e, int k, int entry) const {
    const int a = k / NumNodes, b = k % NumNodes;
    value[9 * (e * (NumNodes * NumNodes) + k) + entry] =
        stiffness[9 * (e * pairs + pair_of(a, b)) + (a <= b ? entry : transposed_entry(entry))];
  }
};

/// On devices: a thread for each scalar.
template<int NumNodes>
struct CollectScalars : CollectTriplets<NumNodes> {
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    constexpr int size = 9 * NumNodes * NumNodes;
    const std::int64_t e = i / size;
    const int k = int(i - e * size);
    this->collect(e, k / 9, k % 9);
  }
};

/// On cores: a thread for each element.
template<int NumNodes>
struct CollectElements : CollectTriplets<NumNodes> {
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    for (int k = 0; k < NumNodes * NumNodes; ++k)
      for (int entry = 0; entry < 9; ++entry)
        this->collect(e, k, entry);
  }
};

/// With the kernel of devices or that of cores; both run everywhere and give the same.
template<bool by_scalars, int NumNodes, class Exec>
void collect_triplets(const Exec& exec, std::int64_t num_elem, const double* stiffness,
                      double* value) {
  const CollectTriplets<NumNodes> arrays{stiffness, value};
  if constexpr (by_scalars)
    Kokkos::parallel_for("ossatura::collect_triplets",
                         range(exec, 9 * num_elem * NumNodes * NumNodes),
                         CollectScalars<NumNodes>{arrays});
  else
    Kokkos::parallel_for("ossatura::collect_triplets", range(exec, num_elem),
                         CollectElements<NumNodes>{arrays});
}

template<bool by_scalars, class Exec>
void collect_triplets(const Exec& exec, const std::vector<ElementGroup>& groups,
                      const Array<double, Exec>& stiffness, const Array<double, Exec>& value) {
  std::int64_t first_pair = 0, first_triplet = 0;
  for (const ElementGroup& group : groups) {
    const int width = nodes_per_elem(group.shape);
    const std::int64_t num_elem = std::int64_t(group.node.size()) / width;
    const double* const from = stiffness.data() + 9 * first_pair;
    double* const to = value.data() + 9 * first_triplet;
    switch (group.shape) {
    case ElementShape::triangle:
      collect_triplets<by_scalars, 3>(exec, num_elem, from, to);
      break;
    case ElementShape::tetra:
      collect_triplets<by_scalars, 4>(exec, num_elem, from, to);
      break;
    case ElementShape::hexa:
      collect_triplets<by_scalars, 8>(exec, num_elem, from, to);
      break;
    }
    first_pair += num_elem * pairs_per_elem(group.shape);
    first_triplet += num_elem * width * width;
  }
}
} // namespace detail

/// The values [num_triplets, 9] of element_triplets from the upper blocks of element matrices
/// `stiffness` [num_pairs, 9] of kernels/softbody/elements/evaluate.hpp, all groups one after the
/// other. Of the groups only the sizes count. Does not fence.
template<class Exec>
void collect_triplets(const Exec& exec, const std::vector<ElementGroup>& groups,
                      const Array<double, Exec>& stiffness, const Array<double, Exec>& value) {
  detail::collect_triplets<BackendTraits<Exec>::is_device>(exec, groups, stiffness, value);
}

} // namespace ossatura
