// SPDX-License-Identifier: Apache-2.0
// Modes of hierarchical hexahedra: dimensions of their spaces, the parts of the hexahedron that
// they belong to, and global numbers and signs that make functions continuous however vertices are
// numbered and elements turned.
#include "tests/catch.hpp"
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/core/pfem/numbering.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <set>
#include <vector>

namespace {

using namespace ossatura;

constexpr int corner[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                              {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};

int binomial(int n, int k) {
  int value = k < 0 || k > n ? 0 : 1;
  for (int i = 0; i < k && value > 0; ++i)
    value = value * (n - i) / (i + 1);
  return value;
}

std::array<int, 3> indices(const HierarchicMode& mode) {
  return {mode.index[0], mode.index[1], mode.index[2]};
}

TEST_CASE("spaces have the dimensions of the literature", "[hierarchic_modes]") {
  // Table 1 of Novikov, Kuzmin, Nedozhogin, Kopysov, PaVT 2014, a third of it.
  constexpr int trunk[11] = {0, 8, 20, 32, 50, 74, 105, 144, 192, 250, 319};
  for (int p = 1; p <= 10; ++p) {
    const auto modes = hierarchic_modes(HexaSpace::trunk, p);
    CHECK(int(modes.size()) == trunk[p]);
    CHECK(num_hierarchic_modes(HexaSpace::trunk, p) == trunk[p]);
    int dimension = 0; // of the serendipity space, theorem 2.2 of Arnold and Awanou
    for (int d = 0; d <= 3; ++d)
      dimension += (8 >> d) * binomial(3, d) * binomial(p - d, d);
    CHECK(dimension == trunk[p]);
    CHECK(num_hierarchic_modes(HexaSpace::tensor, p) == (p + 1) * (p + 1) * (p + 1));
    CHECK(int(hierarchic_modes(HexaSpace::tensor, p).size()) == (p + 1) * (p + 1) * (p + 1));
  }
  for (const int order : {-1, 0, 11}) {
    CHECK_THROWS_AS(hierarchic_modes(HexaSpace::trunk, order), std::invalid_argument);
    CHECK_THROWS_AS(num_hierarchic_modes(HexaSpace::tensor, order), std::invalid_argument);
  }
}

TEST_CASE("modes ascend, those of the trunk space by superlinear degree", "[hierarchic_modes]") {
  for (const HexaSpace space : {HexaSpace::trunk, HexaSpace::tensor})
    for (int p = 1; p <= 10; ++p) {
      const auto modes = hierarchic_modes(space, p);
      std::set<std::array<int, 3>> all;
      std::array<int, 3> last = {-1, -1, -1};
      int highest = 0;
      for (const HierarchicMode& mode : modes) {
        REQUIRE(last < indices(mode));
        last = indices(mode);
        all.insert(last);
        int degree = 0;
        for (const int index : last)
          degree += index >= 2 ? index : 0;
        highest = std::max(highest, degree);
      }
      CHECK(highest == (p == 1 ? 0 : space == HexaSpace::trunk ? p : 3 * p));
      if (p < 10)
        continue;
      // The spaces of lower orders are contained in this one.
      for (int lower = 1; lower < p; ++lower)
        for (const HierarchicMode& mode : hierarchic_modes(space, lower))
          REQUIRE(all.count(indices(mode)) == 1);
    }
}

TEST_CASE("modes belong to the parts of a hexahedron where their ends are", "[hierarchic_modes]") {
  int count[4] = {};
  for (const HierarchicMode& mode : hierarchic_modes(HexaSpace::trunk, 7)) {
    const HexaEntity entity = entity_of(mode);
    ++count[entity.dimension];
    std::vector<int> vertices; // of that part
    if (entity.dimension == 0)
      vertices = {entity.number};
    if (entity.dimension == 1)
      vertices = {hexa_edge[entity.number].node[0], hexa_edge[entity.number].node[1]};
    if (entity.dimension == 2)
      for (const auto& row : hexa_face_frame[entity.number].node)
        vertices.insert(vertices.end(), {row[0], row[1]});
    int free_axes = 0;
    for (int axis = 0; axis < 3; ++axis) {
      free_axes += mode.index[axis] >= 2 ? 1 : 0;
      for (const int v : vertices)
        if (mode.index[axis] < 2)
          CHECK(corner[v][axis] == 2 * mode.index[axis] - 1);
    }
    CHECK(free_axes == entity.dimension);
  }
  CHECK(count[0] == 8);
  CHECK(count[1] == 72);
  CHECK(count[2] == 60);
  CHECK(count[3] == 4);
}

TEST_CASE("edges and faces of the reference element lie as they say", "[hierarchic_modes]") {
  int last = -1;
  for (const HexaEdge& edge : hexa_edge) {
    int place = edge.axis;
    for (int axis = 0; axis < 3; ++axis) {
      const int a = corner[edge.node[0]][axis], b = corner[edge.node[1]][axis];
      CHECK(b - a == (axis == edge.axis ? 2 : 0));
      if (axis != edge.axis)
        place = 2 * place + (a > 0 ? 1 : 0);
    }
    CHECK(place == ++last);
  }
  last = -1;
  for (const HexaFace& face : hexa_face_frame) {
    CHECK(2 * face.axis + face.side == ++last);
    const int first = face.axis == 0 ? 1 : 0, second = face.axis == 2 ? 1 : 2;
    for (int a = 0; a < 2; ++a)
      for (int b = 0; b < 2; ++b) {
        const int* at = corner[face.node[a][b]];
        CHECK(at[face.axis] == 2 * face.side - 1);
        CHECK(at[first] == 2 * a - 1);
        CHECK(at[second] == 2 * b - 1);
      }
  }
}

/// The box [0, cells]^3 with vertices numbered, and elements turned, at random.
ElementMesh make_shuffled_box(int cells, std::mt19937& random) {
  const double length = cells;
  ElementMesh mesh = make_hexa_box({cells, cells, cells}, {length, length, length});
  std::vector<std::int32_t> number(mesh.num_points());
  for (std::size_t p = 0; p < number.size(); ++p)
    number[p] = std::int32_t(p);
  std::shuffle(number.begin(), number.end(), random);
  const std::vector<double> point = mesh.point;
  for (std::size_t p = 0; p < number.size(); ++p)
    std::copy_n(point.begin() + std::ptrdiff_t(3 * p), 3,
                mesh.point.begin() + 3 * std::ptrdiff_t(number[p]));
  for (std::int32_t& n : mesh.node)
    n = number[std::size_t(n)];
  // Quarter turns about axes 2, 0, 2 make up all 24.
  constexpr int about_2[8] = {1, 2, 3, 0, 5, 6, 7, 4}, about_0[8] = {3, 2, 6, 7, 0, 1, 5, 4};
  for (std::size_t elem = 0; elem < mesh.num_elem(); ++elem) {
    std::int32_t* node = mesh.node.data() + 8 * elem;
    for (const int* turn : {about_2, about_0, about_2})
      for (int times = int(random() % 4); times > 0; --times) {
        std::int32_t old[8];
        std::copy_n(node, 8, old);
        for (int a = 0; a < 8; ++a)
          node[a] = old[turn[a]];
      }
  }
  return mesh;
}

/// psi_0 .. psi_10 at s: integrated Legendre polynomials (L_j - L_{j-2}) / (2 j - 1).
std::array<double, 11> shape_functions(double s) {
  double legendre[11] = {1, s};
  for (int j = 2; j <= 10; ++j)
    legendre[j] = ((2 * j - 1) * s * legendre[j - 1] - (j - 1) * legendre[j - 2]) / j;
  std::array<double, 11> psi = {(1 - s) / 2, (1 + s) / 2};
  for (std::size_t j = 2; j <= 10; ++j)
    psi[j] = (legendre[j] - legendre[j - 2]) / (2 * double(j) - 1);
  return psi;
}

/// A function of a box of unit cubes, by the coefficients of its global modes.
struct Field {
  const ElementMesh& mesh;
  const HierarchicNumbering& numbering;
  std::vector<double> coefficient;

  double at(std::size_t elem, const double (&x)[3]) const {
    const std::int32_t* node = mesh.node.data() + 8 * elem;
    const auto coordinate = [&](int a, std::size_t axis) {
      return mesh.point[3 * std::size_t(node[a]) + axis];
    };
    std::array<double, 11> psi[3];
    constexpr int next[3] = {1, 3, 4}; // the ends of the element's axes that start at its corner 0
    for (std::size_t axis = 0; axis < 3; ++axis) {
      double along = 0;
      for (std::size_t k = 0; k < 3; ++k)
        along += (x[k] - coordinate(0, k)) * (coordinate(next[axis], k) - coordinate(0, k));
      psi[axis] = shape_functions(2 * along - 1);
    }
    const auto modes = hierarchic_modes(numbering.space, numbering.order[elem]);
    const auto begin = std::size_t(numbering.begin[elem]);
    double value = 0;
    for (std::size_t k = 0; k < modes.size(); ++k) {
      const std::int32_t mode = numbering.signed_mode[begin + k];
      if (mode == SignedMode::none)
        continue;
      const std::uint8_t* index = modes[k].index;
      value += (mode % 2 != 0 ? -1 : 1) * coefficient[std::size_t(mode / 2)] * psi[0][index[0]] *
               psi[1][index[1]] * psi[2][index[2]];
    }
    return value;
  }
};

/// The largest jump between two elements anywhere on the faces inside the box.
double largest_jump(const Field& field, const HexaEntities& entities, std::mt19937& random) {
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<std::vector<std::size_t>> of_face(std::size_t(entities.num_faces));
  for (std::size_t i = 0; i < entities.face.size(); ++i)
    of_face[std::size_t(entities.face[i])].push_back(i);
  double jump = 0;
  for (const auto& sides : of_face)
    for (int sample = 0; sides.size() == 2 && sample < 6; ++sample) {
      const std::int32_t* node = field.mesh.node.data() + 8 * (sides[0] / 6);
      const HexaFace& face = hexa_face_frame[sides[0] % 6];
      const double u = unit(random), v = unit(random);
      double x[3] = {};
      for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b)
          for (std::size_t axis = 0; axis < 3; ++axis)
            x[axis] += (a != 0 ? u : 1 - u) * (b != 0 ? v : 1 - v) *
                       field.mesh.point[3 * std::size_t(node[face.node[a][b]]) + axis];
      jump = std::max(jump, std::abs(field.at(sides[0] / 6, x) - field.at(sides[1] / 6, x)));
    }
  return jump;
}

TEST_CASE("edges and faces are counted by Euler's formula", "[hierarchic_modes]") {
  std::mt19937 random(3);
  const ElementMesh mesh = make_shuffled_box(3, random);
  const HexaEntities entities = make_hexa_entities(mesh);
  CHECK(entities.num_edges == 3 * 3 * 16);
  CHECK(entities.num_faces == 3 * 4 * 9);
  CHECK(64 - entities.num_edges + entities.num_faces - 27 == 1);
  for (const auto* number : {&entities.edge, &entities.face}) {
    std::int32_t next = 0; // in the order of first occurrence
    for (const std::int32_t n : *number) {
      REQUIRE(n <= next);
      next += n == next ? 1 : 0;
    }
  }
}

TEST_CASE("functions are continuous for any vertex numbers and frames", "[hierarchic_modes]") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> coefficient(-1, 1);
  for (const HexaSpace space : {HexaSpace::trunk, HexaSpace::tensor})
    for (const int p : {1, 2, 3, 4, 5, 7, 10}) {
      if (space == HexaSpace::tensor && p > 5)
        continue;
      const ElementMesh mesh = make_shuffled_box(2, random);
      const HexaEntities entities = make_hexa_entities(mesh);
      const HierarchicNumbering numbering =
          make_hierarchic_numbering(mesh, entities, space, {std::uint8_t(p)});
      const bool trunk = space == HexaSpace::trunk;
      const int q = p - 1;
      const int on_face = trunk ? (p < 4 ? 0 : (p - 2) * (p - 3) / 2) : q * q;
      const int inside = trunk ? (p < 6 ? 0 : (p - 3) * (p - 4) * (p - 5) / 6) : q * q * q;
      CHECK(numbering.num_modes == 27 + 54 * q + 36 * on_face + 8 * inside);
      CHECK(numbering.edge_begin == 27);
      CHECK(numbering.face_begin == 27 + 54 * q);
      CHECK(numbering.interior_begin == numbering.num_modes - 8 * inside);
      std::set<std::int32_t> seen;
      for (const std::int32_t mode : numbering.signed_mode)
        seen.insert(mode / 2);
      CHECK(std::int32_t(seen.size()) == numbering.num_modes);
      CHECK(*seen.rbegin() == numbering.num_modes - 1);

      Field field{mesh, numbering, std::vector<double>(std::size_t(numbering.num_modes))};
      for (double& c : field.coefficient)
        c = coefficient(random);
      CAPTURE(name_of(space), p);
      CHECK(largest_jump(field, entities, random) < 1e-13);
    }
}

