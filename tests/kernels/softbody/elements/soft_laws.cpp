// SPDX-License-Identifier: Apache-2.0
// Soft elements in homogeneous stretch, inside out, refused; and the rotations of nodes.
#include "tests/backend_test.hpp"
#include "tests/kernels/image/host_values.hpp"
#include "tests/kernels/softbody/elements/soft_cases.hpp"
#include "tests/reference/soft_element.hpp"
#include <ossatura/kernels/softbody/elements/node_rotations.hpp>

namespace {

using namespace ossatura;
using namespace ossatura::test;

Matrix3 stretch(double x, double y, double z) {
  return {{{{x, 0, 0}}, {{0, y, 0}}, {{0, 0, z}}}};
}

/// Cauchy's stress in a tetrahedron stretched along the axes: sum of f_a x_a^T over the volume.
template<class Exec>
Matrix3 cauchy_stress(const Exec& exec, SoftLaw law, double x, double y, double z) {
  const SoftCase c{ElementShape::tetra, law, SoftRotation::polar};
  const ElementMesh mesh = scattered_elements(c.shape, 1);
  const auto elements = make_soft_elements(exec, mesh, soft_material(c), {});
  const auto now = mapped(stretch(x, y, z), mesh.point);
  const auto force = forces(exec, elements, now);
  const auto edge = [&](int a) {
    return Vector3{{now[3 * a] - now[0], now[3 * a + 1] - now[1], now[3 * a + 2] - now[2]}};
  };
  const double volume = dot(cross(edge(1), edge(2)), edge(3)) / 6;
  Matrix3 stress = zero_matrix();
  for (int a = 0; a < 4; ++a)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        stress(i, j) += force[3 * a + i] * now[3 * a + j] / volume;
  return stress;
}

OSSATURA_BACKEND_TEST("Homogeneous stretch has the stress of closed forms", "[soft_laws]") {
  const TestType exec;
  const SoftMaterial m = soft_material({ElementShape::tetra, SoftLaw::stvk, SoftRotation::polar});
  const double nu = m.poisson, mu = m.young / (2 * (1 + nu)), lambda = 2 * mu * nu / (1 - 2 * nu);
  for (double s : {0.7, 1.3}) {
    { // St Venant-Kirchhoff: Hooke's law between Green's strain and S; sigma = F S F^T / J
      const double strain = 0.5 * (s * s - 1);
      const double side = std::sqrt(1 - 2 * nu * strain);
      const Matrix3 uniaxial = cauchy_stress(exec, SoftLaw::stvk, s, side, side);
      CHECK(uniaxial(0, 0) == Approx(m.young * strain * s / (side * side)).epsilon(1e-12));
      CHECK(std::abs(uniaxial(1, 1)) < 1e-13);
      const double thin = std::sqrt(1 - 4 * nu / (1 - nu) * strain);
      const Matrix3 biaxial = cauchy_stress(exec, SoftLaw::stvk, s, s, thin);
      CHECK(biaxial(0, 0) == Approx(m.young / (1 - nu) * strain / thin).epsilon(1e-12));
      CHECK(biaxial(1, 1) == Approx(biaxial(0, 0)).epsilon(1e-12));
      CHECK(std::abs(biaxial(2, 2)) < 1e-13);
      CHECK(std::abs(biaxial(0, 1)) < 1e-13);
    }
    { // Mooney-Rivlin without change of volume, and with that alone
      const auto law = SoftLaw::mooney_rivlin;
      const Matrix3 uniaxial = cauchy_stress(exec, law, s, 1 / std::sqrt(s), 1 / std::sqrt(s));
      CHECK(uniaxial(0, 0) - uniaxial(1, 1) ==
            Approx(2 * (s * s - 1 / s) * (m.c1 + m.c2 / s)).epsilon(1e-12));
      const Matrix3 biaxial = cauchy_stress(exec, law, s, s, 1 / (s * s));
      CHECK(biaxial(0, 0) - biaxial(2, 2) ==
            Approx(2 * (s * s - std::pow(s, -4)) * (m.c1 + m.c2 * s * s)).epsilon(1e-12));
      CHECK(std::abs(trace(biaxial)) < 1e-13); // the rest is deviatoric
      const Matrix3 volume = cauchy_stress(exec, law, s, s, s);
      CHECK(volume(0, 0) == Approx(m.bulk * 3 * std::log(s) / (s * s * s)).epsilon(1e-12));
      CHECK(volume(1, 1) == Approx(volume(0, 0)).epsilon(1e-12));
    }
    { // neo-Hookean: sigma = (mu B + (lambda + mu) J (J - alpha)) / J
      const auto law = SoftLaw::neo_hookean;
      const double sum = lambda + mu, alpha = 1 + mu / sum;
      const double side = std::sqrt((alpha - mu / (sum * s)) / s);
      const Matrix3 uniaxial = cauchy_stress(exec, law, s, side, side);
      CHECK(uniaxial(0, 0) ==
            Approx(mu * (s * s - side * side) / (s * side * side)).epsilon(1e-12));
      CHECK(std::abs(uniaxial(1, 1)) < 1e-13);
      // mu t^2 + (lambda + mu) J (J - alpha) = 0 with J = s^2 t
      const double thin = alpha * sum * s * s / (mu + sum * s * s * s * s);
      const Matrix3 biaxial = cauchy_stress(exec, law, s, s, thin);
      CHECK(biaxial(0, 0) == Approx(mu * (s * s - thin * thin) / (s * s * thin)).epsilon(1e-12));
      CHECK(std::abs(biaxial(2, 2)) < 1e-13);
    }
  }
}

OSSATURA_BACKEND_TEST("At rest every law is Hooke's", "[soft_laws]") {
  const TestType exec;
  const ElementMesh mesh = scattered_elements(ElementShape::tetra, 2);
  const auto stiffness = [&](const SoftMaterial& material) {
    return evaluate(exec, make_soft_elements(exec, mesh, material, {}), mesh.point).stiffness;
  };
  SoftMaterial m = soft_material({mesh.shape, SoftLaw::corotational, SoftRotation::polar});
  const auto expected = stiffness(m);
  for (SoftLaw law : name_table<SoftLaw>.without(SoftLaw::corotational)) {
    m.law = law;
    m.c1 = m.young / (4 * (1 + m.poisson)) - m.c2; // 2 (c1 + c2) = mu
    m.bulk = m.young / (3 * (1 - 2 * m.poisson));
    INFO(name_of(law));
    CHECK(largest(sum(stiffness(m), -1, expected)) < 1e-13 * largest(expected));
  }
}

OSSATURA_BACKEND_TEST("Elements that are flat, points or inside out stay finite", "[soft_laws]") {
  const TestType exec;
  const Matrix3 q = test_rotation();
  for (const SoftCase& c : soft_cases()) {
    const ElementMesh mesh = scattered_elements(c.shape, 2);
    const auto elements = make_soft_elements(exec, mesh, soft_material(c), {});
    const int solid = c.shape == ElementShape::triangle ? 0 : 2;
    struct {
      Matrix3 map;
      int inverted;
    } const deformations[] = {
        {q * stretch(-1, -1, -1), solid}, {q * stretch(1, -0.3, 1.2), solid},
        {stretch(1e-9, -1e-9, 1), solid}, {q * stretch(1.5, 0.6, -1e-3), solid},
        {stretch(0, 0, 0), solid},        {stretch(1, 0, 1), solid},
        {q * stretch(2, 0.5, 0.01), 0},   {times_transposed(q * stretch(1, 2, 1e-4), q), 0},
        {stretch(1e3, 1e3, 1e3), 0},
    };
    for (const auto& d : deformations) {
      INFO(c.name() << ", J = " << determinant(d.map));
      const auto x = mapped(d.map, mesh.point);
      const SoftResult at = evaluate(exec, elements, x, x, 0.1);
      CHECK(std::isfinite(largest(at.force)));
      CHECK(std::isfinite(largest(at.stiffness)));
      CHECK(std::isfinite(at.energy));
      CHECK(at.inverted == d.inverted);
    }
  }
}

OSSATURA_BACKEND_TEST("A Mooney-Rivlin element without volume is the corotational one",
                      "[soft_laws]") {
  const TestType exec;
  SoftMaterial m =
      soft_material({ElementShape::tetra, SoftLaw::mooney_rivlin, SoftRotation::polar});
  const ElementMesh mesh = scattered_elements(ElementShape::tetra, 2);
  const auto x = mapped(test_rotation() * stretch(1, -0.4, 1.1), mesh.point);
  const auto v = random_numbers(x.size(), 1, 2);
  const SoftResult at = evaluate(exec, make_soft_elements(exec, mesh, m, {}), x, v, 0.2);
  m.law = SoftLaw::corotational;
  const double mu = 2 * (m.c1 + m.c2);
  m.young = 9 * m.bulk * mu / (3 * m.bulk + mu);
  m.poisson = m.young / (2 * mu) - 1;
  const SoftResult expected = evaluate(exec, make_soft_elements(exec, mesh, m, {}), x, v, 0.2);
  CHECK(largest(sum(at.force, -1, expected.force)) < 1e-13 * largest(expected.stiffness));
  CHECK(largest(sum(at.stiffness, -1, expected.stiffness)) < 1e-13 * largest(expected.stiffness));
  CHECK(at.energy == Approx(expected.energy).epsilon(1e-12));
  CHECK(at.inverted == 2);
}

OSSATURA_BACKEND_TEST("Unusable elements and materials are refused", "[soft_laws]") {
  const TestType exec;
  const auto refused = [&](const ElementMesh& mesh, const SoftMaterial& m,
                           const std::vector<double>& factor, const std::string& reason) {
    CHECK_THROWS_WITH(make_soft_elements(exec, mesh, m, factor), ContainsSubstring(reason));
    CHECK_THROWS_AS(make_soft_elements(exec, mesh, m, factor), std::invalid_argument);
  };
  for (ElementShape shape : {ElementShape::triangle, ElementShape::tetra, ElementShape::hexa}) {
    const SoftCase c{shape, SoftLaw::corotational, SoftRotation::polar};
    const ElementMesh mesh = scattered_elements(shape, 3);
    const SoftMaterial good = soft_material(c);
    const std::string name = name_of(shape);

    ElementMesh flat = mesh; // node 1 and its neighbours of the last element
    const int n = nodes_per_elem(shape);
    if (shape == ElementShape::hexa)
      for (int i = 24; i < 72; i += 3)
        flat.point[2 * 24 + i % 24 + 2] = flat.point[48 + 2];
    else
      flat.node[2 * n + 1] = flat.node[2 * n];
    refused(flat, good, {}, name + " 2 has no volume");
    if (shape != ElementShape::triangle) {
      ElementMesh reversed = mesh;
      for (double& value : reversed.point)
        value = -value;
      refused(reversed, good, {}, name + " 0 has a negative volume");
      refused(mesh, good, {1, 1}, "2 factors");
    }
    ElementMesh outside = mesh;
    outside.node[n] = 3 * n;
    refused(outside, good, {}, name + " 1 has node " + std::to_string(3 * n));
    refused(mesh, good, {1, 0, 1}, "element 1 is 0");
    SoftMaterial bad = good;
    if (shape != ElementShape::tetra) {
      bad.law = SoftLaw::stvk;
      refused(mesh, bad, {}, "stvk is for tetrahedra");
    }
  }
  const ElementMesh triangle = scattered_elements(ElementShape::triangle, 1);
  SoftMaterial bad = soft_material({triangle.shape, SoftLaw::corotational, SoftRotation::polar});
  bad.thickness = 0;
  refused(triangle, bad, {}, "thickness is 0");
  const ElementMesh tetra = scattered_elements(ElementShape::tetra, 1);
  for (const SoftLaw law : name_table<SoftLaw>)
    for (const SoftParameter& p : soft_parameters)
      for (const double value : {p.lower - 1e-9, p.lower, p.upper, double(NAN)}) {
        bad = soft_material({tetra.shape, law, SoftRotation::polar});
        bad.*p.value = value;
        if (p.is_of(law) && !p.admits(value))
          refused(tetra, bad, {}, std::string(name_of(law)) + " has " + p.name + " = ");
        else
          CHECK_NOTHROW(make_soft_elements(exec, tetra, bad, {}));
      }
  bad = soft_material({tetra.shape, SoftLaw::mooney_rivlin, SoftRotation::polar});
  bad.c1 = bad.c2 = 0;
  refused(tetra, bad, {}, "c1 + c2 > 0");
  bad = soft_material({tetra.shape, SoftLaw::stvk, SoftRotation::polar});
  for (const double ratio : {-1., 0.5}) { // the ends of the range, by hand
    bad.poisson = ratio;
    refused(tetra, bad, {}, "Poisson's ratio");
  }
}

template<class Exec>
std::vector<double> rotations(const Exec& exec, const NodeRotations<Exec>& nodes,
                              const std::vector<double>& x) {
  const auto rotation = make_uninitialized<double>(exec, nodes.num_nodes * 9, "test::rotation");
  node_rotations(exec, nodes, upload(exec, "test::x", x), rotation);
  exec.fence();
  return host_values(rotation);
}

/// Deformation gradients of the elements around each node, added up by volume, of the oracle.
std::vector<reference::Dense> sum_gradients(const std::vector<ElementMesh>& meshes,
                                            const std::vector<double>& rest,
                                            const std::vector<double>& x) {
  std::vector<reference::Dense> sum(x.size() / 3, reference::Dense(3, 3));
  for (const ElementMesh& mesh : meshes) {
    const int n = nodes_per_elem(mesh.shape);
    for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
      reference::SoftElement element{n, {}, 1, 0, 1};
      std::vector<double> now;
      for (int i = 0; i < 3 * n; ++i) {
        element.rest.push_back(rest[3 * mesh.node[e * n + i / 3] + i % 3]);
        now.push_back(x[3 * mesh.node[e * n + i / 3] + i % 3]);
      }
      const double volume =
          determinant(element.jacobian(element.rest, {0, 0, 0})) * (n == 8 ? 8.0 : 1.0 / 6);
      const auto f = element.deformation_gradient(now);
      for (int a = 0; a < n; ++a)
        for (int c = 0; c < 9; ++c)
          sum[mesh.node[e * n + a]].value[c] += volume * f.value[c];
    }
  }
  return sum;
}

