// SPDX-License-Identifier: Apache-2.0
// A mesh share is what a process sees of a mesh that is cut between processes: its own points, all
// tetrahedra around them, and the other points of these, its ghosts.
#pragma once

#include <ossatura/core/comm/communicator.hpp>
#include <ossatura/solvers/eikonal/ranks/point_cut.hpp>
#include <ossatura/solvers/eikonal/solver.hpp>

#include <cstdint>
#include <vector>

namespace ossatura::detail {

/// Numbers of points follow the order of the cut: ghosts of lower ranks, own points, ghosts of
/// higher ranks. Numbers of tetrahedra follow those of the whole mesh.
struct MeshShare {
  TetraMesh mesh;                                 ///< without `value`
  std::vector<std::int32_t> tetra_name;           ///< number of each tetrahedron in the whole mesh
  std::vector<ConductionVelocity> by_tetra;       ///< of each tetrahedron, where there are any
  std::int32_t first_place = 0;                   ///< in the order of the cut, of the own points
  std::vector<std::int32_t> ghost_place;          ///< of each ghost, ascending
  int own_begin = 0, own_end = 0;                 ///< the own points
  std::int64_t total_points = 0, total_tetra = 0; ///< of the whole mesh

  /// Points that go to another rank, by rank; and how many ghosts come from each, in their order.
  std::vector<std::vector<int>> sends;
  std::vector<std::int64_t> num_received;

  int num_own() const { return own_end - own_begin; }
  int num_points() const { return num_own() + int(ghost_place.size()); }
  std::int64_t num_ghosts() const { return std::int64_t(ghost_place.size()); }

  bool owns(int point) const { return point >= own_begin && point < own_end; }
  /// The place of a point in the order of the cut.
  std::int32_t place_of(int point) const;
  /// The point at a place in the order of the cut; -1 where this rank does not see it.
  int point_at(std::int32_t place) const;
};

/// Deals a mesh that rank 0 has, with its cut into as many parts as there are ranks and, if given
/// by tetrahedron, its velocities; the arguments of other ranks are not read. Entries of the mesh
/// are in range. By all ranks.
MeshShare deal_mesh(const Communicator& comm, const TetraMesh& whole, const PointCut& cut,
                    const std::vector<ConductionVelocity>& by_tetra);

} // namespace ossatura::detail
