// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/options/common.hpp"

#include "apps/driver/options/check.hpp"
#include "apps/driver/options/option_kinds.hpp"
#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/machine/processors.hpp>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace ossatura {

void add_common_options(CLI::App& app, CommonOptions& options, const CommonChoices& choices) {
  options.backend = backend_names().back();
  options.precision = choices.precisions.front();

  app.option_defaults()->group("Engine");
  app.add_option("--backend", options.backend, "Where to compute")
      ->type_name(joined(backend_names(), "|"))
      ->capture_default_str();
  app.add_option("--device", options.device, "Number of the GPU (cuda)")->type_name("N");
  app.add_option(
         "--threads", options.threads,
         "Threads (openmp); if not given, OMP_NUM_THREADS or the processors that affinity and "
         "the container leave")
      ->type_name("N");
  Names<std::optional<Precision>> precisions;
  for (const std::optional<Precision>& choice : choices.precisions)
    precisions.add({choice, choice ? name_of(*choice) : "auto"});
  add_choice(app, "--precision", options.precision, choices.precision_help, precisions);
  app.add_option("--seed", options.seed, "Of everything random")
      ->check([](const std::string& text) {
        errno = 0;
        (void)std::strtoull(text.c_str(), nullptr, 0); // saturates, and CLI11 with it
        return text[0] == '-' || errno == ERANGE ? "a whole number, 0 to 18446744073709551615" : "";
      })
      ->type_name("N")
      ->capture_default_str();

  app.option_defaults()->group("Output");
  app.add_option("-o,--output-dir", options.output_dir,
                 "Write all results here, under names made from the input's; other output files "
                 "with a relative name go here too. Without it, only files asked for are written")
      ->type_name("DIR");
  app.add_flag("--overwrite", options.overwrite,
               "Replace results in --output-dir that are of another input with the same name");
  app.add_option("--json", options.json,
                 "Summary of the run as JSON; with -, on stdout and nothing else there")
      ->type_name("FILE|-");
  if (choices.history)
    app.add_option("--history", options.history, "Residual of each iteration as CSV")
        ->type_name("FILE");
  if (choices.fields)
    add_choice(app, "--compress", options.compress,
               "Of HDF5 files but checkpoints, by all threads. none: most bytes, least time to "
               "write and to read; fast: often a third of the bytes; small: 1 % fewer, in up to "
               "twice the time");
  app.add_flag("--timings", options.timings,
               "Wait for the device around each timed region and print the table of regions");
  app.add_flag("--dry-run", options.dry_run,
               "Read the input, print its size and the predicted memory, and stop");
  const auto add_level = [&](const char* flags, LogLevel level, const char* description) {
    return app.add_flag_callback(
        flags, [&options, level] { options.log_level = level; }, description);
  };
  add_level("-q,--quiet", LogLevel::quiet,
            "No progress: only warnings, errors and the table of results")
      ->excludes(add_level("-v,--verbose", LogLevel::verbose,
                           "Details, all lines of progress, and the advice of Kokkos"));
}

void add_inputs(CLI::App& app, const std::string& name, std::vector<std::string>& inputs,
                bool& skip_complete, const std::string& description) {
  app.add_option(name + ",--" + name, inputs,
                 description + ". Several are a cohort: each has the results of a run of its own, "
                               "and --output-dir gets a table of all, cohort.csv")
      ->type_name("FILE...");
  app.add_flag("--skip-complete", skip_complete,
               "Leave out inputs whose results in --output-dir are complete, of the same files, "
               "options and version");
}

void check_cohort_options(const CLI::App& app, const std::vector<std::string>& inputs,
                          bool skip_complete, const CommonOptions& common) {
  require_effect(app, {{"--skip-complete", !common.output_dir.empty() && !common.dry_run,
                        "--output-dir, or with --dry-run"}});
  if (inputs.size() < 2 && !skip_complete)
    return;
  for (const char* option : {"--hdf", "--parosol-output", "--history", "--checkpoint", "--resume"})
    if (app.get_option_no_throw(option) != nullptr && app.count(option) > 0)
      fail<UsageError>(option, " is of one input, and there are ", inputs.size(),
                       ": leave it out; --output-dir has results under the inputs' names");
}

