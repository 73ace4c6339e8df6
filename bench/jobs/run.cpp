// SPDX-License-Identifier: Apache-2.0
// These rows are whole runs of the executable `ossatura`, each a process of its own, from the
// command line to the files that it leaves:
//   jobs/<subcommand>/<backend>/<job>
#include "bench/harness/groups.hpp"
#include "bench/harness/interruption.hpp"
#include "bench/harness/kept.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/register.hpp"
#include "bench/host/child_process.hpp"
#include "bench/jobs/executable.hpp"
#include "bench/jobs/job_list.hpp"
#include "bench/jobs/job_summary.hpp"
#include "bench/jobs/temporary_folder.hpp"
#include <ossatura/core/machine/available_memory.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace ossatura::bench {

namespace {

/// A job on one backend.
struct JobRun {
  std::string executable;
  std::vector<std::string> arguments; ///< subcommand, backend and the job's own

  /// Runs it with more arguments and with its results in a folder of `folder`.
  ChildEnd run(const TemporaryFolder& folder, const std::vector<std::string>& more) const {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), more.begin(), more.end());
    for (const std::string& word : {std::string("--output-dir"), folder.path() + "/out",
                                    std::string("--json"), summary(folder)})
      all.push_back(word);
    return run_child(executable, all, folder.path());
  }
  static std::string summary(const TemporaryFolder& folder) {
    return folder.path() + "/out/job.json";
  }
};

std::string gigabytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GB", 1e-9 * bytes);
  return text;
}

/// Why a job would not fit the memory there is, as its dry run predicts; empty where it does.
template<class Exec>
std::string too_large(const Exec& exec, const JobRun& job) {
  const TemporaryFolder folder;
  const ChildEnd end = job.run(folder, {"--dry-run", "--quiet"});
  constexpr int unavailable = 4; // of `ossatura`: a backend, or memory
  if (end.exit_code == unavailable)
    return "its dry run ended with " + end.text();
  if (end.exit_code != 0)
    throw std::runtime_error("its dry run ended with " + end.text());
  const JobPrediction needs = read_job_prediction(JobRun::summary(folder));
  const double host = double(available_host_bytes()), backend = double(available_bytes(exec));
  if (host > 0 && needs.host_bytes > host)
    return "takes " + gigabytes(needs.host_bytes) + " of " + gigabytes(host) + " of the machine";
  if (BackendTraits<Exec>::is_device && backend > 0 && needs.device_bytes > backend)
    return "takes " + gigabytes(needs.device_bytes) + " of " + gigabytes(backend) +
           " of the device";
  return "";
}

/// Sums over the calls of a repetition, of which counters are the means.
struct JobTimes {
  int calls = 0;
  double wall = 0, cpu = 0;
  JobSummary sum; ///< seconds alone
  JobSummary last;

  void add(const ChildEnd& end, const JobSummary& summary) {
    ++calls;
    wall += end.wall_seconds;
    cpu += end.cpu_seconds;
    for (std::size_t part = 0; part < summary.seconds.size(); ++part)
      sum.seconds[part] += summary.seconds[part];
    sum.other_seconds += summary.other_seconds;
    sum.region_seconds += summary.region_seconds;
    last = summary;
  }
  void report(benchmark::State& state) const {
    for (const auto& part : name_table<JobPart>)
      state.counters[std::string(part.name) + "_s"] = sum.seconds[std::size_t(part.value)] / calls;
    state.counters["other_s"] = sum.other_seconds / calls;
    state.counters["start_s"] = (wall - sum.region_seconds) / calls;
    state.counters["cpu_s"] = cpu / calls;
    state.counters["calls"] = calls;
    state.counters["solver_iterations"] = last.iterations;
    state.counters["host_peak_bytes"] = last.host_peak_bytes;
    state.counters["kokkos_peak_bytes"] = last.kokkos_peak_bytes;
    state.counters["file_bytes"] = last.file_bytes;
  }
};

/// One run, in `times`. Returns what is wrong with it, if anything.
std::string run_once(const JobRun& job, JobTimes& times) {
  const TemporaryFolder folder;
  const ChildEnd end = job.run(folder, {"--timings", "--quiet"});
  if (end.exit_code != 0)
    return "ossatura ended with " + end.text();
  try {
    times.add(end, read_job_summary(JobRun::summary(folder)));
  } catch (const std::exception& error) {
    return std::string("ossatura ended with exit code 0, but ") + error.what();
  }
  return "";
}

template<class Exec>
void run_job(benchmark::State& state, const Exec& exec, const Job& job,
             const std::string& executable) {
  if (executable.empty())
    return skip_benchmark(state, "there is no ossatura beside ossatura_bench: give --executable");
  const JobArguments own = arguments_of(job);
  if (!own.missing.empty())
    return skip_benchmark(state, own.missing);
  JobRun run{executable, {job.subcommand}};
  run.arguments.insert(run.arguments.end(), own.words.begin(), own.words.end());
  run.arguments.insert(run.arguments.end(), {"--backend", BackendTraits<Exec>::name});
  release_kept(); // of the groups before, which have their memory
  if (job.is_large)
    if (const std::string reason = too_large(exec, run); !reason.empty())
      return skip_benchmark(state, "does not fit: " + reason);
  for (auto _ : state) {
    JobTimes times;
    do {
      const std::string wrong = run_once(run, times);
      if (!wrong.empty() && interruption() != nullptr)
        return skip_benchmark(state, std::string("stopped by ") + interruption());
      if (!wrong.empty())
        return fail_benchmark(state, wrong);
    } while (times.wall < least_seconds());
    state.SetIterationTime(times.wall / times.calls);
    times.report(state);
  }
}

} // namespace

void register_jobs(const Options& options) {
  const std::string executable = ossatura_executable(options.executable);
  for_each_backend(options, [&](auto backend) {
    using Exec = BackendOf<decltype(backend)>;
    for (const Job& job : all_jobs())
      if (!job.is_large || options.full)
        add_row(options,
                std::string("jobs/") + job.subcommand + '/' + BackendTraits<Exec>::name + '/' +
                    job.name,
                [&job, executable](benchmark::State& state) {
                  run_job(state, Exec(), job, executable);
                },
                {benchmark::kMillisecond});
  });
}

} // namespace ossatura::bench
