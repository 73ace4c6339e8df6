// SPDX-License-Identifier: Apache-2.0
// Topology optimisation: gradients against differences, resumed runs, passive elements, mechanisms,
// refusals and breakdowns.
#include "tests/backend_test.hpp"
#include "tests/solvers/topopt/design_gradients.hpp"
#include <ossatura/kernels/hexa/geometry.hpp>

#include <algorithm>
#include <numeric>
#include <random>

namespace {

using namespace ossatura;
using namespace ossatura::test;
using Values = std::vector<double>;

/// The same with an output and springs at both ports.
DesignProblem small_mechanism() {
  DesignProblem problem = small_problem();
  const std::int32_t last = std::int32_t(problem.mesh.num_points()) - 1;
  problem.output = {{last - 6, {0, 0.5, 1}}};
  problem.springs = {{last - 6, 2, 10}, {last, 0, 3}};
  return problem;
}

OSSATURA_BACKEND_TEST("Variables are set where elements are free", "[design_optimizer]") {
  const TestType exec;
  const DesignProblem problem = small_problem();
  DesignOptions options = options_with(1e-12);
  options.radius = 0.6;
  DesignOptimizer<TestType> optimizer(exec, problem, options), other(exec, problem, options);
  optimizer.step(exec);
  DesignState state = rough_state(exec, optimizer, problem);
  Values x = state.x;
  x[7] = 0.5; // solid
  x[29] = 1;  // void
  optimizer.set_variables(exec, upload(exec, "x", x));
  CHECK(optimizer.variables(exec) == state.x);
  CHECK(optimizer.num_steps() == 1);
  other.set_state(exec, state);
  CHECK(optimizer.densities(exec) == other.densities(exec));
  CHECK(optimizer.analyse(exec).objective == Approx(other.analyse(exec).objective).epsilon(1e-9));

  for (const double wrong : {-0.1, 1.1, std::nan("")}) {
    Values bad = x;
    bad[3] = wrong;
    CHECK_THROWS_WITH(optimizer.set_variables(exec, upload(exec, "x", bad)),
                      ContainsSubstring("1 variables are not from 0 to 1"));
  }
  CHECK_THROWS_WITH(optimizer.set_variables(exec, upload(exec, "x", Values(3, 0.5))),
                    ContainsSubstring("3 variables of 45 elements"));
  CHECK(optimizer.variables(exec) == state.x);
}

OSSATURA_BACKEND_TEST("Gradients are those of differences", "[design_optimizer][slow]") {
  const TestType exec;
  DesignOptions options = options_with(1e-12);
  options.radius = 0.6;
  options.min_modulus = 1e-3;
  for (DesignObjective objective : {DesignObjective::compliance, DesignObjective::mechanism}) {
    options.objective = objective;
    const DesignProblem problem =
        objective == DesignObjective::mechanism ? small_mechanism() : small_problem();
    for (DesignFilter filter :
         {DesignFilter::none, DesignFilter::density, DesignFilter::helmholtz}) {
      options.filter = filter;
      options.projection = filter != DesignFilter::none;
      options.sharpness.start = 3;
      check_gradients(exec, problem, options);
    }
  }
  options.projection = false;
  check_gradients(exec, small_mechanism(), options);
}

/// The same problem with nodes and elements in another order; `elem` tells where elements come
/// from.
DesignProblem renumbered(const DesignProblem& problem, std::vector<std::size_t>& elem) {
  std::mt19937 random(31);
  std::vector<std::size_t> node(problem.mesh.num_points()); // new numbers
  std::iota(node.begin(), node.end(), 0u);
  std::shuffle(node.begin(), node.end(), random);
  elem.resize(problem.mesh.num_elem());
  std::iota(elem.begin(), elem.end(), 0u);
  std::shuffle(elem.begin(), elem.end(), random);
  DesignProblem other = problem;
  const auto number = [&](std::int32_t& n) { n = std::int32_t(node[std::size_t(n)]); };
  for (std::size_t i = 0; i < problem.mesh.point.size(); ++i)
    other.mesh.point[3 * node[i / 3] + i % 3] = problem.mesh.point[i];
  for (std::size_t i = 0; i < problem.mesh.node.size(); ++i) {
    other.mesh.node[i] = problem.mesh.node[8 * elem[i / 8] + i % 8];
    number(other.mesh.node[i]);
  }
  for (std::size_t e = 0; e < elem.size(); ++e)
    other.role[e] = problem.role[elem[e]];
  for (HeldComponents& held : other.held)
    number(held.node);
  for (DesignLoadCase& c : other.cases)
    for (NodeForce& force : c.loads.forces)
      number(force.node);
  return other;
}

OSSATURA_BACKEND_TEST("The order of nodes and elements does not matter", "[design_optimizer]") {
  const TestType exec;
  for (DesignFilter filter : {DesignFilter::density, DesignFilter::helmholtz}) {
    DesignOptions options = options_with(1e-11);
    options.filter = filter;
    options.method = filter == DesignFilter::density ? DesignMethod::oc : DesignMethod::mma;
    std::vector<std::size_t> from;
    const DesignProblem problem = small_problem(), other = renumbered(problem, from);
    DesignOptimizer<TestType> a(exec, problem, options), b(exec, other, options);
    for (int k = 0; k < 4; ++k)
      CHECK(a.step(exec).objective == Approx(b.step(exec).objective).epsilon(1e-8));
    const Values x = a.variables(exec), y = b.variables(exec);
    double gap = 0;
    for (std::size_t e = 0; e < from.size(); ++e)
      gap = std::max(gap, std::fabs(x[from[e]] - y[e]));
    CHECK(gap < 1e-6);
  }
}

OSSATURA_BACKEND_TEST("A resumed run is the uninterrupted one to the last bit",
                      "[design_optimizer]") {
  const TestType exec;
  for (DesignMethod method : {DesignMethod::oc, DesignMethod::mma}) {
    DesignOptions options = options_with(1e-6);
    options.method = method;
    options.penalty = {2, 3, 2, 1, 0.5};
    options.projection = method == DesignMethod::mma;
    options.sharpness = {1, 8, 2, 2};
    const DesignProblem problem = method == DesignMethod::oc ? small_problem() : small_mechanism();
    if (method == DesignMethod::mma)
      options.objective = DesignObjective::mechanism;
    DesignOptimizer<TestType> whole(exec, problem, options), resumed(exec, problem, options);
    for (int k = 0; k < 4; ++k)
      whole.step(exec);
    if (method == DesignMethod::oc) // coarse levels of an earlier step
      CHECK(whole.state(exec).preconditioner.age.matrices > 1);
    resumed.set_state(exec, whole.state(exec));
    CHECK(resumed.densities(exec) == whole.densities(exec));
    for (int k = 0; k < 3; ++k) {
      const DesignStep a = whole.step(exec), b = resumed.step(exec);
      CHECK(a.number == b.number);
      CHECK(a.objective == b.objective);
      CHECK(a.change == b.change);
      CHECK(a.penalty == b.penalty);
      CHECK(a.sharpness == b.sharpness);
    }
    const DesignState a = whole.state(exec), b = resumed.state(exec);
    CHECK(a.x == b.x);
    CHECK(a.low == b.low);
    CHECK(a.displacement == b.displacement);
    CHECK(a.penalty == 3);
    CHECK(a.preconditioner.modulus == b.preconditioner.modulus);
    CHECK(a.preconditioner.age.matrices == b.preconditioner.age.matrices);
    CHECK(a.preconditioner.age.excess == b.preconditioner.age.excess);
    CHECK(a.preconditioner.age.rate == b.preconditioner.age.rate);
  }
}

OSSATURA_BACKEND_TEST("Designs keep passive elements, bounds and the volume",
                      "[design_optimizer]") {
  const TestType exec;
  for (DesignFilter filter : {DesignFilter::none, DesignFilter::sensitivity, DesignFilter::density,
                              DesignFilter::helmholtz})
    for (DesignMethod method : {DesignMethod::oc, DesignMethod::mma}) {
      DesignOptions options = options_with(1e-6);
      options.filter = filter;
      options.method = method;
      options.volume_fraction = 0.4;
      options.max_steps = 15;
      options.projection = filter == DesignFilter::density;
      options.sharpness = {1, 4, 5, 2};
      const DesignProblem problem = small_problem();
      DesignOptimizer<TestType> optimizer(exec, problem, options);
      DesignStep first, last;
      while (!optimizer.is_done()) {
        last = optimizer.step(exec);
        first = last.number == 1 ? last : first;
        CHECK(last.change <= options.move + 1e-12);
      }
      INFO("filter " << name_of(filter) << ", " << name_of(method));
      CHECK(optimizer.num_steps() == 15);
      last = optimizer.analyse(exec);
      CHECK(last.number == 0);
      // Filters and projection move the passive elements' share.
      CHECK(first.volume == Approx(0.4).epsilon(options.projection ? 0.1 : 0.02));
      CHECK(last.volume < 0.4 * (options.projection ? 1.02 : 1.001));
      CHECK(last.volume > 0.4 * 0.97);
      CHECK(last.objective < 0.8 * first.objective);
      CHECK(last.objective == Approx(0.7 * last.cases[0] + 1.3 * last.cases[1]));
      const Values x = optimizer.variables(exec), rho = optimizer.densities(exec);
      CHECK(rho[7] == 1);
      CHECK(rho[29] == 0);
      CHECK(x[7] == 1);
      CHECK(x[29] == 0);
      CHECK(*std::min_element(x.begin(), x.end()) >= 0);
      CHECK(*std::max_element(x.begin(), x.end()) <= 1);
      // Half the work of the loads, and the loads' way through the displacements.
      const Values energy = optimizer.energies(exec), u = optimizer.displacements(exec, 1),
                   volume = download(exec, optimizer.body().volume().value);
      CHECK(std::inner_product(energy.begin(), energy.end(), volume.begin(), 0.0) ==
            Approx(0.5 * (last.cases[0] + last.cases[1])).epsilon(1e-5));
      CHECK(u[u.size() - 3] + 0.2 * u[u.size() - 2] == Approx(last.cases[1]).epsilon(1e-12));
    }
}

OSSATURA_BACKEND_TEST("A mechanism learns to push its output the right way", "[design_optimizer]") {
  const TestType exec;
  for (DesignMethod method : {DesignMethod::oc, DesignMethod::mma}) {
    DesignProblem problem;
    problem.mesh = make_hexa_box({10, 5, 1}, {10, 5, 1});
    hold(problem, 7, [](double x, double y, double) { return x < 0.1 && y < 1.1; });
    hold(problem, 2, [](double, double y, double) { return y > 4.9; }); // symmetry
    hold(problem, 4, [](double, double, double) { return true; });
    problem.cases.resize(1);
    for (int z = 0; z < 2; ++z) {
      const int in = node_at(problem, 0, 5, z), out = node_at(problem, 10, 5, z);
      problem.cases[0].loads.forces.push_back({in, {0.5, 0, 0}});
      problem.output.push_back({out, {-0.5, 0, 0}});
      problem.springs.insert(problem.springs.end(), {{in, 0, 0.05}, {out, 0, 0.05}});
    }
    DesignOptions options = options_with(1e-8);
    options.objective = DesignObjective::mechanism;
    options.method = method;
    options.move = method == DesignMethod::oc ? 0.1 : 0.2;
    options.min_modulus = 1e-3;
    options.max_steps = 30;
    DesignOptimizer<TestType> optimizer(exec, problem, options);
    const double first = optimizer.step(exec).objective;
    while (!optimizer.is_done())
      optimizer.step(exec);
    INFO(name_of(method));
    CHECK(first < 0); // a block pushes its output away
    CHECK(optimizer.analyse(exec).objective > 0.1);
  }
}

OSSATURA_BACKEND_TEST("A step that cannot be trusted is not taken", "[design_optimizer]") {
  const TestType exec;
  DesignOptions options = options_with(1e-10);
  options.solver.cg.max_iterations = 2;
  options.solver.preconditioner = HexaPreconditioner::jacobi;
  DesignOptimizer<TestType> optimizer(exec, small_problem(), options);
  const DesignState before = optimizer.state(exec);
  CHECK_THROWS_WITH(optimizer.step(exec), ContainsSubstring("load case 1: no solution"));
  CHECK_THROWS_AS(optimizer.analyse(exec), DesignBreakdown);
  const DesignState after = optimizer.state(exec);
  CHECK(after.steps == 0);
  CHECK(after.x == before.x);
  CHECK(after.displacement == before.displacement);
}

OSSATURA_BACKEND_TEST("Problems that make no sense are refused", "[design_optimizer]") {
  const TestType exec;
  const auto refuses = [&](const DesignProblem& problem, const DesignOptions& options,
                           const char* why) {
    CHECK_THROWS_WITH(DesignOptimizer<TestType>(exec, problem, options), ContainsSubstring(why));
  };
  const DesignProblem good = small_problem();
  DesignProblem bad = good;
  bad.cases.clear();
  refuses(bad, options_with(1e-6), "no load case");
  bad = good;
  bad.cases[1].loads.forces = {{0, {1, 2, 3}}}; // held
  refuses(bad, options_with(1e-6), "load case 2 (along): nothing on components that are free");
  bad.cases[1].loads.forces = {{4000, {1, 2, 3}}};
  refuses(bad, options_with(1e-6), "node 4000");
  bad = good;
  bad.role.pop_back();
  refuses(bad, options_with(1e-6), "44 roles of 45 elements");
  bad = good;
  bad.role.assign(45, DesignRole::solid);
  refuses(bad, options_with(1e-6), "no element is free");
  bad.role[3] = DesignRole::free;
  refuses(bad, options_with(1e-6), "solid elements are");
  bad = good;
  bad.output = {{3, {1, 0, 0}}};
  refuses(bad, options_with(1e-6), "mechanisms alone");
  bad = good;
  bad.mirrors = {{0, 1}};
  refuses(bad, options_with(1e-6), "cuts the body");
  bad.mirrors = {{3, 1}};
  refuses(bad, options_with(1e-6), "normal to axis 3");
  DesignOptions options = options_with(1e-6);
  options.volume_fraction = 1;
  refuses(good, options, "volume fraction");
  options = options_with(1e-6);
  options.filter = DesignFilter::sensitivity;
  options.projection = true;
  refuses(good, options, "projection is of filtered densities");
  options = options_with(1e-6);
  options.penalty = {1, 3, 5};
  refuses(good, options, "does not grow");
  options = options_with(1e-6);
  options.objective = DesignObjective::mechanism;
  refuses(good, options, "output");
  DesignOptimizer<TestType> optimizer(exec, good, options_with(1e-6));
  DesignState state = optimizer.state(exec);
  state.displacement.pop_back();
  CHECK_THROWS_AS(optimizer.set_state(exec, state), std::invalid_argument);
}

} // namespace
