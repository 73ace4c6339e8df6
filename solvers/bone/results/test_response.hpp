// SPDX-License-Identifier: Apache-2.0
// The answer of a specimen to a mechanical test, from the reactions of its supports.
#pragma once

#include <ossatura/solvers/bone/results/supports.hpp>

#include <optional>
#include <vector>

namespace ossatura {

/// The measured answer to the prescribed motion of the upper plate. Where both turn, in bending,
/// the moment is half of the difference of theirs: moment times angle is twice the strain energy.
struct TestResponse {
  double height = 0;                          ///< of the box along the axis: between the plates
  double area = 0;                            ///< of the box across the axis
  std::optional<double> displacement, force;  ///< axial, confined, shear
  std::optional<double> strain, stress;       ///< and symmetric shear: mean stress of the box
  std::optional<double> stiffness;            ///< N/mm
  std::optional<double> apparent_modulus;     ///< MPa: stress by strain
  std::optional<double> angle, moment;        ///< torsion, bending: radians, N mm
  std::optional<double> rotational_stiffness; ///< N mm / rad
};

/// The response to `test` between the plates `supports`, lower and upper, or of the sides of a
/// symmetric shear. `box`: of the nodes; `edge` of a voxel in mm.
TestResponse plate_response(const MechanicalTest& test, const NodeBox& box, double edge,
                            const std::vector<MovedSupport>& supports);

/// The response to listed displacements, where one support moves in one direction, and others rest.
std::optional<TestResponse> listed_response(const NodeBox& box, double edge,
                                            const std::vector<MovedSupport>& supports);

} // namespace ossatura
