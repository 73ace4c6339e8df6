// SPDX-License-Identifier: Apache-2.0
// RigidBlocks finds hinges: where parts of a body touch along an edge or in a corner alone, and
// forces turn them about it.
#pragma once

#include <ossatura/core/mesh/box.hpp>
#include <ossatura/core/mesh/mechanics/held_motions.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace ossatura {

/// Blocks that move as rigid bodies, and what joins them to one another and to the ground. They are
/// made by add() of all nodes, hold() of all supports, and settle(), in this order.
class RigidBlocks {
public:
  using Motion = std::array<double, 6>; ///< of HeldMotions, or the work of forces in each
  using WorkOfBlock = std::map<std::int32_t, Motion>;
  using Points = std::function<std::array<double, 3>(std::int32_t)>;

  /// No blocks: nothing is to be found. `point` gives the place of a node.
  RigidBlocks() = default;
  RigidBlocks(std::int32_t num_blocks, std::size_t num_nodes, const Box& bounds, Points point);

  /// The node is of the block. A node of several joins them.
  void add(std::int32_t node, std::int32_t block);
  /// To the ground. Nodes of no block are left out.
  void hold(std::int32_t node, int component);
  /// Makes one of blocks that hold one another.
  void settle();

  /// Whether all blocks are held, each by others that are, so that there is nothing to look for.
  bool are_held();
  /// Adds the work of a force.
  void add_work(std::int32_t node, const double (&force)[3], WorkOfBlock& work) const;
  /// A node of a hinge about which the work moves something; none, too, where more than a hundred
  /// blocks that are not held by themselves hang on one another. A motion without work, as of a
  /// speck at a corner of the body, is none.
  std::optional<std::int32_t> find_moved(const WorkOfBlock& work_of_block);

  /// The values of the rigid motions at the point x, in the direction `component`.
  Motion at(const double* x, int component) const { return frame_.at(x, component); }

private:
  struct Relation {
    HeldMotions held;
    std::int32_t node = -1; ///< one that both share, or the first that is held
    bool is_shared = false;
  };

  std::int32_t ground() const { return count_; }
  void relate_shared();
  std::int32_t find(std::int32_t block);
  void relate(std::int32_t a, std::int32_t b, std::int32_t node, int component, bool is_shared);
  void merge_relations();
  std::vector<std::vector<std::int32_t>> loose_groups();
  bool does_work(const std::vector<std::int32_t>& groups, const WorkOfBlock& work) const;
  std::optional<std::int32_t> hinge_of(const std::vector<std::int32_t>& groups) const;

  std::int32_t count_ = 0;
  Points point_;
  HeldMotions frame_;
  std::vector<std::int32_t> first_;                           ///< [num_nodes] a block, or -1
  std::vector<std::pair<std::int32_t, std::int32_t>> shared_; ///< nodes, and other blocks of theirs
  std::vector<std::int32_t> up_; ///< towards the block that stands for a group
  std::map<std::pair<std::int32_t, std::int32_t>, Relation> relation_; ///< the lesser first
};

} // namespace ossatura
