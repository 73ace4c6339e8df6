// SPDX-License-Identifier: Apache-2.0
// A load case prescribes displacements on boxes of the node lattice and finds the nodes that a
// voxel model has there. Of a model that is cut among the ranks of `comm`, all ranks call each
// function that takes it: what is found is that of the whole model, by nodes that ranks own.
#pragma once

#include <ossatura/core/comm/communicator.hpp>
#include <ossatura/kernels/algebra/constraints.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/image/grid.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

namespace ossatura {

/// u_c(x) = value[c] + sum_d gradient[c][d] (x_d - centre[d]) for the components c in `components`
/// (bit c) of the nodes in the inclusive box lower..upper of the lattice. Lengths in mm, with x = 0
/// at the lower corner of the image.
struct PrescribedRegion {
  int lower[3] = {0, 0, 0}, upper[3] = {0, 0, 0};
  std::uint8_t components = 7;
  std::uint8_t sets = 0; ///< of the nodes there those in all of these node sets (bits); 0: all
  double value[3] = {0, 0, 0};
  double gradient[3][3] = {};
  double centre[3] = {0, 0, 0};

  KOKKOS_FUNCTION bool contains(const Site& s) const {
    return s.x >= lower[0] && s.x <= upper[0] && s.y >= lower[1] && s.y <= upper[1] &&
           s.z >= lower[2] && s.z <= upper[2];
  }
  /// `in`: the node sets of the node at s.
  KOKKOS_FUNCTION bool contains(const Site& s, std::uint8_t in) const {
    return contains(s) && (in & sets) == sets;
  }
  KOKKOS_FUNCTION double displacement(int c, const Site& s, double edge) const {
    return value[c] + gradient[c][0] * (s.x * edge - centre[0]) +
           gradient[c][1] * (s.y * edge - centre[1]) + gradient[c][2] * (s.z * edge - centre[2]);
  }
};

/// Bits of the node sets of each node [num_nodes], which regions name; empty where there are none.
template<class Exec>
using NodeSets = Array<std::uint8_t, Exec>;

namespace detail {
template<class Exec>
KOKKOS_INLINE_FUNCTION std::uint8_t sets_of(const NodeSets<Exec>& sets, std::int64_t node) {
  return sets.extent(0) > 0 ? sets(node) : std::uint8_t(0);
}
} // namespace detail

/// Smallest and largest node coordinates of a grid, inclusive.
struct NodeBox {
  int lower[3], upper[3];
};

namespace detail {
template<class Exec>
struct ReduceNodeBox {
  using value_type = NodeBox;
  VoxelGrid<Exec> grid;

  KOKKOS_FUNCTION void init(NodeBox& box) const {
    for (int d = 0; d < 3; ++d) {
      box.lower[d] = INT32_MAX;
      box.upper[d] = -1;
    }
  }
  KOKKOS_FUNCTION void join(volatile NodeBox& a, const volatile NodeBox& b) const {
    for (int d = 0; d < 3; ++d) {
      a.lower[d] = b.lower[d] < a.lower[d] ? b.lower[d] : a.lower[d];
      a.upper[d] = b.upper[d] > a.upper[d] ? b.upper[d] : a.upper[d];
    }
  }
  KOKKOS_FUNCTION void join(NodeBox& a, const NodeBox& b) const {
    for (int d = 0; d < 3; ++d) {
      a.lower[d] = b.lower[d] < a.lower[d] ? b.lower[d] : a.lower[d];
      a.upper[d] = b.upper[d] > a.upper[d] ? b.upper[d] : a.upper[d];
    }
  }
  KOKKOS_FUNCTION void operator()(std::int64_t node, NodeBox& box) const {
    const Site s = grid.site(int(node));
    const int at[3] = {s.x, s.y, s.z};
    for (int d = 0; d < 3; ++d) {
      box.lower[d] = at[d] < box.lower[d] ? at[d] : box.lower[d];
      box.upper[d] = at[d] > box.upper[d] ? at[d] : box.upper[d];
    }
  }
};

/// Largest (or smallest) coordinate along an axis in a region, with its node: coordinate * 2^31 +
/// node as one number, so that ties go to one node.
template<class Exec>
struct FindExtremeNode {
  VoxelGrid<Exec> grid;
  PrescribedRegion region;
  int axis;
  bool largest;
  NodeSets<Exec> sets;

