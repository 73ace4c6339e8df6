// SPDX-License-Identifier: Apache-2.0
// These rows tell how work scales over the ranks of a launcher:
//   scaling/cut/<backend>/perlin:<n>/ranks:<p>      counts of the cut, of any number of ranks, for
//                                                   the model of docs/performance/scaling.md
//   scaling/strong/<backend>/perlin:<n>/ranks:<p>   a model that is cut, whole runs of `ossatura`
//   scaling/weak/<backend>/perlin:<n>/ranks:<p>     the same with p times the volume of perlin:<n>
//   scaling/loads/<backend>/perlin:<n>/ranks:<p>    the six loads of --test homogenise
//   scaling/sets/<backend>/ventricles:<edge>/ranks:<p>   eight sets of sites
//   scaling/design/<backend>/cantilever:<n>/ranks:<p>    six steps of a design on n x n/2 x n/2
//   voxels
// The time of a run's row is that of its solve, of designs that of a step; `efficiency` is against
// one process that does the same way, and the row of a model that is cut fails where ranks see
// other numbers of nodes than are counted, or come to another design than one process.
#include "bench/bone/scaling/levels.hpp"
#include "bench/bone/scaling/ranks_summary.hpp"
#include "bench/harness/groups.hpp"
#include "bench/harness/kept.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/register.hpp"
#include "bench/host/child_process.hpp"
#include "bench/jobs/executable.hpp"
#include "bench/jobs/job_summary.hpp"
#include "bench/jobs/temporary_folder.hpp"
#include <ossatura/core/machine/processors.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

#include <unistd.h>

