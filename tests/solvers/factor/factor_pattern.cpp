// SPDX-License-Identifier: Apache-2.0
// Order of elimination, panels of the factor and the factor on the host, against dense elimination
// by plain loops.
#include "tests/catch.hpp"
#include "tests/solvers/krylov/spd_problem.hpp"
#include <ossatura/core/machine/processors.hpp>
#include <ossatura/solvers/factor/nested_dissection.hpp>

#include <string>
#include <utility>

namespace {

using namespace ossatura;
using test::Graph;
using test::SpdProblem;

/// Row by row, as the library takes graphs.
struct Rows {
  std::vector<int> begin = {0}, column;

  explicit Rows(const Graph& graph) {
    for (const auto& row : graph) {
      column.insert(column.end(), row.begin(), row.end());
      begin.push_back(int(column.size()));
    }
  }
};

Graph path(int n) {
  Graph graph(n);
  for (int i = 1; i < n; ++i)
    test::join(graph, i - 1, i);
  return graph;
}

Graph star(int n) {
  Graph graph(n);
  for (int i = 1; i < n; ++i)
    test::join(graph, 0, i);
  return graph;
}

Graph complete(int n) {
  Graph graph(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j)
      test::join(graph, i, j);
  return graph;
}

/// A tree, a cycle and nodes without neighbours between them.
Graph forest() {
  Graph graph(40);
  for (int i = 1; i < 15; ++i)
    test::join(graph, i, i / 2);
  for (int i = 20; i < 32; ++i)
    test::join(graph, i, i == 31 ? 20 : i + 1);
  return graph;
}

std::vector<std::pair<std::string, Graph>> graphs() {
  return {{"path", path(60)},
          {"star", star(50)},
          {"square", test::box_graph(12, 11, 1)},
          {"box", test::box_graph(5, 6, 4)},
          {"forest", forest()},
          {"random", test::random_graph(90, 200, 1)},
          {"complete", complete(40)},
          {"one node", Graph(1)},
          {"no edges", Graph(7)}};
}

bool is_permutation(std::vector<int> order, int n) {
  std::sort(order.begin(), order.end());
  for (int i = 0; i < int(order.size()); ++i)
    if (order[i] != i)
      return false;
  return int(order.size()) == n;
}

/// Rows below the diagonal of each column of L: eliminating a node joins all its later neighbours.
std::vector<std::set<int>> fill(const Graph& graph, const std::vector<int>& order) {
  const int n = int(order.size());
  std::vector<int> position(n);
  for (int k = 0; k < n; ++k)
    position[order[k]] = k;
  std::vector<std::set<int>> below(n);
  for (int k = 0; k < n; ++k)
    for (const int j : graph[order[k]])
      if (position[j] > k)
        below[k].insert(position[j]);
  for (int k = 0; k < n; ++k)
    for (const int i : below[k])
      for (const int j : below[k])
        if (j > i)
          below[i].insert(j);
  return below;
}

std::vector<int> rows_below(const FactorPattern& pattern, int s) {
  return {pattern.row.begin() + pattern.row_begin[s],
          pattern.row.begin() + pattern.row_begin[s + 1]};
}

/// Entries of the pattern, one for each block of L.
std::int64_t num_blocks(const FactorPattern& pattern) {
  std::int64_t blocks = 0;
  for (int s = 0; s < pattern.num_panels(); ++s)
    blocks += pattern.width(s) * (pattern.width(s) + 1) / 2 +
              std::int64_t(pattern.width(s)) * pattern.num_below(s);
  return blocks;
}

/// What every pattern has to be, whatever it is for.
void check_tree(const FactorPattern& pattern, int num_nodes) {
  const int num_panels = pattern.num_panels();
  REQUIRE(pattern.num_nodes == num_nodes);
  REQUIRE(int(pattern.first.size()) == num_panels + 1);
  REQUIRE(pattern.first.front() == 0);
  REQUIRE(pattern.first.back() == num_nodes);
  std::vector<int> level(num_panels, 0), subtree(num_panels, 0);
  std::vector<std::int64_t> begin(1, 0);
  bool good = true;
  for (int s = 0; s < num_panels; ++s) {
    const std::vector<int> rows = rows_below(pattern, s);
    good = good && pattern.width(s) > 0 && pattern.width(s) <= max_panel_nodes;
    for (int i = pattern.first[s]; i < pattern.first[s + 1]; ++i)
      good = good && pattern.panel_of[i] == s;
    for (std::size_t k = 0; k < rows.size(); ++k)
      good = good && rows[k] >= (k == 0 ? pattern.first[s + 1] : rows[k - 1] + 1) &&
             rows[k] < num_nodes;
    begin.push_back(begin.back() + 9 * std::int64_t(pattern.height(s)) * pattern.width(s));
    // Children come before their parent, and end just before it or before each other.
    subtree[s] += pattern.width(s);
    good = good && pattern.subtree_first[s] == pattern.first[s + 1] - subtree[s];
    good = good && pattern.level[s] == level[s];
    const int parent = rows.empty() ? -1 : pattern.panel_of[rows[0]];
    good = good && pattern.parent[s] == parent;
    if (parent < 0)
      continue;
    REQUIRE(parent > s);
    level[parent] = std::max(level[parent], level[s] + 1);
    subtree[parent] += subtree[s];
    // Rows below a panel are among those of its parent.
    std::vector<int> above = rows_below(pattern, parent);
    for (int i = pattern.first[parent]; i < pattern.first[parent + 1]; ++i)
      above.push_back(i);
    std::sort(above.begin(), above.end());
    good = good && std::includes(above.begin(), above.end(), rows.begin(), rows.end());
  }
  CHECK(good);
  CHECK(pattern.begin == begin);
}

/// The largest entry of A - L D L^T, relative to that of A.
double factor_error(const SpdProblem& problem) {
  const FactorPattern& pattern = problem.pattern;
  const std::size_t n = std::size_t(problem.num_rows());
  std::vector<double> l(n * n, 0.0);
  for (int s = 0; s < pattern.num_panels(); ++s) {
    std::vector<int> rows = rows_below(pattern, s);
    for (int i = pattern.first[s + 1]; i-- > pattern.first[s];)
      rows.insert(rows.begin(), i);
    const double* const panel = problem.factor.panel.data() + pattern.begin[s];
    for (std::size_t k = 0; k < std::size_t(3 * pattern.width(s)); ++k)
      for (std::size_t i = 0; i < 3 * rows.size(); ++i)
        l[(3 * std::size_t(rows[i / 3]) + i % 3) * n + 3 * std::size_t(pattern.first[s]) + k] =
            panel[k * 3 * rows.size() + i];
  }
  const std::vector<double> a = problem.dense();
  double error = 0, largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (l[i * n + i] != 1)
      return 1e300;
    for (std::size_t j = 0; j < n; ++j) {
      if (j > i && l[i * n + j] != 0)
        return 1e300;
      double sum = 0;
      for (std::size_t k = 0; k <= std::min(i, j); ++k)
        sum += l[i * n + k] * problem.factor.pivot[k] * l[j * n + k];
      const double difference = std::abs(a[i * n + j] - sum);
      error = difference <= error ? error : difference; // NaN too
      largest = std::max(largest, std::abs(a[i * n + j]));
    }
  }
  return error / largest;
}

