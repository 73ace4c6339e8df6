// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/part/hinges.hpp>

#include <ossatura/core/machine/joined_sets.hpp>
#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/machine/part_sort.hpp>
#include <ossatura/core/mesh/hexa/faces.hpp>
#include <ossatura/core/mesh/mechanics/held_motions.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ossatura {

namespace {

using Motion = std::array<double, 6>; ///< of HeldMotions, or the work of a load in each

bool may_have_material(const DesignProblem& problem, std::size_t e) {
  return problem.role.empty() || problem.role[e] != DesignRole::void_;
}

struct FaceOfBlock {
  std::array<std::int32_t, 4> corner; ///< ascending; of a triangle the last one twice
  std::int32_t elem;
};

/// Calls visit(corners, count) for the faces of an element of a mesh.
template<class Visit>
void for_faces(const DesignProblem& problem, std::size_t e, const Visit& visit) {
  const NodeRange nodes = problem.nodes_of(e);
  std::array<std::int32_t, 4> corner{};
  if (!problem.solids) {
    for (const auto& face : hexa_face) {
      for (std::size_t i = 0; i < 4; ++i)
        corner[i] = nodes[std::size_t(face[i])];
      visit(corner, 4);
    }
    return;
  }
  const SolidShape& shape = shape_of(problem.solids->kind[e]);
  for (int f = 0; f < shape.num_faces; ++f) {
    int count = 0;
    for (const int node : shape.face[f])
      if (node >= 0)
        corner[std::size_t(count++)] = nodes[std::size_t(node)];
    if (count >= 3)
      visit(corner, count);
  }
}

void join_by_faces(const DesignProblem& problem, JoinedSets& sets) {
  if (problem.lattice) {
    const LatticeRows& elem = problem.lattice->elem();
    for_parts(problem.num_elem(), 1 << 12, [&](std::size_t first, std::size_t end) {
      for (std::size_t e = first; e < end; ++e)
        for (std::size_t d = 0; d < 3 && may_have_material(problem, e); ++d) {
          std::array<int, 3> next = elem.place(std::int32_t(e));
          ++next[d];
          if (elem.has(next) && may_have_material(problem, std::size_t(elem.number(next))))
            sets.join(std::int32_t(e), elem.number(next));
        }
    });
    return;
  }
  // What may have no material has the faces of nothing, each of which is the same.
  constexpr std::size_t most_faces = 6;
  std::vector<FaceOfBlock> faces(most_faces * problem.num_elem(), FaceOfBlock{{-1, -1, -1, -1}, 0});
  for_parts(problem.num_elem(), 1 << 12, [&](std::size_t first, std::size_t end) {
    for (std::size_t e = first; e < end; ++e) {
      if (!may_have_material(problem, e))
        continue;
      FaceOfBlock* face = &faces[most_faces * e];
      for_faces(problem, e, [&](std::array<std::int32_t, 4> corner, int count) {
        corner[3] = count == 3 ? *std::max_element(corner.begin(), corner.begin() + 3) : corner[3];
        std::sort(corner.begin(), corner.end());
        *face++ = {corner, std::int32_t(e)};
      });
    }
  });
  sort_parts(faces, [](const FaceOfBlock& a, const FaceOfBlock& b) {
    return std::tie(a.corner, a.elem) < std::tie(b.corner, b.elem);
  });
  for (std::size_t i = 1; i < faces.size(); ++i)
    if (faces[i].corner[0] >= 0 && faces[i].corner == faces[i - 1].corner)
      sets.join(faces[i].elem, faces[i - 1].elem);
}

/// Calls visit(node) for those of an element.
template<class Visit>
void for_nodes(const DesignProblem& problem, std::size_t e, const Visit& visit) {
  if (!problem.lattice) {
    for (const std::int32_t node : problem.nodes_of(e))
      visit(node);
    return;
  }
  const LatticeBody& body = *problem.lattice;
  const std::array<int, 3> at = body.elem().place(std::int32_t(e));
  for (int corner = 0; corner < 8; ++corner)
    visit(body.node().number(
        {at[0] + (corner & 1), at[1] + (corner >> 1 & 1), at[2] + (corner >> 2)}));
}

/// Blocks that move as rigid bodies, and what joins them to one another and to the ground.
class RigidBlocks {
public:
  explicit RigidBlocks(const DesignProblem& problem)
      : problem_(problem) {
    number_blocks();
    if (count_ < 2)
      return;
    const Box box = problem.bounds();
    for (std::size_t d = 0; d < 3; ++d)
      frame_.centre[d] = (box[d] + box[d + 3]) / 2;
    frame_.size = std::hypot(box[3] - box[0], box[4] - box[1], box[5] - box[2]) / 2;
    share_nodes();
    up_.resize(std::size_t(ground()) + 1);
    std::iota(up_.begin(), up_.end(), 0);
    for (const auto& [node, block] : shared_)
      for (int c = 0; c < 3; ++c)
        relate(first_[std::size_t(node)], block, node, c, true);
    const auto hold = [this](std::int32_t node, int c) {
      if (const std::int32_t block = first_[std::size_t(node)]; block >= 0)
        relate(block, ground(), node, c, false);
    };
    for (const HeldComponents& held : problem.held)
      for (int c = 0; c < 3; ++c)
        if ((held.components >> c & 1) != 0)
          hold(held.node, c);
    for (const NodeSpring& spring : problem.springs)
      if (spring.stiffness > 0)
        hold(spring.node, spring.component);
    merge_what_is_held();
  }

