// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/softbody/energy_watch.hpp>

#include <ossatura/kernels/softbody/elements/lumped_mass.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

double moving(const SoftEnergy& energy) {
  return energy.kinetic + energy.elastic;
}

} // namespace

double energy_of_rounding(const SoftScene& scene) {
  double energy = 0;
  for (const SoftObject& object : scene.objects) {
    const SoftMaterial& m = object.material;
    double volume = 0;
    for (std::size_t e = 0; e < object.mesh.num_elem(); ++e)
      volume += std::fabs(element_volume(object.mesh, e));
    if (object.mesh.shape == ElementShape::triangle)
      volume *= m.thickness;
    energy += 1e-24 * volume * (m.law == SoftLaw::mooney_rivlin ? m.bulk + m.c1 + m.c2 : m.young);
  }
  return energy;
}

EnergyWatch::EnergyWatch(const SoftEnergy& initial, double rounding)
    : last_(moving(initial) + initial.potential)
    , largest_(std::max(moving(initial), rounding)) {}

void EnergyWatch::Rise::add(int number, double change, double largest) {
  energy = std::max(0.0, energy + change);
  if (largest > 0 && energy / largest > worst.part)
    worst = {energy, energy / largest, number};
}

void EnergyWatch::add(int number, const SoftEnergy& energy, bool has_contacts) {
  const double total = moving(energy) + energy.potential, change = total - last_;
  largest_ = std::max(largest_, moving(energy));
  free_.add(number, has_contacts ? std::min(change, 0.0) : change, largest_);
  all_.add(number, change, largest_);
  last_ = total;
}

} // namespace ossatura
