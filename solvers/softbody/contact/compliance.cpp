// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/softbody/contact/compliance.hpp>

#include <ossatura/solvers/factor/host_factor_products.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

template<class Exec>
NodeCompliance<Exec>::NodeCompliance(const FactorPattern& pattern)
    : pattern_(pattern)
    , panel_(std::size_t(pattern.begin.back()))
    , taken_(std::size_t(pattern.num_panels()), 0)
    , column_(std::size_t(pattern.num_nodes), -1) {
  std::int64_t begin = 0;
  for (int s = 0; s < pattern.num_panels(); ++s) {
    diagonal_begin_.push_back(begin);
    begin += 9 * std::int64_t(pattern.width(s)) * pattern.width(s);
  }
  inverse_.resize(std::size_t(begin));
}

template<class Exec>
void NodeCompliance<Exec>::use(const SupernodalFactor<Exec>& factor,
                               const DiagonalInverse<Exec>& diagonal) {
  factor_ = factor;
  diagonal_ = diagonal;
  std::fill(taken_.begin(), taken_.end(), char(0));
  std::fill(column_.begin(), column_.end(), -1);
  groups_.clear();
  tiles_.clear();
}

template<class Exec>
std::int64_t NodeCompliance<Exec>::num_entries() const {
  std::int64_t entries =
      std::int64_t(groups_.size()) * std::int64_t(groups_.size()) * width * width;
  for (const Group& group : groups_)
    entries += std::int64_t(group.s.size());
  return entries;
}

template<class Exec>
void NodeCompliance<Exec>::take_panel(int s) {
  if (taken_[s])
    return;
  taken_[s] = 1;
  for (std::int64_t i = pattern_.begin[s]; i < pattern_.begin[s + 1]; ++i)
    panel_[std::size_t(i)] = float(factor_.panel(i));
  const int n = 3 * pattern_.width(s);
  for (std::int64_t i = diagonal_begin_[s]; i < diagonal_begin_[s] + n * n; ++i)
    inverse_[std::size_t(i)] = float(diagonal_.value(i));
}

template<class Exec>
void NodeCompliance<Exec>::make_group(const int* nodes, int count) {
  Group group;
  group.node.assign(nodes, nodes + count);
  std::vector<char> on_path(taken_.size(), 0);
  for (int j = 0; j < count; ++j) {
    column_[nodes[j]] = width * int(groups_.size()) + 3 * j;
    for (int s = pattern_.panel_of[nodes[j]]; s >= 0 && !on_path[s]; s = pattern_.parent[s])
      on_path[s] = 1;
  }
  group.row.push_back(0);
  for (int s = 0; s < pattern_.num_panels(); ++s)
    if (on_path[s]) {
      group.panel.push_back(s);
      group.row.push_back(group.row.back() + 3 * pattern_.width(s));
      take_panel(s);
    }
  groups_.push_back(std::move(group));
}

template<class Exec>
void NodeCompliance<Exec>::substitute(int number) {
  Group& group = groups_[number];
  group.s.assign(std::size_t(group.row.back()) * width, 0.0f);
  std::vector<int> row_of(taken_.size(), -1); // of panels
  for (std::size_t k = 0; k < group.panel.size(); ++k)
    row_of[group.panel[k]] = group.row[k];
  const auto place = [&](int node) { // of its first row
    const int s = pattern_.panel_of[node];
    return group.s.data() + std::ptrdiff_t(width) * (row_of[s] + 3 * (node - pattern_.first[s]));
  };
  for (std::size_t j = 0; j < group.node.size(); ++j)
    for (std::size_t d = 0; d < 3; ++d)
      place(group.node[j])[width * d + 3 * j + d] = 1;
  constexpr int most_rows = 3 * max_panel_nodes;
  std::vector<float> part(std::size_t(most_rows) * width);
  for (std::size_t k = 0; k < group.panel.size(); ++k) {
    const int s = group.panel[k], n = 3 * pattern_.width(s), height = 3 * pattern_.height(s);
    float* const own = group.s.data() + std::ptrdiff_t(width) * group.row[k];
    transposed_product(n, width, n, inverse_.data() + diagonal_begin_[s], n, own, width,
                       part.data(), width);
    std::copy_n(part.data(), n * width, own);
    const float* const below = panel_.data() + pattern_.begin[s] + n;
    const int* const rows = pattern_.row.data() + pattern_.row_begin[s];
    for (int first = 0; first < pattern_.num_below(s); first += max_panel_nodes) {
      const int count = std::min(max_panel_nodes, pattern_.num_below(s) - first);
      transposed_product(3 * count, width, n, below + 3 * first, height, own, width, part.data(),
                         width);
      for (int i = 0; i < count; ++i)
        subtract_scaled(3 * width, 1.0f, part.data() + 3 * width * i, place(rows[first + i]));
    }
    for (int i = 0; i < n; ++i) {
      const float root = float(1 / std::sqrt(factor_.pivot(3 * pattern_.first[s] + i)));
      for (int c = 0; c < width; ++c)
        own[i * width + c] *= root;
    }
  }
}

