// SPDX-License-Identifier: Apache-2.0
// The table of a cohort has a row for each member, made from its summary.
#pragma once

#include "apps/driver/cohort.hpp"
#include "apps/driver/exit_code.hpp"

#include <string>
#include <utility>
#include <vector>

namespace ossatura {

/// What became of a member.
struct MemberRecord {
  MemberRecord(std::string name_of_it, std::string input_of_it)
      : name(std::move(name_of_it))
      , input(std::move(input_of_it)) {}

  std::string name, input;
  /// That of its summary, or "failed", or "not run".
  std::string status = "not run";
  std::string error;            ///< of one that failed
  int exit_code = exit_stopped; ///< that a run of its own would end with
  bool was_complete = false;    ///< and left out
  double seconds = 0;
  std::string xxh64;             ///< of the input; empty where it was not read
  nlohmann::ordered_json values; ///< object of the columns that the summary has

  /// Takes status and values from a summary.
  void take(const nlohmann::ordered_json& summary, const std::vector<CohortColumn>& columns);
};

nlohmann::ordered_json to_json(const MemberRecord& record);
MemberRecord record_of(const nlohmann::ordered_json& json);

/// Writes the name of each `noun`, input, status, exit_code, the columns that have a value
/// anywhere, and error as CSV (RFC 4180), the numbers with all their digits. Throws InputError.
void write_cohort_csv(const std::string& path, const std::string& noun,
                      const std::vector<MemberRecord>& records,
                      const std::vector<CohortColumn>& columns);

/// The table that is printed: columns with a head.
std::string cohort_text(const std::string& noun, const std::vector<MemberRecord>& records,
                        const std::vector<CohortColumn>& columns);

} // namespace ossatura
