// SPDX-License-Identifier: Apache-2.0
// Every subcommand has these common options.
#pragma once

#include <ossatura/core/base/log.hpp>
#include <ossatura/core/base/precision.hpp>
#include <ossatura/core/io/hdf5/compression.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ossatura {

struct CommonOptions {
  std::string backend;                ///< one of backend_names(); the default is the last
  bool has_backend = false;           ///< it is asked for
  std::optional<int> device;          ///< number of the GPU
  std::optional<int> threads;         ///< of the openmp backend
  std::optional<int> rank_threads;    ///< of it where nothing says how many (threads_of_rank)
  std::optional<Precision> precision; ///< else ("auto") the fastest for backend and other options
  std::uint64_t seed = 0;
  LogLevel log_level = LogLevel::normal;
  bool timings = false;   ///< fence around timed regions, print their table
  bool dry_run = false;   ///< read the input, print sizes and predicted memory, leave
  bool overwrite = false; ///< results of another input may be replaced
  std::string output_dir;
  std::string json; ///< empty: none; "-": stdout
  std::string history;
  std::string config;                               ///< file that options are from, or empty
  Hdf5Compression compress = Hdf5Compression::fast; ///< of all HDF5 files but checkpoints
};

/// Files of states to go on from.
struct CheckpointOptions {
  std::string checkpoint, resume;
  std::optional<int> checkpoint_every;
};

/// Files that grow with the steps of a run.
struct StepFileOptions : CheckpointOptions {
  std::string hdf, history;
  bool no_hdf = false;
  std::optional<int> vtk_every;
};

/// Adds --checkpoint, --checkpoint-every and --resume. `state`: what a checkpoint has; `source`:
/// "scene".
void add_checkpoint_options(CLI::App& app, CheckpointOptions& options, const std::string& state,
                            const std::string& source);

/// Throws UsageError for values and combinations without a meaning.
void check_checkpoint_options(const CLI::App& app, const CheckpointOptions& options);

/// Adds --history and the options of checkpoints. `lines`: what a line of the history has.
void add_step_files(CLI::App& app, StepFileOptions& options, const std::string& lines,
                    const std::string& state, const std::string& source);

/// Throws UsageError, with the remedy, for values and combinations without a meaning.
void check_step_files(const CLI::App& app, const StepFileOptions& options,
                      const CommonOptions& common);

/// Whether there is a file of fields, by --hdf or else by --output-dir without --no-hdf.
bool writes_fields(const std::string& hdf, bool no_hdf, const CommonOptions& common);

/// Programs tell formats by names. Throws UsageError for a file of the format that ends in `own`
/// where its name ends in one of `others`.
void refuse_name_of_another_format(const std::string& option, const std::string& path,
                                   const std::string& format, const std::string& own,
                                   const std::vector<std::string>& others);

/// Throws UsageError for --hdf beside --no-hdf, and for --compress where the run writes neither
/// fields nor another HDF5 file to which it applies (`other_file`).
void check_field_files(const CLI::App& app, const std::string& hdf, bool no_hdf,
                       const CommonOptions& common, bool other_file = false);

/// Adds the positional argument `name`, also as --name, which takes one file or several, and
/// --skip-complete.
void add_inputs(CLI::App& app, const std::string& name, std::vector<std::string>& inputs,
                bool& skip_complete, const std::string& description);

/// Throws UsageError for options that name one file where there are several inputs, and for
/// --skip-complete without --output-dir.
void check_cohort_options(const CLI::App& app, const std::vector<std::string>& inputs,
                          bool skip_complete, const CommonOptions& common);

/// The choices that differ between subcommands.
struct CommonChoices {
  std::vector<std::optional<Precision>> precisions; ///< the default first; none: "auto"
  const char* precision_help;
  bool history = true; ///< whether there is a residual of each iteration
  bool fields = true;  ///< whether there are HDF5 files of fields
};

/// Adds them to `app`.
void add_common_options(CLI::App& app, CommonOptions& options, const CommonChoices& choices);

/// Throws UsageError or BackendError where they cannot be carried out. Does not need Kokkos to be
/// initialized.
void check_common_options(const CommonOptions& options);

} // namespace ossatura
