// SPDX-License-Identifier: Apache-2.0
// The principal axes of a body are those about which its inertia is largest and least.
#pragma once

#include <array>

namespace ossatura {

/// Unit vectors, and how far the body extends along each: the root of the mean square distance from
/// its centre. The first is the long axis, about which inertia is least, the last the short one.
struct PrincipalAxes {
  std::array<std::array<double, 3>, 3> axis;
  std::array<double, 3> spread;
};

/// Those of a body by its covariance, row-major and symmetric: mean products of distances from its
/// centre. Of the two directions of an axis that is taken whose largest component is positive.
PrincipalAxes principal_axes(std::array<double, 9> covariance);

} // namespace ossatura
