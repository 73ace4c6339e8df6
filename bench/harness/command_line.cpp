// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/command_line.hpp"

#include "bench/harness/register.hpp"
#include <ossatura/core/machine/instruction_set.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

#include <unistd.h>

namespace ossatura::bench {

namespace {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');)
    parts.push_back(part);
  return parts;
}

/// The numbers of a list, each from `least` to `most`.
std::vector<int> numbers(const std::string& flag, const std::string& list, int least, int most,
                         const char* what) {
  std::vector<int> values;
  for (const std::string& text : split(list)) {
    const bool digits =
        !text.empty() && text.size() <= 9 &&
        std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    const int value = digits ? std::stoi(text) : 0;
    if (value < least || value > most)
      fail<UsageError>(flag, ": '", text, "' is no number of ", what, " from ", least, " to ",
                       most);
    values.push_back(value);
  }
  if (values.empty())
    fail<UsageError>(flag, ": there is no number");
  return values;
}

double seconds(const std::string& flag, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || (*end != '\0' && std::string(end) != "s") || !(value >= 0 && value <= 1e4))
    fail<UsageError>(flag, ": '", text, "' is no time from 0 to 10000 seconds");
  return value;
}

std::string executable_file(const std::string& flag, const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || ::access(path.c_str(), X_OK) != 0)
    fail<UsageError>(flag, ": '", path, "' is no file that can be executed");
  return std::filesystem::absolute(path).string();
}

/// Has kernels of cores take the set of this name at the most.
void limit_to(const std::string& flag, const std::string& name) {
  std::string here;
  for (const InstructionSet set : name_table<InstructionSet>) {
    if (set > best_instruction_set())
      continue;
    if (name == name_of(set))
      return limit_instruction_set(set);
    here += here.empty() ? name_of(set) : std::string(", ") + name_of(set);
  }
  fail<UsageError>(flag, ": '", name, "' is none of this processor's: ", here);
}

std::vector<std::string> known_backends(const std::string& list) {
  const std::vector<std::string> known = backends_with_rows(), asked = split(list);
  if (asked.empty())
    fail<UsageError>("--backends: there is no name");
  for (const std::string& backend : asked)
    if (std::find(known.begin(), known.end(), backend) == known.end()) {
      with_backend(backend, [](const auto&) {}); // throws, naming those there are
      fail<UsageError>("--backends: this build has no rows on '", backend,
                       "' (OSSATURA_TEST_BACKENDS)");
    }
  return asked;
}

Command parse_command(const std::string& word) {
  if (word == "--help" || word == "-h" || word == "help")
    return Command::help;
  if (word == "--version")
    return Command::version;
  if (word == "list")
    return Command::list;
  if (word == "run")
    return Command::run;
  if (word == "all")
    return Command::all;
  fail<UsageError>("'", word, "' is no command: list, run, all or --help");
}

/// Takes a flag with the value that belongs to it; false if it is none of ours.
bool take_value(CommandLine& line, const std::string& flag, const std::string& value) {
  if (flag == "--backends")
    line.options.backends = known_backends(value);
  else if (flag == "--sizes")
    line.options.sizes = numbers(flag, value, 4, 2000, "voxels or elements along an axis");
  else if (flag == "--edges")
    line.options.edges = numbers(flag, value, 10, 300, "hundredths of a millimetre");
  else if (flag == "--elements")
    line.options.elements = numbers(flag, value, 1, 100'000'000, "elements");
  else if (flag == "--repetitions" || flag == "--benchmark_repetitions")
    line.repetitions = numbers(flag, value, 1, 1000, "repetitions").back();
  else if (flag == "--min-time" || flag == "--benchmark_min_time")
    line.min_seconds = seconds(flag, value);
  else if (flag == "--output" || flag == "--benchmark_out")
    line.output = value;
  else if (flag == "--instruction-set")
    limit_to(flag, value);
  else if (flag == "--executable")
    line.options.executable = executable_file(flag, value);
  else
    return false;
  return true;
}

} // namespace