  /// Whether all blocks are held, each by others that are, so that there is nothing to look for.
  bool are_held() {
    for (std::int32_t block = 0; block < count_ && count_ > 1; ++block)
      if (find(block) != find(ground()))
        return false;
    return true;
  }

  /// A node of a hinge about which a load, its work by block, moves something; or none.
  std::optional<std::int32_t> find_moved(const std::map<std::int32_t, Motion>& work_of_block) {
    std::map<std::int32_t, Motion> work; // of groups of blocks that are rigid together
    for (const auto& [block, own] : work_of_block)
      for (std::size_t i = 0; i < 6; ++i)
        work[find(block)][i] += own[i];
    for (const std::vector<std::int32_t>& groups : loose_groups())
      if (const std::optional<std::int32_t> hinge = hinge_of(groups);
          hinge && 6 * groups.size() <= most_unknowns && does_work(groups, work))
        return hinge;
    return std::nullopt;
  }

  std::int32_t block_of_node(std::int32_t node) const { return first_[std::size_t(node)]; }
  std::int32_t block_of_elem(std::size_t e) const { return block_[e]; }
  Motion at(const double* x, int component) const { return frame_.at(x, component); }

private:
  static constexpr std::size_t most_unknowns = 600;

  struct Relation {
    HeldMotions held;
    std::int32_t node = -1; ///< one that both share, or the first that is held
    bool is_shared = false;
  };

  std::int32_t ground() const { return count_; }

  void number_blocks() {
    JoinedSets sets(problem_.num_elem());
    join_by_faces(problem_, sets);
    std::unordered_map<std::int32_t, std::int32_t> number;
    block_.assign(problem_.num_elem(), -1);
    for (std::size_t e = 0; e < block_.size(); ++e)
      if (may_have_material(problem_, e))
        block_[e] =
            number.emplace(sets.find(std::int32_t(e)), std::int32_t(number.size())).first->second;
    num_of_elements_ = std::int32_t(number.size());
    count_ = num_of_elements_ < 2 ? num_of_elements_
                                  : num_of_elements_ + std::int32_t(problem_.rigid.size());
  }

  /// The first block of each node, and the others.
  void share_nodes() {
    first_.assign(problem_.num_nodes(), -1);
    const auto add = [this](std::int32_t node, std::int32_t block) {
      std::int32_t& first = first_[std::size_t(node)];
      if (first < 0)
        first = block;
      else if (first != block)
        shared_.emplace_back(node, block);
    };
    for (std::size_t e = 0; e < block_.size(); ++e)
      if (block_[e] >= 0)
        for_nodes(problem_, e, [&](std::int32_t node) { add(node, block_[e]); });
    for (std::size_t i = 0; i < problem_.rigid.size(); ++i)
      for (const std::int32_t node : problem_.rigid[i])
        add(node, num_of_elements_ + std::int32_t(i));
    std::sort(shared_.begin(), shared_.end());
    shared_.erase(std::unique(shared_.begin(), shared_.end()), shared_.end());
  }

  std::int32_t find(std::int32_t block) {
    while (up_[std::size_t(block)] != block)
      block = up_[std::size_t(block)] = up_[std::size_t(up_[std::size_t(block)])];
    return block;
  }

  void relate(std::int32_t a, std::int32_t b, std::int32_t node, int component, bool is_shared) {
    Relation& own = relation_[std::minmax(a, b)];
    own.held.centre[0] = frame_.centre[0];
    own.held.centre[1] = frame_.centre[1];
    own.held.centre[2] = frame_.centre[2];
    own.held.size = frame_.size;
    own.held.add(problem_.point(node).data(), component);
    if (own.node < 0 || (is_shared && !own.is_shared))
      own.node = node;
    own.is_shared = own.is_shared || is_shared;
  }