  KOKKOS_FUNCTION void operator()(std::int64_t node, std::int64_t& best) const {
    const Site s = grid.site(int(node));
    if (!region.contains(s, sets_of<Exec>(sets, node)))
      return;
    const int at = axis == 0 ? s.x : axis == 1 ? s.y : s.z;
    const std::int64_t code = std::int64_t(largest ? at + 1 : (1 << 21) - at) << 31 | node;
    best = Kokkos::max(best, code);
  }
};
} // namespace detail

/// The box of all nodes. Fences.
template<class Exec>
NodeBox bounding_box(const Exec& exec, const VoxelGrid<Exec>& grid, const Communicator& comm = {}) {
  const detail::ReduceNodeBox<Exec> kernel{grid};
  NodeBox box{};
  kernel.init(box); // of a rank without nodes
  Kokkos::parallel_reduce("ossatura::bounding_box", range(exec, grid.num_nodes), kernel, box);
  NodeBox all{};
  kernel.init(all);
  for (const NodeBox& part : comm.gather(box))
    kernel.join(all, part);
  return all;
}

namespace detail {
/// Sums the coordinates of solid voxels, by their lowest corners.
template<class Exec>
struct SumVoxelSites {
  VoxelGrid<Exec> grid;
  Array<float, Exec> solid;

  KOKKOS_FUNCTION void operator()(std::int64_t node, std::int64_t& count, std::int64_t& x,
                                  std::int64_t& y, std::int64_t& z) const {
    if (!(solid(node) > 0))
      return;
    const Site s = grid.site(int(node));
    ++count;
    x += s.x;
    y += s.y;
    z += s.z;
  }
};
} // namespace detail

/// The centre of the solid voxels, all of one weight, in voxels from the lower corner of the image:
/// the centre of mass of bone of one density. `solid` is greater than 0 at their lowest corners, as
/// restrict_to_grid makes it. Fences.
template<class Exec>
std::array<double, 3> centre_of_mass(const Exec& exec, const VoxelGrid<Exec>& grid,
                                     const Array<float, Exec>& solid,
                                     const Communicator& comm = {}) {
  std::int64_t count = 0, x = 0, y = 0, z = 0;
  Kokkos::parallel_reduce("ossatura::centre_of_mass", range(exec, grid.owned.begin, grid.owned.end),
                          detail::SumVoxelSites<Exec>{grid, solid},
                          Kokkos::Sum<std::int64_t>(count), Kokkos::Sum<std::int64_t>(x),
                          Kokkos::Sum<std::int64_t>(y), Kokkos::Sum<std::int64_t>(z));
  const double voxels = double(comm.sum(count));
  return {double(comm.sum(x)) / voxels + 0.5, double(comm.sum(y)) / voxels + 0.5,
          double(comm.sum(z)) / voxels + 0.5};
}

namespace detail {
template<class Exec>
struct PackSite {
  VoxelGrid<Exec> grid;
  int node;

  KOKKOS_FUNCTION void operator()(std::int64_t, std::uint64_t& sum) const {
    const Site s = grid.site(node);
    sum += pack_site(s.x, s.y, s.z);
  }
};
} // namespace detail

/// The lattice place of one node, on the host. Fences.
template<class Exec>
Site site_on_host(const Exec& exec, const VoxelGrid<Exec>& grid, int node) {
  std::uint64_t packed = 0;
  Kokkos::parallel_reduce("ossatura::site_on_host", range(exec, 1),
                          detail::PackSite<Exec>{grid, node}, packed);
  return detail::unpack_site(packed);
}

/// The place of the node of `region` with the smallest or largest coordinate along `axis`; of
/// several that with the largest number. None if the region has no node. Fences.
template<class Exec>
std::optional<Site> find_extreme_site(const Exec& exec, const VoxelGrid<Exec>& grid,
                                      const PrescribedRegion& region, int axis, bool largest,
                                      const Communicator& comm = {},
                                      const NodeSets<Exec>& sets = {}) {
  std::int64_t best = 0;
  Kokkos::parallel_reduce("ossatura::find_extreme_site",
                          range(exec, grid.owned.begin, grid.owned.end),
                          detail::FindExtremeNode<Exec>{grid, region, axis, largest, sets},
                          Kokkos::Max<std::int64_t>(best));
  struct Found {
    std::int64_t coordinate; ///< 0: none
    Site site;
  };
  const Found mine{best >> 31, best > 0 ? site_on_host(exec, grid, int(best & INT32_MAX)) : Site{}};
  std::optional<Found> most;
  for (const Found& found : comm.gather(mine)) // numbers rise with ranks
    if (found.coordinate > 0 && (!most || found.coordinate >= most->coordinate))
      most = found;
  return most ? std::optional<Site>(most->site) : std::nullopt;
}

namespace detail {
template<class Exec>
struct PrescribeRegions {
  VoxelGrid<Exec> grid;
  double edge;
  Array<PrescribedRegion, Exec> list;
  int count;
  NodeSets<Exec> sets;
  Array<std::uint8_t, Exec> mask;
  Array<double, Exec> u;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    std::uint8_t held = mask(node);
    for (int k = 0; k < count; ++k) {
      const PrescribedRegion& region = list(k);
      if (!region.contains(s, sets_of<Exec>(sets, node)))
        continue;
      held |= region.components;
      for (int c = 0; c < 3; ++c)
        if (region.components >> c & 1)
          u(3 * node + c) = region.displacement(c, s, edge);
    }
    mask(node) = held;
  }
};
} // namespace detail

