// SPDX-License-Identifier: Apache-2.0
// A context holds what a subcommand runs in: log, history, provenance and the names of outputs.
#pragma once

#include "apps/driver/engine.hpp"
#include "apps/driver/options/common.hpp"
#include "apps/driver/output/history.hpp"
#include "apps/driver/output/names.hpp"
#include "apps/driver/output/progress.hpp"
#include "apps/driver/output/provenance.hpp"
#include <ossatura/core/base/log.hpp>
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/base/timer.hpp>
#include <ossatura/core/comm/communicator.hpp>

#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

/// The command line as main() got it.
struct Invocation {
  std::string subcommand;
  std::vector<std::string> all;       ///< argv
  std::vector<std::string> arguments; ///< after the subcommand
};

/// One input of several that a command runs on.
struct CohortMember {
  std::string name;   ///< of its results
  std::string input;  ///< its file
  std::string option; ///< that takes the file, as a key of the parameters
};

/// Made after the options are parsed and checked. While it lives, log messages go to stderr. One
/// made in the life of another takes them until it ends.
class DriverContext {
public:
  /// Throws InputError where an output cannot be written. `parameters` are all options as
  /// option_values() gives them. On a rank that is not the first of `world` nothing is written or
  /// printed: what writes does nothing.
  DriverContext(DriverEngine& engine, const Invocation& invocation, const CommonOptions& options,
                nlohmann::ordered_json parameters, const Communicator& world = {});
  /// For one member of a cohort, on `ranks`: its memory, times and warnings are its own. It prints
  /// no results and no progress, and messages but warnings only with -v; its summary is written
  /// where the options have a directory.
  DriverContext(DriverContext& cohort, const CohortMember& member, const Communicator& ranks);
  ~DriverContext();
  DriverContext(const DriverContext&) = delete;
  DriverContext& operator=(const DriverContext&) = delete;

  const CommonOptions& options() const { return options_; }
  const Communicator& world() const { return world_; }
  const std::string& subcommand() const { return subcommand_; }
  const nlohmann::ordered_json& parameters() const { return parameters_; }
  /// The backend for a problem of so many unknowns: serial in place of openmp by default where
  /// threads take longer to meet than they save. Asked for with --backend or --threads, it stays.
  std::string choose_backend(std::int64_t unknowns);
  Provenance& provenance() { return provenance_; }
  const Provenance& provenance() const { return provenance_; }
  StreamLog& log() { return engine_.log(); }
  double seconds() const { return watch_.seconds(); }
  /// All warnings so far.
  const std::vector<LogMessage>& warnings() const { return warnings_; }

  /// Whether stdout is for JSON alone.
  bool json_on_stdout() const { return options_.json == "-"; }
  /// Prints the result: on stdout, or on stderr where stdout is for JSON.
  void print_result(const std::string& text);
  /// The last part of the result: names of the files that were written.
  void print_files(const std::vector<std::string>& files);

  /// Where an output called `name` goes: below --output-dir unless `name` is absolute.
  std::string output_path(const std::string& name) const;
  /// The file for a result: `asked` where it is not empty, else `by_default` where --output-dir was
  /// given, else none.
  std::optional<std::string> output_file(const std::string& asked,
                                         const std::string& by_default) const;

  /// To be called when the input is read, and before anything is written: results will be called
  /// `stem`. Throws where they would replace those of another input, or a summary of another `kind`
  /// than the subcommand's.
  void begin_outputs(const std::string& stem, const std::string& kind = {});
  /// `paths`, frames that a run before this one wrote, belong to the results of this one, too,
  /// which goes on. Throws UsageError where they are of another input, whose summary is replaced.
  void keep_earlier(const std::vector<std::string>& paths);
  /// Warns of files that the results before these had, and that lie beside these although they are
  /// none of theirs. To be called when all outputs are noted.
  void warn_of_earlier_files() const;
  /// Checks that the run may and can write `path`, before it computes anything: it is no input, no
  /// other output of the run, and its directory is there. `replaced` is an input that may be
  /// replaced all the same, such as the checkpoint that a run goes on from. Returns `path`.
  std::string claim_output(const std::string& path, const std::string& replaced = "");
  /// The same for a checkpoint, which is a state and no result: it is in no certificate.
  std::string claim_checkpoint(const std::string& path, const std::string& replaced);
  /// claim_output() of output_file().
  std::optional<std::string> claim_file(const std::string& asked, const std::string& by_default);