TEST_CASE("functions of elements of different orders are continuous", "[hierarchic_modes]") {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> coefficient(-1, 1);
  for (const HexaSpace space : {HexaSpace::trunk, HexaSpace::tensor})
    for (int repeat = 0; repeat < 3; ++repeat) {
      const ElementMesh mesh = make_shuffled_box(2, random);
      const HexaEntities entities = make_hexa_entities(mesh);
      std::vector<std::uint8_t> order(8);
      for (std::uint8_t& p : order)
        p = std::uint8_t(space == HexaSpace::trunk ? 2 + random() % 7 : 2 + random() % 3);
      const HierarchicNumbering numbering = make_hierarchic_numbering(mesh, entities, space, order);
      Field field{mesh, numbering, std::vector<double>(std::size_t(numbering.num_modes))};
      for (double& c : field.coefficient)
        c = coefficient(random);
      CHECK(largest_jump(field, entities, random) < 1e-13);

      // Each edge has the modes of the lowest order around it, and its elements have them all.
      std::vector<int> lowest(std::size_t(entities.num_edges), 10);
      for (std::size_t i = 0; i < entities.edge.size(); ++i) {
        int& low = lowest[std::size_t(entities.edge[i])];
        low = std::min(low, int(order[i / 12]));
      }
      for (std::size_t e = 0; e < lowest.size(); ++e)
        CHECK(numbering.edge_mode_begin[e + 1] - numbering.edge_mode_begin[e] == lowest[e] - 1);
      for (std::size_t elem = 0; elem < 8; ++elem) {
        std::set<std::int32_t> own;
        for (auto k = numbering.begin[elem]; k < numbering.begin[elem + 1]; ++k)
          own.insert(numbering.signed_mode[std::size_t(k)] >> 1);
        for (std::size_t k = 0; k < 12; ++k) {
          const auto e = std::size_t(entities.edge[12 * elem + k]);
          for (auto m = numbering.edge_mode_begin[e]; m < numbering.edge_mode_begin[e + 1]; ++m)
            CHECK(own.count(m) == 1);
        }
        for (std::size_t k = 0; k < 6; ++k) {
          const auto f = std::size_t(entities.face[6 * elem + k]);
          for (auto m = numbering.face_mode_begin[f]; m < numbering.face_mode_begin[f + 1]; ++m)
            CHECK(own.count(m) == 1);
        }
        CHECK(numbering.interior_mode_begin[elem + 1] - numbering.interior_mode_begin[elem] ==
              std::count_if(own.begin(), own.end(),
                            [&](std::int32_t m) { return m >= numbering.interior_begin; }));
      }
    }
}