  /// Makes one of two whose relation holds all six motions, as often as there are such.
  void merge_what_is_held() {
    for (bool merges = true; merges;) {
      merges = false;
      for (const auto& [pair, own] : relation_)
        if (find(pair.first) != find(pair.second) && own.held.rank() == 6) {
          up_[std::size_t(find(pair.first))] = find(pair.second);
          merges = true;
        }
      std::map<std::pair<std::int32_t, std::int32_t>, Relation> rest;
      for (const auto& [pair, own] : relation_) {
        const std::int32_t a = find(pair.first), b = find(pair.second);
        if (a == b)
          continue;
        const auto [into, is_new] = rest.emplace(std::minmax(a, b), own);
        if (is_new)
          continue;
        for (std::size_t i = 0; i < 6; ++i)
          for (std::size_t j = 0; j < 6; ++j)
            into->second.held.gram[i][j] += own.held.gram[i][j];
        if (own.is_shared && !into->second.is_shared)
          into->second.node = own.node;
        into->second.is_shared = into->second.is_shared || own.is_shared;
      }
      relation_ = std::move(rest);
    }
  }

  /// Groups that are not the ground, by what hangs together without it.
  std::vector<std::vector<std::int32_t>> loose_groups() {
    const std::int32_t base = find(ground());
    std::map<std::int32_t, std::int32_t> up;
    const auto top = [&up](std::int32_t group) {
      while (up.emplace(group, group).first->second != group)
        group = up[group];
      return group;
    };
    for (std::int32_t block = 0; block < count_; ++block)
      if (find(block) != base)
        top(find(block));
    for (const auto& [pair, own] : relation_)
      if (pair.first != base && pair.second != base)
        up[top(pair.first)] = top(pair.second);
    std::map<std::int32_t, std::vector<std::int32_t>> together;
    for (const auto& one : up)
      together[top(one.first)].push_back(one.first);
    std::vector<std::vector<std::int32_t>> groups;
    for (auto& [first, list] : together)
      groups.push_back(std::move(list));
    return groups;
  }

  /// Whether no forces of the relations balance the load: Gauss's elimination with diagonal pivots
  /// of the sums of r r^T leaves rows of zeros with work.
  bool does_work(const std::vector<std::int32_t>& groups,
                 const std::map<std::int32_t, Motion>& work) const {
    const std::size_t n = 6 * groups.size(), width = n + 1;
    std::vector<double> a(n * width);
    const auto place = [&groups](std::int32_t group) {
      const auto at = std::lower_bound(groups.begin(), groups.end(), group);
      return at != groups.end() && *at == group ? std::ptrdiff_t(at - groups.begin()) : -1;
    };
    double largest_work = 0;
    for (const auto& [group, own] : work)
      if (const std::ptrdiff_t i = place(group); i >= 0)
        for (std::size_t k = 0; k < 6; ++k) {
          a[(6 * std::size_t(i) + k) * width + n] = own[k];
          largest_work = std::max(largest_work, std::fabs(own[k]));
        }
    if (largest_work == 0)
      return false;
    for (const auto& [pair, own] : relation_)
      for (const auto& [one, other] : {pair, std::make_pair(pair.second, pair.first)}) {
        const std::ptrdiff_t i = place(one), j = place(other);
        for (std::size_t k = 0; k < 6 && i >= 0; ++k)
          for (std::size_t l = 0; l < 6; ++l) {
            double* const row = &a[(6 * std::size_t(i) + k) * width];
            row[6 * std::size_t(i) + l] += own.held.gram[k][l];
            if (j >= 0)
              row[6 * std::size_t(j) + l] -= own.held.gram[k][l];
          }
      }
    std::vector<bool> done(n);
    double largest = 0;
    for (std::size_t step = 0; step < n; ++step) {
      std::size_t p = n;
      for (std::size_t i = 0; i < n; ++i)
        if (!done[i] && (p == n || a[i * width + i] > a[p * width + p]))
          p = i;
      largest = std::max(largest, a[p * width + p]);
      if (!(a[p * width + p] > 1e-12 * largest))
        break;
      done[p] = true;
      for (std::size_t i = 0; i < n; ++i)
        if (const double factor = a[i * width + p] / a[p * width + p]; !done[i] && factor != 0)
          for (std::size_t j = 0; j < width; ++j)
            a[i * width + j] -= factor * a[p * width + j];
    }
    for (std::size_t i = 0; i < n; ++i)
      if (!done[i] && std::fabs(a[i * width + n]) > 1e-6 * largest_work)
        return true;
    return false;
  }

