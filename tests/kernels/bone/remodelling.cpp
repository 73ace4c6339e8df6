// SPDX-License-Identifier: Apache-2.0
// A step of remodelling against a plain loop over the voxels.
#include "tests/backend_test.hpp"
#include <ossatura/kernels/bone/remodelling.hpp>

#include <cmath>
#include <random>
#include <vector>

namespace {

using namespace ossatura;

OSSATURA_BACKEND_TEST("a step of remodelling is that of its law in each voxel", "[remodelling]") {
  const TestType exec;
  const RemodellingLaw law{3790, 2.5, 0.004, 0.25, 30, 0.1, 1.7};
  const int count = 5000;
  std::mt19937 random(5);
  std::vector<int> element;
  std::vector<float> modulus(3 * count, 0), energy, last;
  for (int i = 0; i < count; ++i) {
    element.push_back(3 * i + i % 3);
    modulus[std::size_t(element.back())] = float(10 + random() % 14000);
    energy.push_back(float(random() % 1000) * 2e-5f);
    last.push_back(float(random() % 3) * 0.05f - 0.05f);
  }
  const auto voxels = upload(exec, "test::element", element);
  const auto moduli = upload(exec, "test::modulus", modulus);
  const auto energies = upload(exec, "test::energy", energy);
  const auto density = list_densities(exec, law, voxels, moduli);
  const std::vector<double> before = download(exec, density);
  RemodellingState expected;
  std::vector<double> after;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double rho = before[i];
    REQUIRE(3790 * std::pow(rho, 2.5) ==
            Approx(double(modulus[std::size_t(element[i])])).epsilon(1e-12));
    const double stimulus = double(energy[i]) / rho;
    double next = rho;
    if (stimulus > 0.005)
      next += 30 * (stimulus - 0.005);
    if (stimulus < 0.003)
      next += 30 * (stimulus - 0.003);
    after.push_back(std::fmin(1.7, std::fmax(0.1, next)));
    expected.mean_density += rho / count;
    expected.mean_stimulus += stimulus / count;
    expected.forming += (after[i] > rho) / double(count);
    expected.resorbing += (after[i] < rho) / double(count);
    expected.at_least += (rho <= 0.1) / double(count);
    expected.at_most += (rho >= 1.7) / double(count);
    const double change = after[i] - rho;
    expected.mean_change += std::abs(change) / count;
    if ((change < 0 && last[i] > 0) || (change > 0 && last[i] < 0))
      expected.mean_reversal += std::fmin(std::abs(change), std::abs(double(last[i]))) / count;
  }
  for (const bool changes : {false, true}) {
    const auto change = upload(exec, "test::change", last);
    const RemodellingState found =
        remodel(exec, law, voxels, energies, changes, density, moduli, change);
    CHECK(found.mean_density == Approx(expected.mean_density).epsilon(1e-12));
    CHECK(found.mean_stimulus == Approx(expected.mean_stimulus).epsilon(1e-12));
    CHECK(found.forming == Approx(expected.forming).epsilon(1e-3));
    CHECK(found.resorbing == Approx(expected.resorbing).epsilon(1e-3));
    CHECK(found.at_least == Approx(expected.at_least).margin(1e-12));
    CHECK(found.at_most == Approx(expected.at_most).margin(1e-12));
    CHECK(found.mean_change == Approx(expected.mean_change).epsilon(1e-10));
    CHECK(found.mean_reversal == Approx(expected.mean_reversal).epsilon(1e-6));
    const std::vector<float> changed = download(exec, change);
    for (std::size_t i = 0; i < changed.size(); ++i)
      REQUIRE(double(changed[i]) == Approx(after[i] - before[i]).margin(1e-6));
    const std::vector<double> now = download(exec, density);
    const std::vector<float> moduli_now = download(exec, moduli);
    for (std::size_t i = 0; i < now.size(); ++i) {
      REQUIRE(now[i] == Approx(changes ? after[i] : before[i]).epsilon(1e-12));
      REQUIRE(double(moduli_now[std::size_t(element[i])]) ==
              Approx(3790 * std::pow(now[i], 2.5)).epsilon(1e-6));
    }
  }
  CHECK(expected.forming > 0.1);
  CHECK(expected.resorbing > 0.1);
  CHECK(expected.forming + expected.resorbing < 0.95); // the lazy zone
  CHECK(expected.mean_reversal > 0.01);
  CHECK_THROWS_AS(remodel(exec, law, voxels, energies, false, Array<double, TestType>(), moduli,
                          upload(exec, "test::change", last)),
                  std::invalid_argument);
  CHECK_THROWS_AS(
      remodel(exec, law, voxels, energies, false, density, moduli, Array<float, TestType>()),
      std::invalid_argument);
}

} // namespace
