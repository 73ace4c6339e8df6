// SPDX-License-Identifier: Apache-2.0
// The files of activation times: for ParaView and for openCARP.
#pragma once

#include "apps/driver/context.hpp"
#include "apps/eikonal/eikonal_model.hpp"

#include <string>
#include <vector>

namespace femura {

/// Writes what the options ask for: the mesh with its tags, directions and a field of times for
/// each set as VTKHDF (`stem`.hdf in --output-dir, or --hdf), --igb and --dat. Times are
/// [sets, num_points], row-major, ms, infinity where unreached; files have model.unreached_mark()
/// there, and VTKHDF says so in the attribute `unreached` of the field. Returns the names of the
/// files.
template<class Real>
std::vector<std::string> write_eikonal(const EikonalCommandOptions& options,
                                       const EikonalModel& model, const std::string& stem,
                                       ConstSpan<Real> times, const DriverContext& context);

/// The mark as it stands in texts: "-1" or "nan".
std::string unreached_text(double mark);

} // namespace femura
