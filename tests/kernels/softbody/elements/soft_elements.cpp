// SPDX-License-Identifier: Apache-2.0
// Forces, tangents and energies of soft elements against the oracle and against each other.
#include "tests/backend_test.hpp"
#include "tests/kernels/image/host_values.hpp"
#include "tests/kernels/softbody/elements/soft_cases.hpp"
#include "tests/reference/soft_element.hpp"

#include <tuple>

namespace {

using namespace ossatura;
using namespace ossatura::test;

constexpr int num_elem = 3;
const std::vector<double> factors = {1.5, 0.7, 2};

/// Lame's coefficients of soft_material.
struct Lame {
  double lambda, mu;
};
Lame lame_of(const SoftMaterial& m) {
  return {m.young * m.poisson / ((1 + m.poisson) * (1 - 2 * m.poisson)),
          m.young / (2 * (1 + m.poisson))};
}

/// Turned, and stretched by a tenth or so.
std::vector<double> deformed(const std::vector<double>& x) {
  return mapped(test_rotation(), sum(x, 1, random_numbers(x.size(), 0.12, 3)), {{3, -2, 1}});
}

reference::SoftElement oracle_of(const ElementMesh& mesh, const SoftMaterial& material, int elem) {
  const int n = nodes_per_elem(mesh.shape);
  return {n,
          {mesh.point.begin() + 3 * n * elem, mesh.point.begin() + 3 * n * (elem + 1)},
          material.young * factors[elem],
          material.poisson,
          material.thickness};
}

/// What differs from the oracle, relative to the largest entry of the matrices.
struct OracleError {
  double force = 0, stiffness = 0, energy = 0;
};
OracleError oracle_error(const ElementMesh& mesh, const SoftCase& c, const std::vector<double>& x,
                         const std::vector<double>& before, const SoftResult& result,
                         double spared_tension) {
  const int n = 3 * result.nodes;
  OracleError error;
  double energy = 0, largest_k = 0;
  for (int e = 0; e < num_elem; ++e) {
    reference::SoftElement element = oracle_of(mesh, soft_material(c), e);
    element.spared_tension = spared_tension;
    const auto own = [&](const std::vector<double>& of) {
      return std::vector<double>(of.begin() + n * e, of.begin() + n * (e + 1));
    };
    const auto expected =
        element.corotational(own(x), own(before), c.rotation == SoftRotation::polar);
    energy += expected.energy;
    for (int i = 0; i < n; ++i) {
      error.force = std::max(error.force, std::abs(result.force[n * e + i] - expected.force[i]));
      for (int j = 0; j < n; ++j) {
        const double k = expected.stiffness(i, j);
        error.stiffness = std::max(error.stiffness, std::abs(result.entry(e, i, j) - k));
        largest_k = std::max(largest_k, std::abs(k));
      }
    }
  }
  error.energy = std::abs(result.energy - energy) / energy;
  error.force /= largest_k;
  error.stiffness /= largest_k;
  return error;
}

OSSATURA_BACKEND_TEST(
    "Corotational elements are R K0 (R^T x - X) and R K0 R^T, with what tension adds",
    "[soft_elements]") {
  const TestType exec;
  for (const SoftCase& c : soft_cases()) {
    if (c.is_hyperelastic())
      continue;
    const ElementMesh mesh = scattered_elements(c.shape, num_elem);
    auto elements = make_soft_elements(exec, mesh, soft_material(c), factors);
    // Elements that pull some ways, all ways and no way, and some of which a step carries; and
    // those that a step has turned to where they are.
    for (const auto& [size, spared, last_step] : {std::tuple{1.0, 0., 0.},
                                                  {1.4, 0., 0.},
                                                  {0.7, 0., 0.},
                                                  {1.0, 3., 0.},
                                                  {1.4, 3., 0.},
                                                  {1.0, 0., 0.5},
                                                  {1.4, 0., 0.5},
                                                  {1.4, 3., 0.5}}) {
      INFO(c.name() << ", size " << size << ", spared " << spared << ", last " << last_step);
      elements.spared_tension = spared * soft_material(c).young;
      elements.last_step = last_step;
      auto x = deformed(mesh.point), v = random_numbers(x.size(), 0.2, 5), before = x;
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] *= size;
        v[i] += i % 3 == 1 ? 0.8 * x[i + 1] : i % 3 == 2 ? -0.8 * x[i - 1] : 0;
        before[i] = x[i] - last_step * v[i];
      }
      const SoftResult result = evaluate(exec, elements, x, v);
      const OracleError error = oracle_error(mesh, c, x, before, result, elements.spared_tension);
      CHECK(largest(result.force) > 1e-3);
      CHECK(error.force < 1e-13);
      CHECK(error.stiffness < 1e-13);
      CHECK(error.energy < 1e-12);
      CHECK(result.inverted == 0);
    }
  }
}

