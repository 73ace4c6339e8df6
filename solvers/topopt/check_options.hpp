// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ossatura/solvers/topopt/options.hpp>

namespace ossatura {

/// Returns the options; throws std::invalid_argument, with the reason, where they make no sense.
const DesignOptions& checked(const DesignOptions& options);

} // namespace ossatura
