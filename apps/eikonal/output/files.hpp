// SPDX-License-Identifier: Apache-2.0
// These functions write the files of activation times, for ParaView and for openCARP.
#pragma once

#include "apps/driver/context.hpp"
#include "apps/driver/output/files/begun_file.hpp"
#include "apps/eikonal/input/model.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

/// The files that the options ask for.
struct EikonalFiles {
  std::optional<std::string> hdf;    ///< `stem`.hdf in --output-dir, or --hdf
  std::vector<std::string> igb, dat; ///< of each set, or none
  std::shared_ptr<BegunFile> begun;  ///< `hdf` with all but times, or null
};

/// Throws where one of them may not or cannot be written.
EikonalFiles claim_eikonal_files(const EikonalCommandOptions& options, const EikonalModel& model,
                                 const std::string& stem, DriverContext& context);

/// Begins the file of fields, where one is asked for. `model` stays until it is written.
void begin_eikonal_files(EikonalFiles& files, const EikonalModel& model,
                         const DriverContext& context);

/// Writes the mesh with its tags, directions and a field of times for each set, and the `status` of
/// the solve, as VTKHDF, and times alone for openCARP. Times are [sets, num_points], row-major, ms,
/// infinity where unreached; files have model.unreached_mark() there, and VTKHDF says so in the
/// attribute `unreached` of the field. Returns the names of those that are written.
template<class Real>
std::vector<std::string> write_eikonal(const EikonalFiles& asked, const EikonalModel& model,
                                       ConstSpan<Real> times, const std::string& status,
                                       DriverContext& context);

/// The mark as it stands in texts: "-1" or "nan".
std::string unreached_text(double mark);

} // namespace ossatura
