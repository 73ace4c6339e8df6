// SPDX-License-Identifier: Apache-2.0
// The stiffness of one hexahedron against the oracle, and colours of elements.
#include "tests/catch.hpp"
#include "tests/kernels/hexa/hexa_cases.hpp"
#include "tests/reference/hexa_elasticity.hpp"
#include <ossatura/kernels/hexa/published/colouring.hpp>
#include <ossatura/kernels/hexa/stiffness.hpp>

#include <set>

namespace {

using namespace ossatura;

struct Element {
  double x[24];

  explicit Element(const ElementMesh& mesh, std::size_t e = 0) {
    for (std::size_t i = 0; i < 24; ++i)
      x[i] = mesh.point[3 * std::size_t(mesh.node[8 * e + i / 3]) + i % 3];
  }
};

TEST_CASE("The stiffness of a hexahedron is that of the oracle, whole and row by row",
          "[hexa_stiffness]") {
  const ElementMesh mesh = test::shuffled(test::distorted_box({2, 2, 2}, 5), 6);
  for (const double poisson : {0.0, 0.3, 0.49, -0.5})
    for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
      const Element element(mesh, e);
      const reference::Dense expected =
          reference::hexa_stiffness(std::vector<double>(element.x, element.x + 24), poisson);
      double packed[300], rows[8][9], largest = 0, error = 0;
      hexa_stiffness(element.x, unit_lame(poisson), packed);
      int different = 0;
      for (int a = 0; a < 8; ++a) {
        hexa_block_rows(element.x, unit_lame(poisson), a, rows);
        for (int b = 0; b < 8; ++b) {
          for (int k = 0; k < 9; ++k) {
            const double entry = expected(3 * a + k / 3, 3 * b + k % 3),
                         computed = packed[hexa_packed(3 * a + k / 3, 3 * b + k % 3)];
            largest = std::max(largest, std::abs(entry));
            error = std::max(error, std::abs(computed - entry));
            different += std::abs(rows[b][k] - computed) > 1e-15 * std::abs(packed[0]);
          }
        }
      }
      CHECK(error < 1e-14 * largest);
      CHECK(different == 0);
    }
}

// Exact integration: of the unit cube, K_00 = (lambda + 2 mu) / 9 + 2 mu / 9 for the first node
// along each axis, since the integral of (dN/dx)^2 is 1/9.
TEST_CASE("The first entry for a cube is that by hand", "[hexa_stiffness]") {
  const Element cube(make_hexa_box({1, 1, 1}, {1, 1, 1}));
  double packed[300];
  hexa_stiffness(cube.x, {1, 2}, packed);
  CHECK(packed[0] == Approx((1 + 2 * 2) / 9.0 + 2 * 2 / 9.0).epsilon(1e-14));
  CHECK(packed[hexa_packed(1, 0)] == Approx((1 + 2) / 12.0).epsilon(1e-14));
}

TEST_CASE("The least Jacobian tells elements that are turned inside out", "[hexa_stiffness]") {
  Element box(make_hexa_box({1, 1, 1}, {2, 3, 4}));
  CHECK(least_hexa_jacobian(box.x) == Approx(3).epsilon(1e-14));
  std::swap_ranges(box.x, box.x + 12, box.x + 12);
  CHECK(least_hexa_jacobian(box.x) == Approx(-3).epsilon(1e-14));
  Element dented(make_hexa_box({1, 1, 1}, {1, 1, 1}));
  dented.x[18] = dented.x[19] = dented.x[20] = -0.4; // the corner opposite to the first
  CHECK(least_hexa_jacobian(dented.x) < 0);
}

TEST_CASE("Elements of a colour have no common node", "[hexa_stiffness]") {
  std::vector<test::HexaCase> cases = test::hexa_cases();
  cases.push_back({"more than 64 elements around a node", test::wheel(70, 1)});
  for (const test::HexaCase& c : cases) {
    INFO(c.name);
    const HexaColouring colouring = colour_hexa(c.mesh);
    std::set<int> seen(colouring.order.begin(), colouring.order.end());
    CHECK(seen.size() == c.mesh.num_elem());
    CHECK(colouring.order.size() == c.mesh.num_elem());
    CHECK(colouring.colour_begin.back() == int(c.mesh.num_elem()));
    for (int colour = 0; colour < colouring.num_colours(); ++colour) {
      std::multiset<int> nodes;
      for (int k = colouring.colour_begin[std::size_t(colour)];
           k < colouring.colour_begin[std::size_t(colour) + 1]; ++k)
        for (std::size_t a = 0; a < 8; ++a)
          nodes.insert(c.mesh.node[8 * std::size_t(colouring.order[std::size_t(k)]) + a]);
      CHECK(std::set<int>(nodes.begin(), nodes.end()).size() == nodes.size());
    }
  }
  CHECK(colour_hexa(make_hexa_box({6, 6, 6}, {1, 1, 1})).num_colours() == 8);
}

} // namespace
