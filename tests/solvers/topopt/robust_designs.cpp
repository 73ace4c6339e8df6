// SPDX-License-Identifier: Apache-2.0
// Robust designs: what is minimised is that of the eroded design, what is limited that of the
// dilated one, and members and gaps are of some size.
#include "tests/backend_test.hpp"
#include "tests/solvers/topopt/design_gradients.hpp"
#include <ossatura/solvers/topopt/check_options.hpp>

#include <algorithm>
#include <cmath>

namespace {

using namespace ossatura;
using namespace ossatura::test;

constexpr double erosion = 0.2;

DesignOptions robust_options() {
  DesignOptions options = options_with(1e-11);
  options.volume_fraction = 0.5;
  options.min_modulus = 1e-3;
  options.projection = true;
  options.sharpness = {3, 3};
  options.robust = erosion;
  options.method = DesignMethod::mma;
  return options;
}

/// What the step of a state sees: objective and volume.
template<class Exec>
DesignStep seen(const Exec& exec, DesignOptimizer<Exec>& optimizer, const DesignState& state) {
  optimizer.set_state(exec, state);
  return optimizer.step(exec);
}

/// A flat beam of 32 x 1 x 16 cells, clamped at its end, pressed in the middle of the other.
DesignProblem flat_beam() {
  DesignProblem problem;
  problem.mesh = make_hexa_box({32, 1, 16}, {32, 1, 16});
  hold(problem, 7, [](double x, double, double) { return x < 0.1; });
  hold(problem, 2, [](double, double, double) { return true; });
  problem.cases.resize(1);
  for (const double y : {0.0, 1.0})
    problem.cases[0].loads.forces.push_back({node_at(problem, 32, y, 8), {0, 0, -0.5}});
  return problem;
}

/// By place in a plane of cells.
struct Cells {
  int width, height;
  std::vector<bool> is_in;

  bool at(int x, int z) const { return is_in[std::size_t(x + width * z)]; }

  /// The cells that no disc of the radius (in cells, around the centre of a cell) covers which is
  /// in them; what is beyond the cells counts as in.
  int not_opened(double radius) const {
    std::vector<bool> covered(is_in.size());
    const auto for_disc = [&](int x, int z, const auto& visit) {
      const int reach = int(radius);
      for (int k = -reach; k <= reach; ++k)
        for (int i = -reach; i <= reach; ++i)
          if (i * i + k * k <= radius * radius && x + i >= 0 && x + i < width && z + k >= 0 &&
              z + k < height)
            visit(x + i, z + k);
    };
    const int beyond = int(radius);
    for (int z = -beyond; z < height + beyond; ++z)
      for (int x = -beyond; x < width + beyond; ++x) {
        bool fits = true;
        for_disc(x, z, [&](int i, int k) { fits = fits && at(i, k); });
        if (fits)
          for_disc(x, z, [&](int i, int k) { covered[std::size_t(i + width * k)] = true; });
      }
    int count = 0;
    for (std::size_t e = 0; e < is_in.size(); ++e)
      count += is_in[e] && !covered[e] ? 1 : 0;
    return count;
  }
};

} // namespace