  /// A node that groups share; none where they float, which is no matter of hinges.
  std::optional<std::int32_t> hinge_of(const std::vector<std::int32_t>& groups) const {
    for (const auto& [pair, own] : relation_)
      if (own.is_shared && (std::binary_search(groups.begin(), groups.end(), pair.first) ||
                            std::binary_search(groups.begin(), groups.end(), pair.second)))
        return own.node;
    return std::nullopt;
  }

  const DesignProblem& problem_;
  std::int32_t num_of_elements_ = 0, count_ = 0; ///< blocks; with rigid bodies
  std::vector<std::int32_t> block_;              ///< [num_elem], -1: void
  std::vector<std::int32_t> first_;              ///< [num_nodes] the first block, or -1
  std::vector<std::pair<std::int32_t, std::int32_t>> shared_; ///< nodes, and other blocks of theirs
  HeldMotions frame_;
  std::vector<std::int32_t> up_; ///< towards the block that stands for a group
  std::map<std::pair<std::int32_t, std::int32_t>, Relation> relation_; ///< the lesser first
};

/// Work of forces in the motions of blocks.
std::map<std::int32_t, Motion> work_of(const DesignProblem& problem, const RigidBlocks& blocks,
                                       const std::vector<NodeForce>& forces) {
  std::map<std::int32_t, Motion> work;
  for (const NodeForce& one : forces)
    if (const std::int32_t block = blocks.block_of_node(one.node); block >= 0)
      for (int c = 0; c < 3; ++c) {
        const Motion r = blocks.at(problem.point(one.node).data(), c);
        for (std::size_t i = 0; i < 6; ++i)
          work[block][i] += one.force[c] * r[i];
      }
  return work;
}

std::array<double, 3> centre_of(const DesignProblem& problem, std::size_t e) {
  std::array<double, 3> centre{};
  int count = 0;
  for_nodes(problem, e, [&](std::int32_t node) {
    const std::array<double, 3> x = problem.point(node);
    for (std::size_t d = 0; d < 3; ++d)
      centre[d] += x[d];
    ++count;
  });
  for (double& x : centre)
    x /= count;
  return centre;
}

/// Of gravity and rotation, as if all elements had the same mass: a hinge in balance is none
/// however much its sides weigh.
void add_weight(const DesignProblem& problem, const RigidBlocks& blocks, const BodyLoad& load,
                std::map<std::int32_t, Motion>& work) {
  for (std::size_t e = 0; e < problem.num_elem(); ++e) {
    if (blocks.block_of_elem(e) < 0)
      continue;
    const std::array<double, 3> x = centre_of(problem, e);
    double along = 0;
    for (std::size_t d = 0; d < 3; ++d)
      along += (x[d] - load.origin[d]) * load.axis[d];
    Motion& own = work[blocks.block_of_elem(e)];
    for (std::size_t d = 0; d < 3; ++d) {
      const double arm = x[d] - load.origin[d] - along * load.axis[d];
      const Motion r = blocks.at(x.data(), int(d));
      for (std::size_t i = 0; i < 6; ++i)
        own[i] += (load.acceleration[d] + load.square_speed * arm) * r[i];
    }
  }
}

bool is_whole_box(const DesignProblem& problem) {
  if (!problem.lattice)
    return false;
  const std::array<int, 3>& cells = problem.lattice->cells();
  return problem.lattice->num_elem() == std::int64_t(cells[0]) * cells[1] * cells[2];
}

} // namespace

std::optional<LoadedHinge> find_loaded_hinge(const DesignProblem& problem) {
  const bool has_void =
      std::find(problem.role.begin(), problem.role.end(), DesignRole::void_) != problem.role.end();
  if (!has_void && is_whole_box(problem))
    return std::nullopt;
  RigidBlocks blocks(problem);
  if (blocks.are_held())
    return std::nullopt;
  for (std::size_t k = 0; k < problem.cases.size(); ++k) {
    const NodeLoads& loads = problem.cases[k].loads;
    std::map<std::int32_t, Motion> work = work_of(problem, blocks, loads.forces);
    for (const BodyLoad& load : loads.body)
      add_weight(problem, blocks, load, work);
    if (const std::optional<std::int32_t> node = blocks.find_moved(work))
      return LoadedHinge{CutNode::Use::force, k, *node};
  }
  if (const auto node = blocks.find_moved(work_of(problem, blocks, problem.output)))
    return LoadedHinge{CutNode::Use::output, 0, *node};
  for (std::size_t j = 0; j < problem.limits.size(); ++j)
    if (const auto node = blocks.find_moved(work_of(problem, blocks, problem.limits[j].direction)))
      return LoadedHinge{CutNode::Use::limit, j, *node};
  return std::nullopt;
}

} // namespace ossatura
