// SPDX-License-Identifier: Apache-2.0
// The assembled matrix of solids of every kind against the oracle, and fields that elements have.
#include "tests/backend_test.hpp"
#include "tests/reference/solid_element.hpp"
#include "tests/solid_meshes.hpp"
#include <ossatura/kernels/algebra/sparse/block_operator.hpp>
#include <ossatura/kernels/solids/fields.hpp>
#include <ossatura/kernels/solids/stiffness.hpp>

#include <random>

namespace {

using namespace ossatura;
using namespace ossatura_test;

constexpr double poisson = 0.3;

std::vector<double> random_numbers(std::size_t count, double low, double high, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> number(low, high);
  std::vector<double> values(count);
  for (double& value : values)
    value = number(random);
  return values;
}

/// Elements of the kind whose inner corners are moved, and whose mid-nodes are off their edges.
SolidMesh bent_box(SolidKind kind) {
  const std::array<double, 3> size{2, 1, 1};
  SolidMesh mesh = make_solid_box([kind](int) { return kind; }, {2, 2, 1}, size,
                                  [&](auto& x) { bend_inside(size, x); });
  std::mt19937 random(7);
  std::uniform_real_distribution<double> by(-0.02, 0.02);
  for (double& x : mesh.point)
    x += by(random);
  return mesh;
}

template<class Exec>
struct Assembled {
  SolidArrays<Exec> arrays;
  Graph<Exec> graph;
  Array<double, Exec> value;
  BlockOperator<Exec, double> product;

  Assembled(const SolidMesh& mesh, const std::vector<double>& modulus)
      : arrays(make_solid_arrays(Exec(), mesh))
      , graph(make_solid_graph(Exec(), arrays))
      , value(make_zeros<double>(Exec(), 9 * graph.num_entries(), "value"))
      , product(graph, value) {
    assemble_solid_blocks(Exec(), arrays, unit_lame(poisson), upload(Exec(), "modulus", modulus),
                          graph, value);
  }
  std::vector<double> times(const std::vector<double>& x) const {
    const auto y = make_zeros<double>(Exec(), std::int64_t(x.size()), "y");
    product.apply(Exec(), upload(Exec(), "x", x), y);
    return download(Exec(), y);
  }
};

/// K_e of the oracle times the values at its nodes.
std::vector<double> element_product(const SolidMesh& mesh, std::size_t e,
                                    const std::vector<double>& u, std::vector<double>& own) {
  const NodeRange nodes = mesh.nodes_of(e);
  std::vector<double> x;
  own.clear();
  for (const std::int32_t n : nodes)
    for (std::size_t d = 0; d < 3; ++d) {
      x.push_back(mesh.point[3 * std::size_t(n) + d]);
      own.push_back(u[3 * std::size_t(n) + d]);
    }
  return reference::dense_product(
      reference::solid_stiffness(
          reference::solid_element(int(nodes.size()), mesh.kind[e] == SolidKind::hexa20r), x,
          poisson),
      own);
}

/// u = (x y, - x^2 / 2 - nu (y^2 - z^2) / 2, - nu y z): pure bending, whose stress is xx = y.
std::vector<double> bending(const SolidMesh& mesh) {
  std::vector<double> u;
  for (std::size_t n = 0; n < mesh.num_points(); ++n) {
    const double x = mesh.point[3 * n], y = mesh.point[3 * n + 1], z = mesh.point[3 * n + 2];
    u.insert(u.end(), {x * y, -x * x / 2 - poisson * (y * y - z * z) / 2, -poisson * y * z});
  }
  return u;
}

/// The largest force of a product at nodes that are not on the surface of the box.
double largest_inside(const SolidMesh& mesh, const std::array<double, 3>& size,
                      const std::vector<double>& force) {
  double largest = 0;
  for (std::size_t n = 0; n < mesh.num_points(); ++n) {
    bool inside = true;
    for (std::size_t d = 0; d < 3; ++d)
      inside = inside && mesh.point[3 * n + d] > 1e-12 && mesh.point[3 * n + d] < size[d] - 1e-12;
    for (std::size_t d = 0; inside && d < 3; ++d)
      largest = std::max(largest, std::abs(force[3 * n + d]));
  }
  return largest;
}

} // namespace

OSSATURA_BACKEND_TEST("The matrix of solids and their energies are those of the oracle",
                      "[solids]") {
  using Exec = TestType;
  for (const SolidKind kind : all_solid_kinds) {
    INFO(name_of(kind));
    const SolidMesh mesh = bent_box(kind);
    const std::vector<double> modulus = random_numbers(mesh.num_elem(), 0.1, 2, 1),
                              u = random_numbers(3 * mesh.num_points(), -1, 1, 2);
    std::vector<double> expected(u.size()), energies, own;
    for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
      const std::vector<double> force = element_product(mesh, e, u, own);
      energies.push_back(0);
      for (std::size_t i = 0; i < force.size(); ++i) {
        energies.back() += own[i] * force[i];
        expected[3 * std::size_t(mesh.nodes_of(e)[i / 3]) + i % 3] += modulus[e] * force[i];
      }
    }
    const Assembled<Exec> matrix(mesh, modulus);
    const std::vector<double> product = matrix.times(u);
    double largest = 0, error = 0;
    for (std::size_t i = 0; i < u.size(); ++i) {
      largest = std::max(largest, std::abs(expected[i]));
      error = std::max(error, std::abs(product[i] - expected[i]));
    }
    CHECK(error < 1e-13 * largest);

    const auto energy = make_zeros<double>(Exec(), std::int64_t(mesh.num_elem()), "energy");
    const auto uploaded = upload(Exec(), "u", u);
    add_energies(Exec(), matrix.arrays, unit_lame(poisson), 2, uploaded, uploaded, energy);
    const std::vector<double> computed = download(Exec(), energy);
    for (std::size_t e = 0; e < mesh.num_elem(); ++e)
      CHECK(computed[e] == Approx(2 * energies[e]).epsilon(1e-12));
  }
}

