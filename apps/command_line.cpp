// SPDX-License-Identifier: Apache-2.0
#include "apps/command_line.hpp"

#include "apps/bone/command.hpp"
#include "apps/driver/exit_code.hpp"
#include "apps/driver/options/suggest.hpp"
#include "apps/driver/process_start.hpp"
#include "apps/driver/ranks.hpp"
#include "apps/eikonal/command.hpp"
#include "apps/pfem/command.hpp"
#include "apps/softbody/command.hpp"
#include "apps/topopt/command.hpp"
#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/base/version.hpp>
#include <ossatura/core/io/hdf5/file.hpp>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <optional>

namespace ossatura {

namespace {

struct Subcommand {
  const char* name;
  const char* summary;
  int (*run)(const Invocation&);
};

const Subcommand subcommands[] = {
    {"bone", "mechanical tests of bone from images, by voxel micro-finite elements", bone_command},
    {"eikonal", "activation times of the heart on tetrahedra, by the fast iterative method",
     eikonal_command},
    {"pfem", "elasticity with hierarchical hexahedra of orders 1 to 10", pfem_command},
    {"softbody", "soft bodies in time, by implicit finite elements with contact", softbody_command},
    {"topopt", "topology optimisation on hexahedra, by densities", topopt_command},
};

void print_help() {
  std::cout << "Ossatura: finite elements on multicore processors and GPUs\n\n"
               "Usage: ossatura SUBCOMMAND [OPTIONS]\n"
               "       ossatura SUBCOMMAND --help, or ossatura help SUBCOMMAND\n"
               "       ossatura --version\n\n"
               "Subcommands:\n";
  for (const Subcommand& subcommand : subcommands)
    std::cout << "  " << std::left << std::setw(9) << subcommand.name << subcommand.summary << '\n';
  std::cout << '\n' << exit_code_help();
}

void print_version() {
  std::cout << "ossatura " << version() << " (git " << git_hash() << ")\n"
            << "Kokkos " << kokkos_version() << ", backends:";
  for (const std::string& backend : backend_names())
    std::cout << ' ' << backend;
  std::cout << '\n' << compiler() << '\n';
  if (!cuda_version().empty())
    std::cout << "CUDA " << cuda_version() << '\n';
}

const Subcommand& find_subcommand(const Invocation& invocation) {
  std::vector<std::string> names = {"--help", "--version"};
  for (const Subcommand& subcommand : subcommands) {
    if (invocation.subcommand == subcommand.name)
      return subcommand;
    names.push_back(subcommand.name);
  }
  const bool is_option = invocation.subcommand[0] == '-';
  fail<UsageError>(is_option ? "unknown option '" : "unknown subcommand '", invocation.subcommand,
                   "'", did_you_mean(invocation.subcommand, names),
                   is_option ? " (options of a subcommand come after it)"
                             : " (ossatura --help lists them)");
}

/// What the command line asks for; nothing where it was a text, which is printed.
std::optional<Invocation> read_invocation(const std::vector<std::string>& all) {
  if (all.size() < 2)
    fail<UsageError>("no subcommand; see ossatura --help");
  const std::string& first = all[1];
  if (first == "help" && all.size() > 2)
    return Invocation{all[2], all, {"--help"}};
  if (first == "--help" || first == "-h" || first == "help") {
    print_help();
    return {};
  }
  const bool is_option = first[0] == '-';
  if (first == "--version" || first == "-V" ||
      (!is_option && std::count(all.begin() + 2, all.end(), "--version") > 0)) {
    print_version();
    return {};
  }
  return Invocation{first, all, {all.begin() + 2, all.end()}};
}

int run(const std::vector<std::string>& all, const Communicator& world) {
  std::optional<Invocation> invocation;
  const Subcommand* subcommand = nullptr;
  together(world, [&] {
    invocation = read_invocation(all);
    if (invocation)
      subcommand = &find_subcommand(*invocation);
  });
  return subcommand == nullptr ? exit_done : subcommand->run(*invocation);
}

} // namespace

int run_command_line(int argc, char* argv[]) {
  prepare_process();
  restart_with_environment(argc, argv);
  skip_hdf5_exit_cleanup();
  Communicator world;
  try {
    world = join_ranks();
    const int code = run(std::vector<std::string>(argv, argv + argc), world);
    together(world, [] {
      std::cout.flush();
      if (!std::cout)
        fail<InputError>("standard output cannot be written");
    });
    return code;
  } catch (...) {
    const int code = report_current_exception();
    end_other_ranks(world, code);
    return code;
  }
}

} // namespace ossatura
