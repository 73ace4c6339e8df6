// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/context.hpp"

#include "apps/driver/exit_code.hpp"
#include "apps/driver/interrupt.hpp"
#include "apps/driver/output/table.hpp"
#include "apps/driver/problem/json_file.hpp"
#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/base/version.hpp>
#include <ossatura/core/io/text/atomic_file.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <utility>

namespace ossatura {

namespace {

/// Where an output goes; a file called - would be what nobody asks for.
void require_name(const std::string& name) {
  if (name == "-")
    fail<UsageError>("'-' is no name of an output: only the summary can be written to standard "
                     "output (--json -), all else goes to files and folders: give a name");
}

void make_directory(const std::string& path) {
  require_name(path);
  std::error_code error, ignored;
  std::filesystem::create_directories(path, error);
  if (!std::filesystem::is_directory(path, ignored))
    fail<InputError>(path, ": cannot be made a directory for the output: ",
                     error ? error.message() : "there is a file of this name");
}

} // namespace

DriverContext::DriverContext(DriverEngine& engine, const Invocation& invocation,
                             const CommonOptions& options, nlohmann::ordered_json parameters,
                             const Communicator& world)
    : engine_(engine)
    , options_(options)
    , world_(world)
    , subcommand_(invocation.subcommand)
    , parameters_(std::move(parameters))
    , provenance_(start_provenance(invocation.all)) {
  provenance_.seed = options.seed;
  provenance_.backend = options.backend;
  provenance_.device = device_name(options.backend);
  provenance_.threads = host_threads(options.backend);

  if (world_.is_first())
    probe_outputs();
  take_log();
  log_info("ossatura ", version(), " (", git_hash(), "), Kokkos ", kokkos_version(), ", ",
           options.backend, " on ", provenance_.device,
           options.backend == "openmp" ? ", " + std::to_string(provenance_.threads) + " threads"
                                       : std::string(),
           world_.size() > 1 ? " on each of " + std::to_string(world_.size()) + " ranks"
                             : std::string());
}

DriverContext::DriverContext(DriverContext& cohort, const CohortMember& member,
                             const Communicator& ranks)
    : engine_(cohort.engine_)
    , options_(cohort.options_)
    , world_(ranks)
    , subcommand_(cohort.subcommand_)
    , parameters_(cohort.parameters_)
    , provenance_(cohort.provenance_)
    , member_(member.name)
    , cohort_inputs_(cohort.provenance_.inputs) {
  options_.json.clear(); // is the cohort's
  parameters_[member.option] = member.input;
  provenance_.inputs.clear();
  provenance_.time_utc = utc_now();
  region_timers().clear();
  reset_memory_peaks();
  take_log();
}

void DriverContext::take_log() {
  previous_sink_ = set_log_sink([this](const LogMessage& message) {
    if (world_.is_first())
      show(message);
    if (!message.code.empty())
      warnings_.push_back(message);
  });
}

void DriverContext::show(const LogMessage& message) {
  if (member_.empty()) {
    engine_.log().message(message.level, message.text);
  } else if (message.level == LogLevel::quiet || options_.log_level == LogLevel::verbose) {
    const std::string prefix = message.code.empty() ? "" : "warning: ";
    engine_.log().message(message.level,
                          prefix + member_ + ": " + message.text.substr(prefix.size()));
  }
}

void DriverContext::probe_outputs() const {
  if (!options_.output_dir.empty())
    make_directory(options_.output_dir);
  // A run of hours must not end in "cannot be written".
  if (!json_on_stdout())
    if (const auto summary = output_file(options_.json, "summary.json"))
      AtomicFile probe(*summary);
  if (options_.dry_run && !options_.json.empty() && !json_on_stdout())
    require_no_results(output_path(options_.json));
  if (!options_.history.empty())
    AtomicFile probe(output_path(options_.history));
}

DriverContext::~DriverContext() {
  progress_.reset();
  set_log_sink(std::move(previous_sink_));
}

std::string DriverContext::choose_backend(std::int64_t unknowns) {
  // A pass over as many takes some 50 microseconds on one core, as it takes to wake a thread.
  constexpr std::int64_t fewest = 5000;
  const std::vector<std::string> known = backend_names();
  if (options_.backend != "openmp" || options_.has_backend || options_.threads ||
      unknowns >= fewest || std::count(known.begin(), known.end(), "serial") == 0)
    return options_.backend;
  log_info("serial: ", unknowns, " unknowns are too few for threads (--backend openmp takes them)");
  provenance_.backend = "serial";
  provenance_.threads = host_threads(provenance_.backend);
  return provenance_.backend;
}

void DriverContext::print_files(const std::vector<std::string>& files) {
  if (files.empty())
    return;
  Table table;
  table.section("Files");
  for (const std::string& file : files)
    table.row(file, std::string());
  print_result('\n' + table.text());
}

void DriverContext::print_result(const std::string& text) {
  if (!world_.is_first() || !member_.empty())
    return;
  engine_.log().clear_progress();
  std::ostream& stream = json_on_stdout() ? std::cerr : std::cout;
  stream << text << std::flush;
}

std::string DriverContext::output_path(const std::string& name) const {
  require_name(name);
  // An absolute name replaces the directory.
  return (std::filesystem::path(options_.output_dir) / name).string();
}

std::optional<std::string> DriverContext::output_file(const std::string& asked,
                                                      const std::string& by_default) const {
  if (!asked.empty())
    return output_path(asked);
  if (!options_.output_dir.empty())
    return output_path(by_default);
  return {};
}

std::optional<std::string> DriverContext::summary_file(const std::string& stem) const {
  if (json_on_stdout())
    return {};
  return output_file(options_.json, stem + (options_.dry_run ? ".dry-run.json" : ".summary.json"));
}

void DriverContext::require_no_input(const std::string& path, const std::string& replaced) const {
  if (!options_.config.empty() && is_same_file(path, options_.config))
    fail<UsageError>(path,
                     ": is the configuration of this run (--config), and would be replaced by its "
                     "output: choose another name");
  for (const std::vector<FileRecord>* inputs : {&provenance_.inputs, &cohort_inputs_})
    for (const FileRecord& input : *inputs)
      if (is_same_file(path, input.path) && (replaced.empty() || !is_same_file(path, replaced)))
        fail<UsageError>(path,
                         ": is an input of this run, and would be replaced by its output: choose "
                         "another name or another --output-dir");
}

std::string DriverContext::claim_output(const std::string& path, const std::string& replaced) {
  if (!world_.is_first())
    return path;
  require_no_input(path, replaced);
  for (const std::string& other : claimed_)
    if (is_same_file(path, other))
      fail<UsageError>(path, ": two outputs of this run have this name: choose another for one");
  AtomicFile probe(path);
  remove_abandoned_files(std::filesystem::path(path).parent_path().string());
  claimed_.push_back(path);
  return path;
}

std::optional<std::string> DriverContext::claim_file(const std::string& asked,
                                                     const std::string& by_default) {
  const std::optional<std::string> path = output_file(asked, by_default);
  if (path)
    claim_output(*path);
  return path;
}

std::string DriverContext::claim_checkpoint(const std::string& path, const std::string& replaced) {
  checkpoint_ = path;
  return claim_output(path, replaced);
}

void DriverContext::note_output(const FileRecord& record) {
  for (FileRecord& known : outputs_)
    if (known.path == record.path) {
      known = record;
      return;
    }
  outputs_.push_back(record);
}

void DriverContext::note_outputs(const std::vector<std::string>& files) {
  const auto note = [this](const std::string& path) {
    try_output(path, [&] { note_output(path); });
  };
  if (history() != nullptr)
    note(history_path_);
  for (const std::string& file : files)
    if (file != checkpoint_)
      note(file);
}

std::string DriverContext::summary_folder() const {
  const auto path = summary_file(stem_);
  return path ? std::filesystem::path(*path).parent_path().string() : options_.output_dir;
}

void DriverContext::begin_outputs(const std::string& stem, const std::string& kind) {
  stem_ = stem;
  if (!world_.is_first())
    return;
  if (!options_.output_dir.empty() && !options_.dry_run)
    lock_ = std::make_unique<OutputLock>(options_.output_dir, stem);
  if (const auto summary = summary_file(stem)) {
    if (options_.json.empty() && !options_.dry_run)
      try {
        require_own_summary(*summary, kind.empty() ? subcommand_ : kind, provenance_,
                            text_at(parameters_, "/resume"));
      } catch (const UsageError& error) {
        if (!options_.overwrite)
          throw;
        other_input_ = error.what();
      }
    earlier_ = files_of_summary(*summary);
    claim_output(*summary);
  }
  if (!options_.history.empty() && !options_.dry_run)
    history_path_ = claim_output(output_path(options_.history));
}

void DriverContext::keep_earlier(const std::vector<std::string>& paths) {
  if (!paths.empty() && !other_input_.empty())
    fail<UsageError>("--resume: '", summary_folder(), "' has frames of another input, '", paths[0],
                     "' among them, which the series of this run would keep as its own: choose "
                     "another --output-dir, or remove them and their '.hdf.series'");
  remove_same_files(earlier_, paths);
}

void DriverContext::warn_of_earlier_files() const {
  std::vector<std::string> others = earlier_, ours;
  for (const std::vector<FileRecord>* records : {&outputs_, &provenance_.inputs})
    for (const FileRecord& record : *records)
      ours.push_back(record.path);
  remove_same_files(others, ours);
  if (others.empty())
    return;
  const auto more = std::int64_t(others.size()) - 1;
  log_warning("earlier-files", others[0], more > 0 ? " and " + counted(more, "other file") : "",
              more > 0 ? " are" : " is",
              " of an earlier run with results of this name, and not of these: remove what you do "
              "not need, or choose another --output-dir");
}

HistoryWriter* DriverContext::history() {
  if (!history_ && !history_path_.empty())
    history_ = std::make_unique<HistoryWriter>(history_path_);
  return history_.get();
}

void DriverContext::note_lost_output(const std::string& path, const std::string& reason) {
  const bool is_known = std::count(lost_.begin(), lost_.end(), path) > 0;
  if (is_known)
    log_info(path, ": not written: ", reason);
  else
    log_warning("not-written", path, ": not written: ", reason);
  lost_.push_back(path);
}

int DriverContext::exit_code(int code) const {
  const bool failed =
      std::any_of(warnings_.begin(), warnings_.end(),
                  [](const LogMessage& warning) { return warning.code == "not-written"; });
  if (!failed)
    return code;
  std::cerr << "ossatura: error: not all outputs are written; see the warnings above" << std::endl;
  return exit_bad_file;
}

void DriverContext::begin_progress(const std::string& heading) {
  progress_.reset(); // its last line comes before the heading of the next
  if (world_.is_first() && member_.empty())
    progress_ = std::make_unique<ProgressLines>(engine_.log(), heading);
}

void DriverContext::progress(const std::string& line, double remaining_seconds) {
  if (progress_)
    progress_->show(line, remaining_seconds);
}

void DriverContext::iterate_together() {
  iterates_together_ = true;
  protect_results();
}

void DriverContext::begin_solve(const std::string& name, int max_iterations, double tolerance) {
  protect_results();
  char tolerance_text[32];
  std::snprintf(tolerance_text, sizeof tolerance_text, "%.3g", tolerance);
  begin_progress("   seconds iteration/most     residual   of " + name + ", until " +
                 tolerance_text);
  solve_ = {max_iterations, tolerance, seconds()};
}

void DriverContext::iteration(int load_case, int iteration, double recurrent_residual) {
  const double now = seconds();
  if (HistoryWriter* const history = this->history())
    history->add({now, load_case, iteration, recurrent_residual});
  else if (!world_.is_first() && !iterates_together_ && !options_.history.empty())
    history_lines_.push_back({now, load_case, iteration, recurrent_residual});
  if (progress_ && options_.log_level != LogLevel::quiet) {
    char line[96];
    std::snprintf(line, sizeof line, "%10.3f %9d/%-4d %12.5e", now, iteration,
                  solve_.max_iterations, recurrent_residual);
    // As if the residual went on to fall by the same factor in the same time.
    const double fallen = std::log(recurrent_residual), wanted = std::log(solve_.tolerance);
    const double remaining = (now - solve_.start) * (wanted / fallen - 1);
    progress(line, fallen < 0 && std::isfinite(remaining) ? std::max(remaining, 0.0) : -1);
  }
  if (!iterates_together_)
    throw_if_interrupted();
  else
    throw_if_any_interrupted();
}

void DriverContext::throw_if_any_interrupted() {
  if (const int signal = world_.max(noted_interrupt())) // and not what comes after that
    throw_interrupted_by(signal);
}

void DriverContext::collect_from_ranks() {
  for (const HistoryLine& line : world_.gather(history_lines_))
    if (history() != nullptr)
      history_->add(line);
  history_lines_.clear();
  // Code and text of each, closed by a zero.
  std::vector<char> letters;
  if (!world_.is_first())
    for (const LogMessage& warning : warnings_)
      for (const std::string& text : {warning.code, warning.text})
        letters.insert(letters.end(), text.c_str(), text.c_str() + text.size() + 1);
  const std::vector<char> all = world_.gather(letters);
  if (!world_.is_first())
    return;
  for (auto at = all.begin(); at != all.end();) {
    std::string part[2];
    for (std::string& text : part) {
      const auto end = std::find(at, all.end(), '\0');
      text.assign(at, end);
      at = end + 1;
    }
    if (std::none_of(warnings_.begin(), warnings_.end(),
                     [&](const LogMessage& known) { return known.text == part[1]; }))
      log_message({LogLevel::quiet, part[1], part[0]});
  }
}

void DriverContext::keep_summary(const nlohmann::ordered_json& summary, const std::string& stem) {
  if (!world_.is_first())
    return;
  if (stem_.empty())
    begin_outputs(stem);
  if (const auto path = summary_file(stem))
    write_file(*path, json_text(summary, 2) + '\n');
}

void DriverContext::finish(const nlohmann::ordered_json& summary, const std::string& stem) {
  end_solve();
  if (!world_.is_first())
    return;
  summary_ = summary;
  keep_summary(summary, stem);
  if (json_on_stdout())
    std::cout << json_text(summary, 2) + '\n' << std::flush;
  else if (const auto path = summary_file(stem))
    log_info("wrote ", *path);
  if (options_.timings)
    log_message({LogLevel::quiet, region_timers().table(), ""});
}

} // namespace ossatura
