// SPDX-License-Identifier: Apache-2.0
#include "bench/topopt/step_cost.hpp"

#include <cmath>

namespace ossatura::bench {

namespace {

/// Numbers of 8 bytes by variable that optimality criteria read and write: numerators 5, ten passes
/// or more of sixteen multipliers each 3, until these are known to 1e-12, and the new variables 3.
constexpr double oc_numbers = 38;

/// The same of moving asymptotes with so many constraints (mma_terms.hpp): bounds 3, asymptotes 9
/// and the constraints' gradients, the history 2; the dual reads six numbers and the gradients and
/// writes one, once at first and once at the least for each power of ten of the barrier.
double mma_numbers(double variables, int constraints) {
  const double evaluations =
      1 + std::ceil(9 - 0.5 * std::log10(variables + constraints)); // to 1e-9 sqrt(n)
  return 3 + 9 + constraints + 2 + evaluations * (7 + constraints);
}

/// Bytes by node that a course has beside solves, filters and the update.
double extra_bytes(StepCourse course) {
  switch (course) {
  case StepCourse::projection: // filtered read, densities written; two gradients back
    return 16 + 2 * 24;
  case StepCourse::overhang: // layers with roles, and which places have a voxel, 4; two gradients
                             // back, by two kernels each
    return 29 + 2 * (37 + 37);
  case StepCourse::heavy:
    // Forces: masses 24, cleared 24, added 56, with the load 24 + 72; gradient: cleared 8, work 40,
    // slope 40.
    return 200 + 88;
  case StepCourse::warm: // no masses; moduli, expansion and warming 24, forces 48; work 56
    return 24 + 24 + 72 + 72 + 56;
  case StepCourse::stress:
    // Value: stresses 32, two sums 17 each. Gradient: stresses 32, slopes 8 + 41, forces 24 + 80,
    // energies of displacements and adjoint 8 + 72, slope 24, sum 24, filter 33, scale 24, and the
    // volume's gradient beside it 16.
    return 66 + 32 + 49 + 104 + 80 + 24 + 24 + 33 + 24 + 16;
  default:
    return 0;
  }
}

} // namespace

Cost voxel_step_cost(StepCourse course, double nodes, double iterations) {
  const bool has_oc = course == StepCourse::oc || course == StepCourse::projection ||
                      course == StepCourse::overhang;
  const double update =
      has_oc ? oc_numbers : mma_numbers(nodes, course == StepCourse::stress ? 2 : 1);
  Cost cost;
  cost.dofs = 3 * nodes;
  cost.flops = 8. / 7 * iterations * 5 * 212 * nodes; // of brick, without the vectors
  // By element the energies, four passes of a filter and two more numbers.
  cost.bytes = nodes * (iterations * voxel_iteration_bytes + 24 + 4 * 16 + (2 + update) * 8 +
                        extra_bytes(course));
  return cost;
}

// A block of 3 x 3 takes 76 bytes and in single precision 40. An iteration has the direction's
// product and four of a cycle in single precision: two smoothings of degree 2, of which the first
// starts from zero, and the residual; coarse levels are left out. A step writes the matrix, reads
// it and writes the other, reads it to form coarse levels, and reads gradients of shape functions
// to assemble it and for the energies.
Cost solid_step_cost(const OperatorCost& product, double nodes, double elements,
                     double gradient_bytes, double iterations) {
  const double blocks = (product.bytes_moved - 48 * nodes) / 76;
  Cost cost;
  cost.dofs = 3 * nodes;
  cost.flops = iterations * 5 * 18 * blocks;
  cost.bytes = iterations * (product.bytes_moved + 4 * (40 * blocks + 24 * nodes)) +
               (76 + 76 + 40 + 40) * blocks + 2 * gradient_bytes * elements;
  return cost;
}

} // namespace ossatura::bench