OSSATURA_BACKEND_TEST("Nodes turn with the elements around them", "[soft_laws]") {
  const TestType exec;
  // A fan of tetrahedra about node 0, more than a node has lanes, a hexahedron at node 0 and a
  // triangle elsewhere, and a node of no element.
  const int fan = 40;
  ElementMesh tetra;
  tetra.point = {0, 0, 0, 0, 0, 1};
  for (int i = 0; i < fan; ++i) {
    const double angle = 2 * Kokkos::numbers::pi * i / fan;
    tetra.point.insert(tetra.point.end(), {std::cos(angle), std::sin(angle), 0.1 * (i % 3)});
    tetra.node.insert(tetra.node.end(), {0, 2 + i, 2 + (i + 1) % fan, 1});
  }
  const int hexa_first = int(tetra.num_points());
  ElementMesh hexa = scattered_elements(ElementShape::hexa, 1), triangle;
  tetra.point.insert(tetra.point.end(), hexa.point.begin(), hexa.point.end());
  for (std::int32_t& node : hexa.node)
    node = node == 0 ? 0 : node + hexa_first;
  triangle.shape = ElementShape::triangle;
  triangle.node = {3, 2, hexa_first + 6};
  hexa.point = triangle.point = tetra.point;
  const auto elements_of = [&](const ElementMesh& mesh, SoftRotation rotation) {
    return make_soft_elements(exec, mesh,
                              soft_material({mesh.shape, SoftLaw::corotational, rotation}), {});
  };
  const int num_nodes = int(tetra.num_points()), unused = hexa_first;
  const NodeRotations<TestType> nodes = make_node_rotations<TestType>(
      exec,
      {elements_of(tetra, SoftRotation::qr), elements_of(hexa, SoftRotation::polar),
       elements_of(triangle, SoftRotation::polar)},
      num_nodes);

  const Matrix3 q = test_rotation();
  const auto rigid = rotations(exec, nodes, mapped(q, tetra.point, {{1, 2, 3}}));
  // R of the polar decomposition of q s, s symmetric and positive, is q. Triangles turn otherwise.
  const auto strained = rotations(
      exec, nodes,
      mapped(q * Matrix3{{{{1.2, 0.1, 0}}, {{0.1, 0.8, 0.05}}, {{0, 0.05, 1}}}}, tetra.point));
  double rigid_error = 0, strained_error = 0;
  for (int i = 0; i < num_nodes; ++i)
    for (int c = 0; c < 9; ++c) {
      const double expected = i == unused ? c % 4 == 0 : q(c / 3, c % 3);
      rigid_error = std::max(rigid_error, std::abs(rigid[9 * i + c] - expected));
      if (i != 2 && i != 3 && i != hexa_first + 6)
        strained_error = std::max(strained_error, std::abs(strained[9 * i + c] - expected));
    }
  CHECK(rigid_error < 1e-14);
  CHECK(strained_error < 1e-14);
  CHECK(rotations(exec, nodes, mapped(q, tetra.point, {{1, 2, 3}})) == rigid);

  const auto x = mapped(q, sum(tetra.point, 1, random_numbers(tetra.point.size(), 0.03, 4)));
  const auto bent = rotations(exec, nodes, x);
  const std::vector<reference::Dense> sum_around = sum_gradients({tetra, hexa}, tetra.point, x);
  double bent_error = 0;
  for (int i : {0, 1, 4, 5, hexa_first + 1}) {
    const auto expected = reference::polar(sum_around[i]);
    for (int c = 0; c < 9; ++c)
      bent_error = std::max(bent_error, std::abs(bent[9 * i + c] - expected.value[c]));
  }
  CHECK(bent_error < 1e-13);

  // Inside out, they are rotations all the same.
  for (double value : rotations(exec, nodes, mapped(stretch(-1, 1, 0.5), tetra.point)))
    CHECK(std::abs(value) <= 1 + 1e-14);
}

OSSATURA_BACKEND_TEST("A triangle takes its normal along and turns as its plane does",
                      "[soft_laws]") {
  const TestType exec;
  const Matrix3 q = test_rotation();
  ElementMesh flat;
  flat.shape = ElementShape::triangle;
  flat.point = {0, 0, 0, 1, 0.2, 0, -0.1, 0.8, 0};
  flat.node = {0, 1, 2};
  const NodeRotations<TestType> flat_nodes = make_node_rotations<TestType>(
      exec,
      {make_soft_elements(
          exec, flat, soft_material({flat.shape, SoftLaw::corotational, SoftRotation::qr}), {})},
      3);
  const auto turned =
      rotations(exec, flat_nodes,
                mapped(q * Matrix3{{{{1.3, 0.2, 0}}, {{0.2, 0.7, 0}}, {{0, 0, 1}}}}, flat.point));
  for (int i = 0; i < 27; ++i)
    CHECK(turned[i] == Approx(q(i % 9 / 3, i % 3)).margin(1e-14));
}

} // namespace
