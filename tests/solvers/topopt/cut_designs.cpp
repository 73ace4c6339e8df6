// SPDX-License-Identifier: Apache-2.0
// Designs on voxels that ranks solve for together: courses, designs and fields have the same bits
// for any number of ranks, and are those without a cut to what the tolerance leaves.
#include "tests/backend_test.hpp"
#include "tests/solvers/topopt/design_problems.hpp"
#include <ossatura/solvers/topopt/balance.hpp>
#include <ossatura/solvers/topopt/optimizer.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace {

using namespace ossatura;
using namespace ossatura::test;
using Values = std::vector<double>;

/// An L of 13 x 6 x 9 cubes with two load cases, elements that are solid and void, and two
/// materials.
DesignProblem cut_lattice() {
  DesignProblem problem;
  problem.lattice = std::make_shared<const LatticeBody>(
      make_lattice_box({13, 6, 9}, {13, 6, 9}, {5, 0, 4}, {13, 6, 9}));
  const LatticeRows& node = problem.lattice->node();
  for (std::int32_t n = 0; n < std::int32_t(node.size()); ++n)
    if (node.place(n)[0] == 0)
      problem.held.push_back({n, 7});
  problem.held.push_back({node.number({9, 0, 0}), 2});
  problem.cases.resize(2);
  problem.cases[0] = {
      {"down", {{node.number({13, 3, 2}), {0, 0, -1}}, {node.number({13, 4, 2}), {0, 0, -1}}}},
      0.7};
  problem.cases[1] = {{"aside", {{node.number({4, 6, 9}), {0.2, 1, 0}}}}, 1.3};
  problem.role.assign(problem.num_elem(), DesignRole::free);
  problem.role[7] = DesignRole::solid;
  problem.role[29] = DesignRole::void_;
  return problem;
}

DesignProblem of_two_materials(DesignProblem problem) {
  problem.materials = {HexaMaterial(), HexaMaterial()};
  problem.materials[0].young = 1;
  problem.materials[1].young = 3;
  for (HexaMaterial& one : problem.materials)
    one.poisson = problem.poisson;
  problem.material.assign(problem.num_elem(), 0);
  std::fill_n(problem.material.begin(), problem.num_elem() / 3, std::uint8_t(1));
  return problem;
}

DesignOptions cut_options(const std::optional<Communicator>& ranks) {
  DesignOptions options = options_with(1e-7);
  options.grid = DesignGrid::voxels;
  options.voxels.multigrid.direct_nodes = 60;
  options.min_modulus = 1e-4;
  options.ranks = ranks;
  return options;
}

/// All that a run brings to the host.
struct Course {
  Values steps; ///< objectives, cases, volumes, changes, values of limits
  Values density, energy, stress;
  std::vector<Values> displacement;
  Values forces;
  DesignState state;
};

template<class Exec>
Course take_course(const Exec& exec, const DesignProblem& problem, const DesignOptions& options,
                   int num_steps) {
  DesignOptimizer<Exec> optimizer(exec, problem, options);
  Course course;
  const auto note = [&](const DesignStep& step) {
    course.steps.insert(course.steps.end(), {step.objective, step.volume, step.change, step.grey});
    course.steps.insert(course.steps.end(), step.cases.begin(), step.cases.end());
    for (const DesignLimitValue& one : step.limits)
      course.steps.insert(course.steps.end(), {one.value, one.mean, one.solid});
    for (const SolveResult& solve : step.solves)
      course.steps.insert(course.steps.end(), {double(solve.iterations), solve.residual});
  };
  for (int k = 0; k < num_steps; ++k)
    note(optimizer.step(exec));
  optimizer.meet_volume(exec);
  note(optimizer.analyse(exec));
  course.density = optimizer.densities(exec);
  course.energy = optimizer.energies(exec);
  course.stress = optimizer.stresses(exec);
  for (int k = 0; k < 2; ++k)
    course.displacement.push_back(optimizer.displacements(exec, k));
  std::vector<std::int32_t> nodes(problem.num_nodes());
  std::iota(nodes.rbegin(), nodes.rend(), 0);
  const DesignForces forces = optimizer.forces(exec, 1, nodes);
  course.forces = forces.force;
  course.forces.insert(course.forces.end(), forces.displacement.begin(), forces.displacement.end());
  course.forces.push_back(forces.work);
  course.forces.push_back(balance_design(exec, problem, optimizer, 0).energy);
  const LargestValues largest = optimizer.largest_values(exec, 1);
  course.forces.insert(course.forces.end(), {largest.displacement, largest.stress});
  course.state = optimizer.state(exec);
  return course;
}

