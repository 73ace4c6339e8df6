// SPDX-License-Identifier: Apache-2.0
// The rows of design_step take their steps on these designs.
#pragma once

#include <ossatura/core/base/names.hpp>
#include <ossatura/solvers/topopt/options.hpp>
#include <ossatura/solvers/topopt/problem.hpp>

namespace ossatura::bench {

/// What a step has beside compliance, volume and density filter.
enum class StepCourse {
  oc,         ///< nothing: optimality criteria
  mma,        ///< moving asymptotes
  projection, ///< of filtered densities, beta of 1, with optimality criteria
  stress,     ///< a limit of stresses, whose adjoint is one more solve; moving asymptotes
  overhang,   ///< built up in n / 2 layers, with optimality criteria
  heavy,      ///< gravity, at first a tenth of the load; moving asymptotes
  warm        ///< all of it is warmer; moving asymptotes
};
constexpr Names<StepCourse> names_of(StepCourse) {
  return {{StepCourse::oc, "oc"},
          {StepCourse::mma, "mma"},
          {StepCourse::projection, "projection"},
          {StepCourse::stress, "stress"},
          {StepCourse::overhang, "overhang"},
          {StepCourse::heavy, "heavy"},
          {StepCourse::warm, "warm"}};
}

struct StepDesign {
  DesignProblem problem;
  DesignOptions options;
};

/// The cantilever of n x n/2 x n/2 cubes of 1 m, volume 0.12.
StepDesign make_cubes_design(DesignGrid grid, StepCourse course, int n);

/// A box of n x n/2 x n/2 cells, each five straight tetrahedra of ten nodes, held at x = 0 and
/// pulled down all over the other end; volume 0.3, optimality criteria.
StepDesign make_tetra10_design(int n);

} // namespace ossatura::bench