/// Sets the bits of `mask` [num_nodes] and the entries of u [3 num_nodes] (mm) of the regions'
/// nodes; where regions overlap, the later one's displacement holds. Fences.
template<class Exec>
void prescribe(const Exec& exec, const VoxelGrid<Exec>& grid, double edge,
               const std::vector<PrescribedRegion>& regions, const Array<std::uint8_t, Exec>& mask,
               const Array<double, Exec>& u, const NodeSets<Exec>& sets = {}) {
  const Array<PrescribedRegion, Exec> list = upload(exec, "ossatura::prescribed_regions", regions);
  const int count = int(regions.size());
  Kokkos::parallel_for("ossatura::prescribe", range(exec, grid.num_nodes),
                       detail::PrescribeRegions<Exec>{grid, edge, list, count, sets, mask, u});
  fence(exec, "ossatura::prescribe");
}

namespace detail {
template<class Exec>
struct CountNodes {
  VoxelGrid<Exec> grid;
  PrescribedRegion region;
  NodeSets<Exec> sets;

  KOKKOS_FUNCTION void operator()(std::int64_t node, std::int64_t& sum) const {
    sum += region.contains(grid.site(int(node)), sets_of<Exec>(sets, node));
  }
};
} // namespace detail

namespace detail {
template<class Exec>
struct CountHeldElsewhere {
  VoxelGrid<Exec> grid;
  double edge;
  PrescribedRegion region;
  NodeSets<Exec> sets;
  Array<std::uint8_t, Exec> mask;
  Array<double, Exec> u;

  KOKKOS_FUNCTION void operator()(std::int64_t node, std::int64_t& sum) const {
    const Site s = grid.site(int(node));
    const std::uint8_t both = mask(node) & region.components;
    if (both == 0 || !region.contains(s, sets_of<Exec>(sets, node)))
      return;
    for (int c = 0; c < 3; ++c)
      sum += (both >> c & 1) && u(3 * node + c) != region.displacement(c, s, edge);
  }
};
} // namespace detail

/// Degrees of freedom of a region that `mask` and u hold at other displacements than the region's.
/// Fences.
template<class Exec>
std::int64_t count_held_elsewhere(const Exec& exec, const VoxelGrid<Exec>& grid, double edge,
                                  const PrescribedRegion& region,
                                  const Array<std::uint8_t, Exec>& mask,
                                  const Array<double, Exec>& u, const Communicator& comm = {},
                                  const NodeSets<Exec>& sets = {}) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce(
      "ossatura::count_held_elsewhere", range(exec, grid.owned.begin, grid.owned.end),
      detail::CountHeldElsewhere<Exec>{grid, edge, region, sets, mask, u}, count);
  return comm.sum(count);
}

/// Number of nodes in a region. Fences.
template<class Exec>
std::int64_t count_nodes(const Exec& exec, const VoxelGrid<Exec>& grid,
                         const PrescribedRegion& region, const Communicator& comm = {},
                         const NodeSets<Exec>& sets = {}) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce("ossatura::count_nodes", range(exec, grid.owned.begin, grid.owned.end),
                          detail::CountNodes<Exec>{grid, region, sets}, count);
  return comm.sum(count);
}

/// Displacements or forces given for one node: value[c] for the components c in `components`.
struct PrescribedNode {
  Site site{0, 0, 0};
  std::uint8_t components = 0;
  double value[3] = {0, 0, 0};
};