double largest_apart(const Values& a, const Values& b) {
  double apart = a.size() == b.size() ? 0 : 1e300, size = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    apart = std::max(apart, std::fabs(a[i] - b[i]));
    size = std::max(size, std::fabs(b[i]));
  }
  return apart / size;
}

/// Among all ranks against one with a cut, in bits, and against none.
template<class Exec>
void check_course(const Exec& exec, const DesignProblem& problem, const DesignOptions& options,
                  int num_steps) {
  const Communicator world = Communicator::world();
  DesignOptions by_all = options, alone = options, whole = options;
  by_all.ranks = world;
  alone.ranks = Communicator();
  whole.ranks.reset();
  const Course cut = take_course(exec, problem, by_all, num_steps);
  // What all have is the same.
  Values first = cut.density;
  world.broadcast(first);
  CHECK(first == cut.density);
  if (!world.is_first())
    return;
  const Course one = take_course(exec, problem, alone, num_steps),
               none = take_course(exec, problem, whole, num_steps);
  CHECK(cut.steps == one.steps);
  CHECK(cut.density == one.density);
  CHECK(cut.energy == one.energy);
  CHECK(cut.stress == one.stress);
  CHECK(cut.displacement == one.displacement);
  CHECK(cut.forces == one.forces);
  CHECK(cut.state.x == one.state.x);
  CHECK(cut.state.displacement == one.state.displacement);
  CHECK(largest_apart(cut.density, none.density) < 1e-4);
  CHECK(largest_apart(cut.energy, none.energy) < 1e-4);
  CHECK(largest_apart(cut.stress, none.stress) < 1e-4);
  for (std::size_t k = 0; k < 2; ++k)
    CHECK(largest_apart(cut.displacement[k], none.displacement[k]) < 1e-4);
  CHECK(largest_apart(cut.forces, none.forces) < 1e-4);
}

OSSATURA_RANKS_TEST("Courses of designs have the same bits for any number of ranks",
                    "[cut_designs]") {
  const TestType exec;
  check_course(exec, cut_lattice(), cut_options({}), 3);
  DesignOptions options = cut_options({});
  options.method = DesignMethod::mma;
  options.projection = true;
  options.robust = 0.2;
  options.warm_start = false;
  check_course(exec, of_two_materials(cut_lattice()), options, 2);
}

OSSATURA_RANKS_TEST("Limits of stresses and displacements have the same bits", "[cut_designs]") {
  const TestType exec;
  DesignProblem problem = cut_lattice();
  DesignLimit stress, displacement;
  stress.kind = DesignLimitKind::stress;
  stress.limit = 4;
  displacement.kind = DesignLimitKind::displacement;
  displacement.limit = 30;
  displacement.load_case = 0;
  displacement.direction = {{problem.lattice->node().number({13, 3, 2}), {0, 0, -1}}};
  problem.limits = {stress, displacement};
  DesignOptions options = cut_options({});
  options.method = DesignMethod::mma;
  options.move = move_with_stress;
  check_course(exec, problem, options, 2);
}

OSSATURA_RANKS_TEST("Designs that are heavy, turn, are warm and are moved have the same bits",
                    "[cut_designs]") {
  const TestType exec;
  DesignProblem problem = of_two_materials(cut_lattice());
  problem.materials[0].density = 0.01;
  problem.materials[1].density = 0.02;
  problem.materials[0].expansion = 0.01;
  BodyLoad gravity, rotation;
  gravity.acceleration = {0.1, 0.3, -1};
  rotation.square_speed = 0.2;
  rotation.origin = {4, 1, 7};
  rotation.axis = {0.6, 0, 0.8};
  problem.cases[0].loads.body = {gravity, rotation};
  const LatticeRows& node = problem.lattice->node();
  problem.cases[1].loads = {"moved", {}};
  for (int j = 1; j < 6; ++j) {
    const std::int32_t moved = node.number({13, j, 2});
    problem.held.push_back({moved, 2});
    problem.cases[1].loads.displacements.push_back({moved, 1, 0.1 * j});
  }
  problem.cases[1].loads.body = {gravity};
  for (std::size_t n = 0; n < problem.num_nodes(); ++n)
    problem.cases[1].loads.warming.push_back(double(n % 11) - 3);
  DesignOptions options = cut_options({});
  options.method = DesignMethod::mma;
  check_course(exec, problem, options, 2);
}

