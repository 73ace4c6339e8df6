// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/sparse/aggregation.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/sparse/index_set.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

template<class Visit>
void for_each_column(const HostGraph<>& graph, int row, const Visit& visit) {
  for (std::int64_t k = graph.row_begin[std::size_t(row)];
       k < graph.row_begin[std::size_t(row) + 1]; ++k)
    visit(graph.column[std::size_t(k)]);
}

/// The rows by aggregates.
HostGraph<> make_members(const Aggregates& aggregates) {
  HostGraph<> members;
  members.row_begin.assign(std::size_t(aggregates.count) + 1, 0);
  for (int a : aggregates.of)
    if (a >= 0)
      ++members.row_begin[std::size_t(a) + 1];
  for (std::size_t a = 0; a < std::size_t(aggregates.count); ++a)
    members.row_begin[a + 1] += members.row_begin[a];
  members.column.resize(std::size_t(members.row_begin.back()));
  std::vector<std::int64_t> next(members.row_begin.begin(), members.row_begin.end() - 1);
  for (std::size_t i = 0; i < aggregates.of.size(); ++i)
    if (aggregates.of[i] >= 0)
      members.column[std::size_t(next[std::size_t(aggregates.of[i])]++)] = int(i);
  return members;
}

/// Makes aggregates of whole neighbourhoods. A row is touched when it or a neighbour has an
/// aggregate; of the others, those with most touched neighbours come first: the corners between
/// aggregates.
class NeighbourhoodAggregation {
public:
  NeighbourhoodAggregation(const HostGraph<>& graph, const std::vector<std::uint8_t>& active,
                           Aggregates& aggregates)
      : graph_(graph)
      , active_(active)
      , aggregates_(aggregates)
      , touched_(active.size(), 0)
      , contact_(active.size(), 0) {}

  void run() {
    for (int start = 0; start < graph_.num_rows(); ++start) {
      if (touched_[std::size_t(start)] || !active_[std::size_t(start)])
        continue;
      gather(start);
      while (most_ > 0) {
        std::vector<int>& list = waiting_[most_];
        if (served_[most_] == list.size()) {
          list.clear();
          served_[most_--] = 0;
          continue;
        }
        const int next = list[served_[most_]++];
        if (!touched_[std::size_t(next)] && std::size_t(contact_[std::size_t(next)]) == most_)
          gather(next);
      }
    }
  }

private:
  /// Makes an aggregate of a row and its neighbours.
  void gather(int root) {
    const int name = aggregates_.count++;
    for_each_column(graph_, root, [&](int j) {
      if (active_[std::size_t(j)])
        aggregates_.of[std::size_t(j)] = name;
    });
    for_each_column(graph_, root, [&](int j) {
      if (active_[std::size_t(j)])
        for_each_column(graph_, j, [&](int i) { touch(i); });
    });
  }
  void touch(int j) {
    if (touched_[std::size_t(j)])
      return;
    touched_[std::size_t(j)] = 1;
    for_each_column(graph_, j, [&](int i) {
      if (touched_[std::size_t(i)] || !active_[std::size_t(i)])
        return;
      const std::size_t now = std::size_t(++contact_[std::size_t(i)]);
      if (now >= waiting_.size()) {
        waiting_.resize(now + 1);
        served_.resize(now + 1, 0);
      }
      waiting_[now].push_back(i);
      most_ = std::max(most_, now);
    });
  }

  const HostGraph<>& graph_;
  const std::vector<std::uint8_t>& active_;
  Aggregates& aggregates_;
  std::vector<std::uint8_t> touched_;
  std::vector<int> contact_;                 ///< touched neighbours
  std::vector<std::vector<int>> waiting_{1}; ///< rows by their contact; some have more by now
  std::vector<std::size_t> served_{0};       ///< of each list
  std::size_t most_ = 0;                     ///< longer contacts have no rows
};

/// Rows next to aggregates join the one that has most of their neighbours.
void join_rows_between(const HostGraph<>& graph, const std::vector<std::uint8_t>& active,
                       std::vector<int>& of) {
  std::vector<int> near, joined(of.size(), -1);
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (of[i] >= 0 || !active[i])
      continue;
    near.clear();
    for_each_column(graph, int(i), [&](int j) {
      if (of[std::size_t(j)] >= 0)
        near.push_back(of[std::size_t(j)]);
    });
    std::sort(near.begin(), near.end());
    std::size_t largest = 0;
    for (std::size_t k = 0, first = 0; k < near.size(); ++k) {
      first = near[k] == near[first] ? first : k;
      if (k - first + 1 > largest) {
        largest = k - first + 1;
        joined[i] = near[k];
      }
    }
  }
  for (std::size_t i = 0; i < of.size(); ++i)
    if (of[i] < 0)
      of[i] = joined[i];
}

