// SPDX-License-Identifier: Apache-2.0
// Vertex stars: the modes that they have, their matrices, and the preconditioner made of them.
#include "tests/backend_test.hpp"
#include "tests/reference/dense_cholesky.hpp"
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/kernels/pfem/stars/multiply.hpp>
#include <ossatura/solvers/pfem/model.hpp>
#include <ossatura/solvers/pfem/operators.hpp>
#include <ossatura/solvers/pfem/preconditioners/vertex_star_schwarz.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace {

using namespace ossatura;

struct Box {
  CurvedHexaMesh mesh;
  HierarchicNumbering numbering;
  std::vector<std::uint8_t> held;

  Box(const int (&cells)[3], HexaSpace space, const std::vector<std::uint8_t>& order)
      : mesh{make_hexa_box(cells, {1, 1.1, 0.9}), nullptr}
      , numbering(make_hierarchic_numbering(mesh.mesh, make_hexa_entities(mesh.mesh), space, order))
      , held(std::size_t(numbering.num_modes), 0) {}
};

OSSATURA_BACKEND_TEST("a star has the modes of all that touches its vertex", "[pfem]") {
  // The numbers of the notes: 21, 39, 93, 183, 333 components inside of a mesh, p = 2 .. 6.
  const int rows[] = {21, 39, 93, 183, 333};
  for (int order = 2; order <= 6; ++order) {
    const Box box({2, 2, 2}, HexaSpace::trunk, {std::uint8_t(order)});
    const HierarchicStars stars = make_hierarchic_stars(box.mesh.mesh, box.numbering, box.held);
    REQUIRE(stars.num_stars() == 27);
    std::int64_t most = 0, corners = 0;
    for (std::size_t s = 0; s < 27; ++s) {
      most = std::max(most, 3 * (stars.mode_begin[s + 1] - stars.mode_begin[s]));
      corners = std::max(corners, stars.corner_begin[s + 1] - stars.corner_begin[s]);
    }
    CHECK(most == rows[order - 2]);
    CHECK(corners == 8);
  }
  // Nothing is left of a star that is held, nor of one of order 1.
  Box box({1, 1, 1}, HexaSpace::tensor, {3});
  std::fill(box.held.begin(), box.held.end(), std::uint8_t(7));
  CHECK(make_hierarchic_stars(box.mesh.mesh, box.numbering, box.held).num_stars() == 0);
  const Box linear({1, 1, 1}, HexaSpace::tensor, {1});
  CHECK(make_hierarchic_stars(linear.mesh.mesh, linear.numbering, linear.held).num_stars() == 0);
  CHECK_THROWS_AS(make_hierarchic_stars(box.mesh.mesh, box.numbering, linear.held),
                  std::invalid_argument);
}

/// K [n, n] of an operator, column by column.
template<class Exec>
std::vector<double> dense_of(const Exec& exec, const HierarchicOperator<Exec>& matrix,
                             std::size_t n) {
  std::vector<double> dense(n * n);
  const auto y = make_zeros<double>(exec, std::int64_t(n), "y");
  for (std::size_t j = 0; j < n; ++j) {
    std::vector<double> unit(n, 0.0);
    unit[j] = 1;
    matrix.apply(exec, upload(exec, "unit", unit), y);
    const std::vector<double> column = download(exec, y);
    for (std::size_t i = 0; i < n; ++i)
      dense[i * n + j] = column[i];
  }
  return dense;
}

/// z += R^T (R K R^T)^-1 R r for the rows of R.
void add_solution(const std::vector<double>& matrix, const std::vector<std::size_t>& rows,
                  const std::vector<double>& r, std::vector<double>& z) {
  const std::size_t n = rows.size(), all = r.size();
  std::vector<double> own(n * n), b(n);
  for (std::size_t i = 0; i < n; ++i) {
    b[i] = r[rows[i]];
    for (std::size_t j = 0; j < n; ++j)
      own[i * n + j] = matrix[rows[i] * all + rows[j]];
  }
  const std::vector<double> solution = reference::solve_dense(own, b);
  for (std::size_t i = 0; i < n; ++i)
    z[rows[i]] += solution[i];
}

/// Modes of the edges, faces and interiors that have the vertex, and its own.
std::set<std::size_t> modes_touching(const Box& box, std::int32_t vertex) {
  const int corner[2][2][2] = {{{0, 4}, {3, 7}}, {{1, 5}, {2, 6}}};
  std::set<std::size_t> found;
  for (std::size_t e = 0; e < box.numbering.order.size(); ++e) {
    const auto modes = hierarchic_modes(box.numbering.space, box.numbering.order[e]);
    for (std::size_t a = 0; a < modes.size(); ++a) {
      const std::int32_t seen = box.numbering.signed_mode[std::size_t(box.numbering.begin[e]) + a];
      const auto& index = modes[a].index;
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
          for (int k = 0; k < 2; ++k)
            if (seen != SignedMode::none && (index[0] > 1 || index[0] == i) &&
                (index[1] > 1 || index[1] == j) && (index[2] > 1 || index[2] == k) &&
                box.mesh.mesh.node[8 * e + std::size_t(corner[i][j][k])] == vertex)
              found.insert(std::size_t(seen >> 1));
    }
  }
  return found;
}

