// SPDX-License-Identifier: Apache-2.0
// The free motions of a body that is stated by cells of a lattice.
#pragma once

#include <ossatura/core/mesh/lattice_body.hpp>
#include <ossatura/core/mesh/mechanics/free_motion.hpp>

namespace ossatura {

/// As of the body's mesh, which is made only where the body has several parts.
std::string describe_free_motion(const LatticeBody& body, const std::vector<HeldComponents>& held,
                                 const std::vector<NodeSpring>& springs = {});

} // namespace ossatura