/// Rows without an aggregate around them make their own, with their neighbours.
void gather_rows_left(const HostGraph<>& graph, const std::vector<std::uint8_t>& active,
                      Aggregates& aggregates) {
  std::vector<int>& of = aggregates.of;
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (of[i] >= 0 || !active[i])
      continue;
    const int name = aggregates.count++;
    of[i] = name;
    for_each_column(graph, int(i), [&](int j) {
      if (of[std::size_t(j)] < 0 && active[std::size_t(j)])
        of[std::size_t(j)] = name;
    });
  }
}

} // namespace

Aggregates make_aggregates(const HostGraph<>& graph, const std::vector<std::uint8_t>& active) {
  OSSATURA_REQUIRE(std::int64_t(active.size()) == graph.num_rows(),
                   active.size() << " marks for " << graph.num_rows() << " rows");
  Aggregates aggregates;
  aggregates.of.assign(active.size(), -1);
  NeighbourhoodAggregation(graph, active, aggregates).run();
  join_rows_between(graph, active, aggregates.of);
  gather_rows_left(graph, active, aggregates);
  return aggregates;
}

namespace {

/// The graph of `count` rows whose columns `collect(row, set)` adds to a set, by all threads.
template<class Collect>
HostGraph<> collect_rows(int count, const Collect& collect) {
  constexpr std::size_t rows_of_block = 4096;
  const std::size_t num_rows = std::size_t(count),
                    num_blocks = (num_rows + rows_of_block - 1) / rows_of_block;
  HostGraph<> graph;
  graph.row_begin.assign(num_rows + 1, 0);
  std::vector<std::vector<int>> columns(num_blocks);
  for_parts(num_blocks, 1, [&](std::size_t first, std::size_t end) {
    IndexSet set;
    for (std::size_t block = first; block < end; ++block)
      for (std::size_t row = rows_of_block * block;
           row < std::min(num_rows, rows_of_block * (block + 1)); ++row) {
        collect(int(row), set);
        std::sort(set.list().begin(), set.list().end());
        graph.row_begin[row + 1] = std::int64_t(set.list().size());
        columns[block].insert(columns[block].end(), set.list().begin(), set.list().end());
        set.clear();
      }
  });
  for (std::size_t row = 0; row < num_rows; ++row)
    graph.row_begin[row + 1] += graph.row_begin[row];
  graph.column.reserve(std::size_t(graph.row_begin.back()));
  for (std::vector<int>& block : columns) {
    graph.column.insert(graph.column.end(), block.begin(), block.end());
    block = {};
  }
  return graph;
}

/// The transpose of a graph, and of each of its entries the place in `graph`.
HostGraph<> transpose(const HostGraph<>& graph, int num_columns, std::vector<int>& entry) {
  HostGraph<> transposed;
  transposed.row_begin.assign(std::size_t(num_columns) + 1, 0);
  for (int column : graph.column)
    ++transposed.row_begin[std::size_t(column) + 1];
  for (std::size_t row = 0; row < std::size_t(num_columns); ++row)
    transposed.row_begin[row + 1] += transposed.row_begin[row];
  transposed.column.resize(graph.column.size());
  entry.resize(graph.column.size());
  std::vector<std::int64_t> next(transposed.row_begin.begin(), transposed.row_begin.end() - 1);
  for (int i = 0; i < graph.num_rows(); ++i)
    for (std::int64_t k = graph.row_begin[std::size_t(i)]; k < graph.row_begin[std::size_t(i) + 1];
         ++k) {
      const std::size_t to = std::size_t(next[std::size_t(graph.column[std::size_t(k)])]++);
      transposed.column[to] = i;
      entry[to] = int(k);
    }
  return transposed;
}

} // namespace

