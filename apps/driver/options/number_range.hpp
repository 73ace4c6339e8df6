// SPDX-License-Identifier: Apache-2.0
// The number range excludes numbers whose squares and products vanish or overflow, so that a
// residual of 0 by 0 does not pass for a solution.
#pragma once

#include <ossatura/core/mesh/box.hpp>

#include <string>
#include <vector>

namespace ossatura {

/// Throws InputError, which starts with `where`, unless the longest side of the box around the
/// points [n, 3], in m, is of 1e-12 to 1e12 m.
void require_body_size(const std::string& where, const std::vector<double>& point);
void require_body_size(const std::string& where, const Box& body); ///< the same by the box

/// The same unless `value` is 0 or its size is of 1e-30 to 1e30; `what` names it, with its unit.
void require_number(const std::string& where, const std::string& what, double value);

/// The same for the largest of many.
void require_numbers(const std::string& where, const std::string& what,
                     const std::vector<double>& values);

} // namespace ossatura
