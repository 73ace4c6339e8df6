// SPDX-License-Identifier: Apache-2.0
// These checks find out whether supports and loads make a test. A test that would give a number
// without a meaning is an error or a warning before the solve.
#pragma once

#include "apps/bone/input/load.hpp"

namespace ossatura {

/// Throws InputError where a part of the specimen that matters can move freely, and where no path
/// of bone leads from what moves or is loaded to what rests. Warns of parts that carry nothing and
/// of supports that touch little of the specimen. Returns the number of parts. Fences.
template<class Exec>
std::int64_t check_supports(const Exec& exec, const BoneOptions& options,
                            const VoxelProblem<Exec>& problem, const BoneLoad<Exec>& load);

} // namespace ossatura
