// SPDX-License-Identifier: Apache-2.0
// Remodelling: layers in series, whose states a loop over numbers finds, and what it refuses.
#include "tests/backend_test.hpp"
#include "tests/solvers/bone/boundary_problem.hpp"
#include <ossatura/solvers/bone/remodelling.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

using namespace ossatura;

constexpr std::array<int, 3> layers_shape = {3, 2, 6};
constexpr double layer_edge = 0.5, layer_strain = -0.01;

RemodellingLaw layers_law() {
  RemodellingLaw law;
  law.coefficient = 4000;
  law.exponent = 2;
  law.stimulus = 0.1;
  law.lazy = 0.1;
  law.rate = 0.8;
  law.least = 0.6; // two layers begin below it
  law.most = 1.6;
  return law;
}

/// Pressed between smooth plates, without contraction: a bar of layers in series.
template<class Exec>
struct LayeredBar {
  VoxelProblem<Exec> problem;
  BoneLoad<Exec> load;

  LayeredBar(const Exec& exec, const std::vector<float>& modulus) {
    const auto image = make_voxel_array(exec, layers_shape);
    std::vector<float> value;
    for (const float of_layer : modulus)
      value.insert(value.end(), std::size_t(layers_shape[0] * layers_shape[1]), of_layer);
    Kokkos::deep_copy(exec, image.value, upload(exec, "test::modulus", value));
    exec.fence();
    problem = make_voxel_problem(exec, make_material(image, 0.0), layer_edge);
    MechanicalTest test;
    test.lateral_free = true;
    test.strain = layer_strain;
    load = load_by_test(exec, test, problem);
  }
};

/// The same by numbers. Layers of the bar that are `pad` keep their modulus and are not described.
struct SeriesOracle {
  RemodellingLaw law;
  std::vector<double> density;
  std::vector<double> modulus;
  int pad = -1;

  RemodellingStep take() {
    const double height = layer_edge * double(modulus.size()),
                 area = layer_edge * layer_edge * layers_shape[0] * layers_shape[1];
    double compliance = 0;
    for (const double e : modulus)
      compliance += layer_edge / e;
    const double stress = layer_strain * height / compliance;
    RemodellingStep step;
    double layers = 0;
    for (std::size_t k = 0; k < modulus.size(); ++k) {
      const double energy = stress * stress / (2 * modulus[k]);
      step.strain_energy += energy * area * layer_edge;
      if (int(k) == pad)
        continue;
      const double stimulus = energy / density[k];
      double change = 0;
      if (stimulus > 1.1 * law.stimulus)
        change = law.rate * (stimulus - 1.1 * law.stimulus);
      if (stimulus < 0.9 * law.stimulus)
        change = law.rate * (stimulus - 0.9 * law.stimulus);
      const double next = std::min(law.most, std::max(law.least, density[k] + change));
      step.mass += 1e-3 * density[k] * area * layer_edge;
      step.state.mean_density += density[k];
      step.state.mean_stimulus += stimulus;
      step.state.forming += next > density[k] ? 1 : 0;
      step.state.resorbing += next < density[k] ? 1 : 0;
      step.state.at_least += density[k] <= law.least ? 1 : 0;
      step.state.mean_change += std::abs(next - density[k]);
      density[k] = next;
      modulus[k] = law.coefficient * next * next;
      ++layers;
    }
    for (double* of : {&step.state.mean_density, &step.state.mean_stimulus, &step.state.forming,
                       &step.state.resorbing, &step.state.at_least, &step.state.mean_change})
      *of /= layers;
    step.response.emplace();
    step.response->stiffness = stress * area / (layer_strain * height);
    return step;
  }
};

void check_step(const RemodellingStep& step, const RemodellingStep& expected) {
  const auto near = [](double a, double b) {
    return std::abs(a - b) <= 2e-5 * std::abs(b); // moduli and energies are in single precision
  };
  CHECK(near(step.mass, expected.mass));
  CHECK(near(step.strain_energy, expected.strain_energy));
  CHECK(near(step.state.mean_density, expected.state.mean_density));
  CHECK(near(step.state.mean_stimulus, expected.state.mean_stimulus));
  CHECK(near(step.state.mean_change, expected.state.mean_change));
  CHECK(step.state.forming == expected.state.forming);
  CHECK(step.state.resorbing == expected.state.resorbing);
  CHECK(step.state.at_least == expected.state.at_least);
  CHECK((step.response && step.response->stiffness &&
         near(*step.response->stiffness, *expected.response->stiffness)));
}

