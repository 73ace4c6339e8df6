// SPDX-License-Identifier: Apache-2.0
// Hierarchical hexahedra at points against a cubic polynomial, which they reproduce.
#include "tests/backend_test.hpp"
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/core/mesh/hexa/changes.hpp>
#include <ossatura/core/pfem/meshes.hpp>
#include <ossatura/kernels/pfem/sample_hexas.hpp>
#include <ossatura/solvers/pfem/model.hpp>

#include <array>
#include <cmath>

using namespace ossatura;

namespace {

/// Three cubic polynomials in x, y, z.
struct Cubic {
  double factor[3][4][4][4];

  Cubic() {
    unsigned state = 12345;
    for (auto& component : factor)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
          for (int k = 0; k < 4; ++k) {
            state = state * 1664525u + 1013904223u;
            component[i][j][k] = i + j + k > 3 ? 0 : state / 2147483648.0 - 1;
          }
  }
  /// The derivative of component c by x[by]; by = 3: component c itself.
  double operator()(int c, const double* x, int by) const {
    double sum = 0;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j)
        for (int k = 0; k < 4; ++k) {
          int power[3] = {i, j, k};
          double term = factor[c][i][j][k];
          if (by < 3)
            term *= power[by]--;
          for (int d = 0; d < 3; ++d)
            for (int n = 0; n < power[d]; ++n)
              term *= x[d];
          sum += term;
        }
    return sum;
  }
};

/// Coefficients of the modes of order 3: values at vertices, and on each edge what the cubic is
/// more than linear there, in terms of (s^2 - 1) / 2 and (s^3 - s) / 2, s from the lower vertex.
std::vector<double> coefficients(const ElementMesh& mesh, const HexaEntities& entities,
                                 const HierarchicNumbering& numbering, const Cubic& cubic) {
  std::vector<double> u(3 * std::size_t(numbering.num_modes));
  for (std::size_t v = 0; v < mesh.num_points(); ++v)
    for (int c = 0; c < 3; ++c)
      u[3 * v + std::size_t(c)] = cubic(c, &mesh.point[3 * v], 3);
  for (std::size_t e = 0; e < mesh.num_elem(); ++e)
    for (std::size_t edge = 0; edge < 12; ++edge) {
      std::int32_t end[2];
      for (std::size_t i = 0; i < 2; ++i)
        end[i] = mesh.node[8 * e + std::size_t(hexa_edge[edge].node[i])];
      if (end[0] > end[1])
        std::swap(end[0], end[1]);
      const auto first =
          std::size_t(numbering.edge_mode_begin[std::size_t(entities.edge[12 * e + edge])]);
      for (int c = 0; c < 3; ++c) {
        const auto at = [&](double s) {
          double x[3];
          for (std::size_t d = 0; d < 3; ++d)
            x[d] = (1 - s) / 2 * mesh.point[3 * std::size_t(end[0]) + d] +
                   (1 + s) / 2 * mesh.point[3 * std::size_t(end[1]) + d];
          return cubic(c, x, 3);
        };
        const double third = 1.0 / 3;
        u[3 * first + std::size_t(c)] = 9. / 8 * (at(1) + at(-1) - at(third) - at(-third));
        u[3 * (first + 1) + std::size_t(c)] =
            9. / 8 * (at(1) - at(-1) - 3 * (at(third) - at(-third)));
      }
    }
  return u;
}

/// Positive definite, and full.
std::vector<double> anisotropic() {
  std::vector<double> d(elasticity_entries);
  for (int i = 0; i < 6; ++i)
    for (int j = i; j < 6; ++j)
      d[std::size_t(elasticity_entry(i, j))] = i == j ? 3 + i : 0.1 * (i + 1) - 0.07 * j;
  return d;
}

double near(double scale) {
  return 1e-12 * scale;
}

} // namespace

