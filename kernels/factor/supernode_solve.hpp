// SPDX-License-Identifier: Apache-2.0
// The supernode solve applies M^-1 = L^-T D^-1 L^-1 from the panels of L, in the way that suits the
// backend.
#pragma once

#include <ossatura/kernels/factor/supernode_levels.hpp>
#include <ossatura/kernels/factor/supernode_tasks.hpp>

#include <type_traits>

namespace ossatura {

/// Panels by levels on devices, subtrees on cores.
template<class Exec>
using SupernodeSolve =
    std::conditional_t<BackendTraits<Exec>::is_device, SupernodeLevels<Exec>, SupernodeTasks<Exec>>;

} // namespace ossatura