  /// Calls write(), which writes `path`. Where it fails, there is a warning, the run goes on and
  /// ends with exit_bad_file. Returns whether it is written.
  template<class Write>
  bool try_output(const std::string& path, const Write& write) {
    try {
      write();
      return true;
    } catch (const InputError& error) {
      note_lost_output(path, error.what());
      return false;
    }
  }
  /// Records size and hash of a file that is written and has its name, for the certificate. Throws
  /// InputError where it cannot be read.
  void note_output(const std::string& path) { note_output(record_input(path)); }
  void note_output(const FileRecord& record);
  /// The same for the history and `files`, but for a checkpoint. One that cannot be read counts as
  /// not written.
  void note_outputs(const std::vector<std::string>& files);
  const std::vector<FileRecord>& outputs() const { return outputs_; }
  /// Where the summary lies, or would lie.
  std::string summary_folder() const;
  /// The exit code of a run that has ended with `code`, in view of outputs that failed.
  int exit_code(int code) const;

  /// Announces a solve: `name` says of what. Residuals are relative, until `tolerance`.
  void begin_solve(const std::string& name, int max_iterations, double tolerance);
  /// From here on all ranks iterate together: a signal to one stops all at the same iteration, and
  /// the first one writes the history. Signals are only noted until then.
  void iterate_together();
  /// Records one iteration of a solve: progress on stderr and a line in the history. Throws
  /// Interrupted after SIGINT or SIGTERM.
  void iteration(int load_case, int iteration, double recurrent_residual);
  void end_solve() { progress_.reset(); }
  /// Between two steps: throws Interrupted on all ranks after a SIGINT or SIGTERM to any. All ranks
  /// call it.
  void throw_if_any_interrupted();
  /// Lines of progress with a heading of the subcommand's own.
  void begin_progress(const std::string& heading);
  void progress(const std::string& line, double remaining_seconds);

  /// Writes the summary to where it is asked for (with --output-dir `stem`.summary.json, or
  /// `stem`.dry-run.json), but not to stdout: the results of a run that fails later are not lost.
  void keep_summary(const nlohmann::ordered_json& summary, const std::string& stem);
  /// The same as the last thing of a run, to stdout as well.
  void finish(const nlohmann::ordered_json& summary, const std::string& stem);
  /// What finish() was given on the first rank; else null.
  const nlohmann::ordered_json& summary() const { return summary_; }

  /// Name of the results, once it is known.
  const std::string& stem() const { return stem_; }

  /// Hands warnings and history of the other ranks to the first, in the order of ranks, without
  /// repeating a warning. All ranks call it.
  void collect_from_ranks();

private:
  /// Begins the history where it is asked for, when its first line is there: an output that is
  /// refused after it was claimed leaves the history of the run before. Null: none.
  HistoryWriter* history();

  DriverEngine& engine_;
  CommonOptions options_;
  Communicator world_;
  std::string subcommand_;
  nlohmann::ordered_json parameters_;
  Stopwatch watch_;
  std::vector<LogMessage> warnings_;
  LogSink previous_sink_;
  Provenance provenance_;
  std::string member_;                    ///< its name; empty: no cohort's
  std::vector<FileRecord> cohort_inputs_; ///< of all members
  nlohmann::ordered_json summary_;
  std::string history_path_; ///< claimed, or empty
  std::unique_ptr<HistoryWriter> history_;
  std::vector<HistoryLine> history_lines_; ///< of another rank than the first
  bool iterates_together_ = false;
  std::string stem_;
  std::unique_ptr<OutputLock> lock_;
  std::vector<std::string> earlier_; ///< files of the summary that this run's replaces
  std::string other_input_; ///< why that summary is of another input, which may be replaced
  std::vector<std::string> claimed_;
  std::vector<std::string> lost_; ///< outputs that could not be written
  std::string checkpoint_;        ///< of the claimed ones
  std::vector<FileRecord> outputs_;
  std::unique_ptr<ProgressLines> progress_;
  struct {
    int max_iterations = 0;
    double tolerance = 0, start = 0;
  } solve_;

  void take_log();
  /// On stderr.
  void show(const LogMessage& message);
  /// Where the summary goes, unless that is stdout or nowhere.
  std::optional<std::string> summary_file(const std::string& stem) const;
  /// Throws where an output that the options name cannot be written.
  void probe_outputs() const;
  void note_lost_output(const std::string& path, const std::string& reason);
  void require_no_input(const std::string& path, const std::string& replaced) const;
};

} // namespace ossatura