namespace ossatura::bench {

namespace {

// ---- cuts

template<class Exec>
void run_cut(benchmark::State& state, const Exec& exec, int n, int ranks) {
  const ScalingLevels<Exec>& levels = scaling_levels(exec, n);
  const int bits = device_cut_bits(exec, levels.hierarchy.grid);
  std::vector<CutCounts> counts;
  time_calls(state,
             [&] { return timed(exec, [&] { counts = count_cut(exec, levels, bits, ranks); }); });
  state.counters["ranks"] = ranks;
  state.counters["bits"] = bits;
  state.counters["superblocks"] =
      double(count_superblock_nodes(exec, levels.hierarchy.grid, bits).size());
  state.counters["nodes_0"] = levels.hierarchy.grid.num_nodes;
  int number = 1;
  for (const CoarseLevel<Exec>& level : levels.hierarchy.coarse)
    state.counters["nodes_" + std::to_string(number++)] = level.cells.num_nodes;
  number = 0;
  for (const CutCounts& level : counts) {
    const std::string l = '_' + std::to_string(number++);
    state.counters["owned" + l] = double(level.most_nodes);
    state.counters["ghosts" + l] = double(level.most_ghosts);
    state.counters["neighbours" + l] = level.most_neighbours;
  }
}

// ---- runs

enum class Work { strong, weak, loads, sets, design };

const char* name_of_work(Work work) {
  constexpr const char* names[] = {"strong", "weak", "loads", "sets", "design"};
  return names[int(work)];
}

/// A number that reads back as the same.
std::string exact(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

int size_of(Work work, int n, int ranks) {
  return work == Work::weak ? int(std::lround(n * std::cbrt(ranks))) : n;
}

/// The arguments of `ossatura`; files are written to `folder`. The image is that of
/// bench/bone/model.hpp.
std::vector<std::string> arguments_of(Work work, int n, const std::string& backend,
                                      const std::string& folder) {
  std::vector<std::string> words;
  if (work == Work::sets) {
    std::ofstream sites(folder + "/sites.json");
    for (int k = 0; k < 8; ++k)
      sites << (k == 0 ? "{" : ", ") << "\"set" << k << "\": [\"vertices:" << 40 * k << "\"]";
    sites << "}\n";
    words = {"eikonal", "--generate", "ventricles:h=" + exact(0.01 * n), "--sites",
             folder + "/sites.json"};
  } else if (work == Work::design) {
    const std::string half = 'x' + std::to_string(n / 2);
    words = {"topopt",  "cantilever", "--cells",  std::to_string(n) + half + half,
             "--grid",  "voxels",     "--volume", "0.12",
             "--steps", "6",          "--change", "0",
             "--split", "model",      "--no-hdf", "--no-stl"};
  } else {
    words = {"bone",
             "--generate",
             "perlin",
             "--size",
             std::to_string(n),
             "--feature",
             exact(std::max(1.0, 43 * n / 550.0)),
             "--largest-component",
             "--no-hdf"};
    if (work == Work::loads)
      words.insert(words.end(), {"--test", "homogenise"});
    else
      words.insert(words.end(), {"--split", "model"});
  }
  words.insert(words.end(), {"--backend", backend, "--timings", "--quiet", "--output-dir",
                             folder + "/out", "--json", folder + "/out/job.json"});
  return words;
}

struct RunTimes {
  RanksSummary ranks;
  double solve = 0, wall = 0;
};

/// The launcher of the build, or OSSATURA_LAUNCHER; empty where there is none.
std::string launcher() {
  const char* const asked = std::getenv("OSSATURA_LAUNCHER");
  return asked != nullptr ? asked : OSSATURA_BENCH_LAUNCHER;
}

RunTimes run_once(Work work, int n, int ranks, const std::string& backend,
                  const std::string& executable) {
  const TemporaryFolder folder;
  std::vector<std::string> words =
      arguments_of(work, size_of(work, n, ranks), backend, folder.path());
  std::string program = executable;
  if (ranks > 1) {
    program = launcher();
    words.insert(words.begin(), {"-n", std::to_string(ranks), executable});
    // Of OpenMPI, which binds each of two ranks to one core, and counts cores itself.
    ::setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 0);
    ::setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
  }
  const ChildEnd end = run_child(program, words, folder.path());
  if (end.exit_code != 0)
    throw std::runtime_error("ossatura ended with " + end.text());
  const std::string path = folder.path() + "/out/job.json";
  const JobSummary job = read_job_summary(path);
  const RanksSummary summary = read_ranks_summary(path);
  return {summary,
          work == Work::design ? summary.step_seconds : job.seconds[std::size_t(JobPart::solve)],
          end.wall_seconds};
}

/// Throws where ranks have other numbers of nodes and ghosts than are counted.
template<class Exec>
void check_counts(const Exec& exec, int n, const RanksSummary& summary) {
  int bits = 0;
  while (1 << bits < summary.superblock_voxels)
    ++bits;
  const std::vector<CutCounts> counted =
      count_cut(exec, scaling_levels(exec, n), bits, summary.ranks);
  if (counted.size() != summary.cut_levels.size())
    throw std::runtime_error("ranks cut " + std::to_string(summary.cut_levels.size()) +
                             " levels, and not " + std::to_string(counted.size()));
  for (std::size_t l = 0; l < counted.size(); ++l) {
    const CutCounts &here = counted[l], &there = summary.cut_levels[l];
    if (here.most_nodes != there.most_nodes || here.most_ghosts != there.most_ghosts ||
        here.num_ghosts != there.num_ghosts || here.most_neighbours != there.most_neighbours)
      throw std::runtime_error("ranks have " + std::to_string(there.most_nodes) + " nodes and " +
                               std::to_string(there.most_ghosts) + " ghosts at most on level " +
                               std::to_string(l) + ", and not " + std::to_string(here.most_nodes) +
                               " and " + std::to_string(here.most_ghosts));
  }
}

/// The floor of a step: filters and updates, which each rank does for all of the design, as long
/// as in one process, and all else by the number of ranks. Throws where the designs differ.
void report_design(benchmark::State& state, int num_ranks, const RanksSummary& alone,
                   const RanksSummary& ranks) {
  if (ranks.objective != alone.objective)
    throw std::runtime_error("ranks come to an objective of " + exact(ranks.objective) +
                             ", and one process to " + exact(alone.objective));
  const double divided = alone.step_seconds - alone.update_seconds;
  const double floor = alone.update_seconds + divided / num_ranks;
  state.counters["floor_s"] = floor;
  state.counters["floor"] = floor / ranks.step_seconds;
}

template<class Exec>
void run_ranks(benchmark::State& state, const Exec& exec, Work work, int n, int ranks,
               const std::string& executable) {
  if (executable.empty())
    return skip_benchmark(state, "there is no ossatura beside ossatura_bench: give --executable");
  if (ranks > 1 && ::access(launcher().c_str(), X_OK) != 0)
    return skip_benchmark(state, "there is no launcher: a build without MPI");
  const bool is_device = BackendTraits<Exec>::is_device;
  const int places = is_device ? Kokkos::num_devices() : available_processors();
  if (ranks > places)
    return skip_benchmark(state, std::to_string(ranks) + " ranks on " + std::to_string(places) +
                                     (is_device ? " devices" : " processors"));
  static std::map<std::string, RunTimes> alone; // of one process, by what it did
  const std::string key =
      std::string(name_of_work(work)) + BackendTraits<Exec>::name + std::to_string(n);
  const auto per_step = [work](const RunTimes& times) { // iterations of weak scaling differ
    return times.solve / (work == Work::weak ? times.ranks.iterations : 1);
  };
  for (auto _ : state) {
    if (alone.count(key) == 0)
      alone[key] = run_once(work, n, 1, BackendTraits<Exec>::name, executable);
    const RunTimes times = run_once(work, n, ranks, BackendTraits<Exec>::name, executable);
    state.SetIterationTime(times.solve);
    state.SetLabel("transport " + times.ranks.transport);
    state.counters["ranks"] = times.ranks.ranks;
    state.counters["wall_s"] = times.wall;
    state.counters["solver_iterations"] = times.ranks.iterations;
    state.counters["largest_kokkos_peak_bytes"] = times.ranks.largest_kokkos_peak;
    state.counters["efficiency"] =
        per_step(alone[key]) / (per_step(times) * (work == Work::weak ? 1 : ranks));
    if (work == Work::design)
      report_design(state, ranks, alone[key].ranks, times.ranks);
    else if (!times.ranks.cut_levels.empty()) {
      state.counters["ghosts_0"] = double(times.ranks.cut_levels[0].most_ghosts);
      check_counts(exec, size_of(work, n, ranks), times.ranks);
    }
  }
}

} // namespace

void register_scaling(const Options& options) {
  const std::string executable = ossatura_executable(options.executable);
  for_each_backend(options, [&](auto backend) {
    using Exec = BackendOf<decltype(backend)>;
    const std::string name = BackendTraits<Exec>::name;
    const auto row = [&](const char* what, const std::string& model, int n, int ranks) {
      return std::string("scaling/") + what + '/' + name + '/' + model + ':' + std::to_string(n) +
             "/ranks:" + std::to_string(ranks);
    };
    constexpr bool is_device = BackendTraits<Exec>::is_device;
    for (const int n : options.sizes_or({is_device ? 550 : 96}))
      for (int ranks = 1; ranks <= 1024; ranks *= 2)
        add_row(options, row("cut", "perlin", n, ranks),
                [=](benchmark::State& state) { run_cut(state, Exec(), n, ranks); },
                {benchmark::kMillisecond});
    for (const Work work : {Work::strong, Work::weak, Work::loads, Work::sets, Work::design}) {
      const bool is_mesh = work == Work::sets, is_design = work == Work::design;
      const char* const model = is_mesh ? "ventricles" : is_design ? "cantilever" : "perlin";
      for (const int n : is_mesh               ? std::vector<int>{options.quick ? 300 : 100}
                         : work == Work::loads ? options.sizes_or({is_device ? 250 : 48})
                         : is_design           ? options.sizes_or({is_device ? 400 : 64})
                                               : options.sizes_or({is_device ? 550 : 96}))
        for (int ranks = 1; ranks <= 8; ranks *= 2)
          add_row(options, row(name_of_work(work), model, n, ranks),
                  [=](benchmark::State& state) {
                    run_ranks(state, Exec(), work, n, ranks, executable);
                  },
                  {benchmark::kMillisecond});
    }
  });
}

} // namespace ossatura::bench