OSSATURA_BACKEND_TEST("Hyperelastic energies are those of F", "[soft_elements]") {
  const TestType exec;
  for (const SoftCase& c : soft_cases()) {
    if (!c.is_hyperelastic())
      continue;
    const ElementMesh mesh = scattered_elements(c.shape, num_elem);
    const SoftMaterial m = soft_material(c);
    const auto x = deformed(mesh.point);
    double energy = 0;
    for (int e = 0; e < num_elem; ++e) {
      const auto element = oracle_of(mesh, m, e);
      const auto f = element.deformation_gradient({x.begin() + 12 * e, x.begin() + 12 * e + 12});
      const reference::HyperelasticEnergy law{lame_of(m).lambda, lame_of(m).mu, m.c1, m.c2, m.bulk};
      energy += factors[e] / 6 * determinant(element.jacobian(element.rest, {0, 0, 0})) *
                (c.law == SoftLaw::stvk            ? law.st_venant_kirchhoff(f)
                 : c.law == SoftLaw::mooney_rivlin ? law.mooney_rivlin(f)
                                                   : law.neo_hookean(f));
    }
    INFO(c.name());
    CHECK(energy > 1e-3);
    CHECK(evaluate(exec, make_soft_elements(exec, mesh, m, factors), x).energy ==
          Approx(energy).epsilon(1e-12));
  }
}

/// R S X of every node X at rest, with F = R U at x and S = sym(R_b^T F), R_b the rotation
/// `before`.
std::vector<double> less_turned(const ElementMesh& mesh, const SoftMaterial& m,
                                const std::vector<double>& x, const std::vector<double>& before) {
  std::vector<double> places;
  for (int e = 0; e < num_elem; ++e) {
    const auto element = oracle_of(mesh, m, e);
    const auto f = element.deformation_gradient({x.begin() + 12 * e, x.begin() + 12 * e + 12});
    const auto last =
        element.deformation_gradient({before.begin() + 12 * e, before.begin() + 12 * e + 12});
    auto s = product(transposed(reference::polar(last)), f);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < i; ++j)
        s(i, j) = s(j, i) = 0.5 * (s(i, j) + s(j, i));
    s = product(reference::polar(f), s);
    for (int a = 0; a < 4; ++a)
      for (int i = 0; i < 3; ++i) {
        places.push_back(0);
        for (int j = 0; j < 3; ++j)
          places.back() += s(i, j) * element.rest[3 * a + j];
      }
  }
  return places;
}

OSSATURA_BACKEND_TEST("Tangents of a step lack the stretch that its turning leaves",
                      "[soft_elements]") {
  const TestType exec;
  for (const SoftCase& c : soft_cases()) {
    if (!c.is_hyperelastic())
      continue;
    INFO(c.name());
    const ElementMesh mesh = scattered_elements(c.shape, num_elem);
    auto elements = make_soft_elements(exec, mesh, soft_material(c), factors);
    auto x = deformed(mesh.point), v = random_numbers(x.size(), 0.1, 5), before = x;
    for (std::size_t i = 0; i < x.size(); ++i) { // stretched all ways, before and after
      x[i] *= 1.7;
      v[i] += i % 3 == 1 ? 0.8 * x[i + 1] : i % 3 == 2 ? -0.8 * x[i - 1] : 0;
      before[i] = x[i] - 0.3 * v[i];
    }
    const SoftResult exact = evaluate(exec, elements, x),
                     turned =
                         evaluate(exec, elements, less_turned(mesh, soft_material(c), x, before));
    elements.last_step = 0.3;
    const SoftResult step = evaluate(exec, elements, x, v);
    const double size = largest(exact.stiffness);
    CHECK(largest(sum(step.force, -1, exact.force)) < 1e-13 * size);
    CHECK(largest(sum(step.stiffness, -1, turned.stiffness)) < 1e-12 * size);
    CHECK(largest(sum(step.stiffness, -1, exact.stiffness)) > 1e-3 * size);
    // A body that turns without a stretch has none to lack.
    const auto rigid = mapped(test_rotation(), mesh.point);
    const auto turning = sum(rigid, -1, mesh.point);
    elements.last_step = 1;
    const SoftResult still = evaluate(exec, elements, rigid, turning);
    elements.last_step = 0;
    const SoftResult as_it_is = evaluate(exec, elements, rigid);
    CHECK(largest(sum(still.stiffness, -1, as_it_is.stiffness)) < 1e-12 * size);
  }
}

