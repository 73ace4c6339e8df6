// SPDX-License-Identifier: Apache-2.0
// A cohort is several inputs of one command, with the same options: each has the results of a run
// of its own, and all together a table.
#pragma once

#include "apps/driver/context.hpp"

#include <functional>
#include <string>
#include <vector>

namespace ossatura {

/// A number or text of the members' summaries, as a column of the table.
struct CohortColumn {
  std::string name;  ///< in cohort.csv
  std::string place; ///< JSON pointer into the summary
  std::string head;  ///< in the table that is printed; empty: it is not in that
};

struct Cohort {
  std::vector<std::string> inputs;
  std::string option; ///< that takes them, as a key of the parameters
  std::string noun;   ///< for one of them
  /// Whether the ranks of a launcher divide the inputs; else all of them work on each.
  bool divides_inputs = true;
  /// Members that were done before are left out (is_complete_summary).
  bool skips_complete = false;
  /// The files that an input is read from, in the order of its summary, where these may be others
  /// than itself: inputs may be folders then.
  std::function<std::vector<std::string>(const std::string& input)> files_of;
  /// Columns without a value in any member are left out.
  std::vector<CohortColumn> columns;
  /// One member; returns its exit code.
  std::function<int(const CohortMember&, DriverContext&)> run;
};

/// Names of the members: of their files, without directory and extension, where these differ; else
/// behind the name of the directory, as "P001-scan", or of as many directories as make those of
/// one name differ, "site-P001-scan". Throws UsageError where two are still the same.
std::vector<std::string> name_members(const std::vector<std::string>& inputs);

/// The rank that takes each input: the largest first, each to the rank with the fewest bytes so
/// far.
std::vector<int> divide_inputs(const std::vector<std::uint64_t>& bytes, int num_ranks);

/// Whether a member need not run again: `summary` is of a run to its end, by this version, with the
/// same `parameters` but for those that change no result, of inputs that are still the same, and
/// its outputs, below `folder`, are as it left them.
bool is_complete_summary(const nlohmann::ordered_json& summary, const std::string& subcommand,
                         const nlohmann::ordered_json& parameters, const std::string& folder);

/// Runs all members, prints the table and writes it: cohort.csv, which depends on the inputs and
/// options alone, and cohort.summary.json into the directory of outputs. What is wrong with one
/// member ends that member, and the others go on; after a signal no further one begins. Returns the
/// gravest of the members' exit codes. All ranks call it.
int run_cohort(const Cohort& cohort, DriverContext& context);

} // namespace ossatura
