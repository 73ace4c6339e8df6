// SPDX-License-Identifier: Apache-2.0
// The certificate of a run has what its result can be judged by without running it again: checks
// with their bounds, and hashes of the files that were read and written.
#pragma once

#include "apps/driver/output/provenance.hpp"
#include <ossatura/core/base/result_check.hpp>

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace ossatura {

/// `tolerance` that was asked for, and what was found with it.
struct Certificate {
  std::optional<double> tolerance;
  std::vector<ResultCheck> checks;
};

/// The object of the summary. Names of `outputs` below `folder`, where the summary lies, are
/// relative to it.
nlohmann::ordered_json to_json(const Certificate& certificate,
                               const std::vector<FileRecord>& inputs,
                               const std::vector<FileRecord>& outputs, const std::string& folder);

/// A section of the table: how many checks passed, and the others with value and bound.
std::string certificate_text(const Certificate& certificate);

/// The checks that failed, as "energy_balance is 0.2, at most 0.001 may be"; empty if none did.
std::string failed_checks(const Certificate& certificate);

} // namespace ossatura