OSSATURA_BACKEND_TEST("Forces are derivatives of the energy, tangents those of forces",
                      "[soft_elements]") {
  const TestType exec;
  for (const SoftCase& c : soft_cases()) {
    if (!c.has_energy())
      continue;
    INFO(c.name());
    const ElementMesh mesh = scattered_elements(c.shape, num_elem);
    const auto elements = make_soft_elements(exec, mesh, soft_material(c), factors);
    auto x = deformed(mesh.point);
    if (!c.is_hyperelastic()) // where they pull all ways, tangents are exact
      for (double& value : x)
        value *= 1.5;
    const SoftResult at = evaluate(exec, elements, x);
    const auto direction = random_numbers(x.size(), 1, 11);
    double slope = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      slope += at.force[i] * direction[i];
    const auto force_slope = at.times(direction);
    double energy_error[2], force_error[2];
    for (int k = 0; k < 2; ++k) {
      const double eps = k == 0 ? 2e-3 : 1e-3;
      const auto ahead = sum(x, eps, direction), behind = sum(x, -eps, direction);
      const double difference =
          evaluate(exec, elements, ahead).energy - evaluate(exec, elements, behind).energy;
      energy_error[k] = std::abs(difference / (2 * eps) - slope);
      const auto change = sum(forces(exec, elements, ahead), -1, forces(exec, elements, behind));
      force_error[k] = 0;
      for (std::size_t i = 0; i < x.size(); ++i)
        force_error[k] = std::max(force_error[k], std::abs(change[i] / (2 * eps) - force_slope[i]));
    }
    INFO("errors " << energy_error[0] << ' ' << energy_error[1]);
    CHECK(energy_error[1] < 1e-4 * largest(at.force));
    CHECK(energy_error[0] / energy_error[1] == Approx(4).epsilon(0.05));
    CHECK(force_error[1] < 1e-4 * largest(force_slope));
    CHECK(force_error[0] / force_error[1] == Approx(4).epsilon(0.05));
  }
}

OSSATURA_BACKEND_TEST("Corotational tangents are exact where there is no strain",
                      "[soft_elements]") {
  const TestType exec;
  for (const SoftCase& c : soft_cases()) {
    if (c.is_hyperelastic())
      continue;
    INFO(c.name());
    const ElementMesh mesh = scattered_elements(c.shape, num_elem);
    const auto elements = make_soft_elements(exec, mesh, soft_material(c), factors);
    const auto x = mapped(test_rotation(), mesh.point);
    const auto direction = random_numbers(x.size(), 1, 11);
    const auto slope = evaluate(exec, elements, x).times(direction);
    double error[2];
    for (int k = 0; k < 2; ++k) {
      const double eps = k == 0 ? 2e-3 : 1e-3;
      const auto change = sum(forces(exec, elements, sum(x, eps, direction)), -1,
                              forces(exec, elements, sum(x, -eps, direction)));
      error[k] = 0;
      for (std::size_t i = 0; i < x.size(); ++i)
        error[k] = std::max(error[k], std::abs(change[i] / (2 * eps) - slope[i]));
    }
    CHECK(error[1] < 1e-4 * largest(slope));
    CHECK(error[0] / error[1] == Approx(4).epsilon(0.05));
  }
}