/// The diagonal of a node in the middle is negative.
SpdProblem indefinite_problem(unsigned seed) {
  SpdProblem problem = test::make_spd_problem(test::random_graph(60, 120, seed), seed);
  const int node = 30;
  for (int k = problem.row_begin[node]; k < problem.row_begin[node + 1]; ++k)
    for (int c = 0; c < 3; ++c)
      if (problem.column[k] == node)
        problem.value[9 * std::size_t(k) + 4 * std::size_t(c)] *= -1;
  factor_on_host(problem.pattern, problem.row_begin, problem.column, problem.value.data(),
                 problem.factor);
  return problem;
}

} // namespace

TEST_CASE("Nested dissection orders every graph", "[factor_pattern]") {
  for (const auto& [name, graph] : graphs()) {
    INFO(name);
    const Rows rows(graph);
    const std::vector<int> order = nested_dissection(rows.begin, rows.column);
    REQUIRE(is_permutation(order, int(graph.size())));
    CHECK(nested_dissection(rows.begin, rows.column) == order);
    std::size_t isolated = 0;
    while (isolated < order.size() && graph[order[isolated]].empty())
      ++isolated;
    for (std::size_t k = isolated; k < order.size(); ++k)
      CHECK(!graph[order[k]].empty()); // those without neighbours come first
  }
  CHECK(nested_dissection({0}, {}).empty());
}