template<class Exec>
void NodeCompliance<Exec>::multiply(int i, int j) {
  const Group &a = groups_[i], &b = groups_[j];
  std::vector<double>& tile = tiles_[i][j];
  tile.assign(std::size_t(width) * width, 0.0);
  float part[width * width];
  for (std::size_t k = 0, l = 0; k < a.panel.size() && l < b.panel.size();) {
    if (a.panel[k] != b.panel[l]) {
      ++(a.panel[k] < b.panel[l] ? k : l);
      continue;
    }
    transposed_product(width, width, a.row[k + 1] - a.row[k], a.s.data() + width * a.row[k], width,
                       b.s.data() + width * b.row[l], width, part, width);
    for (int entry = 0; entry < width * width; ++entry)
      tile[std::size_t(entry)] += double(part[entry]);
    ++k;
    ++l;
  }
  if (i == j)
    return;
  std::vector<double>& mirror = tiles_[j][i];
  mirror.resize(std::size_t(width) * width);
  for (int r = 0; r < width; ++r)
    for (int c = 0; c < width; ++c)
      mirror[std::size_t(c * width + r)] = tile[std::size_t(r * width + c)];
}

namespace {

template<class Exec>
struct SubstituteGroups {
  NodeCompliance<Exec>* nodes;
  void operator()(int group) const { nodes->substitute(group); }
};

/// Products of groups from `first` on with themselves and those before them.
template<class Exec>
struct MultiplyGroups {
  NodeCompliance<Exec>* nodes;
  void operator()(int number) const {
    int i = 0, before = 0; // rows of the lower triangle have 1, 2, 3, ... tiles
    while (before + i + 1 <= number)
      before += ++i;
    nodes->multiply(i, number - before);
  }
};

/// The effect of one node of a pair on its rows: forces along the frame in the factor's axes.
struct PairNode {
  int column;
  double direction[3][3]; ///< of force c, component d
};

template<class Exec>
struct FillCompliance {
  static constexpr int width = NodeCompliance<Exec>::width;
  const NodeCompliance<Exec>* nodes;
  const std::vector<PairNode>* list;
  const std::vector<int>* begin; ///< [num_pairs + 1], of `list`
  Array<double, Exec> value;
  std::int64_t stride;
  double scale;

  /// Blocks (p, q) and (q, p) for q <= p.
  void operator()(int p) const {
    const int columns = width * nodes->num_groups();
    std::vector<double> give(3 * std::size_t(columns), 0.0); // of all nodes under the pair's forces
    for (int k = (*begin)[p]; k < (*begin)[p + 1]; ++k) {
      const PairNode& from = (*list)[k];
      for (int g = 0; g < nodes->num_groups(); ++g) {
        const double* const tile = nodes->tile(from.column / width, g);
        for (int c = 0; c < 3; ++c)
          for (int d = 0; d < 3; ++d)
            subtract_scaled(width, -scale * from.direction[c][d],
                            tile + (from.column % width + d) * width,
                            give.data() + c * columns + g * width);
      }
    }
    for (int q = 0; q <= p; ++q) {
      double block[3][3] = {};
      for (int k = (*begin)[q]; k < (*begin)[q + 1]; ++k) {
        const PairNode& to = (*list)[k];
        for (int c = 0; c < 3; ++c)
          for (int e = 0; e < 3; ++e)
            for (int d = 0; d < 3; ++d)
              block[c][e] += give[std::size_t(c * columns + to.column + d)] * to.direction[e][d];
      }
      for (int c = 0; c < 3; ++c)
        for (int e = 0; e < 3; ++e) {
          const double entry = q == p && e < c ? block[e][c] : block[c][e];
          value((3 * std::int64_t(p) + c) * stride + 3 * q + e) = entry;
          value((3 * std::int64_t(q) + e) * stride + 3 * p + c) = entry;
        }
    }
  }
};

template<class Exec>
Kokkos::RangePolicy<Exec, Kokkos::IndexType<int>, Kokkos::Schedule<Kokkos::Dynamic>>
tasks(const Exec& exec, int first, int last) {
  Kokkos::RangePolicy<Exec, Kokkos::IndexType<int>, Kokkos::Schedule<Kokkos::Dynamic>> policy(
      exec, first, last);
  policy.set_chunk_size(1);
  return policy;
}

bool can_move(const ContactPair& pair, int k) {
  return (pair.free >> k & 1) != 0;
}

} // namespace

