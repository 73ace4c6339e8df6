// SPDX-License-Identifier: Apache-2.0
// Reactions are the forces that held nodes carry; the host sums them, because held nodes are few.
#pragma once

#include <ossatura/core/comm/communicator.hpp>
#include <ossatura/kernels/algebra/constraints.hpp>
#include <ossatura/kernels/algebra/ranks/owned_entries.hpp>
#include <ossatura/kernels/bone/loads/load_case.hpp>
#include <ossatura/kernels/image/grid.hpp>

#include <vector>

namespace ossatura {

/// One node with held components: where, which (bit c), the displacement (mm) and the force (N)
/// that the support exerts on the body; both zero at free components.
struct HeldNode {
  Site site;
  std::uint8_t components;
  std::uint8_t solid = 0; ///< bit v: the voxel from the node towards corner v of a cube is solid
  std::uint8_t sets = 0;  ///< node sets (load_case.hpp)
  double displacement[3], force[3];
};

namespace detail {
template<class Exec>
struct ListHeld {
  VoxelGrid<Exec> grid;
  Constraints<Exec> held;
  Array<double, Exec> u;
  Array<double, Exec> force; ///< or empty
  Array<float, Exec> voxel;  ///< as restrict_to_grid makes, or empty
  NodeSets<Exec> sets;
  Array<HeldNode, Exec> list;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t node = held.node(i);
    HeldNode& h = list(i);
    h.site = grid.site(int(node));
    h.components = held.mask(node);
    for (int c = 0; c < 3; ++c) {
      const bool is_held = h.components >> c & 1;
      h.displacement[c] = is_held ? u(3 * node + c) : 0;
      h.force[c] = is_held && force.extent(0) > 0 ? force(3 * node + c) : 0;
    }
    h.sets = sets_of<Exec>(sets, node);
    h.solid = 0;
    if (voxel.extent(0) > 0)
      for (int v = 0; v < 8; ++v) {
        const int lowest =
            grid.find(h.site.x - 1 + (v & 1), h.site.y - 1 + (v >> 1 & 1), h.site.z - 1 + (v >> 2));
        if (lowest >= 0 && voxel(lowest) > 0)
          h.solid = std::uint8_t(h.solid | 1 << v);
      }
  }
};
} // namespace detail

/// The held nodes in node order, for displacements u and balancing nodal forces `force` = K u -
/// f, each [3 num_nodes]; `force` may be empty. With `voxel` (restrict_to_grid's, such as
/// LameField::mu_value) they know their voxels, with `sets` their node sets. Of a model that is cut
/// among the ranks of `comm` those of all, on each. Fences.
template<class Exec>
std::vector<HeldNode>
list_held_nodes(const Exec& exec, const VoxelGrid<Exec>& grid, const Constraints<Exec>& held,
                const Array<double, Exec>& u, const Array<double, Exec>& force,
                const Array<float, Exec>& voxel = {}, const Communicator& comm = {},
                const NodeSets<Exec>& sets = {}) {
  Constraints<Exec> own = held;
  own.node = owned_of_list(exec, grid.owned, held.node);
  const std::int64_t count = own.node.extent(0);
  const Array<HeldNode, Exec> list =
      make_uninitialized<HeldNode>(exec, count, "ossatura::held_node_list");
  Kokkos::parallel_for("ossatura::list_held_nodes", range(exec, count),
                       detail::ListHeld<Exec>{grid, own, u, force, voxel, sets, list});
  std::vector<HeldNode> result(static_cast<std::size_t>(count));
  Kokkos::View<HeldNode*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
      result.data(), result.size());
  Kokkos::deep_copy(exec, host, list);
  fence(exec, "ossatura::list_held_nodes");
  return comm.gather(result);
}

} // namespace ossatura
