// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/cohort.hpp"

#include "apps/driver/exit_code.hpp"
#include "apps/driver/interrupt.hpp"
#include "apps/driver/output/cohort_table.hpp"
#include "apps/driver/output/names.hpp"
#include "apps/driver/output/summary.hpp"
#include "apps/driver/output/table.hpp"
#include "apps/driver/problem/json_file.hpp"
#include "apps/driver/ranks.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/comm/together.hpp>
#include <ossatura/core/io/text/input_file.hpp>
#include <ossatura/core/machine/kokkos_runtime.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <numeric>
#include <set>

namespace ossatura {

namespace {

using Json = nlohmann::ordered_json;
const char* const cohort_name = "cohort";

/// Without what says where a run is done, and how much it says.
Json essential(Json parameters) {
  for (const char* option :
       {"input", "scene", "output-dir", "overwrite", "json", "timings", "dry-run", "quiet",
        "verbose", "threads", "device", "split", "skip-complete"})
    parameters.erase(option);
  return parameters;
}

/// Whether files of a certificate, by their names from `folder`, are there with the same content.
bool are_the_same(const Json& files, const std::string& folder) {
  if (!files.is_array())
    return false;
  return std::all_of(files.begin(), files.end(), [&](const Json& file) {
    try {
      const auto path = std::filesystem::path(folder) / text_at(file, "/file");
      return record_input(path.string()).xxh64 == text_at(file, "/xxh64");
    } catch (const InputError&) {
      return false;
    }
  });
}

/// Bytes of a file, or of those in a folder. Throws InputError where there is nothing to read.
std::uint64_t count_bytes(const std::string& input, bool takes_folders) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!takes_folders || !fs::is_directory(input, error))
    return require_input_file(input);
  std::uint64_t bytes = 0;
  for (fs::directory_iterator entry(input, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    if (entry->is_regular_file(gone))
      bytes += std::uint64_t(entry->file_size(gone));
  }
  if (error)
    fail<InputError>(input, ": cannot be listed: ", error.message());
  return bytes;
}

/// The gravest of two exit codes.
int graver(int a, int b) {
  const int order[] = {exit_done,    exit_not_converged, exit_usage,   exit_bad_file,
                       exit_stopped, exit_unavailable,   exit_internal};
  const auto rank = [&](int code) { return std::find(std::begin(order), std::end(order), code); };
  return rank(a) < rank(b) ? b : a;
}

/// The work of one process on a cohort.
class CohortRun {
public:
  CohortRun(const Cohort& cohort, DriverContext& context)
      : cohort_(cohort)
      , context_(context)
      , world_(context.world()) {
    run_phase(world_, [&] { begin(); });
    world_.broadcast(bytes_); // one machine may not yet know of what another has written
    rank_of_ = divide_inputs(bytes_, cohort.divides_inputs ? world_.size() : 1);
  }

  int run() {
    protect_results();
    for (std::size_t i = 0; i < records_.size(); ++i) {
      if (cohort_.divides_inputs && rank_of_[i] != world_.rank())
        continue;
      if (is_stopped())
        break;
      records_[i] = run_member(i);
      show(i);
      keep_table();
    }
    collect();
    int code = exit_done;
    run_phase(world_, [&] { code = report(); });
    return code;
  }

private:
  const Cohort& cohort_;
  DriverContext& context_;
  Communicator world_;
  std::vector<std::string> names_;
  std::vector<std::uint64_t> bytes_;
  std::vector<int> rank_of_;
  std::vector<MemberRecord> records_;
  std::string table_path_; ///< empty: none is written

  void begin() {
    names_ = name_members(cohort_.inputs);
    if (std::count(names_.begin(), names_.end(), cohort_name) > 0)
      fail<UsageError>("an input is called '", cohort_name,
                       "', as the table of all of them: give its file another name");
    for (std::size_t i = 0; i < names_.size(); ++i) {
      bytes_.push_back(count_bytes(cohort_.inputs[i], bool(cohort_.files_of)));
      context_.provenance().inputs.push_back({cohort_.inputs[i], bytes_.back(), ""});
      records_.emplace_back(names_[i], cohort_.inputs[i]);
    }
    if (context_.options().dry_run)
      return;
    context_.begin_outputs(cohort_name, context_.subcommand() + "-cohort");
    if (!context_.options().output_dir.empty())
      table_path_ = context_.claim_output(context_.output_path("cohort.csv"));
  }

  bool is_stopped() const {
    return cohort_.divides_inputs ? is_interrupted() : world_.any(is_interrupted());
  }

  /// Whether an input is read from the files that a summary names first.
  bool is_of(const Json& summary, const std::string& input) const {
    const std::vector<std::string> files =
        cohort_.files_of ? cohort_.files_of(input) : std::vector<std::string>{input};
    for (std::size_t k = 0; k < files.size(); ++k)
      if (text_at(summary, "/certificate/inputs/" + std::to_string(k) + "/xxh64") !=
          record_input(files[k]).xxh64)
        return false;
    return true;
  }