OSSATURA_BACKEND_TEST(
    "The objective of a robust design is of the eroded one, the volume's gradient "
    "of the dilated one",
    "[robust_designs]") {
  const TestType exec;
  const DesignProblem problem = small_problem();
  for (const DesignFilter filter : {DesignFilter::density, DesignFilter::helmholtz}) {
    DesignOptions options = robust_options();
    options.filter = filter;
    DesignOptimizer<TestType> robust(exec, problem, options);
    options.robust = 0;
    DesignOptimizer<TestType> made(exec, problem, options);
    options.threshold = 0.5 + erosion;
    DesignOptimizer<TestType> eroded(exec, problem, options);
    options.threshold = 0.5 - erosion;
    DesignOptimizer<TestType> dilated(exec, problem, options);
    const DesignState state = rough_state(exec, robust, problem);
    for (auto* one : {&robust, &made, &eroded, &dilated})
      one->set_state(exec, state);
    const DesignStep of_made = made.analyse(exec), of_eroded = eroded.analyse(exec),
                     of_dilated = dilated.analyse(exec), own = robust.analyse(exec);
    CHECK(own.objective == Approx(of_made.objective).epsilon(1e-9)); // what is reported in the end
    CHECK(own.volume == of_made.volume);
    CHECK(robust.densities(exec) == made.densities(exec));
    CHECK(of_eroded.objective > of_made.objective);
    CHECK(of_dilated.volume > of_made.volume);
    const std::vector<double> by_objective = robust.objective_gradient(exec),
                              by_volume = robust.volume_gradient(exec),
                              expected = dilated.volume_gradient(exec);
    for (std::size_t e = 0; e < expected.size(); ++e)
      CHECK(by_volume[e] == Approx(expected[e]).epsilon(1e-12).margin(1e-16));
    const DesignStep step = seen(exec, robust, state);
    CHECK(step.objective == Approx(of_eroded.objective).epsilon(1e-9));
    CHECK(step.volume == of_made.volume);
    // Fourth-order differences in a direction.
    std::mt19937 random(29);
    std::vector<double> direction(state.x.size());
    double slope = 0;
    for (std::size_t e = 0; e < direction.size(); ++e)
      if (problem.role[e] == DesignRole::free) {
        direction[e] = double(random()) / double(random.max()) - 0.5;
        slope += by_objective[e] * direction[e];
      }
    const double h = 2e-3;
    double change = 0;
    for (const auto& [at, weight] : {std::pair{1, 8.0}, {-1, -8.0}, {2, -1.0}, {-2, 1.0}}) {
      DesignState moved = state;
      for (std::size_t e = 0; e < direction.size(); ++e)
        moved.x[e] += at * h * direction[e];
      change += weight * seen(exec, robust, moved).objective;
    }
    CHECK(slope == Approx(change / (12 * h)).epsilon(1e-6));
  }
}

OSSATURA_BACKEND_TEST("A robust run resumes to the last bit and meets its volume",
                      "[robust_designs]") {
  const TestType exec;
  const DesignProblem problem = small_problem();
  DesignOptions options = robust_options();
  options.solver.cg.tolerance = 1e-6;
  options.sharpness = {1, 8, 2, 2};
  DesignOptimizer<TestType> whole(exec, problem, options), resumed(exec, problem, options);
  for (int k = 0; k < 4; ++k)
    whole.step(exec);
  resumed.set_state(exec, whole.state(exec));
  CHECK(resumed.densities(exec) == whole.densities(exec));
  for (int k = 0; k < 3; ++k) {
    const DesignStep a = whole.step(exec), b = resumed.step(exec);
    CHECK(a.objective == b.objective);
    CHECK(a.volume == b.volume);
    CHECK(a.change == b.change);
  }
  CHECK(whole.state(exec).x == resumed.state(exec).x);
  CHECK(whole.meet_volume(exec));
  CHECK(whole.analyse(exec).volume < 0.5 * (1 + 1e-6));
}