AggregationPattern make_aggregation_pattern(const HostGraph<>& graph,
                                            const Aggregates& aggregates) {
  const std::vector<int>& of = aggregates.of;
  AggregationPattern pattern;
  pattern.prolongator = collect_rows(graph.num_rows(), [&](int i, IndexSet& set) {
    if (of[std::size_t(i)] >= 0)
      for_each_column(graph, i, [&](int j) {
        if (of[std::size_t(j)] >= 0)
          set.add(of[std::size_t(j)]);
      });
  });
  pattern.restriction = transpose(pattern.prolongator, aggregates.count, pattern.entry);
  pattern.product = collect_rows(aggregates.count, [&](int a, IndexSet& set) {
    for_each_column(pattern.restriction, a, [&](int i) {
      for_each_column(graph, i, [&](int k) {
        if (of[std::size_t(k)] >= 0)
          set.add(k);
      });
    });
  });
  pattern.coarse = collect_rows(aggregates.count, [&](int a, IndexSet& set) {
    for_each_column(pattern.product, a, [&](int k) {
      for_each_column(pattern.prolongator, k, [&](int b) { set.add(b); });
    });
  });
  return pattern;
}

TentativeProlongator make_tentative_prolongator(const Aggregates& aggregates, int height,
                                                const std::vector<double>& modes) {
  const HostGraph<> members = make_members(aggregates);
  const std::size_t size = 6 * std::size_t(height);
  OSSATURA_REQUIRE(modes.size() == size * aggregates.of.size(), modes.size()
                                                                    << " entries of modes");
  TentativeProlongator tentative;
  tentative.value.assign(modes.size(), 0);
  tentative.coarse_modes.assign(36 * std::size_t(aggregates.count), 0);
  tentative.dropped.assign(std::size_t(aggregates.count), 0);
  for_parts(std::size_t(aggregates.count), 256, [&](std::size_t first, std::size_t last) {
    std::vector<double> q[6]; // columns
    for (std::size_t a = first; a < last; ++a) {
      const std::size_t begin = std::size_t(members.row_begin[a]),
                        end = std::size_t(members.row_begin[a + 1]);
      double* const r = &tentative.coarse_modes[36 * a];
      for (std::size_t k = 0; k < 6; ++k) {
        std::vector<double>& column = q[k];
        column.clear();
        double full = 0, left = 0;
        for (std::size_t m = begin; m < end; ++m)
          for (std::size_t c = 0; c < std::size_t(height); ++c) {
            column.push_back(modes[size * std::size_t(members.column[m]) + 6 * c + k]);
            full += column.back() * column.back();
          }
        for (int pass = 0; pass < 2; ++pass) // the second for what rounding left
          for (std::size_t j = 0; j < k; ++j) {
            double part = 0;
            for (std::size_t i = 0; i < column.size(); ++i)
              part += q[j][i] * column[i];
            for (std::size_t i = 0; i < column.size(); ++i)
              column[i] -= part * q[j][i];
            r[6 * j + k] += part;
          }
        for (double x : column)
          left += x * x;
        const bool dropped = !(left > 1e-16 * full);
        const double norm = dropped ? 0 : std::sqrt(left);
        r[6 * k + k] = norm;
        for (double& x : column)
          x = dropped ? 0 : x / norm;
        if (dropped)
          tentative.dropped[a] |= std::uint8_t(1u << k);
      }
      for (std::size_t m = begin; m < end; ++m)
        for (std::size_t c = 0; c < std::size_t(height); ++c)
          for (std::size_t k = 0; k < 6; ++k)
            tentative.value[size * std::size_t(members.column[m]) + 6 * c + k] =
                q[k][(m - begin) * std::size_t(height) + c];
    }
  });
  return tentative;
}

std::vector<double> rigid_modes(const std::vector<double>& point,
                                const std::vector<std::uint8_t>& held) {
  const std::size_t n = point.size() / 3;
  OSSATURA_REQUIRE(held.size() == n, held.size() << " marks for " << n << " points");
  double mean[3] = {0, 0, 0}, spread = 0;
  for (std::size_t i = 0; i < 3 * n; ++i)
    mean[i % 3] += point[i] / double(n);
  for (std::size_t i = 0; i < 3 * n; ++i)
    spread = std::max(spread, std::abs(point[i] - mean[i % 3]));
  const double scale = spread > 0 ? 1 / spread : 1;
  std::vector<double> modes(18 * n, 0);
  for_parts(n, 1 << 12, [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i)
      for (std::size_t c = 0; c < 3; ++c) {
        if (held[i] >> c & 1)
          continue;
        const std::size_t d = (c + 1) % 3, e = (c + 2) % 3;
        double* const row = &modes[18 * i + 6 * c];
        row[c] = 1;
        // Component c of axis x position: that about e turns d backwards into c, that about d turns
        // e.
        row[3 + e] = -scale * (point[3 * i + d] - mean[d]);
        row[3 + d] = scale * (point[3 * i + e] - mean[e]);
      }
  });
  return modes;
}

} // namespace ossatura
