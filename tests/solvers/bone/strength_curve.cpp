// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include <ossatura/solvers/bone/strength.hpp>

#include <utility>
#include <vector>

namespace {

using namespace ossatura;

TEST_CASE("Yield by offset and ultimate load are read off a curve", "[strength_curve]") {
  TestResponse elastic;
  elastic.height = 10;
  elastic.displacement = -1;
  elastic.force = -100;
  std::vector<StrengthStep> steps;
  for (const auto& [displacement, force] :
       {std::pair<double, double>(-0.1, -10), {-0.2, -16}, {-0.3, -20}, {-0.4, -18}}) {
    StrengthStep step;
    step.converged = true;
    step.response = elastic;
    step.response->displacement = displacement;
    step.response->force = force;
    step.response->strain = displacement / 10;
    steps.push_back(step);
  }
  // The line is -100 (d + 0.02): at -0.1 it is at -8, at -0.2 at -18. The chord between the two
  // meets it at -13, the one behind, -16 + 40 (d + 0.2), at -14.67: too far apart to take the
  // first.
  const auto found = find_strength(elastic, steps);
  REQUIRE(found);
  REQUIRE(found->yield);
  CHECK(found->yield->displacement == Approx(-1.0 / 6));
  CHECK(found->yield->strain == Approx(-1.0 / 60));
  CHECK(found->yield->force == Approx(-44.0 / 3));
  CHECK(found->yield_between[0] == Approx(13));
  CHECK(found->yield_between[1] == Approx(44.0 / 3));
  CHECK(found->ultimate.force == -20);
  CHECK(found->ultimate.strain == Approx(-0.03));
  CHECK_FALSE(found->still_rises);
  steps.pop_back();
  CHECK(find_strength(elastic, steps)->still_rises);
  // Hardly a bend: -16 + 58 (d + 0.2) meets it at -13.24, and the chord is taken.
  steps[2].response->force = -21.8;
  const auto straight = find_strength(elastic, steps);
  CHECK(straight->yield->force == Approx(-13));
  CHECK(straight->yield_between[1] == Approx(16 - 58 * 2.0 / 42));
  CHECK_FALSE(find_strength(elastic, steps, 0.02)->yield);
  CHECK_FALSE(find_strength(elastic, {}));
  steps.erase(steps.begin()); // across the bend, and nothing behind
  steps.resize(1);
  const auto single = find_strength(elastic, steps);
  CHECK_FALSE(single->yield);
  CHECK(single->is_yield_coarse());
  CHECK(single->yield_between[0] == Approx(8));
  CHECK(single->yield_between[1] == Approx(16));
}

TEST_CASE("A load that drops within a step has its ultimate between two bounds",
          "[strength_curve]") {
  TestResponse elastic;
  elastic.height = 10;
  elastic.displacement = 1;
  elastic.force = 100;
  const auto curve = [&](const std::vector<double>& forces) {
    std::vector<StrengthStep> steps;
    for (const double force : forces) {
      StrengthStep step;
      step.converged = true;
      step.response = elastic;
      step.response->displacement = 0.1 * double(steps.size() + 1);
      step.response->force = force;
      step.broken_fraction = 0.1;
      steps.push_back(step);
    }
    return steps;
  };
  // By 6 a step before, and it may have gone on so.
  const auto drops = find_strength(elastic, curve({10, 16, 3}));
  CHECK(drops->ultimate.force == 16);
  CHECK(drops->ultimate_between[0] == 16);
  CHECK(drops->ultimate_between[1] == Approx(22));
  CHECK(drops->is_ultimate_coarse());
  CHECK_FALSE(find_strength(elastic, curve({10, 16, 9, 3}))->is_ultimate_coarse()); // it falls
  CHECK_FALSE(find_strength(elastic, curve({10, 16, 16.2, 3}))->is_ultimate_coarse());
  // Broken in the first step, which bears 10 before.
  CHECK(find_strength(elastic, curve({0.1}))->ultimate_between[1] == Approx(10));
  auto plastic = curve({4, 4.1});
  plastic[0].broken_fraction = 0;
  CHECK_FALSE(find_strength(elastic, plastic)->is_ultimate_coarse());
}

TEST_CASE("A curve of moments has an ultimate moment, and no yield by offset", "[strength_curve]") {
  TestResponse elastic;
  elastic.height = 10;
  elastic.angle = 0.1;
  elastic.moment = 50;
  std::vector<StrengthStep> steps(2);
  for (std::size_t k = 0; k < 2; ++k) {
    steps[k].converged = true;
    steps[k].response = elastic;
    steps[k].response->angle = 0.05 * double(k + 1);
    steps[k].response->moment = k == 0 ? 20 : 20.02;
  }
  const auto found = find_strength(elastic, steps);
  REQUIRE(found);
  CHECK_FALSE(found->yield);
  CHECK(found->ultimate.displacement == Approx(0.1));
  CHECK(found->ultimate.force == Approx(20.02));
  CHECK_FALSE(found->still_rises); // by 0.4, of 500
  steps[1].response->moment = 20.2;
  CHECK(find_strength(elastic, steps)->still_rises);
}

TEST_CASE("A yield law becomes a cone that meets its uniaxial tests", "[strength_curve]") {
  YieldLaw law;
  law.compression = 0.008;
  law.tension = 0.004;
  law.hardening = 0.2;
  const YieldCone cone = make_yield_cone(law);
  CHECK(cone.per_modulus);
  CHECK(0.008 * (1 - cone.pressure) == Approx(cone.strength)); // von Mises + a trace = k
  CHECK(0.004 * (1 + cone.pressure) == Approx(cone.strength));
  // Plastic modulus 0.2 / 0.8 of the elastic one, in compression.
  CHECK(cone.hardening / ((1 - cone.pressure) * (1 - cone.pressure)) == Approx(0.25));
  law.criterion = YieldCriterion::von_mises;
  law.are_strains = false;
  const YieldCone cylinder = make_yield_cone(law);
  CHECK(cylinder.pressure == 0);
  CHECK(cylinder.strength == Approx(0.008));
  CHECK_FALSE(cylinder.per_modulus);
}

} // namespace
