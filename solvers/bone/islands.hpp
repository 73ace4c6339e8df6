// SPDX-License-Identifier: Apache-2.0
// Islands are parts of a specimen that no support touches, or of a unit cell that lead nowhere.
// Their equations have no unique solution.
#pragma once

#include <ossatura/kernels/bone/loads/load_case.hpp>
#include <ossatura/kernels/bone/loads/periodic_parts.hpp>
#include <ossatura/solvers/bone/problem.hpp>

#include <utility>
#include <vector>

namespace ossatura {

/// Noise may leave so much of the bone in islands; more says that supports are not where they were
/// meant to be.
inline constexpr double most_islands = 0.01;

struct DroppedIslands {
  std::int64_t components = 0, voxels = 0;
  std::int64_t example = -1; ///< the smallest voxel, x + nx * (y + ny * z); -1 if there is none
  double part = 0;           ///< of the voxels
  bool are_dropped = false;  ///< else they are too much of the specimen
};

namespace detail {
template<class Exec>
struct MakeVoid {
  Array<std::int64_t, Exec> voxel;
  VoxelArray<Exec> image;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t place = voxel(i) - image.first_voxel();
    if (place >= 0 && place < image.num_voxels())
      image.value(place) = 0;
  }
};

/// Sets the voxels of the parts that are islands to 0 in the image, as drop_islands says.
template<class Exec>
DroppedIslands drop_parts(const Exec& exec, const VoxelProblem<Exec>& problem,
                          const VoxelArray<Exec>& image, const SpecimenParts<Exec>& parts,
                          const std::vector<std::uint8_t>& is_island, double most) {
  const Array<float, Exec>& solid = problem.lame.mu_value;
  DroppedIslands islands;
  for (std::size_t i = 0; i < parts.list.size(); ++i) {
    if (is_island[i] == 0)
      continue;
    if (islands.components++ == 0)
      islands.example = parts.list[i].first;
    islands.voxels += parts.list[i].num_voxels;
  }
  islands.part = double(islands.voxels) / double(count_voxels(exec, problem));
  islands.are_dropped = islands.components > 0 && islands.part <= most;
  if (islands.are_dropped) {
    Array<std::int64_t, Exec> voxel = list_voxels(exec, problem.grid, solid, parts, is_island);
    if (const Communicator comm = ranks_of(problem); comm.size() > 1)
      voxel = upload(exec, "ossatura::islands", comm.gather(download(exec, voxel)));
    Kokkos::parallel_for("ossatura::drop_islands", range(exec, voxel.extent(0)),
                         MakeVoid<Exec>{voxel, image});
    fence(exec, "ossatura::drop_islands");
  }
  return islands;
}

/// Bit d of a node is that of the lower side of the box across axis d, bit 3 + d of the upper one,
/// and bit 6 says that a support holds it.
template<class Exec>
struct MarkSides {
  VoxelGrid<Exec> grid;
  NodeBox box;
  Array<std::uint8_t, Exec> held, mark;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    const int at[3] = {s.x, s.y, s.z};
    int marks = held.extent(0) > 0 && held(node) != 0 ? 1 << 6 : 0; // empty: nothing is held
    for (int d = 0; d < 3; ++d)
      marks |= (at[d] == box.lower[d]) << d | (at[d] == box.upper[d]) << (3 + d);
    mark(node) = std::uint8_t(marks);
  }
};
} // namespace detail

/// Sides of the box around the bone, as bits: d for the lower one across axis d, 3 + d for the
/// upper.
inline constexpr int all_sides = 0x3f;
constexpr int sides_across(int axis) {
  return (1 | 1 << 3) << axis;
}

/// The parts of a specimen in the box around it, and which of its sides they reach.
template<class Exec>
struct PartsInBox {
  SpecimenParts<Exec> parts; ///< `held`: sides, and bit 6 where a support holds
  std::size_t largest = 0;   ///< the first of the largest parts

  bool is_held(std::size_t i) const { return (parts.list[i].held & ~all_sides) != 0; }
  /// Whether it reaches one of these sides that the largest part does not.
  bool reaches_beyond(std::size_t i, int sides) const {
    return (parts.list[i].held & ~parts.list[largest].held & sides) != 0;
  }
};

/// By all ranks of a problem that is cut. Fences.
template<class Exec>
PartsInBox<Exec> find_parts_in_box(const Exec& exec, const VoxelProblem<Exec>& problem) {
  const auto mark =
      make_uninitialized<std::uint8_t>(exec, problem.grid.num_nodes, "ossatura::sides");
  Kokkos::parallel_for("ossatura::find_parts_in_box", range(exec, problem.grid.num_nodes),
                       detail::MarkSides<Exec>{problem.grid,
                                               bounding_box(exec, problem.grid, ranks_of(problem)),
                                               problem.held.mask, mark});
  PartsInBox<Exec> found;
  found.parts = find_parts(exec, problem.ranks.get(), problem.grid, problem.lame.mu_value, mark);
  const std::vector<SpecimenPart>& list = found.parts.list;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].num_voxels > list[found.largest].num_voxels)
      found.largest = i;
  return found;
}

