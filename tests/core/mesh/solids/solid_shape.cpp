// SPDX-License-Identifier: Apache-2.0
// Shape functions, quadrature, faces and checks of solid elements of every kind.
#include <ossatura/core/mesh/solids/shape.hpp>

#include "tests/catch.hpp"
#include "tests/solid_meshes.hpp"
#include <ossatura/core/mesh/mechanics/free_motion.hpp>
#include <ossatura/core/mesh/mechanics/traction.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace ossatura;
using namespace ossatura_test;

TEST_CASE("Shape functions of solids are 1 at their node, and slopes are their differences",
          "[solids]") {
  for (const SolidKind kind : all_solid_kinds) {
    INFO(name_of(kind));
    const auto nodes = reference_nodes(kind);
    REQUIRE(int(nodes.size()) == nodes_per_elem(kind));
    double worst = 0;
    for (std::size_t b = 0; b < nodes.size(); ++b) {
      const SolidShapeValues at = evaluate_shape(kind, nodes[b]);
      for (std::size_t a = 0; a < nodes.size(); ++a)
        worst = std::max(worst, std::abs(at.value[a] - (a == b ? 1 : 0)));
    }
    CHECK(worst < 1e-15);
    const std::array<double, 3> place{0.21, 0.34, 0.13};
    const SolidShapeValues at = evaluate_shape(kind, place);
    double sum = 0, slopes[3] = {}, difference = 0;
    for (std::size_t a = 0; a < nodes.size(); ++a) {
      sum += at.value[a];
      for (std::size_t d = 0; d < 3; ++d) {
        constexpr double h = 1e-5;
        auto up = place, down = place;
        up[d] += h;
        down[d] -= h;
        const double slope =
            (evaluate_shape(kind, up).value[a] - evaluate_shape(kind, down).value[a]) / (2 * h);
        difference = std::max(difference, std::abs(slope - at.slope[a][d]));
        slopes[d] += at.slope[a][d];
      }
    }
    CHECK(std::abs(sum - 1) < 1e-15);
    CHECK(std::abs(slopes[0]) + std::abs(slopes[1]) + std::abs(slopes[2]) < 1e-15);
    CHECK(difference < 1e-9);
  }
}

// Of x^2 over the reference element: tetrahedra 1/60, prisms 2/12, hexahedra 8/3; rules of one or
// two points on triangles' centres are exact to degree 1 alone.
TEST_CASE("Quadrature of solids has the volume of the reference element and integrates squares",
          "[solids]") {
  for (const SolidKind kind : all_solid_kinds) {
    INFO(name_of(kind));
    const int corners = shape_of(kind).num_corners;
    const auto rule = quadrature_of(kind);
    REQUIRE(int(rule.size()) == points_per_elem(kind));
    double volume = 0, square = 0, first = 0;
    for (const SolidQuadraturePoint& point : rule) {
      volume += point.weight;
      first += point.weight * point.at[0];
      square += point.weight * point.at[0] * point.at[0];
    }
    CHECK(volume == Approx(corners == 4 ? 1. / 6 : corners == 6 ? 1 : 8).epsilon(1e-14));
    CHECK(std::abs(first - (corners == 4 ? 1. / 24 : corners == 6 ? 1. / 3 : 0)) < 1e-15);
    if (kind != SolidKind::tetra4 && kind != SolidKind::prism6)
      CHECK(square == Approx(corners == 4 ? 1. / 60 : corners == 6 ? 1. / 6 : 8. / 3));
  }
}

