// SPDX-License-Identifier: Apache-2.0
// HexaArrays hold a mesh of trilinear hexahedra in the memory of a backend, with the elements
// around each node.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/mesh/element_mesh.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <cstdint>

namespace ossatura {

/// A *slot* 8 e + a is node a of element e.
template<class Exec>
struct HexaArrays {
  int num_nodes = 0, num_elem = 0;
  Array<int, Exec> node;             ///< [8 num_elem] where `place` says
  Array<double, Exec> point;         ///< [num_nodes, 3]
  Array<int, Exec> around_begin;     ///< [num_nodes + 1] into the next
  Array<std::uint32_t, Exec> around; ///< [8 num_elem] slots of each node, ascending

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

/// Throws std::invalid_argument unless `mesh` is of hexahedra, at least one, with nodes in range
/// and fewer than 2^28 of either. Fences.
template<class Exec>
HexaArrays<Exec> make_hexa_arrays(const Exec& exec, const ElementMesh& mesh) {
  OSSATURA_REQUIRE(mesh.shape == ElementShape::hexa, "a mesh of " << name_of(mesh.shape) << "s");
  OSSATURA_REQUIRE(mesh.num_elem() > 0 && mesh.num_elem() < 1u << 28 &&
                       mesh.num_points() < 1u << 28,
                   mesh.num_elem() << " elements, " << mesh.num_points() << " nodes");
  const int num_elem = int(mesh.num_elem()), num_nodes = int(mesh.num_points());
  std::vector<int> node(mesh.node.size()), begin(std::size_t(num_nodes) + 1);
  for (int e = 0; e < num_elem; ++e)
    for (int a = 0; a < 8; ++a) {
      const int n = mesh.node[8 * std::size_t(e) + std::size_t(a)];
      OSSATURA_REQUIRE(n >= 0 && n < num_nodes, "element " << e << " has node " << n);
      node[std::size_t(HexaArrays<Exec>::place(num_elem, e, a))] = n;
      ++begin[std::size_t(n) + 1];
    }
  for (std::size_t n = 0; n < std::size_t(num_nodes); ++n)
    begin[n + 1] += begin[n];
  std::vector<int> next(begin.begin(), begin.end() - 1);
  std::vector<std::uint32_t> around(mesh.node.size());
  for (std::size_t slot = 0; slot < mesh.node.size(); ++slot)
    around[std::size_t(next[std::size_t(mesh.node[slot])]++)] = std::uint32_t(slot);
  HexaArrays<Exec> arrays;
  arrays.num_nodes = num_nodes;
  arrays.num_elem = num_elem;
  arrays.node = upload(exec, "ossatura::hexa::node", node);
  arrays.point = upload(exec, "ossatura::hexa::point", mesh.point);
  arrays.around_begin = upload(exec, "ossatura::hexa::around_begin", begin);
  arrays.around = upload(exec, "ossatura::hexa::around", around);
  return arrays;
}

} // namespace ossatura
