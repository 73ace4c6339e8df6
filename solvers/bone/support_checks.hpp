// SPDX-License-Identifier: Apache-2.0
// These checks say whether supports and loads make a test, or would give a number without a
// meaning.
#pragma once

#include <ossatura/solvers/bone/load.hpp>
#include <ossatura/solvers/bone/results/supports.hpp>

#include <optional>
#include <string>
#include <vector>

namespace ossatura {

inline constexpr double least_contact = 0.2;  ///< of the cross-section: less is doubtful
inline constexpr double least_carrying = 0.9; ///< of the voxels: less is doubtful

/// A part of the specimen that its supports leave free.
struct FreePart {
  std::array<std::int64_t, 3> voxel; ///< x, y, z of its first
  std::int64_t num_voxels;
  int num_held;        ///< of its 6 rigid motions
  std::string motions; ///< that are free: "along x, about z"
};

/// A support that touches little of the specimen.
struct SmallContact {
  SupportReaction support; ///< name, nodes and area
  double cross_section;    ///< mm2, mean of the bone along the support's normal
};

struct SupportFindings {
  std::int64_t num_parts = 0;    ///< voxels that share nodes
  std::int64_t num_carrying = 0; ///< voxels of parts that a force pushes or displacements strain
  bool is_loaded = false;        ///< by a displacement other than 0, or a force on a free component
  std::optional<FreePart> free;  ///< pushed, or the largest; others do no harm
  std::vector<SmallContact> small_contacts;
  bool are_plates_exchanged = false; ///< the upper one lies below the lower one
};

/// Voxels that share nodes, by part.
struct PartShares {
  std::int64_t num_parts = 0, num_voxels = 0;
  std::int64_t largest = 0; ///< voxels of the largest part
  std::int64_t beyond = 0;  ///< voxels of parts that alone reach a side of the box

  /// Sides that hold all of the bone strain each part as if they were joined: is there one of them
  /// to speak of?
  bool is_in_one() const { return double(largest) >= least_carrying * double(num_voxels); }
  /// Whether the box is as large without the others.
  bool fills_box() const { return beyond == 0; }
};

/// Fences.
template<class Exec>
PartShares find_part_shares(const Exec& exec, const VoxelProblem<Exec>& problem);

/// Examines problem.held and `load`. All parts have supports (drop_islands). Fences.
template<class Exec>
SupportFindings examine_supports(const Exec& exec, const VoxelProblem<Exec>& problem,
                                 const BoneLoad<Exec>& load);

} // namespace ossatura