TEST_CASE("Neighbours of themselves change no order", "[factor_pattern]") {
  const Graph graph = test::box_graph(6, 5, 2);
  Graph reflexive = graph;
  for (int i = 0; i < int(graph.size()); ++i)
    reflexive[i].insert(i);
  const Rows plain(graph), with_diagonal(reflexive);
  CHECK(nested_dissection(plain.begin, plain.column) ==
        nested_dissection(with_diagonal.begin, with_diagonal.column));
}

TEST_CASE("Nested dissection of a path leaves little fill and few levels", "[factor_pattern]") {
  const Rows rows(path(255));
  std::vector<int> order = nested_dissection(rows.begin, rows.column);
  std::size_t blocks = 255;
  for (const auto& below : fill(path(255), order))
    blocks += below.size();
  CHECK(blocks < 4 * 255);
  const FactorPattern pattern = make_factor_pattern(rows.begin, rows.column, order);
  CHECK(*std::max_element(pattern.level.begin(), pattern.level.end()) < 16);
}

TEST_CASE("Panels contain the fill of elimination", "[factor_pattern]") {
  for (const auto& [name, graph] : graphs())
    for (const bool dissected : {true, false}) {
      INFO(name << (dissected ? ", dissected" : ", as numbered"));
      const Rows rows(graph);
      std::vector<int> order(graph.size());
      for (int i = 0; i < int(order.size()); ++i)
        order[i] = i;
      if (dissected)
        order = nested_dissection(rows.begin, rows.column);
      std::size_t needed = graph.size();
      for (const auto& below : fill(graph, order))
        needed += below.size();
      const FactorPattern pattern = make_factor_pattern(rows.begin, rows.column, order);
      REQUIRE(is_permutation(order, int(graph.size())));
      check_tree(pattern, int(graph.size()));
      // The refined order is an equivalent one or one with merged panels' zeros.
      bool contained = true;
      const auto below = fill(graph, order);
      for (int k = 0; k < int(order.size()); ++k) {
        const int s = pattern.panel_of[k];
        const std::vector<int> stored = rows_below(pattern, s);
        for (const int i : below[k])
          contained = contained && (i < pattern.first[s + 1] ||
                                    std::binary_search(stored.begin(), stored.end(), i));
      }
      CHECK(contained);
      CHECK(num_blocks(pattern) <= std::int64_t(needed) * 10 / 7 + 1); // 0.3 of it zeros, at most
    }
  std::vector<int> order = {0, 1};
  CHECK_THROWS_AS(make_factor_pattern({0, 0}, {}, order), std::invalid_argument);
}

TEST_CASE("L D L^T of the host is the matrix", "[factor_pattern]") {
  for (const auto& [name, graph] : graphs()) {
    INFO(name);
    const SpdProblem problem = test::make_spd_problem(graph, 3);
    CHECK(factor_error(problem) < 1e-13);
    CHECK(problem.factor.num_replaced == 0);
    CHECK(*std::min_element(problem.factor.pivot.begin(), problem.factor.pivot.end()) > 0);
    HostFactor again = problem.factor; // memory of another factor
    std::fill(again.panel.begin(), again.panel.end(), 7.0);
    factor_on_host(problem.pattern, problem.row_begin, problem.column, problem.value.data(), again);
    CHECK(again.panel == problem.factor.panel);
    CHECK(again.pivot == problem.factor.pivot);
  }
}

TEST_CASE("All threads make the factor that one makes", "[factor_pattern]") {
  // Chains of several strips, alone and above many subtrees.
  const int before = io_threads();
  for (const Graph& graph : {complete(150), test::box_graph(40, 4, 4), forest()}) {
    const SpdProblem problem = test::dissected_problem(graph, 5);
    CHECK(factor_error(problem) < 1e-13);
    for (const int threads : {2, 5}) {
      set_io_threads(threads);
      HostFactor factor;
      factor_on_host(problem.pattern, problem.row_begin, problem.column, problem.value.data(),
                     factor, FactorThreads::all);
      CHECK(factor.panel == problem.factor.panel);
      CHECK(factor.pivot == problem.factor.pivot);
      CHECK(factor.num_replaced == 0);
    }
  }
  set_io_threads(before);
}

