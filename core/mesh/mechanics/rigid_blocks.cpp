// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/mechanics/rigid_blocks.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ossatura {

namespace {

constexpr std::size_t most_unknowns = 600; // of the elimination

} // namespace

RigidBlocks::RigidBlocks(std::int32_t num_blocks, std::size_t num_nodes, const Box& bounds,
                         Points point)
    : count_(num_blocks)
    , point_(std::move(point))
    , first_(num_nodes, -1)
    , up_(std::size_t(num_blocks) + 1) {
  for (std::size_t d = 0; d < 3; ++d)
    frame_.centre[d] = (bounds[d] + bounds[d + 3]) / 2;
  frame_.size = std::hypot(bounds[3] - bounds[0], bounds[4] - bounds[1], bounds[5] - bounds[2]) / 2;
  std::iota(up_.begin(), up_.end(), 0);
}

void RigidBlocks::add(std::int32_t node, std::int32_t block) {
  std::int32_t& first = first_[std::size_t(node)];
  if (first < 0)
    first = block;
  else if (first != block)
    shared_.emplace_back(node, block);
}

void RigidBlocks::hold(std::int32_t node, int component) {
  if (const std::int32_t block = first_[std::size_t(node)]; block >= 0)
    relate(block, ground(), node, component, false);
}

void RigidBlocks::settle() {
  relate_shared();
  merge_relations();
}

void RigidBlocks::relate_shared() {
  std::sort(shared_.begin(), shared_.end());
  shared_.erase(std::unique(shared_.begin(), shared_.end()), shared_.end());
  for (const auto& [node, block] : shared_)
    for (int c = 0; c < 3; ++c)
      relate(first_[std::size_t(node)], block, node, c, true);
}

bool RigidBlocks::are_held() {
  for (std::int32_t block = 0; block < count_ && count_ > 1; ++block)
    if (find(block) != find(ground()))
      return false;
  return true;
}

void RigidBlocks::add_work(std::int32_t node, const double (&force)[3], WorkOfBlock& work) const {
  const std::int32_t block = count_ < 2 ? -1 : first_[std::size_t(node)];
  if (block < 0)
    return;
  const std::array<double, 3> x = point_(node);
  Motion& own = work[block];
  for (int c = 0; c < 3; ++c) {
    const Motion r = at(x.data(), c);
    for (std::size_t i = 0; i < 6; ++i)
      own[i] += force[c] * r[i];
  }
}

std::optional<std::int32_t> RigidBlocks::find_moved(const WorkOfBlock& work_of_block) {
  WorkOfBlock work; // of groups of blocks that are rigid together
  for (const auto& [block, own] : work_of_block)
    for (std::size_t i = 0; i < 6; ++i)
      work[find(block)][i] += own[i];
  for (const std::vector<std::int32_t>& groups : loose_groups())
    if (const std::optional<std::int32_t> hinge = hinge_of(groups);
        hinge && 6 * groups.size() <= most_unknowns && does_work(groups, work))
      return hinge;
  return std::nullopt;
}

std::int32_t RigidBlocks::find(std::int32_t block) {
  while (up_[std::size_t(block)] != block)
    block = up_[std::size_t(block)] = up_[std::size_t(up_[std::size_t(block)])];
  return block;
}

void RigidBlocks::relate(std::int32_t a, std::int32_t b, std::int32_t node, int component,
                         bool is_shared) {
  Relation& own = relation_[std::minmax(a, b)];
  std::copy(frame_.centre, frame_.centre + 3, own.held.centre);
  own.held.size = frame_.size;
  own.held.add(point_(node).data(), component);
  if (own.node < 0 || (is_shared && !own.is_shared))
    own.node = node;
  own.is_shared = own.is_shared || is_shared;
}

/// Makes one of two whose relation holds all six motions, as often as there are such.
void RigidBlocks::merge_relations() {
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
std::vector<std::vector<std::int32_t>> RigidBlocks::loose_groups() {
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
bool RigidBlocks::does_work(const std::vector<std::int32_t>& groups,
                            const WorkOfBlock& work) const {
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
std::optional<std::int32_t> RigidBlocks::hinge_of(const std::vector<std::int32_t>& groups) const {
  for (const auto& [pair, own] : relation_)
    if (own.is_shared && (std::binary_search(groups.begin(), groups.end(), pair.first) ||
                          std::binary_search(groups.begin(), groups.end(), pair.second)))
      return own.node;
  return std::nullopt;
}

} // namespace ossatura