OSSATURA_BACKEND_TEST("the preconditioner is the sum of exact solves on its subspaces", "[pfem]") {
  const TestType exec;
  for (const HexaSpace space : {HexaSpace::trunk, HexaSpace::tensor}) {
    Box box({2, 1, 1}, space, {3, std::uint8_t(space == HexaSpace::trunk ? 4 : 2)});
    for (std::size_t m = 0; m < box.mesh.mesh.num_points(); ++m)
      if (box.mesh.mesh.point[3 * m] == 0)
        box.held[m] = m % 2 == 0 ? 7 : 3;
    box.held.back() = 5;
    const ElasticityField elasticity{isotropic_elasticity(1, 0.3), {}};
    const auto model = make_hierarchic_model(exec, box.mesh, box.numbering, elasticity, {});
    const auto matrix = make_hierarchic_operator(exec, HierarchicOperatorKind::packed, model,
                                                 StiffnessMethod::blocked);
    const std::size_t n = 3 * box.held.size();
    const std::vector<double> dense = dense_of(exec, *matrix, n);
    std::vector<double> r(n), expected(n, 0.0);
    std::vector<std::size_t> of_vertices;
    const auto is_free = [&](std::size_t i) { return !(box.held[i / 3] >> i % 3 & 1); };
    for (std::size_t i = 0; i < n; ++i)
      r[i] = is_free(i) ? std::sin(1.0 + double(i)) : 0;
    for (std::size_t i = 0; i < 3 * box.mesh.mesh.num_points(); ++i)
      if (is_free(i))
        of_vertices.push_back(i);
    add_solution(dense, of_vertices, r, expected);
    for (std::size_t vertex = 0; vertex < box.mesh.mesh.num_points(); ++vertex) {
      std::vector<std::size_t> rows;
      for (const std::size_t mode : modes_touching(box, std::int32_t(vertex)))
        for (std::size_t i = 3 * mode; i < 3 * mode + 3; ++i)
          if (is_free(i))
            rows.push_back(i);
      add_solution(dense, rows, r, expected);
    }
    const auto on_backend = upload(exec, "r", r);
    std::vector<double> in_double;
    for (const bool single : {false, true})
      for (const bool in_parts : {false, true}) {
        detail::VertexStarOptions options;
        options.form = StiffnessMethod::blocked;
        options.single = single;
        if (in_parts)
          options.star_memory = options.workset = 1; // one at a time
        detail::VertexStarSchwarz<TestType> schwarz(exec, box.mesh, box.numbering, model, box.held,
                                                    options);
        const std::vector<double> z = download(exec, schwarz.apply(exec, on_backend));
        double error = 0, size = 0;
        for (std::size_t i = 0; i < n; ++i) {
          error = std::max(error, std::abs(z[i] - expected[i]));
          size = std::max(size, std::abs(expected[i]));
        }
        INFO(name_of(space) << (single ? ", fp32" : ", fp64") << (in_parts ? ", in parts" : ""));
        CHECK(error < (single ? 1e-5 : 1e-11) * size);
        if (!single && !in_parts)
          in_double = z;
        if (!single && in_parts)
          CHECK(z == in_double); // the same sums in the same order
      }
  }
}

OSSATURA_BACKEND_TEST("products by lanes and by rows agree", "[pfem]") {
  const TestType exec;
  const Box box({2, 2, 2}, HexaSpace::trunk, {5});
  const HierarchicStars host = make_hierarchic_stars(box.mesh.mesh, box.numbering, box.held);
  const VertexStars<TestType> stars = upload_stars(exec, host, box.numbering.num_modes);
  const std::int64_t entries = star_matrix_begin(host).back(), total = 3 * host.mode_begin.back();
  const auto value = make_zeros<double>(exec, entries, "value");
  const auto x = make_zeros<double>(exec, 3 * box.numbering.num_modes, "x");
  fill_random(exec, 1, value);
  fill_random(exec, 2, x);
  const auto one = make_zeros<double>(exec, total, "y"),
             other = make_zeros<double>(exec, total, "y");
  multiply_stars<TestType, double, true>(exec, stars, value, x, one);
  multiply_stars(exec, stars, value, x, other); // by rows on cores
  const std::vector<double> a = download(exec, one), b = download(exec, other);
  double difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference = std::max(difference, std::abs(a[i] - b[i]));
  CHECK(difference < 1e-13);
  CHECK(std::abs(a[0]) > 1e-3);
}

} // namespace