template<class Exec>
void NodeCompliance<Exec>::add_nodes(const Exec& exec, const ContactPairs<Exec>& pairs) {
  std::vector<int> added;
  for (int p = 0; p < pairs.num_pairs; ++p)
    for (int k = 0; k < 4; ++k)
      if (can_move(pairs.pair(p), k) && column_[pairs.pair(p).node[k]] < 0)
        added.push_back(pairs.pair(p).node[k]);
  std::sort(added.begin(), added.end());
  added.erase(std::unique(added.begin(), added.end()), added.end());
  if (added.empty())
    return;
  const int before = num_groups();
  for (std::size_t first = 0; first < added.size(); first += group)
    make_group(added.data() + first, int(std::min(std::size_t(group), added.size() - first)));
  const int now = num_groups();
  tiles_.resize(groups_.size());
  for (auto& row : tiles_)
    row.resize(groups_.size());
  Kokkos::parallel_for("ossatura::node_compliance::substitute", tasks(exec, before, now),
                       SubstituteGroups<Exec>{this});
  Kokkos::parallel_for("ossatura::node_compliance::multiply",
                       tasks(exec, before * (before + 1) / 2, now * (now + 1) / 2),
                       MultiplyGroups<Exec>{this});
  fence(exec, "ossatura::node_compliance::add_nodes");
}

template<class Exec>
void make_compliance(const Exec& exec, const ContactPairs<Exec>& pairs, NodeCompliance<Exec>& nodes,
                     const Array<double, Exec>& rotation, double scale, ComplianceSpace<Exec>&,
                     Compliance<Exec>& compliance) {
  compliance.num_pairs = pairs.num_pairs;
  compliance.stride = 3 * detail::round_up(pairs.num_pairs, detail::compliance_pairs);
  const std::int64_t stride = compliance.stride;
  OSSATURA_REQUIRE(stride * pairs.num_pairs < std::int64_t(1) << 31,
                   pairs.num_pairs << " contacts at once: make the contact distance smaller");
  fence(exec, "ossatura::make_compliance"); // pairs and rotations are read here
  nodes.add_nodes(exec, pairs);
  std::vector<PairNode> list;
  std::vector<int> begin{0};
  for (int p = 0; p < pairs.num_pairs; ++p) {
    const ContactPair& pair = pairs.pair(p);
    for (int k = 0; k < 4; ++k) {
      if (!can_move(pair, k))
        continue;
      PairNode node{nodes.column(pair.node[k]), {}};
      for (int c = 0; c < 3; ++c)
        for (int d = 0; d < 3; ++d) {
          double along = pair.frame[3 * c + d];
          if (rotation.extent(0) > 0) {
            along = 0;
            for (int e = 0; e < 3; ++e)
              along += rotation(9 * std::int64_t(pair.node[k]) + 3 * e + d) * pair.frame[3 * c + e];
          }
          node.direction[c][d] = pair.weight[k] * along;
        }
      list.push_back(node);
    }
    begin.push_back(int(list.size()));
  }
  detail::make_room(exec, 3 * pairs.num_pairs * stride, compliance.value, "ossatura::compliance");
  Kokkos::parallel_for(
      "ossatura::make_compliance::fill", tasks(exec, 0, pairs.num_pairs),
      FillCompliance<Exec>{&nodes, &list, &begin, compliance.value, stride, scale});
  fence(exec, "ossatura::make_compliance::fill"); // the lists go
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template class NodeCompliance<Exec>;                                                             \
  template void make_compliance(const Exec&, const ContactPairs<Exec>&, NodeCompliance<Exec>&,     \
                                const Array<double, Exec>&, double, ComplianceSpace<Exec>&,        \
                                Compliance<Exec>&);
OSSATURA_FOR_SERIAL(OSSATURA_INSTANTIATE)
OSSATURA_FOR_OPENMP(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