TEST_CASE("Pivots that are not positive are replaced and counted", "[factor_pattern]") {
  for (const unsigned seed : {1u, 2u}) {
    const SpdProblem problem = indefinite_problem(seed);
    CHECK(problem.factor.num_replaced == 3);
    CHECK(*std::min_element(problem.factor.pivot.begin(), problem.factor.pivot.end()) > 0);
    CHECK(factor_error(problem) > 1e-3);
  }
  SpdProblem singular = test::make_spd_problem(path(5), 4);
  std::fill(singular.value.begin(), singular.value.end(), 0.0);
  factor_on_host(singular.pattern, singular.row_begin, singular.column, singular.value.data(),
                 singular.factor);
  CHECK(singular.factor.num_replaced == 15);
  CHECK(singular.factor.pivot == std::vector<double>(15, 1.0));
}

TEST_CASE("Pivots that are rounding errors are replaced", "[factor_pattern]") {
  // Springs from a centre to nodes that nothing else holds: what is left of the last pivots is what
  // the sum of all weights was rounded by.
  const int leaves = 39;
  std::vector<int> order;
  for (int i = 1; i <= leaves; ++i)
    order.push_back(i);
  order.push_back(0);
  for (const int seed : {1, 2, 3, 4, 5}) {
    SpdProblem problem = test::make_spd_problem(star(leaves + 1), 1, order);
    REQUIRE(problem.row_begin[leaves + 1] - problem.row_begin[leaves] == leaves + 1);
    double sum = 0;
    std::fill(problem.value.begin(), problem.value.end(), 0.0);
    for (int i = 0; i <= leaves; ++i)
      for (int k = problem.row_begin[i]; k < problem.row_begin[i + 1]; ++k) {
        const double weight = 1 / (1.1 + std::sin(double(seed + std::min(i, problem.column[k]))));
        for (std::size_t c = 0; c < 3; ++c)
          problem.value[9 * std::size_t(k) + 4 * c] = problem.column[k] != i ? -weight
                                                      : i < leaves           ? weight
                                                                             : sum;
        sum += i < leaves && problem.column[k] == i ? weight : 0;
      }
    factor_on_host(problem.pattern, problem.row_begin, problem.column, problem.value.data(),
                   problem.factor);
    CHECK(problem.factor.num_replaced == 3);
    CHECK(problem.factor.pivot.back() == sum);
  }
}

TEST_CASE("What is not a number is noticed, and not read below the diagonal", "[factor_pattern]") {
  SpdProblem problem = test::make_spd_problem(test::random_graph(30, 60, 5), 5);
  const HostFactor before = problem.factor;
  std::vector<double> upper = problem.value;
  int first_off_diagonal = -1;
  for (int i = 0; i < int(problem.row_begin.size()) - 1; ++i)
    for (int k = problem.row_begin[i]; k < problem.row_begin[i + 1]; ++k) {
      if (problem.column[k] < i)
        std::fill_n(upper.begin() + 9 * k, 9, std::nan(""));
      if (problem.column[k] > i && first_off_diagonal < 0)
        first_off_diagonal = k;
    }
  factor_on_host(problem.pattern, problem.row_begin, problem.column, upper.data(), problem.factor);
  CHECK(problem.factor.panel == before.panel);
  REQUIRE(first_off_diagonal >= 0);
  for (const int k : {0, first_off_diagonal}) { // a block on the diagonal, one above it
    std::vector<double> value = problem.value;
    value[9 * std::size_t(k)] = std::nan("");
    factor_on_host(problem.pattern, problem.row_begin, problem.column, value.data(),
                   problem.factor);
    CHECK(problem.factor.num_replaced > 0);
  }
  factor_on_host(problem.pattern, problem.row_begin, problem.column, problem.value.data(),
                 problem.factor);
  CHECK(problem.factor.panel == before.panel); // nothing of it is left
  CHECK(problem.factor.num_replaced == 0);
}
