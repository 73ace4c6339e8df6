// SPDX-License-Identifier: Apache-2.0
// Displacements as large as the body are often those of a modulus in another unit.
#pragma once

#include <ossatura/core/mesh/box.hpp>

#include <string>

namespace ossatura {

/// Logs `large-displacement` where `displacement` (m) is more than a tenth of the longest side of
/// the body; `stiffest` is the largest modulus, Pa. From 1 to 1000 Pa moduli may have been meant in
/// GPa: then where it is more than 1000 times that side. 1 Pa and less stand for units.
void warn_of_displacement(const std::string& source, double displacement, const Box& body,
                          double stiffest);

} // namespace ossatura
