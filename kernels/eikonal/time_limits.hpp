// SPDX-License-Identifier: Apache-2.0
// The numbers that bound what the local solver computes.
#pragma once

namespace ossatura {

/// The time of a vertex that no wave has reached. Finite, so that differences are no NaN.
template<class Real>
constexpr Real unreached_time = Real(1e10);

namespace detail {

/// The part of its neighbours' product below which a determinant of rounded lengths has no digits.
template<class Real>
constexpr Real flat_face = sizeof(Real) == 4 ? Real(1e-6) : Real(1e-14);

} // namespace detail
} // namespace ossatura
