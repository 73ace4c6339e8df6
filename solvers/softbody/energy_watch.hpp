// SPDX-License-Identifier: Apache-2.0
// Loads are constant and supports hold still, so that backward Euler can only lose energy: where
// the total rises a motion is wrong.
#pragma once

#include <ossatura/solvers/softbody/scene.hpp>
#include <ossatura/solvers/softbody/solver.hpp>

namespace ossatura {

/// The most that the total energy was above an earlier step, J.
struct EnergyRise {
  double energy = 0;
  double part = 0; ///< of the largest kinetic and elastic energy until then, or of rounding
  int step = 0;    ///< 0: none

  /// More than rounding, tolerances and the first order of the linear step.
  bool is_doubtful() const { return part > 0.1; }
};

/// J: of strains of 1e-12 in all bodies. What is at rest has less, of rounding alone.
double energy_of_rounding(const SoftScene& scene);

/// Sees the energies of steps, one after the other, whose loads stay as they are.
class EnergyWatch {
public:
  EnergyWatch() = default;
  /// `rounding`: energy_of_rounding().
  EnergyWatch(const SoftEnergy& initial, double rounding);

  void add(int number, const SoftEnergy& energy, bool has_contacts);
  /// Of steps without contact.
  const EnergyRise& worst() const { return free_.worst; }
  /// Of all steps: contact takes energy but where it pushes out what is in each other.
  const EnergyRise& worst_with_contact() const { return all_.worst; }

private:
  struct Rise {
    double energy = 0;
    EnergyRise worst;
    void add(int number, double change, double largest);
  };
  double last_ = 0, largest_ = 0;
  Rise free_, all_;
};

} // namespace ossatura
