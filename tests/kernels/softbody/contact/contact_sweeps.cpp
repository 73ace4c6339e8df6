// SPDX-License-Identifier: Apache-2.0
// Contact forces of given compliances: closed forms, and frictionless contact by trying all sets of
// contacts that press.
#include "tests/backend_test.hpp"
#include "tests/reference/dense_solve.hpp"
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/softbody/contact/projected_gauss_seidel.hpp>

#include <algorithm>
#include <random>

namespace {

using namespace ossatura;

struct Solution {
  std::vector<double> force, motion;
  int sweeps;
  double residual;
};

template<class Exec>
struct Problem {
  Compliance<Exec> compliance;
  ContactPairs<Exec> pairs;
  Array<double, Exec> free_motion;
  SweepSpace<Exec> space;
};

/// compliance [3 pairs, 3 pairs]; the forces are `start`.
template<class Exec>
Problem<Exec> make_problem(const Exec& exec, const std::vector<double>& compliance,
                           const std::vector<double>& free_motion, double friction,
                           std::vector<double> start = {}) {
  const int n = int(free_motion.size());
  Problem<Exec> problem;
  problem.compliance.num_pairs = problem.pairs.num_pairs = n / 3;
  const int stride = problem.compliance.stride = n + 5;
  std::vector<double> entries(n * stride, 1e30); // padding is not read
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      entries[i * stride + j] = compliance[i * n + j];
  problem.compliance.value = upload(exec, "test::compliance", entries);
  ContactPair pair{};
  pair.friction = friction;
  problem.pairs.pair = upload(exec, "test::pairs", std::vector<ContactPair>(n / 3, pair));
  start.resize(n, 0.);
  problem.pairs.multiplier = upload(exec, "test::multiplier", start);
  problem.free_motion = upload(exec, "test::free_motion", free_motion);
  return problem;
}

template<class Exec>
Solution look(const Exec& exec, const Problem<Exec>& problem) {
  Solution solution;
  const ContactErrors errors =
      measure_contact_errors(exec, problem.pairs, problem.space.motion, problem.space);
  const SweepResult sweeps = look_at_sweeps(exec, problem.space);
  solution.residual =
      std::max(errors.complementarity, errors.friction) / (sweeps.scale > 0 ? sweeps.scale : 1);
  const auto host = [&](const Array<double, Exec>& array) {
    std::vector<double> values = download(exec, array);
    values.resize(3 * std::size_t(problem.pairs.num_pairs));
    return values;
  };
  solution.force = host(problem.pairs.multiplier);
  solution.motion = host(problem.space.motion);
  solution.sweeps = sweeps.sweeps;
  return solution;
}

template<class Exec>
Solution sweep(const Exec& exec, const std::vector<double>& compliance,
               const std::vector<double>& free_motion, double friction,
               const std::vector<double>& start = {}, int max_sweeps = 2000) {
  Problem<Exec> problem = make_problem(exec, compliance, free_motion, friction, start);
  sweep_contacts(exec, problem.pairs, problem.compliance, problem.free_motion, max_sweeps, 1e-13,
                 problem.space);
  return look(exec, problem);
}

/// B^T B + I / 10 of a random square B.
std::vector<double> random_compliance(std::mt19937& random, int n) {
  std::vector<double> b(n * n), a(n * n, 0.);
  for (double& entry : b)
    entry = random() / 2147483648. - 1;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      a[i * n + j] = i == j ? 0.1 : 0;
      for (int k = 0; k < n; ++k)
        a[i * n + j] += b[k * n + i] * b[k * n + j];
    }
  return a;
}

const std::vector<double> simple = {2, 0, 0, 0, 4, 0, 0, 0, 4};

} // namespace

OSSATURA_BACKEND_TEST("One contact opens, presses, sticks and slides as the closed forms say",
                      "[contact_sweeps]") {
  const TestType exec;
  { // apart: no force, and one that was there goes
    const auto open = sweep(exec, simple, {0.1, 1, 2}, 0.5, {3, 1, 1});
    CHECK(open.force == std::vector<double>{0, 0, 0});
    CHECK(open.motion == std::vector<double>{0.1, 1, 2});
    CHECK(open.residual == 0);
  }
  { // without friction
    const auto pressed = sweep(exec, simple, {-1, 1, 2}, 0);
    CHECK(pressed.force == std::vector<double>{0.5, 0, 0});
    CHECK(pressed.motion == std::vector<double>{0, 1, 2});
    CHECK(pressed.residual < 1e-15);
  }
  { // |friction| of 0.05 stops a sliding of 0.2, the cone has room for 0.25
    const auto sticks = sweep(exec, simple, {-1, 0.12, -0.16}, 0.5);
    CHECK(sticks.force[0] == Approx(0.5).epsilon(1e-14));
    CHECK(sticks.force[1] == Approx(-0.03).epsilon(1e-14));
    CHECK(sticks.force[2] == Approx(0.04).epsilon(1e-14));
    CHECK(std::abs(sticks.motion[1]) + std::abs(sticks.motion[2]) < 1e-15);
  }
  { // the cone has room for 0.25 of 1.25
    const auto slides = sweep(exec, simple, {-1, 3, -4}, 0.5);
    CHECK(slides.force[1] == Approx(-0.15).epsilon(1e-12));
    CHECK(slides.force[2] == Approx(0.2).epsilon(1e-12));
    CHECK(slides.motion[1] == Approx(3 - 0.6).epsilon(1e-12));
    CHECK(slides.motion[2] == Approx(-4 + 0.8).epsilon(1e-12));
    CHECK(slides.residual < 1e-12);
  }
  CHECK(sweep(exec, simple, {0, 0, 0}, 0.5).residual == 0);
  CHECK(sweep(exec, simple, {NAN, 0, 0}, 0.5).residual == INFINITY);
}