template<class Exec>
void check_series(const Exec& exec, int pad) {
  INFO("pad " << pad);
  SeriesOracle oracle{layers_law(), {0.5, 0.9, 1.1, 0.28, 0.7, 1.3}, {}, pad};
  for (const double density : oracle.density)
    oracle.modulus.push_back(4000 * density * density);
  if (pad >= 0)
    oracle.modulus[std::size_t(pad)] = 500;
  LayeredBar<Exec> bar(exec, {oracle.modulus.begin(), oracle.modulus.end()});
  std::optional<ForeignVoxels<Exec>> foreign;
  if (pad >= 0) {
    std::vector<std::uint64_t> listed;
    for (int y = 0; y < layers_shape[1]; ++y)
      for (int x = 0; x < layers_shape[0]; ++x)
        listed.push_back(ossatura::detail::pack_site(x, y, pad));
    std::sort(listed.begin(), listed.end());
    foreign.emplace();
    foreign->listed = upload(exec, "test::pad", listed);
  }
  VoxelSolverOptions options;
  options.cg.tolerance = 1e-10;
  options.precision = Precision::fp64;
  options.multigrid.renewable = true;
  VoxelSolver<Exec> solver(exec, bar.problem, options);
  CHECK(solver.solve(exec, bar.load.force, bar.load.u).converged);
  BoneRemodelling<Exec> remodelling(layers_law(), bar.problem, bar.load, solver, foreign);
  bool resorbs = false, forms = false, is_at_least = false;
  for (int number = 0; number < 5; ++number) {
    INFO("state " << number);
    const RemodellingStep expected = oracle.take(), step = remodelling.take(exec, true);
    check_step(step, expected);
    resorbs = resorbs || step.state.resorbing > 0;
    forms = forms || step.state.forming > 0;
    is_at_least = is_at_least || step.state.at_least > 0;
    CHECK(remodelling.solve(exec).converged);
  }
  CHECK((resorbs && forms && is_at_least));
  const RemodellingStep last = remodelling.take(exec, false), again = remodelling.take(exec, false);
  CHECK(last.mass == again.mass); // nothing has changed
  CHECK(last.state.mean_change == again.state.mean_change);
}

OSSATURA_BACKEND_TEST("Layers in series remodel as a loop over numbers says", "[remodelling]") {
  const TestType exec;
  for (const int pad : {-1, 2})
    check_series(exec, pad);
}

/// The states of one voxel under a stress of 2 MPa.
std::vector<RemodellingStep> states_of_voxel(double rate, int count) {
  RemodellingLaw law{3790, 3, 0.004, 0, rate, 0.05, 1.74};
  std::vector<RemodellingStep> steps;
  double density = 0.75, last = 0;
  for (int k = 0; k < count; ++k) {
    const double stimulus = 2 / law.modulus(density) / density;
    const double next = std::min(law.most, std::max(law.least, density + law.change(stimulus)));
    const double change = next - density;
    RemodellingStep step;
    step.state.mean_density = density;
    step.state.mean_change = std::abs(change);
    step.state.mean_reversal = change * last < 0 ? std::min(std::abs(change), std::abs(last)) : 0;
    steps.push_back(step);
    last = change;
    density = next;
  }
  return steps;
}

TEST_CASE("Steps beyond the limit of the rate swing, and those below do not", "[remodelling]") {
  // The density of rest is 0.603, and there d change / d density = -rate 4 k / 0.603: those of a
  // rate of up to 75 settle.
  for (const int count : {7, 8, 13, 40, 41, 300}) {
    for (const double rate : {0.1, 1.0, 10.0, 35.0, 50.0, 65.0, 70.0, 74.0}) {
      INFO(rate << ", " << count << " states");
      CHECK_FALSE(find_oscillation(states_of_voxel(rate, count)).has_value());
    }
    for (const double rate : {80.0, 90.0, 170.0, 200.0, 400.0, 1e3, 1e5}) {
      if (count < 32 && (rate == 170 || rate == 200)) // cycles of three states
        continue;
      INFO(rate << ", " << count << " states");
      CHECK(find_oscillation(states_of_voxel(rate, count)).has_value());
    }
  }
  CHECK_FALSE(find_oscillation(states_of_voxel(1000, 6)).has_value());
  CHECK(*find_oscillation(states_of_voxel(1e5, 40)) == Approx(1.74 - 0.05).epsilon(1e-12));
}

OSSATURA_BACKEND_TEST("Remodelling takes one Poisson's ratio", "[remodelling]") {
  const TestType exec;
  const auto model = reference::random_model({3, 3, 3}, 1, 2, 0.2, 0.4, 1, 0.5);
  VoxelProblem<TestType> problem =
      make_voxel_problem(exec, ossatura::test::upload_material(exec, model), model.edge);
  const BoneLoad<TestType> load = load_by_test(exec, MechanicalTest(), problem);
  VoxelSolver<TestType> solver(exec, problem);
  CHECK_FALSE(has_one_ratio(problem));
  CHECK_THROWS_AS(BoneRemodelling<TestType>(layers_law(), problem, load, solver),
                  std::invalid_argument);
}

} // namespace