OSSATURA_RANKS_TEST("A state of one number of ranks goes on with another", "[cut_designs]") {
  const TestType exec;
  const Communicator world = Communicator::world();
  const DesignProblem problem = cut_lattice();
  DesignOptimizer<TestType> alone(exec, problem, cut_options({Communicator()})),
      together(exec, problem, cut_options({world}));
  alone.step(exec);
  together.set_state(exec, alone.state(exec));
  CHECK(together.state(exec).displacement == alone.state(exec).displacement);
  const DesignStep other = together.step(exec), one = alone.step(exec);
  CHECK(other.objective == one.objective);
  CHECK(other.solves[1].iterations == one.solves[1].iterations);
  CHECK(together.variables(exec) == alone.variables(exec));
}

OSSATURA_RANKS_TEST("The bound of the compliance has the same bits", "[cut_designs]") {
  const TestType exec;
  const DesignProblem problem = cut_lattice();
  const auto bound = [&](const Communicator& ranks) {
    DesignOptimizer<TestType> optimizer(exec, problem, cut_options({ranks}));
    optimizer.step(exec);
    optimizer.analyse(exec);
    DesignBoundOptions options;
    options.max_steps = 3;
    return optimizer.bound_compliance(exec, options);
  };
  const DesignBound together = bound(Communicator::world()), alone = bound(Communicator());
  CHECK(together.value > 0);
  CHECK(together.value == alone.value);
  CHECK(together.iterations == alone.iterations);
}

OSSATURA_RANKS_TEST("A design that no solve converges for breaks down on all ranks",
                    "[cut_designs]") {
  const TestType exec;
  DesignOptions options = cut_options({Communicator::world()});
  options.solver.cg.max_iterations = 1;
  DesignOptimizer<TestType> optimizer(exec, cut_lattice(), options);
  const Values before = optimizer.variables(exec);
  CHECK_THROWS_AS(optimizer.step(exec), DesignBreakdown);
  CHECK(optimizer.variables(exec) == before);
  CHECK(optimizer.displacements(exec, 0) == Values(3 * cut_lattice().num_nodes()));
}

OSSATURA_RANKS_TEST("What ranks computed otherwise becomes that of the first", "[cut_designs]") {
  const TestType exec;
  const Communicator world = Communicator::world();
  const auto body = make_design_body(exec, cut_lattice(), cut_options({world}));
  Values x(cut_lattice().num_elem());
  for (std::size_t e = 0; e < x.size(); ++e)
    x[e] = double(e % 7) / 7;
  const Values first = x;
  const auto same = body->upload_elements(exec, x);
  CHECK_FALSE(body->agree(exec, same));
  x[11] += 1e-16 * world.rank(); // the last bit of a number below 1
  const auto other = body->upload_elements(exec, x);
  CHECK(body->agree(exec, other) == !world.is_first());
  CHECK(body->download_elements(exec, other) == first);
  std::vector<double> numbers{double(world.rank()), 3};
  body->agree(numbers);
  CHECK(numbers == std::vector<double>{0, 3});
}

OSSATURA_RANKS_TEST("Ranks divide voxels alone", "[cut_designs]") {
  const TestType exec;
  DesignProblem problem = cut_lattice();
  problem.mesh = problem.lattice->mesh();
  problem.lattice.reset();
  DesignOptions options = cut_options({Communicator::world()});
  options.grid = DesignGrid::mesh;
  CHECK_THROWS_AS(DesignOptimizer<TestType>(exec, problem, options), std::invalid_argument);
}

} // namespace