const char* const help_text =
    R"(ossatura_bench: every variant on every backend, verified before it is timed

  ossatura_bench list [NAME...] [--rows]      groups, or their rows
  ossatura_bench run NAME... [flags]          groups or rows by name
  ossatura_bench all --quick|--full [flags]   everything: in minutes, to see that it runs and is
                                            right; or at sizes that mean something
  ossatura_bench --help | --version

NAME is a group or a regular expression that the names of rows begin with.

  --quick              smallest sizes, once, small arrays for the ceilings: no claim on rates
  --full               the sizes of the published tables
  --backends=LIST      serial, openmp, cuda (all of the build)
  --instruction-set=NAME  baseline, avx2, avx512: what products of voxels and arrivals at vertices on
                       cores may use at the most (the best there is)
  --output=FILE.json   results, with the context of the run
  --executable=FILE    of the group jobs: the ossatura to run (that beside this program)
  --sizes=LIST         voxels or hexahedra along an axis (each group has its own)
  --edges=LIST         of tetrahedra, hundredths of a millimetre
  --elements=LIST      of a batch of matrices
  --repetitions=N      of each row (3; 1 with --quick and for rows that take long)
  --min-time=SECONDS   that a repetition lasts at the least (0.2; 0.05 with --full; 0 with --quick)
  --benchmark_...      other flags of Google Benchmark

Examples:
  ossatura_bench run voxel_apply --backends=openmp --sizes=64 --output=apply.json
  ossatura_bench run 'voxel_apply/(brick|offset)/.*/f32' 'peers/'
  ossatura_bench all --quick
  ossatura_bench all --full --backends=cuda --output=full.json

A run says beforehand how long it takes, in the order of magnitude; `list --full` and `list --quick`
do so without running. FILE.json is whole at any time: rows stand there as they come. SIGTERM and
SIGINT (Ctrl-C) end a run after the row that runs.

Exit codes: 0 all ran and were right, 1 one failed, 2 usage, 4 backend not available,
5 unwritable file, 75 interrupted, with the results so far
)";

bool Options::has(const std::string& backend) const {
  return std::find(backends.begin(), backends.end(), backend) != backends.end();
}

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  CommandLine line;
  line.options.backends = backends_with_rows();
  if (arguments.empty())
    return line;
  line.command = parse_command(arguments[0]);
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--help" || word == "-h") {
      line.command = Command::help;
    } else if (word == "--quick" || word == "--full") {
      const Extent extent = word == "--quick" ? Extent::quick : Extent::full;
      if (line.extent != Extent::own && line.extent != extent)
        fail<UsageError>("--quick and --full exclude each other");
      line.extent = extent;
    } else if (word == "--rows") {
      line.rows = true;
    } else if (word.rfind("--", 0) != 0) {
      line.names.push_back(word);
    } else if (word.rfind("--benchmark_list_tests", 0) == 0) {
      fail<UsageError>("rows are listed by: ossatura_bench list --rows");
    } else {
      const std::size_t equals = word.find('=');
      const std::string flag = word.substr(0, equals);
      const bool alone = equals == std::string::npos;
      const bool has_next = i + 1 < arguments.size() && arguments[i + 1].rfind("--", 0) != 0;
      if (alone && flag.rfind("--benchmark_", 0) != 0 && has_next &&
          take_value(line, flag, arguments[i + 1]))
        ++i;
      else if (alone || !take_value(line, flag, word.substr(equals + 1)))
        line.passed.push_back(word); // Google Benchmark refuses what it does not know
      if (word.rfind("--benchmark_format=", 0) == 0)
        line.console = word == "--benchmark_format=console";
    }
  }
  line.options.quick = line.extent == Extent::quick;
  line.options.full = line.extent == Extent::full;
  if (line.command == Command::run && line.names.empty())
    fail<UsageError>(
        "run what? ossatura_bench list names the groups, ossatura_bench all runs them");
  if (line.command == Command::all && !line.names.empty())
    fail<UsageError>("all takes no names: ossatura_bench run ", line.names[0]);
  if (line.command == Command::all && line.extent == Extent::own)
    fail<UsageError>("all takes --quick (minutes) or --full (on processors, hours)");
  return line;
}

} // namespace ossatura::bench
