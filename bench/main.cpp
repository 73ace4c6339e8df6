// SPDX-License-Identifier: Apache-2.0
// ossatura_bench runs every variant on every backend of the build, verified before it is timed,
// beside the ceilings of the machine measured in the same process. harness/command_line.cpp has the
// usage.
#include "bench/harness/command_line.hpp"
#include "bench/harness/context.hpp"
#include "bench/harness/groups.hpp"
#include "bench/harness/interruption.hpp"
#include "bench/harness/kept.hpp"
#include "bench/harness/outcome.hpp"
#include "bench/harness/plan.hpp"
#include "bench/harness/register.hpp"
#include "bench/harness/reporter.hpp"
#include "bench/harness/results_file.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/base/version.hpp>
#include <ossatura/core/io/text/atomic_file.hpp>
#include <ossatura/core/machine/kokkos_runtime.hpp>
#include <ossatura/core/machine/memory.hpp>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <optional>
#include <regex>

namespace ossatura::bench {

namespace {

/// A group by its name, or rows by a regular expression that they begin with.
struct Wanted {
  std::string name;
  bool is_group = false;
  std::regex pattern;
  bool has_rows = false;
};

std::string names_of_groups() {
  std::string names;
  for (const Group& group : all_groups())
    names += std::string(names.empty() ? "" : ", ") + group.name;
  return names;
}

std::vector<Wanted> wanted_rows(const std::vector<std::string>& names) {
  std::vector<Wanted> wanted;
  for (const std::string& name : names) {
    Wanted entry;
    entry.name = name;
    for (const Group& group : all_groups())
      entry.is_group |= group.name == name;
    try {
      entry.pattern = std::regex("^(?:" + name + ')');
    } catch (const std::regex_error& error) {
      fail<UsageError>("'", name, "' is no regular expression: ", error.what());
    }
    wanted.push_back(entry);
  }
  return wanted;
}

bool is_wanted(std::vector<Wanted>& wanted, const Group& group, const std::string& row) {
  bool found = wanted.empty();
  for (Wanted& entry : wanted)
    if (entry.is_group ? entry.name == group.name : std::regex_search(row, entry.pattern)) {
      entry.has_rows = true;
      found = true;
    }
  return found;
}

/// Adds the rows that the command line asks for. Returns the groups that have any, and to `plan`
/// how long their rows take.
std::vector<const Group*> add_rows(const CommandLine& line, Plan& plan) {
  std::vector<const Group*> with_rows;
  std::vector<Wanted> wanted = wanted_rows(line.names);
  for (const Group& group : all_groups()) {
    const Scope scope = line.extent == Extent::quick  ? group.quick
                        : line.extent == Extent::full ? group.full
                                                      : Scope();
    Options options = line.options;
    if (options.sizes.empty())
      options.sizes = scope.sizes;
    if (options.edges.empty())
      options.edges = scope.edges;
    if (options.elements.empty())
      options.elements = scope.elements;
    const std::regex only(scope.only), once(scope.once);
    options.wants = [&](const std::string& row) {
      return std::regex_search(row, only) && is_wanted(wanted, group, row);
    };
    const bool is_quick = line.extent == Extent::quick;
    options.repetitions = [&](const std::string& row) {
      const bool single = is_quick || (!scope.once.empty() && std::regex_search(row, once));
      return line.repetitions.value_or(single ? 1 : 3);
    };
    options.min_seconds = line.min_seconds.value_or(is_quick                      ? 0
                                                    : line.extent == Extent::full ? 0.05
                                                                                  : 0.2);
    const std::size_t before = row_names().size();
    group.add_rows(options);
    if (row_names().size() == before)
      continue;
    with_rows.push_back(&group);
    plan.add(group, {row_names().begin() + std::ptrdiff_t(before), row_names().end()});
  }
  for (const Wanted& entry : wanted)
    if (!entry.has_rows)
      fail<UsageError>("no group and no row begins with '", entry.name,
                       line.extent == Extent::own ? "'" : "' at this extent",
                       "; ossatura_bench list --rows has the rows; groups: ", names_of_groups());
  return with_rows;
}

void list(const CommandLine& line) {
  Plan plan(line.options.quick);
  const std::vector<const Group*> groups = add_rows(line, plan);
  if (line.rows)
    for (const std::string& row : row_names())
      std::puts(row.c_str());
  else if (line.extent == Extent::own)
    for (const Group* group : groups)
      std::printf("%-22s %s\n", group->name, group->description);
  else
    std::printf(
        "Rows, and what they take on one core each of an AMD EPYC and on an NVIDIA H200, in the\n"
        "order of magnitude; a run says it for its own machine.\n\n%s",
        plan.table().c_str());
}

/// Hands Google Benchmark its flags. Returns false if it does not know one.
bool initialize_benchmark(const CommandLine& line) {
  static std::vector<std::string> arguments = {"ossatura_bench"}; // it keeps a pointer to the first
  if (!line.output.empty()) // it wants a file for our ResultsFile, which has its own
    arguments.push_back("--benchmark_out=/dev/null");
  arguments.insert(arguments.end(), line.passed.begin(), line.passed.end());
  std::vector<char*> pointers;
  for (std::string& argument : arguments)
    pointers.push_back(&argument[0]);
  pointers.push_back(nullptr);
  int count = int(arguments.size());
  benchmark::Initialize(&count, pointers.data());
  return !benchmark::ReportUnrecognizedArguments(count, pointers.data());
}

void print_context(const Context& context) {
  for (const auto& [key, value] : context)
    std::printf("%-28s %s\n", key.c_str(), value.c_str());
  std::printf("\n");
}

/// What is kept goes before Kokkos ends, whatever happens.
struct KeptInScope {
  ~KeptInScope() { release_kept(); }
};

void print_plan(const Plan& plan, const CommandLine& line) {
  const Options& options = line.options;
  const bool own_sizes =
      !options.sizes.empty() || !options.edges.empty() || !options.elements.empty();
  const bool filtered = std::any_of(line.passed.begin(), line.passed.end(), [](const auto& flag) {
    return flag.rfind("--benchmark_filter", 0) == 0;
  });
  if (own_sizes || filtered)
    std::printf("How long %s take is not known beforehand.\n",
                filtered ? "the rows of a filter" : "sizes of your own");
  else
    std::printf("%zu rows take about %s, in the order of magnitude (from stored seconds%s):\n\n%s",
                plan.num_rows(), rough_time(plan.seconds()).c_str(),
                options.quick ? "" : " and the copy rates above", plan.table().c_str());
  std::printf("\n");
  std::fflush(stdout);
}

int run(const CommandLine& line) {
  Plan plan(line.options.quick);
  add_rows(line, plan);
  std::optional<ResultsFile> results;
  if (!line.output.empty()) {
    const AtomicFile probe(line.output); // says now if it cannot be written
    results.emplace(line.output, plan.num_rows());
  }
  if (!initialize_benchmark(line))
    return 2;
  note_interruption();
  const KokkosRuntime runtime;
  const MemoryTracking tracking;
  const KeptInScope kept;
  const Context context = make_context(line.options.backends, line.options.quick);
  for (const auto& [key, value] : context)
    benchmark::AddCustomContext(key, value);
  plan.calibrate(context);
  Reporter reporter(plan);
  if (line.console) {
    print_context(context);
    print_plan(plan, line);
  }
  if (benchmark::RunSpecifiedBenchmarks(line.console ? &reporter : nullptr,
                                        results ? &*results : nullptr) == 0)
    fail<UsageError>("no row passes --benchmark_filter");
  if (line.console) {
    print_profiles();
    reporter.print_times();
  }
  const bool interrupted = !outcomes().left_out.empty(); // a signal in the last row leaves out none
  if (results)
    results->write(interrupted ? "interrupted" : "complete");
  const std::size_t failed = outcomes().failed.size(), noted = outcomes().reason.size();
  if (noted > 0)
    std::cerr << "ossatura_bench: " << failed << " rows failed, " << noted - failed << " skipped\n";
  if (interrupted) {
    std::cerr << "ossatura_bench: interrupted by " << interruption() << ": "
              << outcomes().left_out.size() << " of " << plan.num_rows() << " rows did not run\n";
    return 75;
  }
  return failed > 0 ? 1 : 0;
}

int run_command(const CommandLine& line) {
  switch (line.command) {
  case Command::help:
    std::fputs(help_text, stdout);
    return 0;
  case Command::version:
    std::printf("ossatura_bench %s (%s)\n", version(), git_hash());
    return 0;
  case Command::list:
    list(line);
    return 0;
  default:
    return run(line);
  }
}

} // namespace

} // namespace ossatura::bench

int main(int argc, char** argv) {
  try {
    return ossatura::bench::run_command(
        ossatura::bench::parse_command_line({argv + 1, argv + argc}));
  } catch (const ossatura::UsageError& error) {
    std::cerr << "ossatura_bench: " << error.what() << '\n';
    return 2;
  } catch (const ossatura::BackendError& error) {
    std::cerr << "ossatura_bench: " << error.what() << '\n';
    return 4;
  } catch (const ossatura::InputError& error) {
    std::cerr << "ossatura_bench: " << error.what() << '\n';
    return 5;
  } catch (const std::exception& error) {
    std::cerr << "ossatura_bench: " << error.what() << '\n';
    return 1;
  }
}
