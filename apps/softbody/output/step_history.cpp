// SPDX-License-Identifier: Apache-2.0
#include "apps/softbody/output/step_history.hpp"

#include <ossatura/core/base/exact_digits.hpp>

#include <cstdio>

namespace ossatura {

StepHistory::StepHistory(const std::string& path)
    : file_(path, "step,time,kinetic,elastic,potential,converged,newton_iterations,iterations,"
                  "residual,staleness,refreshed,halvings,inverted,contacts,contact_rounds,"
                  "penetration,complementarity,friction_residual,contact_residual,"
                  "collect,compress,factor,solve,apply,contact,total") {}

void StepHistory::start(int step, double time, const SoftEnergy& energy) {
  SoftStepRecord record;
  record.number = step;
  record.step.time = time;
  record.step.converged = true;
  record.energy = energy;
  add(record);
}

void StepHistory::add(const SoftStepRecord& record) {
  const SoftStep& s = record.step;
  const SoftEnergy& e = record.energy;
  std::string exact = std::to_string(record.number);
  for (const double value : {s.time, e.kinetic, e.elastic, e.potential})
    exact += ',' + exact_digits(value);
  char line[512];
  std::snprintf(line, sizeof line,
                "%s,%d,%d,%d,%.6e,%d,%d,%d,%d,%d,%d,%.6e,%.6e,%.6e,%.6e,"
                "%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f",
                exact.c_str(), int(s.converged), s.newton_iterations, s.iterations, s.residual,
                s.staleness, int(s.refreshed), s.halvings, s.inverted, s.contacts, s.contact_rounds,
                s.penetration, s.complementarity, s.friction, s.contact_residual, s.collect,
                s.compress, s.factor, s.solve, s.apply, s.contact, s.total);
  file_.line(line);
}

} // namespace ossatura
