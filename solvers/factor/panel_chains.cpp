// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/factor/panel_chains.hpp>

#include <algorithm>
#include <queue>
#include <utility>

namespace ossatura {

namespace {

/// Whether panel s + 1 goes on with panel s, with the same rows below both.
bool is_continued(const FactorPattern& pattern, int s) {
  return s + 1 < pattern.num_panels() && pattern.parent[std::size_t(s)] == s + 1 &&
         pattern.num_below(s) == pattern.height(s + 1);
}

} // namespace

PanelChains::PanelChains(const FactorPattern& pattern)
    : pattern_(pattern) {
  std::vector<int> chain_of(std::size_t(pattern.num_panels()));
  flops_.push_back(0);
  for (int s = 0; s < pattern.num_panels(); ++s) {
    if (s == 0 || !is_continued(pattern, s - 1)) {
      first_.push_back(s);
      flops_.push_back(flops_.back());
    }
    chain_of[std::size_t(s)] = int(first_.size()) - 1;
    const double width = 3.0 * pattern.width(s), height = 3.0 * pattern.height(s);
    flops_.back() += width * height * height;
  }
  first_.push_back(pattern.num_panels());

  parent_.assign(std::size_t(count()), -1);
  subtree_first_.resize(std::size_t(count()));
  for (int c = 0; c < count(); ++c)
    subtree_first_[std::size_t(c)] = c;
  const auto for_each_target = [&](int source, auto&& visit) {
    const int* const rows = below(source);
    for (int i = 0, last = -1; i < num_below(source); ++i) {
      const int target = chain_of[std::size_t(pattern.panel_of[std::size_t(rows[i])])];
      if (target != last)
        visit(target, i);
      last = target;
    }
  };
  update_begin_.assign(std::size_t(count()) + 1, 0);
  for (int source = 0; source < count(); ++source)
    for_each_target(source, [&](int target, int) { ++update_begin_[std::size_t(target) + 1]; });
  for (std::size_t c = 1; c < update_begin_.size(); ++c)
    update_begin_[c] += update_begin_[c - 1];
  update_.resize(std::size_t(update_begin_.back()));
  std::vector<std::int64_t> next(update_begin_.begin(), update_begin_.end() - 1);
  for (int source = 0; source < count(); ++source)
    for_each_target(source, [&](int target, int begin) {
      update_[std::size_t(next[std::size_t(target)]++)] = {source, begin};
      if (begin > 0)
        return;
      parent_[std::size_t(source)] = target;
      int& first = subtree_first_[std::size_t(target)];
      first = std::min(first, subtree_first_[std::size_t(source)]);
    });
}

PanelChains::Parts PanelChains::parts(int threads) const {
  // To start a thread takes as long as some hundred thousand of them.
  constexpr double least_flops = 5e6;
  threads = int(std::min<double>(threads, flops_.back() / least_flops));
  Parts parts;
  if (threads <= 1) {
    parts.subtree.emplace_back(0, count());
    return parts;
  }
  std::vector<int> first_child(std::size_t(count()), -1), next_sibling = first_child;
  const auto flops = [&](int root) {
    return flops_[std::size_t(root) + 1] - flops_[std::size_t(subtree_first_[std::size_t(root)])];
  };
  const auto is_smaller = [&](int a, int b) {
    return std::pair(flops(a), a) < std::pair(flops(b), b);
  };
  std::priority_queue<int, std::vector<int>, decltype(is_smaller)> roots(is_smaller);
  for (int c = 0; c < count(); ++c) {
    const int parent = parent_[std::size_t(c)];
    if (parent < 0)
      roots.push(c);
    else
      next_sibling[std::size_t(c)] = std::exchange(first_child[std::size_t(parent)], c);
  }
  // Side by side they end as the largest does: an eighth of what each thread has to do.
  const double most = flops_.back() / (8.0 * threads);
  while (!roots.empty() && flops(roots.top()) > most) {
    const int root = roots.top();
    roots.pop();
    parts.top.push_back(root);
    for (int child = first_child[std::size_t(root)]; child >= 0;
         child = next_sibling[std::size_t(child)])
      roots.push(child);
  }
  for (; !roots.empty(); roots.pop())
    parts.subtree.emplace_back(subtree_first_[std::size_t(roots.top())], roots.top() + 1);
  std::sort(parts.top.begin(), parts.top.end());
  return parts;
}

} // namespace ossatura
