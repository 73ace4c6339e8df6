// SPDX-License-Identifier: Apache-2.0
// The least that a step of a design moves, every array from memory once a pass.
#pragma once

#include "bench/harness/measure.hpp"
#include "bench/topopt/step_problems.hpp"
#include <ossatura/kernels/algebra/operator.hpp>

namespace ossatura::bench {

/// Of an iteration of conjugate gradients on voxels in lean precision, by node: five products of
/// the finest level with their updates (two smoothings of degree 2, of which the first starts from
/// zero, the residual, the direction's), each of two or three vectors of single precision, 12
/// bytes, read, one written, moduli and scaling, 4 bytes each; the direction, the step with
/// displacements in double precision, and a correction: 400 bytes, and a seventh of it for coarse
/// levels.
constexpr double voxel_iteration_bytes = 8. / 7 * 400;
/// Of these, those of the four products of a cycle and the correction.
constexpr double voxel_cycle_bytes = 8. / 7 * (4 * 50 + 30);

/// On voxels, by node. `iterations` are those of all solves, adjoints among them.
Cost voxel_step_cost(StepCourse course, double nodes, double iterations);

/// On solid elements, whose matrix is assembled; `product` is that in double precision.
Cost solid_step_cost(const OperatorCost& product, double nodes, double elements,
                     double gradient_bytes, double iterations);

} // namespace ossatura::bench
