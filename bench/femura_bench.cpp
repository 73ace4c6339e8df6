// SPDX-License-Identifier: Apache-2.0
// Benchmarks of femura: every variant on every backend of the build, verified before it is timed,
// beside the ceilings of the machine measured in the same process.
//
//   femura_bench --backends=cuda --benchmark_filter=^voxel_apply --benchmark_out=apply.json
//   femura_bench --quick --sizes=16 --benchmark_min_time=0.01
#include "bench/measure.hpp"
#include "bench/register.hpp"
#include "bench/voxel_model.hpp"
#include "core/kokkos_runtime.hpp"
#include "core/memory.hpp"
#include "core/version.hpp"

#include <cstdio>
#include <iostream>

namespace femura::bench {

namespace {

void print_help() {
  std::fputs(options_help, stdout);
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

/// Measures the ceilings and writes them into the context of the results.
template<class Exec>
void add_ceilings(const Options& options) {
  const std::string name = BackendTraits<Exec>::name;
  const Ceilings& best = ceilings<Exec>(options.quick);
  const auto add = [&](const std::string& what, const std::string& value) {
    benchmark::AddCustomContext(name + ' ' + what, value);
  };
  add("device", device_name(name));
  add("threads", std::to_string(host_threads(name)));
  add("copy GB/s", number(1e-9 * best.copy_rate));
  add("fill GB/s", number(1e-9 * best.fill_rate));
  add("dot GB/s", number(1e-9 * best.dot_rate));
  add("fma f64 GFLOP/s", number(1e-9 * best.fma_rate_f64));
  add("fma f32 GFLOP/s", number(1e-9 * best.fma_rate_f32));
  add("launch us", number(1e6 * best.launch_seconds));
}

void add_context(const Options& options) {
  benchmark::AddCustomContext("femura", version());
  benchmark::AddCustomContext("git", git_hash());
  benchmark::AddCustomContext("kokkos", kokkos_version());
  benchmark::AddCustomContext("compiler", compiler());
  if (!cuda_version().empty())
    benchmark::AddCustomContext("cuda", cuda_version());
  if (options.quick)
    benchmark::AddCustomContext("quick", "rates and fractions mean nothing");
#define FEMURA_ADD_CEILINGS(Exec)                                                                  \
  if (options.has(BackendTraits<Exec>::name))                                                      \
    add_ceilings<Exec>(options);
  FEMURA_FOR_EACH_BACKEND(FEMURA_ADD_CEILINGS)
#undef FEMURA_ADD_CEILINGS
}

/// The models' memory goes before Kokkos ends, whatever happens.
struct ModelsInScope {
  ~ModelsInScope() {
    release_voxel_models();
    release_hexa_problems();
    release_pfem_batches();
    release_pfem_models();
  }
};

int run_all(int argc, char** argv) {
  const Options options = take_options(argc, argv);
  benchmark::Initialize(&argc, argv, print_help);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 2;
  register_voxel_apply(options);
  register_peers(options);
  register_voxel_multigrid(options);
  register_voxel_classes(options);
  register_voxel_memory(options);
  register_voxel_solve(options);
  register_voxel_profile(options);
  register_eikonal_solve(options);
  register_factor_apply(options);
  register_soft_assembly(options);
  register_soft_contact(options);
  register_soft_step(options);
  register_hexa_apply(options);
  register_soft_cg(options);
  register_hexa_solve(options);
  register_pfem_form(options);
  register_pfem_apply(options);
  register_pfem_solve(options);

  if (options.list_only)
    return benchmark::RunSpecifiedBenchmarks() > 0 ? 0 : 2;
  const KokkosRuntime runtime;
  const MemoryTracking tracking;
  const ModelsInScope models;
  add_context(options);
  if (benchmark::RunSpecifiedBenchmarks() == 0)
    fail<UsageError>("no benchmark of this name: --benchmark_list_tests lists them");
  print_profiles(options);
  if (num_failures() > 0)
    std::cerr << "femura_bench: " << num_failures() << " failed\n";
  return num_failures() > 0 ? 1 : 0;
}

} // namespace

} // namespace femura::bench

int main(int argc, char** argv) {
  try {
    return femura::bench::run_all(argc, argv);
  } catch (const femura::UsageError& error) {
    std::cerr << "femura_bench: " << error.what() << '\n';
    return 2;
  } catch (const femura::BackendError& error) {
    std::cerr << "femura_bench: " << error.what() << '\n';
    return 4;
  } catch (const std::exception& error) {
    std::cerr << "femura_bench: " << error.what() << '\n';
    return 1;
  }
}