void add_checkpoint_options(CLI::App& app, CheckpointOptions& options, const std::string& state,
                            const std::string& source) {
  app.add_option("--checkpoint", options.checkpoint,
                 state + " for --resume as HDF5, at the end and when a signal stops the run, which "
                         "then exits with 75")
      ->type_name("FILE");
  app.add_option("--checkpoint-every", options.checkpoint_every,
                 "And whenever so many steps are done")
      ->type_name("N");
  app.add_option("--resume", options.resume, "Go on from a checkpoint of the same " + source)
      ->type_name("FILE");
}

void check_checkpoint_options(const CLI::App& app, const CheckpointOptions& options) {
  require_at_least("--checkpoint-every", options.checkpoint_every.value_or(1), 1);
  require_effect(app, {{"--checkpoint-every", !options.checkpoint.empty(), "--checkpoint"}});
}

void add_step_files(CLI::App& app, StepFileOptions& options, const std::string& lines,
                    const std::string& state, const std::string& source) {
  app.add_option("--history", options.history, "A line for every step as CSV: " + lines)
      ->type_name("FILE");
  add_checkpoint_options(app, options, state, source);
}

bool writes_fields(const std::string& hdf, bool no_hdf, const CommonOptions& common) {
  return !no_hdf && (!hdf.empty() || !common.output_dir.empty());
}

void refuse_name_of_another_format(const std::string& option, const std::string& path,
                                   const std::string& format, const std::string& own,
                                   const std::vector<std::string>& others) {
  std::string extension = std::filesystem::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return char(std::tolower(c)); });
  for (const std::string& other : others)
    if (extension == other && other != own)
      fail<UsageError>(option, " ", path, ": the file is ", format,
                       ", which other programs take for ", other,
                       " by such a name, and cannot read: give it a name such as ",
                       std::filesystem::path(path).stem().string(), own);
}

void check_field_files(const CLI::App& app, const std::string& hdf, bool no_hdf,
                       const CommonOptions& common, bool other_file) {
  refuse_name_of_another_format(
      "--hdf", hdf, "VTKHDF", ".hdf",
      {".vtk", ".vtu", ".vti", ".vtp", ".vts", ".pvtu", ".pvd", ".xdmf", ".xmf"});
  if (no_hdf && !hdf.empty())
    fail<UsageError>("both --hdf and --no-hdf: leave one out");
  require_effect(app, {{"--compress", other_file || writes_fields(hdf, no_hdf, common),
                        "--hdf or --output-dir"}});
}

void check_step_files(const CLI::App& app, const StepFileOptions& options,
                      const CommonOptions& common) {
  require_at_least("--vtk-every", options.vtk_every.value_or(1), 1);
  check_field_files(app, options.hdf, options.no_hdf, common);
  const bool shows = writes_fields(options.hdf, options.no_hdf, common);
  require_effect(app, {{"--vtk-every", shows, "--hdf or --output-dir"}});
  check_checkpoint_options(app, options);
}

void check_common_options(const CommonOptions& options) {
  const std::vector<std::string> backends = backend_names();
  if (std::count(backends.begin(), backends.end(), options.backend) == 0)
    fail<BackendError>("backend '", options.backend,
                       "' is not in this build, which has: ", joined(backends, ", "),
                       "; choose one of these or build with a Kokkos that has it");
  if (options.threads && (*options.threads < 1 || *options.threads > max_host_threads))
    fail<UsageError>("--threads ", *options.threads, ": 1 to ", max_host_threads);
  if (options.threads && options.backend != "openmp" && *options.threads > 1)
    fail<UsageError>("--threads ", *options.threads, " has no effect with --backend ",
                     options.backend, "; leave it out or choose --backend openmp");
  if (options.device && *options.device < 0)
    fail<UsageError>("--device ", *options.device, ": GPUs are numbered from 0");
  if (options.device && options.backend != "cuda")
    fail<UsageError>("--device ", *options.device, " has no effect with --backend ",
                     options.backend, "; leave it out or choose --backend cuda");
}

} // namespace ossatura
