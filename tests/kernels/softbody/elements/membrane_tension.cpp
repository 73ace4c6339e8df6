// SPDX-License-Identifier: Apache-2.0
// Stiffness of flat membranes across their plane, against differences of their forces.
#include "tests/backend_test.hpp"
#include "tests/kernels/softbody/elements/soft_cases.hpp"
#include "tests/reference/soft_element.hpp"

namespace {

using namespace ossatura;
using namespace ossatura::test;

/// Two triangles of one plane, and what they give to their four points.
struct TrianglePair {
  ElementMesh mesh;

  TrianglePair() {
    mesh.shape = ElementShape::triangle;
    mesh.point = {0, 0, 0, 1, 0.1, 0, 0.9, 1.2, 0, -0.1, 0.8, 0};
    mesh.node = {0, 1, 2, 0, 2, 3};
  }
  std::vector<double> sum_force(const std::vector<double>& of_elements) const {
    std::vector<double> sums(12);
    for (int i = 0; i < 18; ++i)
      sums[3 * mesh.node[i / 3] + i % 3] += of_elements[i];
    return sums;
  }
  reference::Dense sum_stiffness(const SoftResult& at) const {
    reference::Dense k(12, 12);
    for (int e = 0; e < 2; ++e)
      for (int i = 0; i < 9; ++i)
        for (int j = 0; j < 9; ++j)
          k(3 * mesh.node[3 * e + i / 3] + i % 3, 3 * mesh.node[3 * e + j / 3] + j % 3) +=
              at.entry(e, i, j);
    return k;
  }
};

/// Whether all pivots of Cholesky's factorisation of a + shift I are positive.
bool is_positive(reference::Dense a, double shift) {
  for (int p = 0; p < a.rows; ++p) {
    a(p, p) += shift;
    if (!(a(p, p) > 0))
      return false;
    for (int i = p + 1; i < a.rows; ++i)
      for (int j = p + 1; j < a.rows; ++j)
        a(i, j) -= a(i, p) * a(p, j) / a(p, p);
  }
  return true;
}

OSSATURA_BACKEND_TEST("A flat membrane is as stiff across its plane as it pulls",
                      "[membrane_tension]") {
  const TestType exec;
  const TrianglePair pair;
  const Matrix3 q = test_rotation();
  const auto waves = random_numbers(4, 1, 23), moves = random_numbers(12, 0.05, 29);
  // Stretch along x and y, displacements along the normal, and what of the exact tangent is there.
  enum class Along { all, x, y };
  struct {
    double x, y;
    Along along;
    bool pulls;
  } const states[] = {{1.4, 1.3, Along::all, true},
                      {0.8, 0.75, Along::all, false},
                      {1.5, 0.7, Along::x, true},
                      {1.5, 0.7, Along::y, false},
                      {0.6, 1.4, Along::y, true}};
  for (SoftRotation rotation : {SoftRotation::polar, SoftRotation::qr}) {
    const SoftCase c{pair.mesh.shape, SoftLaw::corotational, rotation};
    const auto elements = make_soft_elements(exec, pair.mesh, soft_material(c), {});
    for (const auto& s : states) {
      if (rotation == SoftRotation::qr && s.along != Along::all)
        continue; // its strain has other axes than the stretch
      INFO(c.name() << ", stretch " << s.x << ' ' << s.y << ", along " << int(s.along));
      const Matrix3 map = q * Matrix3{{{{s.x, 0, 0}}, {{0, s.y, 0}}, {{0, 0, 1}}}};
      auto rest = pair.mesh.point;
      std::vector<double> direction;
      for (int a = 0; a < 4; ++a)
        for (int d = 0; d < 3; ++d) {
          if (s.along == Along::all && d < 2)
            rest[3 * a + d] += moves[3 * a + d]; // the two triangles pull unlike
          const double wave = s.along == Along::all ? waves[a]
                              : s.along == Along::x ? rest[3 * a]
                                                    : rest[3 * a + 1];
          direction.push_back(wave * q(d, 2));
        }
      const auto x = mapped(map, rest, {{1, -2, 0.5}});
      const SoftResult at = evaluate(exec, elements, x);
      const reference::Dense k = pair.sum_stiffness(at);
      const double size = largest(k.value);
      CHECK(largest(sum(k.value, -1, transposed(k).value)) < 1e-15 * size);
      CHECK(is_positive(k, 1e-12 * size));

      std::vector<double> slope(12);
      for (int i = 0; i < 144; ++i)
        slope[i / 12] += k.value[i] * direction[i % 12];
      if (!s.pulls) {
        CHECK(largest(slope) < 1e-14 * size);
        continue;
      }
      CHECK(largest(slope) > 0.01 * size);
      double error[2];
      for (int step = 0; step < 2; ++step) {
        const double eps = step == 0 ? 2e-3 : 1e-3;
        const auto ahead = forces(exec, elements, sum(x, eps, direction));
        const auto behind = forces(exec, elements, sum(x, -eps, direction));
        const auto change = pair.sum_force(sum(ahead, -1, behind));
        error[step] = 0;
        for (int i = 0; i < 12; ++i)
          error[step] = std::max(error[step], std::abs(change[i] / (2 * eps) - slope[i]));
      }
      if (rotation == SoftRotation::polar) {
        CHECK(error[1] < 1e-5 * largest(slope));
        CHECK(error[0] / error[1] == Approx(4).epsilon(0.05));
      } else {
        CHECK(error[1] < 0.1 * largest(slope)); // the derivative is not symmetric
      }
    }
  }
}

} // namespace
