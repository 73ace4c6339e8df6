// SPDX-License-Identifier: Apache-2.0
// Levels are the grids of a run with --levels: the problem on voxels twice, four times, ... as
// large, where steps are cheap, before those of the grid that is asked for.
#pragma once

#include "apps/topopt/input/model.hpp"

#include <vector>

namespace ossatura {

/// The problem of `finest` on the coarser grids that the options ask for, the coarsest first, each
/// with the number of steps after which the next one takes over. Filters have the radius of the
/// finest grid, or the least one that reaches neighbours. Throws UsageError for a problem that is
/// not on voxels and for fewer steps than are needed, InputError for cells that cannot be doubled,
/// and where supports and loads have no nodes or other forces on a coarser grid.
std::vector<TopoptModel> make_coarser_models(const TopoptCommandOptions& options,
                                             const TopoptModel& finest);

} // namespace ossatura