TEST_CASE("meshes that cannot be numbered are refused", "[hierarchic_modes]") {
  ElementMesh mesh = make_hexa_box({2, 1, 1}, {2, 1, 1});
  const HexaEntities entities = make_hexa_entities(mesh);
  const auto number = [&](const std::vector<std::uint8_t>& order) {
    return make_hierarchic_numbering(mesh, entities, HexaSpace::trunk, order);
  };
  CHECK(number({1, 1}).num_modes == 12);
  CHECK_THROWS_AS(number({0}), std::invalid_argument);
  CHECK_THROWS_AS(number({2, 11}), std::invalid_argument);
  CHECK_THROWS_AS(number({2, 2, 2}), std::invalid_argument);
  CHECK_THROWS_AS(number({}), std::invalid_argument);

  const std::vector<std::int32_t> node = mesh.node;
  mesh.node[3] = mesh.node[2];
  CHECK_THROWS_WITH(make_hexa_entities(mesh), ContainsSubstring("element 0 has node"));
  mesh.node = node;
  mesh.node[3] = 12;
  CHECK_THROWS_WITH(make_hexa_entities(mesh), ContainsSubstring("node 12 of 12"));
  mesh.node = node;
  mesh.node.insert(mesh.node.end(), node.begin(), node.begin() + 8);
  CHECK_THROWS_WITH(make_hexa_entities(mesh), ContainsSubstring("more than 2 elements"));
  mesh.shape = ElementShape::tetra;
  CHECK_THROWS_WITH(make_hexa_entities(mesh), ContainsSubstring("tetra"));
}

} // namespace
