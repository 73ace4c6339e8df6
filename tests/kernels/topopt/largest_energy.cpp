// SPDX-License-Identifier: Apache-2.0
// The largest energy of a limited volume of material against sorting.
#include "tests/backend_test.hpp"
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/topopt/largest_energy.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace {

using namespace ossatura;

/// Elements of random volumes and energies, a tenth each of them solid and void.
struct EnergyCase {
  std::vector<double> volume, energy, relative;
  std::vector<std::uint8_t> role;
  double total = 0;

  explicit EnergyCase(std::size_t count, double decades) {
    std::mt19937 random(3);
    const auto draw = [&] { return double(random()) / double(random.max()); };
    for (std::size_t e = 0; e < count; ++e) {
      volume.push_back(0.5 + draw());
      energy.push_back(std::pow(10, -decades * draw()));
      relative.push_back(e % 3 == 0 ? 0.4 : 1);
      const double part = draw();
      role.push_back(std::uint8_t(part < 0.1   ? DesignRole::solid
                                  : part < 0.2 ? DesignRole::void_
                                               : DesignRole::free));
      total += volume[e];
    }
  }

  /// Fills the elements with the most energy for their volume first.
  double sorted(double share, double young, double least, double excess, double most) const {
    std::vector<std::size_t> order(volume.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto solid = [&](std::size_t e) { return young * relative[e] * energy[e]; };
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return solid(a) / volume[a] > solid(b) / volume[b];
    });
    double room = share * total, sum = 0;
    for (std::size_t e = 0; e < volume.size(); ++e) {
      const bool is_solid = role[e] == std::uint8_t(DesignRole::solid);
      sum += solid(e) * (is_solid ? 1 : least);
      room -= is_solid ? volume[e] : 0;
    }
    for (const std::size_t e : order) {
      if (role[e] != std::uint8_t(DesignRole::free) || !(room > 0))
        continue;
      const double density = std::min(most, room / volume[e]);
      sum += solid(e) * (1 - least) * excess * density;
      room -= density * volume[e];
    }
    return sum;
  }
};

template<class Exec>
double energy_of(const Exec& exec, const EnergyCase& one, double share, double least, double excess,
                 double most) {
  SimpLaw law{7, least, 1};
  const auto relative = upload(exec, "relative", one.relative);
  law.relative = relative;
  const MaterialRoom<Exec> room{upload(exec, "role", one.role),
                                {upload(exec, "volume", one.volume), {}, 0},
                                law,
                                share,
                                excess,
                                most};
  return largest_energy(exec, room, upload(exec, "energy", one.energy));
}

OSSATURA_BACKEND_TEST("Material is where energies are largest", "[largest_energy]") {
  const TestType exec;
  for (const double decades : {0., 1., 12.})
    for (const std::size_t count : {std::size_t(7), std::size_t(3000)}) {
      const EnergyCase one(count, decades);
      for (const double share : {0.0, 0.2, 0.31, 0.6, 0.99})
        for (const double most : {1.0, 1.005}) {
          INFO(count << " elements over " << decades << " decades, " << share << " of the volume");
          const double excess = most * most, expected = one.sorted(share, 7, 1e-3, excess, most);
          const double found = energy_of(exec, one, share, 1e-3, excess, most);
          CHECK(found == Approx(expected).epsilon(1e-10));
          CHECK(found >= expected * (1 - 1e-13)); // never below it
        }
    }
}

OSSATURA_BACKEND_TEST("Energies that are zero or no numbers", "[largest_energy]") {
  const TestType exec;
  EnergyCase one(50, 1);
  const double before = energy_of(exec, one, 0.4, 1e-3, 1, 1);
  one.energy[20] = std::nan("");
  CHECK(std::isinf(energy_of(exec, one, 0.4, 1e-3, 1, 1)));
  std::fill(one.energy.begin(), one.energy.end(), 0.0);
  CHECK(energy_of(exec, one, 0.4, 1e-3, 1, 1) == 0);
  CHECK(before > 0);
}

} // namespace
