// SPDX-License-Identifier: Apache-2.0
// The context records on which machine and build a result was measured.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ossatura::bench {

using Context = std::vector<std::pair<std::string, std::string>>;

/// Versions, the backends' devices, clocks and threads, and their ceilings, which are measured
/// here. Keys of a backend begin with its name: "openmp copy GB/s". Kokkos is initialized.
Context make_context(const std::vector<std::string>& backends, bool quick);

} // namespace ossatura::bench