  /// The summary of a member that is done, on the first of its ranks; else null.
  Json find_complete(std::size_t i, const DriverContext& member) const {
    const std::string path = member.output_path(names_[i] + ".summary.json");
    std::error_code error;
    if (!cohort_.skips_complete || !std::filesystem::is_regular_file(path, error))
      return {};
    try {
      Json summary = read_json(path);
      const std::string folder = std::filesystem::path(path).parent_path().string();
      if (is_complete_summary(summary, context_.subcommand(), context_.parameters(), folder) &&
          is_of(summary, cohort_.inputs[i]))
        return summary;
    } catch (const InputError& unreadable) {
      log_info(unreadable.what());
    }
    return {};
  }

  MemberRecord run_member(std::size_t i) {
    const CohortMember member{names_[i], cohort_.inputs[i], cohort_.option};
    const Communicator ranks = cohort_.divides_inputs ? Communicator() : world_;
    DriverContext run(context_, member, ranks);
    MemberRecord record(member.name, member.input);
    try {
      Json found;
      together(ranks, [&] {
        if (ranks.is_first())
          found = find_complete(i, run);
      });
      record.was_complete = ranks.any(!found.is_null());
      if (record.was_complete) {
        record.exit_code = exit_done;
        record.take(found, cohort_.columns);
        return record;
      }
      try {
        record.exit_code = cohort_.run(member, run);
      } catch (const Interrupted&) {
        record.exit_code = ranks.is_first() ? finish_interrupted(run) : int(exit_stopped);
      }
      if (ranks.is_first())
        record.exit_code = run.exit_code(record.exit_code);
      record.take(run.summary(), cohort_.columns);
    } catch (const std::exception& error) {
      note_failure(error, ranks, record);
    }
    record.seconds = run.seconds();
    return record;
  }

  /// Of a member that ended early. What leaves the process in doubt, or other ranks waiting, ends
  /// the cohort.
  void note_failure(const std::exception& error, const Communicator& ranks,
                    MemberRecord& record) const {
    const ExitReason reason = describe_current_exception();
    if (is_out_of_memory(error) || is_device_failure(error) ||
        (ranks.size() > 1 && !failed_together())) {
      std::cerr << "ossatura: " << record.name << " ends the cohort; --skip-complete goes on with "
                << "what is not done" << std::endl;
      throw;
    }
    record.status = "failed";
    record.exit_code = reason.code;
    record.error = reason.what;
    if (!ranks.is_first())
      return;
    context_.log().clear_progress();
    std::cerr << "ossatura: " << reason.kind << ": " << record.name << ": " << reason.what
              << std::endl;
  }

  /// A line on stderr.
  void show(std::size_t i) const {
    const MemberRecord& record = records_[i];
    if ((!cohort_.divides_inputs && !world_.is_first()) || !record.error.empty())
      return;
    context_.log().message(LogLevel::normal,
                           std::to_string(i + 1) + " of " + std::to_string(records_.size()) + ", " +
                               record.name + ": " + record.status +
                               (record.was_complete
                                    ? " before"
                                    : " after " + format_number(record.seconds, 3) + " s"));
  }

  /// What is known so far, should the process be killed.
  void keep_table() const {
    if (world_.is_first() && !table_path_.empty())
      context_.try_output(table_path_, [&] {
        write_cohort_csv(table_path_, cohort_.noun, records_, cohort_.columns);
      });
  }

  /// The records of all ranks, on each.
  void collect() {
    if (!cohort_.divides_inputs || world_.size() == 1)
      return;
    std::string mine;
    for (std::size_t i = 0; i < records_.size(); ++i)
      if (rank_of_[i] == world_.rank())
        mine += json_text(to_json(records_[i])) + '\n';
    const std::vector<char> all = world_.gather(std::vector<char>(mine.begin(), mine.end()));
    auto at = all.begin();
    for (int rank = 0; rank < world_.size(); ++rank)
      for (std::size_t i = 0; i < records_.size(); ++i)
        if (rank_of_[i] == rank) {
          const auto end = std::find(at, all.end(), '\n');
          records_[i] = record_of(Json::parse(at, end));
          at = end + 1;
        }
  }