// Shape functions times coordinates times the determinant, with straight edges: over triangles and
// tetrahedra of the given degree, over the height of prisms of degree 5, as their sides are
// twisted.
TEST_CASE("Moments of solids are exact on straight edges", "[solids]") {
  const auto factorial = [](int n) { return std::tgamma(n + 1.); };
  for (const auto& [kind, degree] :
       {std::pair(SolidKind::tetra4, 2), std::pair(SolidKind::tetra10, 3),
        std::pair(SolidKind::prism6, 3), std::pair(SolidKind::prism15, 4)}) {
    INFO(name_of(kind));
    const bool is_tetra = shape_of(kind).num_corners == 4;
    double worst = 0;
    for (int i = 0; i <= degree; ++i)
      for (int j = 0; i + j <= degree; ++j)
        for (int k = 0; k <= (is_tetra ? degree - i - j : 5); ++k) {
          double sum = 0;
          for (const SolidQuadraturePoint& p : moment_quadrature_of(kind))
            sum += p.weight * std::pow(p.at[0], i) * std::pow(p.at[1], j) * std::pow(p.at[2], k);
          const double flat = factorial(i) * factorial(j);
          const double exact = is_tetra ? flat * factorial(k) / factorial(i + j + k + 3)
                                        : flat / factorial(i + j + 2) * (k % 2 ? 0 : 2. / (k + 1));
          worst = std::max(worst, std::abs(sum - exact));
        }
    CHECK(worst < 1e-15);
  }
}

TEST_CASE("Solids fill a box with their volumes, and its surface with their faces", "[solids]") {
  const std::array<double, 3> size{2, 1, 1.5};
  for (const SolidKind kind : all_solid_kinds) {
    INFO(name_of(kind));
    const SolidMesh mesh = make_solid_box([kind](int) { return kind; }, {2, 2, 2}, size,
                                          [&](auto& x) { bend_inside(size, x); });
    double volume = 0;
    for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
      CHECK(describe_bad_element(mesh, e).empty());
      volume += volume_of(mesh, e);
    }
    CHECK(volume == Approx(3).epsilon(1e-13));
    double area = 0, out[3] = {}, moment = 0;
    for (const FaceOfElement& face : boundary_faces(mesh)) {
      const auto share = face_shares(mesh, face);
      area += std::accumulate(share.begin(), share.end(), 0.);
      const auto force = pressure_forces(mesh, face);
      const NodeRange nodes = mesh.nodes_of(std::size_t(face.elem));
      for (std::size_t a = 0; a < nodes.size(); ++a)
        for (std::size_t d = 0; d < 3; ++d) {
          out[d] += force[a][d];
          moment += force[a][d] * mesh.point[3 * std::size_t(nodes[a]) + d];
        }
    }
    CHECK(area == Approx(13).epsilon(1e-13));
    CHECK(std::abs(out[0]) + std::abs(out[1]) + std::abs(out[2]) < 1e-14);
    CHECK(moment == Approx(-9).epsilon(1e-13)); // a pressure of 1: -3 V, by Gauss
    CHECK_FALSE(find_misfit_face(mesh));
  }
}

// A plane face of six nodes has a third of the force at each mid-node and none at corners, one of
// eight nodes -1/12 at corners and 1/3 at mid-nodes.
TEST_CASE("Pressures on second-order faces are the consistent forces of the books", "[solids]") {
  const SolidMesh tetra = make_solid_box(SolidKind::tetra10, {1, 1, 1}, {1, 1, 1});
  const SolidMesh hexa = make_solid_box(SolidKind::hexa20, {1, 1, 1}, {1, 1, 1});
  const auto of_tetra = pressure_forces(tetra, boundary_faces(tetra)[0]);
  const SolidFaceNodes triangle = face_nodes(SolidKind::tetra10, boundary_faces(tetra)[0].face);
  const auto of_hexa = pressure_forces(hexa, {0, 1});
  const SolidFaceNodes square = face_nodes(SolidKind::hexa20, 1);
  REQUIRE(triangle.num_nodes == 6);
  REQUIRE(square.num_nodes == 8);
  for (int k = 0; k < 6; ++k) {
    const auto& force = of_tetra[std::size_t(triangle.node[k])];
    CHECK(std::hypot(force[0], force[1], force[2]) ==
          Approx(k % 2 == 1 ? 0.5 / 3 : 0).margin(1e-16));
  }
  for (int k = 0; k < 8; ++k)
    CHECK(of_hexa[std::size_t(square.node[k])][2] == Approx(k % 2 == 1 ? -1. / 3 : 1. / 12));
}

