// SPDX-License-Identifier: Apache-2.0
// These checks refuse combinations of options that contradict each other, and say what to do
// instead.
#include "apps/driver/options/check.hpp"
#include "apps/eikonal/input/options.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/comm/communicator.hpp>
#include <ossatura/solvers/eikonal/ranks/solver.hpp>

#include <CLI/CLI.hpp>

#include <filesystem>

namespace ossatura {

namespace {

void check_mesh(const CLI::App& app, const EikonalCommandOptions& o) {
  if (o.input.empty() && !o.generated)
    fail<UsageError>("no input: give a mesh FILE, or --generate ventricles");
  if (!o.input.empty() && o.generated)
    fail<UsageError>("both the input ", o.input, " and --generate: leave one out");
  require_positive("--unit", o.file.unit, "mm per unit of the file");
  const bool read = !o.generated;
  const TetraFileKind kind = tetra_file_kind(o.input);
  require_effect(
      app, {{"--unit", read, "a mesh that is read; generated ones are in mm"},
            {"--fibre-file", read, "a mesh that is read"},
            {"--tag-field", read && kind == TetraFileKind::vtk, "a mesh of VTK"},
            {"--fibre-field", read && kind == TetraFileKind::vtk, "a mesh of VTK"},
            {"--sheet-field", read && kind == TetraFileKind::vtk, "a mesh of VTK"},
            {"--velocity-field", read && kind == TetraFileKind::vtk, "a mesh of VTK"},
            {"--seed", o.generated && o.generated->jitter > 0, "--generate box:jitter=..."},
            {"--parts",
             o.solver.method == EikonalMethod::spread || o.solver.method == EikonalMethod::patch,
             "--method spread or patch"}});
}

void check_physics(const EikonalCommandOptions& o) {
  const bool field = !o.file.value_fields.empty();
  if (!o.velocity_file.empty() && o.velocity)
    fail<UsageError>("both --velocities and --velocity: leave one out");
  if (field && (!o.velocity_file.empty() || o.velocity))
    fail<UsageError>("both --velocity-field and ", o.velocity ? "--velocity" : "--velocities",
                     ": leave one out");
  if (o.velocity_file.empty() && !o.velocity && !field && !o.generated)
    fail<UsageError>("no conduction velocities: give --velocities FILE, or --velocity VL,VT,VN in "
                     "m/s for all tags");
  if (!o.site_file.empty() && !o.sites.empty())
    fail<UsageError>("both --sites and --site: leave one out");
  const bool has_default = o.generated && o.generated->kind != MeshGenerator::box;
  if (o.site_file.empty() && o.sites.empty() && !has_default)
    fail<UsageError>("no sites, so that no wave starts: give --site, such as point:X,Y,Z or "
                     "vtx:FILE, or --sites FILE");
}

void check_solver(const EikonalCommandOptions& o) {
  if (!(o.solver.tolerance >= 0 && o.solver.tolerance < 0.1))
    fail<UsageError>("--tolerance ", o.solver.tolerance, ": at least 0 and small, such as 1e-6");
  require_at_least("--max-iterations", o.solver.max_iterations, 1);
  if (o.solver.num_parts < 0)
    fail<UsageError>("--parts ", o.solver.num_parts, ": at least 1, or 0 for a good number");
}

/// What cannot be had over the ranks of a launcher, whichever way they divide the work.
void check_ranks(const EikonalCommandOptions& o) {
  const int num_ranks = Communicator::world().size();
  if (num_ranks > 1 && o.common.dry_run)
    fail<UsageError>("--dry-run predicts one process, and a launcher started ", num_ranks,
                     ": start one");
  if (num_ranks > 1 && o.split == EikonalSplit::mesh)
    check_mesh_split(o, num_ranks);
}

} // namespace

bool divides_sets(const EikonalCommandOptions& options, std::int64_t num_sets, int num_ranks) {
  return options.split == EikonalSplit::sets ||
         (options.split == EikonalSplit::automatic && num_sets >= num_ranks);
}

void check_mesh_split(const EikonalCommandOptions& options, int num_ranks) {
  const std::string reason = why_not_over_ranks(options.solver);
  if (!reason.empty())
    fail<UsageError>("--", reason, ", and a launcher started ", num_ranks,
                     ": leave it out, divide sets of sites (--split sets), or start one process");
}

TetraFileKind tetra_file_kind(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".msh")
    return TetraFileKind::gmsh;
  const bool is_vtk =
      extension == ".vtk" || extension == ".vtu" || extension == ".hdf" || extension == ".vtkhdf";
  return is_vtk ? TetraFileKind::vtk : TetraFileKind::carp;
}

bool EikonalCommandOptions::has_tetra_velocities() const {
  return !file.value_fields.empty() ||
         std::filesystem::path(velocity_file).extension().string() == ".dat";
}

void check_eikonal_options(const CLI::App& app, const EikonalCommandOptions& options) {
  check_solver(options);
  check_ranks(options);
  check_mesh(app, options);
  check_physics(options);
  check_field_files(app, options.hdf, options.no_hdf, options.common);
}

} // namespace ossatura