OSSATURA_BACKEND_TEST("Members and gaps of a robust design are of some size", "[robust_designs]") {
  const TestType exec;
  const DesignProblem problem = flat_beam();
  DesignOptions options = options_with(1e-5);
  options.volume_fraction = 0.5;
  options.radius = 3;
  options.projection = true;
  options.sharpness = {1, 16, 14, 2};
  options.grid = DesignGrid::voxels;
  options.method = DesignMethod::mma;
  options.move = move_of_robust;
  int thin[2] = {}, narrow[2] = {}; // elements of members below 5 across, of gaps below 3
  for (const bool is_robust : {false, true}) {
    options.robust = is_robust ? 0.25 : 0;
    DesignOptimizer<TestType> optimizer(exec, problem, options);
    for (int k = 0; k < 77; ++k)
      optimizer.step(exec);
    CHECK(optimizer.meet_volume(exec));
    Cells solid{32, 16, {}}, gaps{32, 16, {}};
    for (const double rho : optimizer.densities(exec)) {
      solid.is_in.push_back(rho > 0.5);
      gaps.is_in.push_back(rho <= 0.5);
    }
    thin[is_robust ? 1 : 0] = solid.not_opened(1.5);
    narrow[is_robust ? 1 : 0] = gaps.not_opened(1);
  }
  INFO("thin " << thin[0] << " and " << thin[1] << ", narrow " << narrow[0] << " and "
               << narrow[1]);
  CHECK(thin[0] > 30);
  CHECK(narrow[0] > 5);
  CHECK(thin[1] <= 2); // 0, and rounding takes other courses elsewhere
  CHECK(narrow[1] <= 2);
}

TEST_CASE("The method and the move limit are those that suit a problem", "[robust_designs]") {
  const DesignProblem problem = small_problem();
  const auto chosen = [](const DesignProblem& of, DesignOptions options) {
    choose_method(of, options);
    return std::pair(options.method, options.move);
  };
  using Choice = std::pair<DesignMethod, double>;
  DesignOptions options;
  CHECK(chosen(problem, options) == Choice(DesignMethod::oc, 0.2));
  CHECK(chosen(problem, DesignOptions::mechanism()) == Choice(DesignMethod::mma, 0.1));
  options.process.overhang = ProcessAxis{};
  CHECK(chosen(problem, options) == Choice(DesignMethod::mma, 0.2));
  options = robust_options();
  CHECK(chosen(problem, options) == Choice(DesignMethod::mma, move_of_robust));
  options = {};
  options.objective = DesignObjective::frequency;
  CHECK(chosen(problem, options) == Choice(DesignMethod::mma, move_with_frequency));
  DesignProblem limited = problem;
  limited.limits.push_back({DesignLimitKind::compliance, 1});
  CHECK(chosen(limited, {}) == Choice(DesignMethod::mma, 0.2));
  limited.limits.push_back({DesignLimitKind::stress, 1});
  CHECK(chosen(limited, {}) == Choice(DesignMethod::mma, move_with_stress));
}

TEST_CASE("What cannot be robust is told by name", "[robust_designs]") {
  const auto told = [](const DesignProblem& problem, const auto& change) {
    DesignOptions options = robust_options();
    change(options);
    return describe_not_robust(problem, options);
  };
  const DesignProblem problem = small_problem();
  const auto as_is = [](DesignOptions&) {};
  CHECK(told(problem, as_is).empty());
  CHECK(told(problem, [](DesignOptions& o) { o.projection = false; }).find("take the projection") !=
        std::string::npos);
  CHECK(told(problem, [](DesignOptions& o) { o.threshold = 0.2; }).find("not between 0 and 1") !=
        std::string::npos);
  CHECK(told(problem, [](DesignOptions& o) {
          o.filter = DesignFilter::none;
        }).find("without a filter") != std::string::npos);
  for (const DesignObjective objective : {DesignObjective::mechanism, DesignObjective::volume})
    CHECK(told(problem, [&](DesignOptions& o) {
            o.objective = objective;
          }).find(name_of(objective)) != std::string::npos);
  CHECK(told(problem, [](DesignOptions& o) {
          o.process.overhang = ProcessAxis{};
        }).find("overhang") != std::string::npos);
  DesignProblem limited = problem;
  limited.limits.push_back({DesignLimitKind::compliance, 1});
  CHECK(told(limited, as_is).find("constraints") != std::string::npos);
  DesignProblem heavy = problem;
  heavy.cases[0].loads.body.push_back({});
  CHECK(told(heavy, as_is).find("gravity") != std::string::npos);
}
