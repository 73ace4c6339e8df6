// SPDX-License-Identifier: Apache-2.0
// The design that a run starts from (--start-from): the .hdf file of another run.
#pragma once

#include <ossatura/solvers/topopt/start.hpp>

#include <string>

namespace ossatura {

/// Densities of the elements of a .hdf file of topopt, with their places: before filters and
/// projections, where the file has these (`variable`), which those of the run are for. Throws
/// InputError, naming file and dataset, for what is no such file, and where a density is not in [0,
/// 1].
PlacedDensities read_start_design(const std::string& path);

} // namespace ossatura
