// SPDX-License-Identifier: Apache-2.0
// These structures hold the results of `ossatura pfem` as numbers on the host. SI units.
#pragma once

#include <ossatura/core/mesh/mechanics/force_balance.hpp>
#include <ossatura/kernels/pfem/operator.hpp>
#include <ossatura/solvers/krylov/cg.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

/// The largest of a quantity, and where.
struct PfemPeak {
  double value = 0;
  std::array<double, 3> x{};
  std::int64_t elem = -1;

  void include(double candidate, const double* place, std::int64_t number) {
    if (!(candidate > value) && elem >= 0)
      return;
    value = candidate;
    x = {place[0], place[1], place[2]};
    elem = number;
  }
  void include(const PfemPeak& other) { include(other.value, other.x.data(), other.elem); }
};

/// The largest values of some samples: m, Pa, and the difference from a closed form in m.
struct PfemPeaks {
  PfemPeak displacement, von_mises;
  double error = 0;
};

/// Differences from a closed form.
struct PfemErrors {
  double energy = 0;       ///< J, in closed form
  double energy_norm = 0;  ///< of the error, by that of the solution
  double displacement = 0; ///< m, largest over samples
};

struct PfemResults {
  SolveResult solve;
  bool interrupted = false; ///< by a signal; the true residual is not known
  HierarchicOperatorKind kind = HierarchicOperatorKind::automatic;
  std::string reason;         ///< why that operator
  std::string preconditioner; ///< parts and sizes
  OperatorCost cost;

  double strain_energy = 0;           ///< J
  double potential_energy = 0;        ///< J: strain energy less the work of the loads
  std::array<double, 3> total_load{}; ///< N
  std::vector<std::array<double, 3>>
      reactions; ///< N, of each support; what is held twice, of the later
  std::array<double, 3> total_reaction{};
  /// Of each support: the sum of sizes at its points alone, by that of all reactions and loads.
  std::vector<double> reactions_of_points;
  ForceBalance balance;             ///< moments where elements are trilinear
  PfemPeak displacement, von_mises; ///< m, Pa, over all samples
  std::int64_t num_samples = 0;
  std::optional<PfemErrors> errors; ///< where the solution has a closed form

  struct {
    double read = 0, setup = 0, solve = 0, sample = 0;
  } seconds;
  std::vector<std::string> files; ///< written
};

} // namespace ossatura
