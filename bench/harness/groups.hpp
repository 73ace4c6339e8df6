// SPDX-License-Identifier: Apache-2.0
// The table of groups lists the groups of benchmarks: names, functions that add rows, and sizes
// with --quick and --full.
#pragma once

#include "bench/harness/options.hpp"

#include <string>
#include <vector>

namespace ossatura::bench {

/// What an extent means for a group. Lists left empty are the group's own sizes.
struct Scope {
  std::vector<int> sizes = {}, edges = {}, elements = {};
  std::string only = ""; ///< regular expression: rows that there are; empty: all
  std::string once = ""; ///< rows that run once, because they take long; empty: none
};

struct Group {
  const char* name;
  const char* description;
  void (*add_rows)(const Options&);
  Scope quick, full;
};

const std::vector<Group>& all_groups();

void register_voxel_apply(const Options& options);
void register_voxel_residual(const Options& options);
void register_voxel_smoothing_step(const Options& options);
void register_peers(const Options& options);
void register_voxel_multigrid(const Options& options);
void register_voxel_classes(const Options& options);
void register_voxel_memory(const Options& options);
void register_voxel_solve(const Options& options);
void register_voxel_plastic(const Options& options);
void register_voxel_strength(const Options& options);
void register_voxel_study(const Options& options);
void register_voxel_damage(const Options& options);
void register_voxel_profile(const Options& options);
void register_eikonal(const Options& options);
void register_eikonal_setup(const Options& options);
void register_factor_apply(const Options& options);
void register_soft_assembly(const Options& options);
void register_soft_assembly_setup(const Options& options);
void register_soft_multiply(const Options& options);
void register_soft_contact(const Options& options);
void register_soft_step(const Options& options);
void register_soft_cg_solver(const Options& options);
void register_soft_cg_ways(const Options& options);
void register_hexa_apply(const Options& options);
void register_hexa_solve(const Options& options);
void register_design_step(const Options& options);
void register_design_filter(const Options& options);
void register_design_frequencies(const Options& options);
void register_pfem_form(const Options& options);
void register_pfem_apply(const Options& options);
void register_pfem_solve(const Options& options);
void register_jobs(const Options& options);
void register_scaling(const Options& options);

/// Prints the tables of the voxel_profile rows that ran.
void print_profiles();

} // namespace ossatura::bench
