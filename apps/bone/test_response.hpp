// SPDX-License-Identifier: Apache-2.0
// The test response is the answer of a specimen to a mechanical test, from the reactions of its
// supports.
#pragma once

#include "apps/bone/input/options.hpp"
#include "apps/bone/supports.hpp"

namespace ossatura {

/// The response of a test between the plates `supports`, lower and upper. `box`: of the nodes;
/// `edge` of a voxel in mm.
TestResponse plate_response(const BoneOptions& options, const NodeBox& box, double edge,
                            const std::vector<MovedSupport>& supports);

/// The response of listed displacements, if they are a clamped and a moved side.
std::optional<TestResponse> listed_response(const BoneOptions& options, const NodeBox& box,
                                            double edge, const std::vector<MovedSupport>& supports);

} // namespace ossatura