namespace detail {
/// Which parts reach one of these sides of the box that the largest does not, where these are at
/// most the part `most_islands` of all: crumbs beyond the specimen, at which the box ends. Empty
/// without any. Fences.
template<class Exec>
std::vector<std::uint8_t> find_crumbs(const Exec& exec, const VoxelProblem<Exec>& problem,
                                      const PartsInBox<Exec>& found, int sides) {
  const std::vector<SpecimenPart>& list = found.parts.list;
  std::vector<std::uint8_t> is_crumb;
  std::int64_t beyond = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    is_crumb.push_back(found.reaches_beyond(i, sides));
    beyond += is_crumb[i] != 0 ? list[i].num_voxels : 0;
  }
  if (beyond == 0 || double(beyond) > most_islands * double(count_voxels(exec, problem)))
    is_crumb.clear();
  return is_crumb;
}
} // namespace detail

/// Finds crumbs beyond these sides of the box around the bone: parts, connected by nodes, that
/// reach one that the largest part does not, where they are at most the part `most_islands` of all.
/// Sets their voxels in `image`, the one that `problem` was made from, to 0 if they are at most the
/// part `most`. The box is smaller then: with a problem that is made anew it is to be asked again.
/// Of a problem that is cut all its ranks call it, with the planes of the image that each has.
/// Fences.
template<class Exec>
DroppedIslands drop_crumbs(const Exec& exec, const VoxelProblem<Exec>& problem,
                           const VoxelArray<Exec>& image, double most, int sides) {
  const PartsInBox<Exec> found = find_parts_in_box(exec, problem);
  const std::vector<std::uint8_t> is_crumb = detail::find_crumbs(exec, problem, found, sides);
  return is_crumb.empty() ? DroppedIslands()
                          : detail::drop_parts(exec, problem, image, found.parts, is_crumb, most);
}

/// As drop_crumbs, and where there are none the same for the parts that no component of
/// problem.held touches. Plates lie at the ends of what is there: with parts dropped, problem and
/// load are to be made anew, and asked again. `sides`: that supports are at. Fences.
template<class Exec>
DroppedIslands drop_islands(const Exec& exec, const VoxelProblem<Exec>& problem,
                            const VoxelArray<Exec>& image, double most = most_islands,
                            int sides = 0) {
  const PartsInBox<Exec> found = find_parts_in_box(exec, problem);
  std::vector<std::uint8_t> is_island = detail::find_crumbs(exec, problem, found, sides);
  if (is_island.empty()) // without crumbs supports may reach the rest
    for (std::size_t i = 0; i < found.parts.list.size(); ++i)
      is_island.push_back(!found.is_held(i));
  return detail::drop_parts(exec, problem, image, found.parts, is_island, most);
}

/// The parts of a unit cell, and the bodies that they make across its sides. `problem` is that of
/// make_voxel_problem, without a rim. Fences.
template<class Exec>
std::pair<SpecimenParts<Exec>, PeriodicBodies>
find_periodic_bodies(const Exec& exec, const VoxelProblem<Exec>& problem) {
  OSSATURA_REQUIRE(!problem.ranks && !problem.rim, "parts of a unit cell that is cut or has a rim");
  const VoxelRanks<Exec>* const none = nullptr;
  const SpecimenParts<Exec> parts =
      find_parts(exec, none, problem.grid, problem.lame.mu_value,
                 make_zeros<std::uint8_t>(exec, problem.grid.num_nodes, "ossatura::held"));
  return {parts, join_periodic_parts(exec, problem.grid, parts)};
}

/// As drop_islands for the image of a unit cell: islands are the parts of bodies that do not lead
/// through the cell to its own next image, across any of its sides. Fences.
template<class Exec>
DroppedIslands drop_periodic_islands(const Exec& exec, const VoxelProblem<Exec>& problem,
                                     const VoxelArray<Exec>& image, double most = most_islands) {
  const auto [parts, bodies] = find_periodic_bodies(exec, problem);
  std::vector<std::uint8_t> is_island;
  for (const int body : bodies.of_part)
    is_island.push_back(bodies.list[std::size_t(body)].is_bounded());
  return detail::drop_parts(exec, problem, image, parts, is_island, most);
}

} // namespace ossatura