OSSATURA_BACKEND_TEST("The matrix of solids is symmetric to the last bit, and motions cost nothing",
                      "[solids]") {
  using Exec = TestType;
  for (const SolidKind kind : all_solid_kinds) {
    INFO(name_of(kind));
    const SolidMesh mesh = bent_box(kind);
    const Assembled<Exec> matrix(mesh, random_numbers(mesh.num_elem(), 0.1, 2, 1));
    const auto row_begin = download(Exec(), matrix.graph.row_begin);
    const auto column = download(Exec(), matrix.graph.column);
    const auto value = download(Exec(), matrix.value);
    int different = 0;
    double largest = 0;
    for (std::size_t i = 0; i + 1 < row_begin.size(); ++i)
      for (auto k = row_begin[i]; k < row_begin[i + 1]; ++k) {
        const std::size_t j = std::size_t(column[std::size_t(k)]);
        const auto first = column.begin() + row_begin[j], end = column.begin() + row_begin[j + 1];
        const auto other = std::lower_bound(first, end, int(i)) - column.begin();
        for (std::size_t c = 0; c < 9; ++c) {
          const double a = value[9 * std::size_t(k) + c];
          different += a != value[9 * std::size_t(other) + 3 * (c % 3) + c / 3];
          largest = std::max(largest, std::abs(a));
        }
      }
    CHECK(different == 0);
    std::vector<double> turn;
    for (std::size_t n = 0; n < mesh.num_points(); ++n)
      turn.insert(turn.end(), {1 - mesh.point[3 * n + 1], mesh.point[3 * n] - mesh.point[3 * n + 2],
                               mesh.point[3 * n + 1]});
    double force = 0;
    for (const double f : matrix.times(turn))
      force = std::max(force, std::abs(f));
    CHECK(force < 1e-13 * largest);
  }
}

// The stress of a linear field is the same everywhere, so that no node inside is pushed, whatever
// the shapes; that of bending needs functions of second order.
OSSATURA_BACKEND_TEST("Linear fields, and bending of second-order solids, are in balance",
                      "[solids]") {
  using Exec = TestType;
  const std::array<double, 3> size{2, 1, 1};
  for (const SolidKind kind : all_solid_kinds) {
    INFO(name_of(kind));
    const SolidMesh bent = make_solid_box([kind](int) { return kind; }, {3, 3, 3}, size,
                                          [&](auto& x) { bend_inside(size, x); });
    const Assembled<Exec> matrix(bent, std::vector<double>(bent.num_elem(), 1.));
    std::vector<double> linear;
    for (std::size_t n = 0; n < bent.num_points(); ++n) {
      const double x = bent.point[3 * n], y = bent.point[3 * n + 1], z = bent.point[3 * n + 2];
      linear.insert(linear.end(), {x + 0.3 * y, -0.2 * z + 0.1 * x, 0.5 * z - 0.7 * y});
    }
    const std::vector<double> force = matrix.times(linear);
    double largest = 0;
    for (const double f : force)
      largest = std::max(largest, std::abs(f));
    CHECK(largest_inside(bent, size, force) < 1e-13 * largest);

    if (!is_second_order(kind))
      continue;
    const SolidMesh mesh = make_solid_box(kind, {3, 3, 3}, size);
    const Assembled<Exec> plain(mesh, std::vector<double>(mesh.num_elem(), 1.));
    const std::vector<double> u = bending(mesh), f = plain.times(u);
    double work = 0;
    for (std::size_t i = 0; i < u.size(); ++i)
      work += u[i] * f[i];
    CHECK(largest_inside(mesh, size, f) < 1e-13);
    CHECK(work == Approx(2. / 3).epsilon(1e-12)); // the integral of y^2

    const auto stress = make_zeros<double>(Exec(), std::int64_t(mesh.num_elem()), "stress");
    solid_von_mises(Exec(), plain.arrays, unit_lame(poisson),
                    upload(Exec(), "modulus", std::vector<double>(mesh.num_elem(), 5.)),
                    upload(Exec(), "u", u), stress);
    const std::vector<double> mises = download(Exec(), stress);
    double error = 0;
    for (std::size_t e = 0; e < mesh.num_elem(); ++e)
      error = std::max(error, std::abs(mises[e] - 5 * centre_of(mesh, e)[1]));
    CHECK(error < 1e-12);
  }
}

OSSATURA_BACKEND_TEST("Meshes of solids that are none are refused", "[solids]") {
  using Exec = TestType;
  SolidMesh mesh = make_solid_box(SolidKind::tetra10, {1, 1, 1}, {1, 1, 1});
  CHECK_THROWS_AS(make_solid_arrays(Exec(), SolidMesh{}), std::invalid_argument);
  SolidMesh bad = mesh;
  bad.node[4] = 1000;
  CHECK_THROWS_AS(make_solid_arrays(Exec(), bad), std::invalid_argument);
  bad = mesh;
  bad.kind[0] = SolidKind::hexa20;
  CHECK_THROWS_AS(make_solid_arrays(Exec(), bad), std::invalid_argument);
  bad = make_solid_box(SolidKind::prism6, {1, 1, 1}, {1, 1, 1});
  std::swap_ranges(bad.node.begin(), bad.node.begin() + 3, bad.node.begin() + 3);
  CHECK_THROWS_AS(make_solid_arrays(Exec(), bad), std::invalid_argument);
}
