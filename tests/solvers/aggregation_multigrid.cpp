// SPDX-License-Identifier: Apache-2.0
// Smoothed aggregation: coarse matrices against dense products on the host, and what conjugate
// gradients ask of a preconditioner.
#include "solvers/aggregation_multigrid.hpp"

#include "core/element_generators.hpp"
#include "solvers/hexa_operators.hpp"
#include "tests/backend_test.hpp"

#include <numeric>

namespace {

using namespace femura;

/// A block of 5 x 4 x 3 hexahedra with moduli over six orders of magnitude, held at a face and at
/// one component of another node, with a spring.
template<class Exec>
struct Block {
  Exec exec;
  ElementMesh mesh = make_hexa_box({5, 4, 3}, {5, 3, 3});
  HexaStiffness<Exec> stiffness;
  std::unique_ptr<HexaOperator<Exec, double>> matrix;
  std::vector<std::uint8_t> mask;
  HexaSystem<Exec, double> system;

  Block() {
    stiffness.arrays = make_hexa_arrays(exec, mesh);
    stiffness.lame = unit_lame(0.3);
    mask.assign(mesh.num_points(), 0);
    std::vector<double> modulus, spring(mesh.point.size(), 0);
    for (std::size_t n = 0; n < mask.size(); ++n)
      mask[n] = mesh.point[3 * n] == 0 ? 7 : 0;
    mask.back() = 2;
    spring[spring.size() - 3] = 0.25;
    for (std::size_t e = 0; e < mesh.num_elem(); ++e)
      modulus.push_back(std::pow(10, -double(e * 5 % 7)));
    stiffness.held = make_constraints(exec, upload(exec, "held", mask));
    stiffness.modulus = upload(exec, "modulus", modulus);
    stiffness.spring = upload(exec, "spring", spring);
    matrix = make_hexa_operator<double>(exec, HexaOperatorKind::recompute, mesh, stiffness.arrays,
                                        stiffness.lame);
    matrix->set_modulus(exec, stiffness.modulus);
    system = {matrix.get(), stiffness.spring};
  }
  AggregationMultigrid<Exec, double> make_multigrid(int max_coarse_dofs) {
    AggregationOptions options;
    options.max_coarse_dofs = max_coarse_dofs;
    const auto hierarchy = std::make_shared<AggregationHierarchy<Exec>>(
        make_aggregation_hierarchy(exec, stiffness.arrays, stiffness.held, options));
    AggregationMultigrid<Exec, double> multigrid(exec, hierarchy, stiffness, options);
    multigrid.prepare(exec, stiffness, system);
    graph = hierarchy->levels[0].arrays.prolongator;
    return multigrid;
  }
  BlockGraphArrays<Exec> graph; ///< of the prolongator made last
};

FEMURA_BACKEND_TEST("the first coarse matrix is the triple product", "[aggregation]") {
  Block<TestType> block;
  const TestType exec = block.exec;
  AggregationMultigrid<TestType, double> multigrid = block.make_multigrid(600);
  const std::size_t n = block.mesh.point.size();
  const BlockRows<TestType, double>& coarse = multigrid.coarse_matrix(1);
  const std::size_t m = 6 * std::size_t(coarse.graph.num_rows);
  REQUIRE(m >= 12);

  std::vector<double> p(n * m, 0);
  const auto begin = download(exec, block.graph.row_begin);
  const auto column = download(exec, block.graph.column);
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
    block.system.apply(exec, upload(exec, "column", of), product);
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

FEMURA_BACKEND_TEST("a cycle is symmetric and positive definite", "[aggregation]") {
  Block<TestType> block;
  const TestType exec = block.exec;
  const std::int64_t n = block.stiffness.num_dofs();
  for (const int max_coarse_dofs : {600, 6}) { // two levels, and three
    AggregationMultigrid<TestType, double> multigrid = block.make_multigrid(max_coarse_dofs);
    const auto make = [&](std::uint64_t seed) {
      const auto x = make_zeros<double>(exec, n, "x");
      fill_random(exec, seed, x);
      clear(exec, block.stiffness.held, x);
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
