// SPDX-License-Identifier: Apache-2.0
#include "bench/options.hpp"

#include "core/backend.hpp"

#include <algorithm>
#include <sstream>

namespace femura::bench {

namespace {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');)
    parts.push_back(part);
  return parts;
}

/// A number of at most so many digits, 0 for anything else.
int parse_number(const std::string& text, std::size_t most = 4) {
  const bool digits =
      !text.empty() && text.size() <= most &&
      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits ? std::stoi(text) : 0;
}

int parse_size(const std::string& text) {
  const int size = parse_number(text);
  if (size < 4 || size > 2000)
    fail<UsageError>("--sizes: '", text, "' is no number of voxels from 4 to 2000");
  return size;
}

int parse_edge(const std::string& text) {
  const int edge = parse_number(text);
  if (edge < 10 || edge > 300)
    fail<UsageError>("--edges: '", text, "' is no edge from 10 to 300 hundredths of a millimetre");
  return edge;
}

int parse_elements(const std::string& text) {
  const int elements = parse_number(text, 9);
  if (elements < 1 || elements > 100'000'000)
    fail<UsageError>("--elements: '", text, "' is no number of elements from 1 to 100000000");
  return elements;
}

} // namespace

const char* const options_help =
    "femura_bench [--backends=serial,openmp,cuda] [--sizes=32,64] [--edges=72] "
    "[--elements=10000] [--quick] [--benchmark_...]\n"
    "  --backends  backends to run on (all of the build)\n"
    "  --sizes     voxels or hexahedra along an axis, for every benchmark (each has its own)\n"
    "  --edges     of tetrahedra, hundredths of a millimetre (each benchmark has its own)\n"
    "  --elements  of a batch of matrices (each benchmark has its own)\n"
    "  --quick     small arrays for the ceilings: to see that everything runs\n"
    "Flags of Google Benchmark:\n"
    "  --benchmark_filter=REGEX --benchmark_min_time=SECONDS --benchmark_repetitions=N\n"
    "  --benchmark_out=FILE --benchmark_out_format=json|console|csv\n"
    "  --benchmark_format=console|json|csv --benchmark_list_tests\n"
    "Exit codes: 0 all ran and were right, 1 one failed, 2 usage, 4 backend not available\n";

bool Options::has(const std::string& backend) const {
  return std::find(backends.begin(), backends.end(), backend) != backends.end();
}

Options take_options(int& argc, char** argv) {
  Options options;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag.rfind("--backends=", 0) == 0)
      options.backends = split(flag.substr(11));
    else if (flag.rfind("--sizes=", 0) == 0) {
      options.sizes.clear();
      for (const std::string& size : split(flag.substr(8)))
        options.sizes.push_back(parse_size(size));
    } else if (flag.rfind("--edges=", 0) == 0) {
      options.edges.clear();
      for (const std::string& edge : split(flag.substr(8)))
        options.edges.push_back(parse_edge(edge));
    } else if (flag.rfind("--elements=", 0) == 0) {
      options.elements.clear();
      for (const std::string& elements : split(flag.substr(11)))
        options.elements.push_back(parse_elements(elements));
    } else if (flag == "--quick")
      options.quick = true;
    else {
      options.list_only |=
          flag == "--benchmark_list_tests" || flag == "--benchmark_list_tests=true";
      if (flag.rfind("--benchmark_format=", 0) == 0)
        options.console = flag == "--benchmark_format=console";
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  const std::vector<std::string> known = backend_names();
  if (options.backends.empty())
    options.backends = known;
  for (const std::string& backend : options.backends)
    if (std::find(known.begin(), known.end(), backend) == known.end())
      with_backend(backend, [](const auto&) {}); // throws, naming those there are
  return options;
}

} // namespace femura::bench