TEST_CASE("Tractions act on faces of solids all of whose nodes are chosen", "[solids]") {
  for (const SolidKind kind : all_solid_kinds) {
    INFO(name_of(kind));
    const SolidMesh mesh = make_solid_box(kind, {2, 2, 2}, {2, 1, 1});
    std::vector<std::int32_t> end;
    for (std::size_t n = 0; n < mesh.num_points(); ++n)
      if (mesh.point[3 * n] == 2)
        end.push_back(std::int32_t(n));
    double sum = 0;
    for (const NodeForce& force : traction_forces(mesh, end, {0, 0, 3}))
      sum += force.force[2];
    CHECK(sum == Approx(3).epsilon(1e-14));
    CHECK(traction_forces(mesh, {end[0]}, {0, 0, 3}).empty());
  }
}

TEST_CASE("Bad solids are refused with the reason", "[solids]") {
  for (const SolidKind kind : all_solid_kinds) {
    INFO(name_of(kind));
    const SolidMesh good = make_solid_box(kind, {1, 1, 1}, {1, 1, 1});
    SolidMesh bad = good;
    bad.node[1] = bad.node[0];
    CHECK(describe_bad_element(bad, 0).find("a node twice") != std::string::npos);
    bad = good;
    for (std::size_t i = 0; i < bad.point.size(); i += 3)
      bad.point[i] *= -1; // mirrored
    CHECK(describe_bad_element(bad, 0).find("is inside out") != std::string::npos);
    bad = good;
    for (std::size_t i = 2; i < bad.point.size(); i += 3)
      bad.point[i] = 0;
    CHECK(describe_bad_element(bad, 0).find("no volume") != std::string::npos);
    bad = good;
    const std::size_t corner = 3 * std::size_t(bad.node[0]);
    bad.point[corner] = std::nan("");
    CHECK_FALSE(describe_bad_element(bad, 0).empty());
    if (!is_second_order(kind))
      continue;
    const std::size_t corners = std::size_t(shape_of(kind).num_corners);
    bad = good; // as programs with another order write them
    std::swap(bad.node[corners], bad.node[corners + 3]);
    CHECK(describe_bad_element(bad, 0).find("order of Abaqus") != std::string::npos);
    bad = good; // to an eighth of the edge, beyond the quarter where the Jacobian vanishes
    const std::int32_t ends[2] = {bad.node[0], bad.node[1]}, mid = bad.node[corners];
    for (std::size_t d = 0; d < 3; ++d)
      bad.point[3 * std::size_t(mid) + d] = 0.875 * bad.point[3 * std::size_t(ends[0]) + d] +
                                            0.125 * bad.point[3 * std::size_t(ends[1]) + d];
    CHECK(describe_bad_element(bad, 0).find("mid-nodes in the middle") != std::string::npos);
  }
}

TEST_CASE("Faces that do not fit are found", "[solids]") {
  SolidMesh mesh = make_solid_box(SolidKind::hexa20, {2, 1, 1}, {2, 1, 1});
  CHECK_FALSE(find_misfit_face(mesh));
  mesh.point.insert(mesh.point.end(), {1, 0.5, 0}); // a mid-node of its own
  const std::int32_t own = std::int32_t(mesh.num_points() - 1);
  for (std::size_t a = 28; a < 40; ++a) {
    const double* x = &mesh.point[3 * std::size_t(mesh.node[a])];
    if (x[0] == 1 && x[1] == 0.5 && x[2] == 0)
      mesh.node[a] = own;
  }
  const auto misfit = find_misfit_face(mesh);
  REQUIRE(misfit);
  CHECK(misfit->first == 0);
  CHECK(misfit->second == 1);
  CHECK_FALSE(misfit->too_many);
}

TEST_CASE("Supports of solids count by parts that share nodes", "[solids]") {
  const SolidMesh mesh = make_solid_box(SolidKind::tetra10, {2, 1, 1}, {2, 1, 1});
  CHECK(describe_free_motion(mesh, {{0, 7}}).find("can move freely") != std::string::npos);
  std::vector<HeldComponents> held;
  for (std::size_t n = 0; n < mesh.num_points(); ++n)
    if (mesh.point[3 * n] == 0)
      held.push_back({std::int32_t(n), 7});
  CHECK(describe_free_motion(mesh, held).empty());
}
