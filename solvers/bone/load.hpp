// SPDX-License-Identifier: Apache-2.0
// These functions hold and load a specimen: by a standard test, by sides, nodes and lists, or by a
// uniform strain. Of a problem that is cut all its ranks call them (ranks_of in problem.hpp).
#pragma once

#include <ossatura/solvers/bone/problem.hpp>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

/// The nodes of a side of the specimen (within the depth of a plate of the outermost solid nodes),
/// those that the voxels of a label touch, all or on a line alone, or one node.
struct NodeChoice {
  bool is_face = false;
  int axis = 2;       ///< face: its normal
  bool upper = false; ///< face: the one at the high end
  std::array<int, 3> node{0, 0, 0};
  std::optional<int> label{};
  std::optional<int> line{}; ///< label: along this axis, of all that it touches the nodes on the
                             ///< line of nodes that is nearest to the centre of its voxels
};

/// "side z+", "label 3", "line y through label 3" or "node 1/2/3".
std::string describe(const NodeChoice& where);

/// Displacements (mm at each node) or a force (N in all, as a traction on a side) of one choice.
struct NodalCondition {
  NodeChoice where;
  std::array<bool, 3> components{false, false, false};
  double value = 0;
};

/// A side on which a force acts.
struct SideContact {
  std::string name;
  int normal;
  std::int64_t num_nodes;
  double area; ///< of the bone there, mm2
};

/// A load case. What it holds is VoxelProblem::held.
template<class Exec>
struct BoneLoad {
  Array<double, Exec> u;            ///< [3 num_nodes] prescribed displacements in mm, 0 elsewhere
  Array<double, Exec> force;        ///< [3 num_nodes] nodal forces in N, or empty
  std::vector<NamedRegion> regions; ///< of a standard test; empty where nodes were listed
  NodeSets<Exec> node_sets;         ///< that the regions name
  MechanicalTest test;              ///< where there are regions
  std::vector<SideContact> pushed_sides;
};

/// The centre of the bone's voxels in mm from the lower corner of the image, for
/// MechanicalTest::centre. Fences.
template<class Exec>
std::array<double, 3> centre_of_bone(const Exec& exec, const VoxelProblem<Exec>& problem);

/// The load of a test between plates; sets problem.held. Throws UsageError if the plates meet, and
/// InputError if one touches nothing or both the same nodes. Fences.
template<class Exec>
BoneLoad<Exec> load_by_test(const Exec& exec, const MechanicalTest& test,
                            VoxelProblem<Exec>& problem);

/// Holds all sides of the specimen, as the six loads of set_uniform_strain() need it. Sets
/// problem.held. Fences.
template<class Exec>
void hold_all_sides(const Exec& exec, VoxelProblem<Exec>& problem);

/// Sets u [3 num_nodes] to the displacements of unit strain `component` in (xx, yy, zz, xy, yz, zx)
/// on the sides, and to 0 elsewhere. Fences.
template<class Exec>
void set_uniform_strain(const Exec& exec, const VoxelProblem<Exec>& problem, int component,
                        const Array<double, Exec>& u);

/// A load made of conditions one after the other. Where they overlap, the displacement of the later
/// one holds, and forces add up. Sides and nodes are those of the grid of `problem`, which outlives
/// the maker. All functions fence.
template<class Exec>
class ListedLoad {
public:
  /// Plates reach `plate_depth` (mm) into a side. `labels` are those that conditions name.
  ListedLoad(const Exec& exec, const VoxelProblem<Exec>& problem, double plate_depth = 0,
             LabelVoxels labels = {});

  /// Holds listed nodes. Those in the void are left out and returned.
  MissingNodes hold(const std::vector<PrescribedNode>& nodes);
  /// Holds a side, a node or what a label touches, all or on a line: an axle about which the rest
  /// may turn. Returns the number of its nodes: 0 in the void.
  std::int64_t hold(const NodalCondition& condition);
  /// Adds listed forces. Returns how many of them act on the void, and are left out.
  std::int64_t push(const std::vector<NodalValue>& forces);
  /// Adds the force on a side, a node or what a label touches: there each node has the share of the
  /// label's voxels around it, which is a body force in bone with the label, and a traction on flat
  /// bone beside it. Not for a line. Returns the number of its nodes: 0 in the void.
  std::int64_t push(const NodalCondition& condition);
  /// Degrees of freedom of the last condition held that one before held at another displacement,
  /// which the later one replaces.
  std::int64_t num_replaced() const { return num_replaced_; }
  /// The part, 0 to 1, of the force of the last push that acts on components held by then, where it
  /// does nothing.
  double lost_part() const { return lost_part_; }

  /// The load so far; sets held.
  BoneLoad<Exec> finish(Constraints<Exec>& held) const;

private:
  Exec exec_;
  const VoxelProblem<Exec>& problem_;
  Communicator comm_; ///< of the problem
  int layers_;        ///< of voxels that plates reach into
  LabelVoxels labels_;
  NodeBox box_;
  Array<std::uint8_t, Exec> mask_;
  bool has_force_ = false; ///< an array of which may have no entry on some rank
  double lost_part_ = 0;
  std::int64_t num_replaced_ = 0;
  BoneLoad<Exec> load_;

  PrescribedRegion region_of(const NodeChoice& where) const;
  Array<int, Exec> touching(int label) const;
  std::int64_t push_label(int label, const Kokkos::Array<double, 3>& force);
  std::int64_t push_condition(const NodalCondition& condition);
  void require_force();
  /// Sums over owned nodes: forces along x, y and z on held components, their sizes and all sizes.
  std::array<double, 5> sum_forces() const;
};

} // namespace ossatura