  int report() {
    int code = exit_done;
    for (const MemberRecord& record : records_)
      code = graver(code, record.exit_code);
    if (!world_.is_first())
      return code;
    keep_table();
    context_.print_result(cohort_text(cohort_.noun, records_, cohort_.columns));
    std::vector<std::string> files;
    if (!table_path_.empty())
      files.push_back(table_path_);
    context_.print_files(files);
    Json members = Json::array();
    Provenance& provenance = context_.provenance();
    for (std::size_t i = 0; i < records_.size(); ++i) {
      members.push_back(to_json(records_[i]));
      provenance.inputs[i].xxh64 = records_[i].xxh64;
    }
    context_.finish({{"schema", "ossatura/" + context_.subcommand() + "-cohort/1"},
                     {"status", cohort_status(code)},
                     {"members", std::move(members)},
                     {"engine",
                      {{"backend", provenance.backend},
                       {"device", provenance.device},
                       {"threads", provenance.threads},
                       {"ranks", world_.size()},
                       {"split", cohort_.divides_inputs ? "inputs" : "members"}}},
                     {"parameters", context_.parameters()},
                     {"timings", {{"total_seconds", context_.seconds()}}},
                     {"files", files},
                     {"provenance", to_json(provenance)}},
                    cohort_name);
    return code;
  }

  std::string cohort_status(int code) const {
    return context_.options().dry_run ? "dry run"
           : code == exit_done        ? "done"
           : code == exit_stopped     ? "interrupted"
                                      : "failed";
  }
};

/// The name of a file behind those of so many of the directories that it is in, as far as there
/// are.
std::string name_with_parents(const std::string& input, int num_parents) {
  std::error_code error;
  std::filesystem::path path = std::filesystem::absolute(input, error).lexically_normal();
  if (!path.has_filename()) // "scan/"
    path = path.parent_path();
  std::string name = file_stem(input);
  for (int k = 0; k < num_parents && path.parent_path().has_filename(); ++k) {
    path = path.parent_path();
    name = path.filename().string() + "-" + name;
  }
  return name;
}

/// Names of files that are called the same, by as many directories as make them different.
std::vector<std::string> tell_apart(const std::vector<std::string>& inputs) {
  std::vector<std::string> names, before;
  for (int num_parents = 1; names.empty() || names != before; ++num_parents) {
    before = names;
    names.clear();
    for (const std::string& input : inputs)
      names.push_back(name_with_parents(input, num_parents));
    if (std::set<std::string>(names.begin(), names.end()).size() == names.size())
      break;
  }
  return names;
}

} // namespace

std::vector<std::string> name_members(const std::vector<std::string>& inputs) {
  std::map<std::string, std::vector<std::size_t>> by_stem;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    by_stem[file_stem(inputs[i])].push_back(i);
  std::vector<std::string> names(inputs.size());
  for (const auto& [stem, members] : by_stem) {
    std::vector<std::string> same;
    for (const std::size_t i : members)
      same.push_back(inputs[i]);
    const std::vector<std::string> apart =
        same.size() > 1 ? tell_apart(same) : std::vector<std::string>{stem};
    for (std::size_t k = 0; k < members.size(); ++k)
      names[members[k]] = apart[k];
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (names[i] == names[j] && is_same_file(inputs[i], inputs[j]))
        fail<UsageError>(inputs[i], ": is given twice: leave it out once");
      else if (names[i] == names[j])
        fail<UsageError>("the results of ", inputs[j], " and ", inputs[i],
                         " would both be called '", names[i],
                         "': give one of the files another name, or run them one by one");
  return names;
}

std::vector<int> divide_inputs(const std::vector<std::uint64_t>& bytes, int num_ranks) {
  std::vector<std::size_t> order(bytes.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return bytes[a] > bytes[b]; });
  std::vector<int> rank_of(bytes.size(), 0);
  std::vector<std::uint64_t> load(std::size_t(num_ranks), 0);
  for (const std::size_t i : order) {
    const auto least = std::min_element(load.begin(), load.end());
    rank_of[i] = int(least - load.begin());
    *least += bytes[i] + 1; // empty files count, too
  }
  return rank_of;
}

bool is_complete_summary(const nlohmann::ordered_json& summary, const std::string& subcommand,
                         const nlohmann::ordered_json& parameters, const std::string& folder) {
  if (!summary.is_object() || text_at(summary, "/schema") != "ossatura/" + subcommand + "/1")
    return false;
  const std::string status = text_at(summary, "/status");
  if (status != "converged" && status != "steps done" && status != "done")
    return false;
  const Provenance none;
  const Json here = to_json(none);
  for (const char* version : {"/ossatura", "/git"})
    if (text_at(summary, "/provenance" + std::string(version)) != text_at(here, version))
      return false;
  // As they are written: a number may not be of the type that it was.
  if (!summary.contains("parameters") || !summary["parameters"].is_object() ||
      json_text(essential(summary["parameters"])) != json_text(essential(parameters)))
    return false;
  const Json certificate = summary.value("certificate", Json());
  return certificate.is_object() &&
         are_the_same(certificate.value("inputs", Json()),
                      text_at(summary, "/provenance/directory")) &&
         are_the_same(certificate.value("files", Json()), folder);
}

int run_cohort(const Cohort& cohort, DriverContext& context) {
  return CohortRun(cohort, context).run();
}

} // namespace ossatura