OSSATURA_BACKEND_TEST("Friction opposes the sliding where the compliance depends on the direction",
                      "[contact_sweeps]") {
  const TestType exec;
  std::mt19937 random(3);
  int sliding = 0;
  for (int trial = 0; trial < 20; ++trial) {
    const int n = trial < 10 ? 3 : 9;
    const auto compliance = random_compliance(random, n);
    std::vector<double> free_motion;
    for (int i = 0; i < n; ++i)
      free_motion.push_back(i % 3 == 0 ? -1 : random() / 1073741824. - 2);
    const auto solution = sweep(exec, compliance, free_motion, 0.3);
    REQUIRE(solution.residual < 1e-10);
    const auto moved = reference::dense_product(compliance, solution.force);
    for (int i = 0; i < n; i += 3) {
      const double* f = &solution.force[i];
      const double* u = &solution.motion[i];
      for (int c = 0; c < 3; ++c)
        CHECK(u[c] == Approx(free_motion[i + c] + moved[i + c]).margin(1e-12));
      const double friction = std::hypot(f[1], f[2]), speed = std::hypot(u[1], u[2]);
      CHECK(f[0] >= 0);
      CHECK(u[0] > -1e-9);
      CHECK(std::abs(f[0] * u[0]) < 1e-9);
      CHECK(friction <= 0.3 * f[0] * (1 + 1e-12));
      if (speed > 1e-6 && f[0] > 0) {
        ++sliding;
        CHECK(f[1] * u[1] + f[2] * u[2] == Approx(-0.3 * f[0] * speed).epsilon(1e-8));
      }
    }
  }
  CHECK(sliding > 10);
}

OSSATURA_BACKEND_TEST("Frictionless contact presses where trying all cases says",
                      "[contact_sweeps]") {
  const TestType exec;
  std::mt19937 random(4);
  for (int trial = 0; trial < 30; ++trial) {
    const int pairs = 1 + trial % 3, n = 3 * pairs;
    const auto compliance = random_compliance(random, n);
    std::vector<double> free_motion;
    for (int i = 0; i < n; ++i)
      free_motion.push_back(random() / 2147483648. - 1.2);
    // Of a positive definite compliance, one set of pressing contacts has forces and gaps that are
    // not negative.
    int found = 0;
    std::vector<double> expected;
    for (int set = 0; set < 1 << pairs; ++set) {
      std::vector<int> member;
      for (int p = 0; p < pairs; ++p)
        if (set >> p & 1)
          member.push_back(3 * p);
      const int m = int(member.size());
      std::vector<double> block, gap, force(n, 0.);
      for (const int i : member) {
        gap.push_back(-free_motion[i]);
        for (const int j : member)
          block.push_back(compliance[i * n + j]);
      }
      const auto pressing =
          m > 0 ? reference::dense_product(reference::dense_inverse(block, m), gap) : gap;
      bool valid = true;
      for (int k = 0; k < m; ++k) {
        force[member[k]] = pressing[k];
        valid = valid && pressing[k] >= 0;
      }
      const auto moved = reference::dense_product(compliance, force);
      for (int p = 0; p < pairs; ++p)
        valid = valid && ((set >> p & 1) || free_motion[3 * p] + moved[3 * p] >= 0);
      if (valid) {
        ++found;
        expected = force;
      }
    }
    REQUIRE(found == 1);
    const auto solution = sweep(exec, compliance, free_motion, 0);
    for (int i = 0; i < n; ++i)
      CHECK(solution.force[i] == Approx(expected[i]).margin(1e-10));
  }
}

OSSATURA_BACKEND_TEST("Sweeps start from given forces, and repeated pairs share theirs",
                      "[contact_sweeps]") {
  const TestType exec;
  std::mt19937 random(5);
  const auto compliance = random_compliance(random, 9);
  const std::vector<double> free_motion = {-1, 0.4, 0.2, -2, 0.1, 0, -0.5, 0, 0.3};
  const auto cold = sweep(exec, compliance, free_motion, 0.4);
  const auto warm = sweep(exec, compliance, free_motion, 0.4, cold.force);
  CHECK(cold.sweeps > 5);
  CHECK(warm.sweeps <= 2);
  CHECK(sweep(exec, compliance, free_motion, 0.4).force == cold.force);
  // One sweep is not enough, which the residual tells.
  CHECK(sweep(exec, compliance, free_motion, 0.4, {}, 1).residual > 1e-3);

  // The same pair twice: a singular compliance.
  std::vector<double> twice(36);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      twice[i * 6 + j] = simple[i % 3 * 3 + j % 3];
  const auto both = sweep(exec, twice, {-1, 3, -4, -1, 3, -4}, 0.5);
  CHECK(both.force[0] + both.force[3] == Approx(0.5));
  CHECK(both.motion[1] == Approx(2.4));
  CHECK(both.motion[5] == Approx(-3.2));
}

