// SPDX-License-Identifier: Apache-2.0
// Smoothed aggregation: coarse matrices against dense products on the host, and what conjugate
// gradients ask of a preconditioner.
#include <ossatura/solvers/aggregation/multigrid.hpp>

#include "tests/backend_test.hpp"
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/kernels/algebra/plus_diagonal.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/hexa/block_matrix.hpp>
#include <ossatura/solvers/hexa/operators.hpp>

#include <numeric>

namespace {

using namespace ossatura;

/// A block of 5 x 4 x 3 hexahedra with moduli over six orders of magnitude, held at a face and at
/// one component of another node, with a spring.
template<class Exec>
struct Block {
  Exec exec;
  ElementMesh mesh = make_hexa_box({5, 4, 3}, {5, 3, 3});
  HexaArrays<Exec> arrays = make_hexa_arrays(exec, mesh);
  Constraints<Exec> held;
  Graph<Exec> graph = make_hexa_graph(exec, arrays);
  Array<double, Exec> assembled;
  std::unique_ptr<HexaOperator<Exec, double>> matrix;
  std::vector<std::uint8_t> mask;
  PlusDiagonal<Exec, double> product;

  Block() {
    mask.assign(mesh.num_points(), 0);
    std::vector<double> modulus, spring(mesh.point.size(), 0);
    for (std::size_t n = 0; n < mask.size(); ++n)
      mask[n] = mesh.point[3 * n] == 0 ? 7 : 0;
    mask.back() = 2;
    spring[spring.size() - 3] = 0.25;
    for (std::size_t e = 0; e < mesh.num_elem(); ++e)
      modulus.push_back(std::pow(10, -double(e * 5 % 7)));
    held = make_constraints(exec, upload(exec, "held", mask));
    const auto moduli = upload(exec, "modulus", modulus);
    const auto springs = upload(exec, "spring", spring);
    matrix =
        make_hexa_operator<double>(exec, HexaOperatorKind::recompute, mesh, arrays, unit_lame(0.3));
    matrix->set_modulus(exec, moduli);
    product = {matrix.get(), springs};
    assembled = make_zeros<double>(exec, 9 * graph.num_entries(), "assembled");
    assemble_hexa_blocks<double>(exec, arrays, unit_lame(0.3), moduli, graph, assembled);
    add_block_diagonal(exec, graph, springs, assembled);
  }
  AggregationMultigrid<Exec, double> make_multigrid(int max_coarse_dofs) {
    AggregationOptions options;
    options.max_coarse_dofs = max_coarse_dofs;
    const auto hierarchy = std::make_shared<AggregationHierarchy<Exec>>(
        make_aggregation_hierarchy(exec, graph, arrays.point, held, options));
    AggregationMultigrid<Exec, double> multigrid(exec, hierarchy, options);
    multigrid.prepare(exec, product, assembled);
    prolongator = hierarchy->levels[0].arrays.prolongator;
    return multigrid;
  }
  Graph<Exec> prolongator; ///< of the one made last
};

OSSATURA_BACKEND_TEST("the first coarse matrix is the triple product", "[aggregation]") {
  Block<TestType> block;
  const TestType exec = block.exec;
  AggregationMultigrid<TestType, double> multigrid = block.make_multigrid(600);
  const std::size_t n = block.mesh.point.size();
  const BlockRows<TestType, double>& coarse = multigrid.coarse_matrix(1);
  const std::size_t m = 6 * std::size_t(coarse.graph.num_rows);
  REQUIRE(m >= 12);

  std::vector<double> p(n * m, 0);
  const auto begin = download(exec, block.prolongator.row_begin);
  const auto column = download(exec, block.prolongator.column);
  const auto value = download(exec, multigrid.prolongator(0));
  for (std::size_t row = 0; row < n / 3; ++row)
    for (std::int64_t e = begin[row]; e < begin[row + 1]; ++e)
      for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t c = 0; c < 6; ++c)
          p[(3 * row + r) * m + 6 * std::size_t(column[std::size_t(e)]) + c] =
              value[18 * std::size_t(e) + 6 * r + c];

  const auto product = make_zeros<double>(exec, std::int64_t(n), "y");
  std::vector<double> expected(m * m, 0);
  double largest = 0;
  for (std::size_t j = 0; j < m; ++j) {
    std::vector<double> of(n);
    for (std::size_t i = 0; i < n; ++i) {
      of[i] = p[i * m + j];
      if (block.mask[i / 3] >> i % 3 & 1)
        REQUIRE(of[i] == 0);
    }
    block.product.apply(exec, upload(exec, "column", of), product);
    const std::vector<double> a_p = download(exec, product);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t k = 0; k < n; ++k)
        expected[i * m + j] += p[k * m + i] * a_p[k];
      largest = std::max(largest, std::abs(expected[i * m + j]));
    }
  }
  const auto dense = download(exec, dense_block_rows(exec, coarse.graph, coarse.value));
  REQUIRE(dense.size() == expected.size());
  double error = 0;
  for (std::size_t i = 0; i < dense.size(); ++i)
    error = std::max(error, std::abs(dense[i] - expected[i]));
  CHECK(largest > 0.1);
  CHECK(error < 1e-13 * largest);
}

OSSATURA_BACKEND_TEST("a cycle is symmetric and positive definite", "[aggregation]") {
  Block<TestType> block;
  const TestType exec = block.exec;
  const std::int64_t n = std::int64_t(block.mesh.point.size());
  for (const int max_coarse_dofs : {600, 6}) { // two levels, and three
    AggregationMultigrid<TestType, double> multigrid = block.make_multigrid(max_coarse_dofs);
    const auto make = [&](std::uint64_t seed) {
      const auto x = make_zeros<double>(exec, n, "x");
      fill_random(exec, seed, x);
      clear(exec, block.held, x);
      return x;
    };
    const auto apply = [&](const auto& x) {
      const auto z = make_zeros<double>(exec, n, "z");
      copy(exec, multigrid.apply(exec, x), z);
      return z;
    };
    const auto x = make(1), y = make(2);
    const auto m_x = apply(x), m_y = apply(y);
    CHECK(dot(exec, x, m_y) == Approx(dot(exec, y, m_x)).epsilon(1e-9));
    CHECK(dot(exec, x, m_x) > 0);
    CHECK(dot(exec, y, m_y) > 0);
    const std::vector<double> of = download(exec, m_x);
    for (std::size_t i = 0; i < of.size(); ++i)
      if (block.mask[i / 3] >> i % 3 & 1)
        REQUIRE(of[i] == 0);
    CHECK(download(exec, apply(x)) == of);
  }
}

} // namespace
