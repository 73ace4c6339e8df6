// SPDX-License-Identifier: Apache-2.0
// Subtree tasks divide the elimination tree into subtrees that need nothing of each other, and the
// panels that remain above them: for few threads, where barriers between levels cost more than an
// uneven share of the work.
#pragma once

#include <ossatura/kernels/factor/pattern.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace ossatura {

/// Task t has the panels first[t] .. last[t], whole subtrees next to each other. What its panels
/// contribute to nodes outside of it is collected in a buffer of its own, behind the vector:
/// `target` is where row k of the pattern goes, a node or num_nodes + its place in the buffers.
struct SubtreeTasks {
  std::vector<int> first, last;  ///< [num_tasks] panels; the largest tasks come first
  std::vector<int> top;          ///< panels of no task, ascending
  std::vector<int> target;       ///< [rows of the pattern]
  std::vector<int> buffer_begin; ///< [num_tasks + 1] places
  std::vector<int> buffered;     ///< node of each place

  int num_tasks() const { return int(first.size()); }
};

/// Tasks of at most `largest` entries of L each, or none where that would be all of L or more. The
/// same on every machine.
inline SubtreeTasks make_subtree_tasks(const FactorPattern& pattern, std::int64_t largest) {
  const int n = pattern.num_panels();
  SubtreeTasks tasks;
  tasks.target = pattern.row;
  tasks.buffer_begin.push_back(0);
  std::vector<std::int64_t> work(n); // of the subtree
  for (int s = 0; s < n; ++s)
    work[s] = pattern.begin[s + 1] - pattern.begin[s];
  for (int s = 0; s < n; ++s)
    if (pattern.parent[s] >= 0)
      work[pattern.parent[s]] += work[s];

  struct Task {
    int first, last;
    std::int64_t work;
  };
  std::vector<Task> found;
  bool open = false; // whether the last task may grow
  for (int s = 0; s < n; ++s) {
    const int above = pattern.parent[s];
    if (work[s] > largest || largest >= pattern.begin.back()) {
      tasks.top.push_back(s);
      open = false;
    } else if (above < 0 || work[above] > largest) { // the root of a subtree for a task
      const int first = pattern.panel_of[pattern.subtree_first[s]];
      if (open && found.back().work + work[s] <= largest) {
        found.back().last = s + 1;
        found.back().work += work[s];
      } else {
        found.push_back({first, s + 1, work[s]});
      }
      open = true;
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Task& a, const Task& b) { return a.work > b.work; });

  std::vector<int> place(std::size_t(pattern.num_nodes), -1);
  for (const Task& task : found) {
    tasks.first.push_back(task.first);
    tasks.last.push_back(task.last);
    const int end = pattern.first[task.last], buffer = int(tasks.buffered.size());
    for (int k = pattern.row_begin[task.first]; k < pattern.row_begin[task.last]; ++k) {
      const int node = pattern.row[k];
      if (node < end)
        continue;
      if (place[node] < buffer) {
        place[node] = int(tasks.buffered.size());
        tasks.buffered.push_back(node);
      }
      tasks.target[k] = pattern.num_nodes + place[node];
    }
    tasks.buffer_begin.push_back(int(tasks.buffered.size()));
  }
  return tasks;
}

} // namespace ossatura