/// One entry per node, ascending in z, y, x; of several values for a degree of freedom the last.
/// `num_replaced`: values that a later, different one replaces.
inline std::vector<PrescribedNode> merge_by_node(const std::vector<NodalValue>& values,
                                                 std::int64_t& num_replaced) {
  std::map<std::array<int, 3>, PrescribedNode> merged;
  num_replaced = 0;
  for (const NodalValue& v : values) {
    PrescribedNode& node = merged[{v.node[2], v.node[1], v.node[0]}];
    node.site = {v.node[0], v.node[1], v.node[2]};
    num_replaced += (node.components >> v.component & 1) && node.value[v.component] != v.value;
    node.components |= std::uint8_t(1 << v.component);
    node.value[v.component] = v.value;
  }
  std::vector<PrescribedNode> nodes;
  for (const auto& entry : merged)
    nodes.push_back(entry.second);
  return nodes;
}

/// Entries of a list whose place is not a corner of a solid voxel.
struct MissingNodes {
  std::int64_t count = 0;
  std::int64_t first = -1; ///< index in the list
};

namespace detail {
template<class Exec>
struct PrescribeNodes {
  VoxelGrid<Exec> grid;
  Array<PrescribedNode, Exec> list;
  Array<std::uint8_t, Exec> mask;
  Array<double, Exec> u;
  Array<std::uint8_t, Exec> found; ///< as an owned node

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const PrescribedNode& p = list(i);
    const std::int64_t node = grid.find(p.site.x, p.site.y, p.site.z);
    found(i) = grid.owned.has(int(node));
    if (node < 0)
      return;
    mask(node) |= p.components;
    for (int c = 0; c < 3; ++c)
      if (p.components >> c & 1)
        u(3 * node + c) = p.value[c];
  }
};
} // namespace detail

/// Sets the bits of `mask` and the entries of u for a list without repeated nodes. Places off the
/// solid voxels are left out and reported. Fences.
template<class Exec>
MissingNodes prescribe(const Exec& exec, const VoxelGrid<Exec>& grid,
                       const std::vector<PrescribedNode>& nodes,
                       const Array<std::uint8_t, Exec>& mask, const Array<double, Exec>& u,
                       const Communicator& comm = {}) {
  const std::int64_t size = std::int64_t(nodes.size());
  const Array<PrescribedNode, Exec> list = upload(exec, "ossatura::prescribed_nodes", nodes);
  const auto found = make_uninitialized<std::uint8_t>(exec, size, "ossatura::prescribe::found");
  Kokkos::parallel_for("ossatura::prescribe::set", range(exec, size),
                       detail::PrescribeNodes<Exec>{grid, list, mask, u, found});
  std::vector<std::uint8_t> here = download(exec, found);
  const std::int64_t own = std::count(here.begin(), here.end(), std::uint8_t(1));
  MissingNodes missing{size - comm.sum(own), -1};
  if (missing.count > 0) {
    const std::vector<std::uint8_t> of_all = comm.gather(here);
    for (std::size_t i = 0; i < of_all.size(); ++i)
      here[i % here.size()] |= of_all[i];
    missing.first = std::find(here.begin(), here.end(), std::uint8_t(0)) - here.begin();
  }
  return missing;
}

namespace detail {
template<class Exec>
struct AddNodalForces {
  VoxelGrid<Exec> grid;
  Array<PrescribedNode, Exec> list;
  Array<double, Exec> f;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& count) const {
    const PrescribedNode& p = list(i);
    const std::int64_t node = grid.find(p.site.x, p.site.y, p.site.z);
    if (grid.owned.has(int(node)))
      count += count_ones(std::uint32_t(p.components));
    if (node >= 0)
      for (int c = 0; c < 3; ++c)
        f(3 * node + c) += p.value[c];
  }
};
} // namespace detail

/// f += the listed nodal forces (N); rows of one degree of freedom add up. Places off the solid
/// voxels are left out; returns how many degrees of freedom that concerns. Fences.
template<class Exec>
std::int64_t add_forces(const Exec& exec, const VoxelGrid<Exec>& grid,
                        const std::vector<NodalValue>& forces, const Array<double, Exec>& f,
                        const Communicator& comm = {}) {
  // Summed on the host, so that the result does not depend on the order of threads.
  std::map<std::array<int, 3>, PrescribedNode> sums;
  for (const NodalValue& v : forces) {
    PrescribedNode& node = sums[{v.node[2], v.node[1], v.node[0]}];
    node.site = {v.node[0], v.node[1], v.node[2]};
    node.components |= std::uint8_t(1 << v.component);
    node.value[v.component] += v.value;
  }
  std::vector<PrescribedNode> merged;
  std::int64_t size = 0;
  for (const auto& entry : sums) {
    merged.push_back(entry.second);
    size += count_ones(std::uint32_t(entry.second.components));
  }
  const Array<PrescribedNode, Exec> list = upload(exec, "ossatura::nodal_forces", merged);
  std::int64_t found = 0; // of owned nodes
  Kokkos::parallel_reduce("ossatura::add_forces", range(exec, merged.size()),
                          detail::AddNodalForces<Exec>{grid, list, f}, found);
  return size - comm.sum(found);
}

