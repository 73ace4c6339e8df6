// SPDX-License-Identifier: Apache-2.0
// Symmetric positive definite matrices of 3 x 3 blocks with the factor, for tests of what applies
// it: irregular graphs, forests and meshes.
#pragma once

#include <ossatura/kernels/factor/make_factor_pattern.hpp>
#include <ossatura/solvers/factor/nested_dissection.hpp>
#include <ossatura/solvers/factor/on_host.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

namespace ossatura::test {

/// Neighbours of each node, both ways, without itself.
using Graph = std::vector<std::set<int>>;

inline void join(Graph& graph, int i, int j) {
  if (i == j)
    return;
  graph[i].insert(j);
  graph[j].insert(i);
}

/// About `edges` edges between any of `nodes` nodes, half of them between near ones.
inline Graph random_graph(int nodes, int edges, unsigned seed) {
  std::mt19937 random(seed);
  Graph graph(nodes);
  for (int e = 0; e < edges; ++e) {
    const int i = int(random() % unsigned(nodes));
    join(graph, i, e % 2 ? int(random() % unsigned(nodes)) : std::min(i + 1 + e % 3, nodes - 1));
  }
  return graph;
}

/// Nodes of a box of hexahedra, joined where they share one.
inline Graph box_graph(int nx, int ny, int nz) {
  Graph graph(nx * ny * nz);
  for (int i = 0; i < nx * ny * nz; ++i)
    for (int d = 0; d < 27; ++d) {
      const int x = i % nx + d % 3 - 1, y = i / nx % ny + d / 3 % 3 - 1,
                z = i / (nx * ny) + d / 9 - 1;
      if (x >= 0 && x < nx && y >= 0 && y < ny && z >= 0 && z < nz)
        join(graph, i, x + nx * (y + ny * z));
    }
  return graph;
}

/// A, its pattern and its factor on the host.
struct SpdProblem {
  std::vector<int> row_begin, column;
  std::vector<double> value; ///< [num_blocks, 9]
  FactorPattern pattern;
  HostFactor factor;

  int num_rows() const { return 3 * (int(row_begin.size()) - 1); }

  std::vector<double> dense() const {
    const std::size_t n = std::size_t(num_rows());
    std::vector<double> a(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i)
      for (int k = row_begin[i / 3]; k < row_begin[i / 3 + 1]; ++k)
        for (std::size_t c = 0; c < 3; ++c)
          a[i * n + 3 * std::size_t(column[k]) + c] = value[9 * std::size_t(k) + 3 * (i % 3) + c];
    return a;
  }

  std::vector<double> multiply(const std::vector<double>& x) const {
    std::vector<double> y(x.size(), 0.0);
    for (std::size_t i = 0; i < y.size(); ++i)
      for (int k = row_begin[i / 3]; k < row_begin[i / 3 + 1]; ++k)
        for (std::size_t c = 0; c < 3; ++c)
          y[i] += value[9 * std::size_t(k) + 3 * (i % 3) + c] * x[3 * std::size_t(column[k]) + c];
    return y;
  }
};

/// Random blocks, the diagonal a little above what the others sum up to; eliminated in a random
/// order, or in that of `order`.
inline SpdProblem make_spd_problem(const Graph& graph, unsigned seed, std::vector<int> order = {}) {
  const int n = int(graph.size());
  std::mt19937 random(seed);
  if (order.empty()) {
    for (int i = 0; i < n; ++i)
      order.push_back(i);
    std::shuffle(order.begin(), order.end(), random);
  }
  std::vector<int> begin(1, 0), neighbour;
  for (const std::set<int>& row : graph) {
    neighbour.insert(neighbour.end(), row.begin(), row.end());
    begin.push_back(int(neighbour.size()));
  }
  SpdProblem problem;
  problem.pattern = make_factor_pattern(begin, neighbour, order);
  std::vector<int> position(n);
  for (int k = 0; k < n; ++k)
    position[order[k]] = k;

  problem.row_begin.push_back(0);
  for (int k = 0; k < n; ++k) {
    std::vector<int> row(1, k);
    for (const int j : graph[order[k]])
      row.push_back(position[j]);
    std::sort(row.begin(), row.end());
    problem.column.insert(problem.column.end(), row.begin(), row.end());
    problem.row_begin.push_back(int(problem.column.size()));
  }
  problem.value.assign(9 * problem.column.size(), 0.0);
  const auto block = [&](int i, int j) {
    const auto first = problem.column.begin() + problem.row_begin[i];
    const auto last = problem.column.begin() + problem.row_begin[i + 1];
    return problem.value.data() + 9 * (std::lower_bound(first, last, j) - problem.column.begin());
  };
  const auto number = [&] { return double(random()) / 2147483648.0 - 1; };
  for (int i = 0; i < n; ++i)
    for (int k = problem.row_begin[i]; k < problem.row_begin[i + 1]; ++k) {
      const int j = problem.column[k];
      for (int e = 0; j < i && e < 9; ++e) {
        const double x = number();
        block(i, j)[e] = x;
        block(j, i)[e % 3 * 3 + e / 3] = x;
        block(i, i)[e / 3 * 4] += std::abs(x);
        block(j, j)[e % 3 * 4] += std::abs(x);
      }
      for (int e = 0; j == i && e < 3; ++e) {
        const double x = number();
        const int r = e == 2, c = e == 0 ? 1 : 2;
        block(i, i)[3 * r + c] += x;
        block(i, i)[3 * c + r] += x;
        block(i, i)[4 * r] += std::abs(x) + 0.1;
        block(i, i)[4 * c] += std::abs(x) + 0.1;
      }
    }
  factor_on_host(problem.pattern, problem.row_begin, problem.column, problem.value.data(),
                 problem.factor);
  return problem;
}

/// Eliminated in the order of nested dissection.
inline SpdProblem dissected_problem(const Graph& graph, unsigned seed) {
  std::vector<int> begin(1, 0), neighbour;
  for (const std::set<int>& row : graph) {
    neighbour.insert(neighbour.end(), row.begin(), row.end());
    begin.push_back(int(neighbour.size()));
  }
  return make_spd_problem(graph, seed, nested_dissection(begin, neighbour));
}

/// The factor on the backend. Fences.
template<class Exec>
SupernodalFactor<Exec> upload_factor(const Exec& exec, const SpdProblem& problem) {
  return {upload_pattern(exec, problem.pattern), upload(exec, "test::panel", problem.factor.panel),
          upload(exec, "test::pivot", problem.factor.pivot)};
}

inline std::vector<double> random_vector(int n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> x(static_cast<std::size_t>(n));
  for (double& v : x)
    v = double(random()) / 2147483648.0 - 1;
  return x;
}

inline double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum += x[i] * y[i];
  return sum;
}

/// The largest difference, relative to the largest entry of y; NaN is a large one.
inline double relative_difference(const std::vector<double>& x, const std::vector<double>& y) {
  double worst = x.size() == y.size() ? 0 : 1e300, largest = 0;
  for (std::size_t i = 0; i < y.size() && worst < 1e300; ++i) {
    worst = std::abs(x[i] - y[i]) <= worst ? worst : std::abs(x[i] - y[i]);
    largest = std::max(largest, std::abs(y[i]));
  }
  return worst / largest;
}

} // namespace ossatura::test