OSSATURA_BACKEND_TEST("Matrices of bricks that pull are exact, and all are positive semidefinite",
                      "[soft_elements]") {
  const TestType exec;
  const SoftCase c{ElementShape::hexa, SoftLaw::corotational, SoftRotation::polar};
  ElementMesh mesh = scattered_elements(c.shape, 1);
  mesh.point = {0, 0, 0,   1, 0, 0,   1, 0.8, 0,   0, 0.8, 0,
                0, 0, 1.2, 1, 0, 1.2, 1, 0.8, 1.2, 0, 0.8, 1.2};
  const auto elements = make_soft_elements(exec, mesh, soft_material(c), {});
  const auto direction = random_numbers(24, 1, 11);
  for (const Vector3& stretch :
       {Vector3{{1.3, 1.2, 1.1}}, Vector3{{1.3, 0.8, 0.75}}, Vector3{{0.7, 0.9, 0.8}}}) {
    INFO("stretch " << stretch[0]);
    const auto x =
        mapped(test_rotation() *
                   Matrix3{{{{stretch[0], 0, 0}}, {{0, stretch[1], 0}}, {{0, 0, stretch[2]}}}},
               mesh.point);
    const SoftResult at = evaluate(exec, elements, x);
    reference::Dense k(24, 24);
    for (int i = 0; i < 24; ++i)
      for (int j = 0; j < 24; ++j)
        k(i, j) = at.entry(0, i, j) + (i == j ? 1e-12 * largest(at.stiffness) : 0);
    for (int p = 0; p < 24; ++p) { // Cholesky's pivots
      CHECK(k(p, p) > 0);
      for (int i = p + 1; i < 24; ++i)
        for (int j = p + 1; j < 24; ++j)
          k(i, j) -= k(i, p) * k(p, j) / k(p, p);
    }
    if (stretch[2] < 1)
      continue;
    const auto slope = at.times(direction);
    const auto change = sum(forces(exec, elements, sum(x, 1e-5, direction)), -1,
                            forces(exec, elements, sum(x, -1e-5, direction)));
    CHECK(largest(sum(change, -2e-5, slope)) < 2e-5 * 1e-7 * largest(slope));
  }
}

OSSATURA_BACKEND_TEST("Velocities and scales enter as f + s K v and t K", "[soft_elements]") {
  const TestType exec;
  for (const SoftCase& c : soft_cases()) {
    INFO(c.name());
    const ElementMesh mesh = scattered_elements(c.shape, num_elem);
    const auto elements = make_soft_elements(exec, mesh, soft_material(c), factors);
    const auto x = deformed(mesh.point), v = random_numbers(x.size(), 1, 5);
    const SoftResult plain = evaluate(exec, elements, x);
    const SoftResult scaled = evaluate(exec, elements, x, v, 0.3, 2.5);
    CHECK(largest(sum(sum(scaled.force, -1, plain.force), -0.3, plain.times(v))) <
          1e-13 * largest(plain.stiffness));
    CHECK(largest(sum(scaled.stiffness, -2.5, plain.stiffness)) < 1e-13 * largest(plain.stiffness));
  }
}

OSSATURA_BACKEND_TEST("A rigid motion makes no force, and matrices are symmetric without net force",
                      "[soft_elements]") {
  const TestType exec;
  for (const SoftCase& c : soft_cases()) {
    INFO(c.name());
    const ElementMesh mesh = scattered_elements(c.shape, num_elem);
    const auto elements = make_soft_elements(exec, mesh, soft_material(c), factors);
    const SoftResult moved =
        evaluate(exec, elements, mapped(test_rotation(), mesh.point, {{0.3, -2, 1}}));
    const double k = largest(moved.stiffness);
    CHECK(largest(moved.force) < 1e-14 * k);
    CHECK(std::abs(moved.energy) < 1e-14 * k);

    const SoftResult at = evaluate(exec, elements, deformed(mesh.point));
    const int n = 3 * at.nodes;
    double asymmetry = 0, net = 0;
    for (int e = 0; e < num_elem; ++e)
      for (int i = 0; i < n; ++i)
        for (int d = 0; d < 3; ++d) {
          double row = 0;
          for (int a = 0; a < at.nodes; ++a)
            row += at.entry(e, i, 3 * a + d);
          net = std::max(net, std::abs(row));
          const int j = i / 3 * 3 + d;
          asymmetry = std::max(asymmetry, std::abs(at.entry(e, i, j) - at.entry(e, j, i)));
        }
    CHECK(asymmetry < 1e-14 * k);
    CHECK(net < 1e-13 * k);
  }
}