/// The voxels on which a force acts: those of an image with lowest corner in the inclusive box.
struct LoadedVoxels {
  int lower[3], upper[3];

  KOKKOS_FUNCTION bool contains(int x, int y, int z) const {
    return x >= lower[0] && x <= upper[0] && y >= lower[1] && y <= upper[1] && z >= lower[2] &&
           z <= upper[2];
  }
};

/// The voxels behind the nodes of a side of the specimen, `region`, at the upper end of `axis` or
/// the lower one: the layers between its nodes, or the outermost layer if it has one layer of
/// nodes.
inline LoadedVoxels loaded_voxels(const PrescribedRegion& region, int axis, bool upper) {
  LoadedVoxels voxels{};
  for (int d = 0; d < 3; ++d) {
    voxels.lower[d] = region.lower[d];
    voxels.upper[d] = region.upper[d] - 1;
  }
  if (region.lower[axis] == region.upper[axis])
    (upper ? voxels.lower : voxels.upper)[axis] =
        upper ? region.upper[axis] - 1 : region.lower[axis];
  return voxels;
}

namespace detail {
/// The number of loaded voxels that a node of the region touches: its share of the force.
template<class Exec>
struct LoadShare {
  VoxelGrid<Exec> grid;
  Array<float, Exec> solid;
  PrescribedRegion region;
  LoadedVoxels voxels;

  KOKKOS_FUNCTION int at(int node) const {
    const Site s = grid.site(node);
    if (!region.contains(s))
      return 0;
    int share = 0;
    for (int v = 0; v < 8; ++v) {
      const int x = s.x - (v & 1), y = s.y - (v >> 1 & 1), z = s.z - (v >> 2);
      const int lowest = voxels.contains(x, y, z) ? grid.find(x, y, z) : -1;
      share += lowest >= 0 && solid(lowest) > 0;
    }
    return share;
  }
};

template<class Exec>
struct SumLoadShares {
  LoadShare<Exec> share;
  KOKKOS_FUNCTION void operator()(std::int64_t node, std::int64_t& sum) const {
    sum += share.at(int(node));
  }
};

template<class Exec>
struct AddConsistentForce {
  LoadShare<Exec> share;
  Kokkos::Array<double, 3> force; ///< of one share
  Array<double, Exec> f;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const int count = share.at(int(node));
    for (int c = 0; c < 3; ++c)
      f(3 * node + c) += count * force[c];
  }
};
} // namespace detail

/// f += `force` (N, three components), in all, on a side of the specimen: the nodal forces that are
/// consistent with an equal traction on the faces of the solid voxels there, or, where `region` is
/// deeper than a layer of nodes, with an equal body force in its voxels. `solid` is greater than 0
/// at the lowest corners of solid voxels, as restrict_to_grid makes it. Adds nothing where there is
/// no solid voxel. Returns how many faces or voxels share the force. Ghosts of a cut model may lack
/// a part of theirs. Fences.
template<class Exec>
std::int64_t add_consistent_force(const Exec& exec, const VoxelGrid<Exec>& grid,
                                  const Array<float, Exec>& solid, const PrescribedRegion& region,
                                  int axis, bool upper, const Kokkos::Array<double, 3>& force,
                                  const Array<double, Exec>& f, const Communicator& comm = {}) {
  const detail::LoadShare<Exec> share{grid, solid, region, loaded_voxels(region, axis, upper)};
  std::int64_t shares = 0;
  Kokkos::parallel_reduce("ossatura::add_consistent_force::sum",
                          range(exec, grid.owned.begin, grid.owned.end),
                          detail::SumLoadShares<Exec>{share}, shares);
  shares = comm.sum(shares);
  if (shares == 0)
    return 0;
  Kokkos::Array<double, 3> part{};
  for (int c = 0; c < 3; ++c)
    part[c] = force[c] / double(shares);
  Kokkos::parallel_for("ossatura::add_consistent_force", range(exec, grid.num_nodes),
                       detail::AddConsistentForce<Exec>{share, part, f});
  fence(exec, "ossatura::add_consistent_force");
  return shares / (region.lower[axis] == region.upper[axis] ? 4 : 8);
}

} // namespace ossatura