OSSATURA_BACKEND_TEST("Contacts of all numbers meet the conditions of contact",
                      "[contact_sweeps]") {
  // Groups of 16 on devices: a part of one, whole ones, and more than Newton's method takes at
  // once.
  const TestType exec;
  std::mt19937 random(11);
  for (const int pairs : {2, 16, 17, 33, 48, 90, 150}) {
    CAPTURE(pairs);
    const int n = 3 * pairs;
    std::vector<double> compliance = random_compliance(random, n), free_motion(n);
    for (int i = 0; i < n; ++i)
      compliance[i * n + i] += 0.2 * n; // pairs move each other less than themselves
    for (double& motion : free_motion)
      motion = random() / 2147483648. - 1;
    const auto solution = sweep(exec, compliance, free_motion, 0.3);
    CHECK(solution.residual < 1e-11);
    CHECK(sweep(exec, compliance, free_motion, 0.3).force == solution.force);
    int pressed = 0;
    for (int p = 0; p < pairs; ++p) {
      double moved[3];
      for (int c = 0; c < 3; ++c) {
        moved[c] = free_motion[3 * p + c];
        for (int j = 0; j < n; ++j)
          moved[c] += compliance[(3 * p + c) * n + j] * solution.force[j];
      }
      const double* const force = &solution.force[3 * p];
      const double friction = std::hypot(force[1], force[2]), slid = std::hypot(moved[1], moved[2]);
      CHECK(moved[0] > -1e-10);
      CHECK(force[0] >= 0);
      CHECK(force[0] * moved[0] < 1e-10);
      CHECK(friction <= 0.3 * force[0] * (1 + 1e-10));
      // What slides has all of its friction, against the motion.
      if (force[0] > 0 && slid > 1e-8) {
        CHECK(friction == Approx(0.3 * force[0]).epsilon(1e-8));
        CHECK(force[1] * moved[1] + force[2] * moved[2] == Approx(-friction * slid).epsilon(1e-6));
      }
      pressed += force[0] > 0;
    }
    CHECK(pressed > 0);
    CHECK((pairs < 48 || pressed < pairs));
  }
}

OSSATURA_BACKEND_TEST("Newton's method for all pairs that press ends where sweeps end",
                      "[contact_sweeps]") {
  const TestType exec;
  std::mt19937 random(12);
  constexpr int pairs = 60, n = 3 * pairs;
  // All numbers twice: a singular compliance, of which pairs share their forces.
  for (const bool twice : {false, true}) {
    CAPTURE(twice);
    const std::vector<double> once = random_compliance(random, n);
    std::vector<double> compliance(n * n), free_motion(n);
    const auto place = [&](int i) { return twice ? i / 6 * 3 + i % 3 : i; };
    std::vector<double> motions(n);
    for (double& motion : motions)
      motion = random() / 1073741824. - 3;
    for (int i = 0; i < n; ++i) {
      free_motion[i] = motions[place(i)];
      for (int j = 0; j < n; ++j)
        compliance[i * n + j] = once[place(i) * n + place(j)];
    }
    auto problem = make_problem(exec, compliance, free_motion, 0.3);
    sweep_contacts(exec, problem.pairs, problem.compliance, problem.free_motion, 1, 1e-13,
                   problem.space);
    detail::run_sweeps(exec, problem.pairs, problem.compliance, problem.free_motion,
                       detail::SweepLimits{1, 6, 1e-13, 0}, problem.space);
    detail::set_motions(exec, problem.pairs, problem.compliance, problem.free_motion,
                        problem.space);
    const Solution started = look(exec, problem);
    REQUIRE(started.sweeps == 6);
    const double scale = look_at_sweeps(exec, problem.space).scale;
    const auto newton = [&](double goal) {
      return find_contacts_by_newton(exec, problem.pairs, problem.compliance, problem.free_motion,
                                     goal * scale, problem.space);
    };
    REQUIRE(started.residual > 1e-6);
    CHECK(newton(1e-13));
    const Solution found = look(exec, problem);
    CHECK(found.residual < 1e-12);
    int pressed = 0, open = 0;
    for (int p = 0; p < pairs; ++p)
      ++(found.force[3 * p] > 0 ? pressed : open);
    CHECK(pressed > 10);
    CHECK(open > 2);
    const Solution swept = sweep(exec, compliance, free_motion, 0.3);
    for (int i = 0; i < n; ++i)
      CHECK(found.motion[i] == Approx(swept.motion[i]).margin(1e-10));
    CHECK_FALSE(newton(1e-3)); // which is there already
    CHECK(look(exec, problem).force == found.force);
  }
}