OSSATURA_BACKEND_TEST("Forces and matrices turn with the body", "[soft_elements]") {
  const TestType exec;
  const Matrix3 q = test_rotation();
  for (const SoftCase& c : soft_cases()) {
    INFO(c.name());
    const ElementMesh mesh = scattered_elements(c.shape, num_elem);
    const auto elements = make_soft_elements(exec, mesh, soft_material(c), factors);
    const auto x = deformed(mesh.point);
    const SoftResult at = evaluate(exec, elements, x);
    const SoftResult turned = evaluate(exec, elements, mapped(q, x, {{1, 2, 3}}));
    const double k = largest(at.stiffness);
    CHECK(largest(sum(turned.force, -1, mapped(q, at.force))) < 1e-13 * k);
    std::vector<double> expected;
    for (std::size_t i = 0; i < at.stiffness.size(); i += 9) {
      Matrix3 block;
      for (int j = 0; j < 9; ++j)
        block(j / 3, j % 3) = at.stiffness[i + j];
      block = times_transposed(q * block, q);
      for (int j = 0; j < 9; ++j)
        expected.push_back(block(j / 3, j % 3));
    }
    CHECK(largest(sum(turned.stiffness, -1, expected)) < 1e-13 * k);
    CHECK(turned.energy == Approx(at.energy).epsilon(1e-12));
  }
}

template<class Element, class Exec>
double difference_of_teams(const Exec& exec, const SoftElements<Exec>& elements,
                           const std::vector<double>& positions, int& inverted) {
  const auto x = upload(exec, "test::x", positions);
  std::vector<double> result[2];
  for (int way = 0; way < 2; ++way) {
    const std::int64_t n = elements.num_elem;
    const auto force = make_zeros<double>(exec, n * Element::nodes * 3, "test::force");
    const auto stiffness =
        make_zeros<double>(exec, n * pairs_per_elem(Element::shape) * 9, "test::stiffness");
    const auto count = make_zeros<int>(exec, 1, "test::inverted");
    const detail::SoftInput input = detail::soft_input(elements, x);
    const detail::SoftOutput output{force, stiffness, count};
    if (way == 0)
      detail::evaluate_in_teams<Exec, Element>(exec, input, output);
    else
      Kokkos::parallel_for("test::evaluate", range(exec, n),
                           detail::EvaluateElement<Element>{input, output});
    exec.fence();
    result[way] = host_values(force);
    const auto k = host_values(stiffness);
    result[way].insert(result[way].end(), k.begin(), k.end());
    inverted = host_values(count)[0];
  }
  return largest(sum(result[0], -1, result[1])) / largest(result[1]);
}

OSSATURA_BACKEND_TEST("Teams, which devices use, and threads give the same", "[soft_elements]") {
  const TestType exec;
  int inverted = 0;
  const auto law = SoftLaw::corotational;
  const auto polar = SoftRotation::polar;
  for (int count : {1, 32, 77}) {
    const ElementMesh mesh = scattered_elements(ElementShape::tetra, count);
    const auto elements =
        make_soft_elements(exec, mesh, soft_material({mesh.shape, law, polar}), {});
    CHECK(difference_of_teams<detail::CorotationalSimplex<ElementShape::tetra, polar>>(
              exec, elements, deformed(mesh.point), inverted) < 1e-14);
    CHECK(inverted == 0);
  }
  const ElementMesh mesh = scattered_elements(ElementShape::hexa, 19);
  const auto elements = make_soft_elements(exec, mesh, soft_material({mesh.shape, law, polar}), {});
  auto x = deformed(mesh.point);
  for (double& value : x)
    value = -value;
  CHECK(difference_of_teams<detail::CorotationalHexa<polar>>(exec, elements, x, inverted) < 1e-13);
  CHECK(inverted == 19);
}

} // namespace
