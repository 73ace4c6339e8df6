// SPDX-License-Identifier: Apache-2.0
// HexaArrays hold a mesh of trilinear hexahedra in the memory of a backend, with the elements
// around each node.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/mesh/element_mesh.hpp>
#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/algebra/sparse/inverse_map.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <cstdint>

namespace ossatura {

/// A *slot* 8 e + a is node a of element e.
template<class Exec>
struct HexaArrays {
  int num_nodes = 0, num_elem = 0;
  Array<int, Exec> node;         ///< [8 num_elem] where `place` says
  Array<double, Exec> point;     ///< [num_nodes, 3]
  Array<int, Exec> around_begin; ///< [num_nodes + 1] into the next
  Array<int, Exec> around;       ///< [8 num_elem] slots of each node, ascending

  /// On devices, where a thread is an element, elements run fastest.
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t place(int num_elem, int elem, int a) {
    return BackendTraits<Exec>::is_device ? std::int64_t(a) * num_elem + elem
                                          : 8 * std::int64_t(elem) + a;
  }
  KOKKOS_FORCEINLINE_FUNCTION int node_of(int elem, int a) const {
    return node(place(num_elem, elem, a));
  }
  /// Coordinates of the nodes, component c of node a at 3 a + c.
  template<class Real>
  KOKKOS_FORCEINLINE_FUNCTION void load_points(int elem, Real (&x)[24]) const {
    for (int a = 0; a < 8; ++a) {
      const std::int64_t i = 3 * std::int64_t(node_of(elem, a));
      for (int c = 0; c < 3; ++c)
        x[3 * a + c] = Real(point(i + c));
    }
  }
};

namespace detail {
/// Puts the nodes of a mesh where the arrays have them, and finds the first that is out of range.
template<class Exec>
struct PlaceHexaNodes {
  int num_nodes, num_elem;
  ArrayPointer<const int> listed;
  ArrayPointer<int> node;

  KOKKOS_FUNCTION void operator()(std::int64_t slot, std::int64_t& first_wrong) const {
    const int n = listed(slot);
    node(HexaArrays<Exec>::place(num_elem, int(slot / 8), int(slot % 8))) = n;
    if ((n < 0 || n >= num_nodes) && slot < first_wrong)
      first_wrong = slot;
  }
};
} // namespace detail

/// Throws std::invalid_argument unless `mesh` is of hexahedra, at least one, with nodes in range
/// and fewer than 2^28 of either. Fences.
template<class Exec>
HexaArrays<Exec> make_hexa_arrays(const Exec& exec, const ElementMesh& mesh) {
  OSSATURA_REQUIRE(mesh.shape == ElementShape::hexa, "a mesh of " << name_of(mesh.shape) << "s");
  OSSATURA_REQUIRE(mesh.num_elem() > 0 && mesh.num_elem() < 1u << 28 &&
                       mesh.num_points() < 1u << 28,
                   mesh.num_elem() << " elements, " << mesh.num_points() << " nodes");
  HexaArrays<Exec> arrays;
  arrays.num_nodes = int(mesh.num_points());
  arrays.num_elem = int(mesh.num_elem());
  const std::int64_t num_slots = std::int64_t(mesh.node.size());
  const Array<int, Exec> listed = upload(exec, "ossatura::hexa::listed", mesh.node);
  arrays.node = make_uninitialized<int>(exec, num_slots, "ossatura::hexa::node");
  std::int64_t wrong = num_slots;
  Kokkos::parallel_reduce(
      "ossatura::place_hexa_nodes", range(exec, num_slots),
      detail::PlaceHexaNodes<Exec>{arrays.num_nodes, arrays.num_elem, listed, arrays.node},
      Kokkos::Min<std::int64_t>(wrong));
  OSSATURA_REQUIRE(wrong >= num_slots,
                   "element " << wrong / 8 << " has node " << mesh.node[std::size_t(wrong)]);
  const InverseMap<Exec> slots = invert_map(exec, listed, arrays.num_nodes);
  arrays.around_begin = slots.begin;
  arrays.around = slots.member;
  arrays.point = upload(exec, "ossatura::hexa::point", mesh.point); // fences, as `listed` goes
  return arrays;
}

} // namespace ossatura
