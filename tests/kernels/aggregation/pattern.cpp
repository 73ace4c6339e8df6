// SPDX-License-Identifier: Apache-2.0
// Patterns of aggregation beside products of dense matrices of true and false.
#include "tests/backend_test.hpp"
#include "tests/kernels/image/host_values.hpp"
#include <ossatura/kernels/aggregation/pattern.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <random>
#include <stdexcept>

namespace {

using namespace ossatura;
using ossatura::test::host_values;

struct Dense {
  std::size_t rows, columns;
  std::vector<char> has = std::vector<char>(rows * columns, 0);

  char& at(std::size_t i, std::size_t j) { return has[i * columns + j]; }
  char at(std::size_t i, std::size_t j) const { return has[i * columns + j]; }
};

Dense operator*(const Dense& a, const Dense& b) {
  Dense c{a.rows, b.columns};
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t k = 0; k < a.columns; ++k)
      for (std::size_t j = 0; j < b.columns && a.at(i, k); ++j)
        c.at(i, j) |= b.at(k, j);
  return c;
}

Dense transposed(const Dense& a) {
  Dense t{a.columns, a.rows};
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < a.columns; ++j)
      t.at(j, i) = a.at(i, j);
  return t;
}

/// A symmetric one with its diagonal.
Dense random_matrix(std::size_t n, unsigned one_of) {
  std::mt19937 random(7);
  Dense a{n, n};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      a.at(i, j) = a.at(j, i) = i == j || random() % one_of == 0;
  return a;
}

/// Checks that columns ascend.
template<class Exec>
Dense dense(const Graph<Exec>& graph, std::size_t num_columns) {
  const std::vector<std::int64_t> begin = host_values(graph.row_begin);
  const std::vector<int> column = host_values(graph.column);
  Dense a{std::size_t(graph.num_rows), num_columns};
  REQUIRE(begin.front() == 0);
  REQUIRE(begin.back() == std::int64_t(column.size()));
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = begin[i]; k < begin[i + 1]; ++k) {
      const int j = column[std::size_t(k)];
      REQUIRE(j >= 0);
      REQUIRE(std::size_t(j) < num_columns);
      REQUIRE((k == begin[i] || j > column[std::size_t(k) - 1]));
      a.at(i, std::size_t(j)) = 1;
    }
  return a;
}

template<class Exec>
Graph<Exec> upload_graph(const Exec& exec, const Dense& a) {
  std::vector<std::int64_t> begin{0};
  std::vector<int> column;
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < a.columns; ++j)
      if (a.at(i, j))
        column.push_back(int(j));
    begin.push_back(std::int64_t(column.size()));
  }
  return {int(a.rows), upload(exec, "test::begin", begin), upload(exec, "test::column", column)};
}

template<class Exec>
void check_patterns(std::size_t n, unsigned one_of, std::size_t count) {
  const Exec exec;
  const Dense a = random_matrix(n, one_of);
  std::mt19937 random(11);
  std::vector<int> aggregate(n);
  Dense tentative{n, count};
  std::vector<char> active(n);
  for (std::size_t i = 0; i < n; ++i) {
    active[i] = i < count || random() % 9 != 0;
    aggregate[i] = i < count ? int(i) : active[i] ? int(random() % count) : -1;
    if (active[i])
      tentative.at(i, std::size_t(aggregate[i])) = 1;
  }
  const auto keep_active = [&](Dense m) {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < m.columns && !active[i]; ++j)
        m.at(i, j) = 0;
    return m;
  };
  const Dense p = keep_active(a * tentative), w = keep_active(a * p);

  AggregationArrays<Exec> level;
  level.matrix = upload_graph(exec, a);
  level.aggregate = upload(exec, "test::aggregate", aggregate);
  make_aggregation_patterns(exec, int(count), level);
  CHECK(dense(level.prolongator, count).has == p.has);
  CHECK(dense(level.restriction, n).has == transposed(p).has);
  CHECK(dense(level.product, n).has == transposed(w).has);
  CHECK(dense(level.coarse, count).has == (transposed(w) * p).has);
  const std::vector<std::int64_t> begin = host_values(level.restriction.row_begin),
                                  p_begin = host_values(level.prolongator.row_begin);
  const std::vector<int> row = host_values(level.restriction.column),
                         entry = host_values(level.entry),
                         column = host_values(level.prolongator.column);
  REQUIRE(entry.size() == row.size());
  for (std::size_t j = 0; j < count; ++j)
    for (std::size_t k = std::size_t(begin[j]); k < std::size_t(begin[j + 1]); ++k) {
      REQUIRE(column[std::size_t(entry[k])] == int(j));
      REQUIRE(entry[k] >= p_begin[std::size_t(row[k])]);
      REQUIRE(entry[k] < p_begin[std::size_t(row[k]) + 1]);
    }
}

OSSATURA_BACKEND_TEST("Patterns of aggregation have what the products reach", "[aggregation]") {
  check_patterns<TestType>(400, 40, 30);
  check_patterns<TestType>(5, 2, 1);
}

OSSATURA_BACKEND_TEST("Rows longer than usual have all their columns", "[aggregation]") {
  check_patterns<TestType>(500, 4, 200); // 125 columns a row, 190 of P and of the coarse matrix
}

OSSATURA_BACKEND_TEST("Aggregates for another number of rows are refused", "[aggregation]") {
  const TestType exec;
  AggregationArrays<TestType> level;
  level.matrix = upload_graph(exec, random_matrix(9, 3));
  level.aggregate = upload(exec, "test::aggregate", std::vector<int>(8, 0));
  CHECK_THROWS_AS(make_aggregation_patterns(exec, 1, level), std::invalid_argument);
}

} // namespace