OSSATURA_BACKEND_TEST("samples are those of a cubic polynomial", "[sample_hexas]") {
  const TestType exec;
  CurvedHexaMesh shape;
  shape.mesh = make_hexa_box({2, 2, 1}, {1, 0.8, 0.5});
  shear(shape.mesh, {0.3, -0.2, 0.4});
  renumber(shape.mesh, 7);
  const HexaEntities entities = make_hexa_entities(shape.mesh);
  const HierarchicNumbering numbering =
      make_hierarchic_numbering(shape.mesh, entities, HexaSpace::trunk, {3});
  const Cubic cubic;
  ElasticityField elasticity;
  elasticity.value = anisotropic();
  HierarchicOptions options;
  options.scaling = ModeScaling::paper;
  const HierarchicModel<TestType> model =
      make_hierarchic_model(exec, shape, numbering, elasticity, options);
  REQUIRE(model.batch.size() == 1);
  const HexaBatch<TestType>& batch = model.batch[0];
  const Array<double, TestType> u =
      upload(exec, "test::u", coefficients(shape.mesh, entities, numbering, cubic));

  const std::vector<double> xi = {-1, -0.3, 0.9};
  const HexaGrid<TestType> grid = make_hexa_grid(exec, batch, xi);
  const std::vector<int> elem = download(exec, batch.elem);
  const auto map = make_trilinear_map(shape.mesh);
  const std::int64_t begin = 1, end = 3;
  const std::size_t n = 27 * std::size_t(end - begin);
  std::vector<std::array<double, 3>> place(n);
  std::vector<double> jacobian(9 * n);
  for (std::size_t i = 0; i < n; ++i) {
    double x[3], j[9];
    map->evaluate(elem[std::size_t(begin) + i / 27], {xi[i % 27 / 9], xi[i % 9 / 3], xi[i % 3]}, x,
                  j);
    place[i] = {x[0], x[1], x[2]};
    std::copy(j, j + 9, &jacobian[9 * i]);
  }
  HexaSamples<TestType> samples;
  samples.displacement = make_zeros<double>(exec, 3 * std::int64_t(n), "test::displacement");
  samples.stress = make_zeros<double>(exec, 6 * std::int64_t(n), "test::stress");
  samples.energy = make_zeros<double>(exec, std::int64_t(n), "test::energy");
  const Array<double, TestType> j = upload(exec, "test::jacobian", jacobian);
  sample_hexas(exec, batch, grid, begin, end, j, u, samples);
  const std::vector<double> displacement = download(exec, samples.displacement),
                            stress = download(exec, samples.stress),
                            energy = download(exec, samples.energy);

  for (std::size_t i = 0; i < n; ++i) {
    const double* x = place[i].data();
    double strain[6];
    for (int c = 0; c < 3; ++c) {
      CHECK(std::abs(displacement[3 * i + std::size_t(c)] - cubic(c, x, 3)) < near(10));
      const int next = (c + 1) % 3, last = (c + 2) % 3; // 3 + c: yz, zx, xy
      strain[c] = cubic(c, x, c);
      strain[3 + c] = cubic(next, x, last) + cubic(last, x, next);
    }
    double expected_energy = 0;
    for (std::size_t r = 0; r < 6; ++r) {
      double expected = 0;
      for (std::size_t s = 0; s < 6; ++s)
        expected += elasticity.value[std::size_t(elasticity_entry(int(r), int(s)))] * strain[s];
      CHECK(std::abs(stress[6 * i + r] - expected) < near(200));
      expected_energy += 0.5 * expected * strain[r];
    }
    CHECK(std::abs(energy[i] - expected_energy) < near(1000));
  }

  CHECK_THROWS_AS(sample_hexas(exec, batch, grid, 1, 5, j, u, samples), std::invalid_argument);
  CHECK_THROWS_AS(sample_hexas(exec, batch, grid, 0, 4, j, u, samples), std::invalid_argument);
}
