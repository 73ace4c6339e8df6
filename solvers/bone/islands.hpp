// SPDX-License-Identifier: Apache-2.0
// Islands are parts of a specimen that no support touches, or of a unit cell that lead nowhere.
// Their equations have no unique solution.
#pragma once

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
} // namespace detail

/// Finds the parts, connected by nodes, that no component of problem.held touches. Sets their
/// voxels in `image`, the one that `problem` was made from, to 0 if they are at most the part
/// `most` of all. Plates lie at the ends of what is there: with them dropped, problem and load are
/// to be made anew, and asked again. Of a problem that is cut all its ranks call it, with the
/// planes of the image that each has. Fences.
template<class Exec>
DroppedIslands drop_islands(const Exec& exec, const VoxelProblem<Exec>& problem,
                            const VoxelArray<Exec>& image, double most = most_islands) {
  const SpecimenParts<Exec> parts =
      find_parts(exec, problem.ranks.get(), problem.grid, problem.lame.mu_value, problem.held.mask);
  std::vector<std::uint8_t> is_island;
  for (const SpecimenPart& part : parts.list)
    is_island.push_back(!part.is_held);
  return detail::drop_parts(exec, problem, image, parts, is_island, most);
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
