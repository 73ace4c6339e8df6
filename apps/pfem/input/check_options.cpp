// SPDX-License-Identifier: Apache-2.0
// These checks refuse combinations of options that contradict each other, and say what to do
// instead.
#include "apps/driver/options/check.hpp"
#include "apps/pfem/input/options.hpp"
#include <ossatura/core/base/require.hpp>

#include <CLI/CLI.hpp>

namespace ossatura {

namespace {

void check_mesh(const PfemCommandOptions& o) {
  if (o.problem.empty())
    fail<UsageError>("no problem: give a generator, a .json or a mesh FILE");
  const PfemSource& mesh = o.mesh;
  if (mesh.cells)
    for (const int cells : *mesh.cells)
      require_between("--cells", cells, 1, 9999);
  if (mesh.size)
    for (const double length : *mesh.size)
      require_positive("--size", length, "m");
  require_distortion(mesh.distort);
  require_between("--along", mesh.along, 1, 9999);
  require_between("--across", mesh.across, 1, 9999);
  require_between("--up", mesh.up, 1, 9999);
  require_positive("--inner", mesh.inner, "m");
  require_positive("--outer", mesh.outer, "m");
  require_positive("--height", mesh.height, "m");
  require_positive("--unit", o.unit, "m per unit of the file");
  require_positive("--young", o.young, "Pa");
  require_poisson(o.poisson);
}

void check_solver(const PfemCommandOptions& o) {
  require_between("--order", o.order, 1, max_hexa_order);
  const PfemOptions options = o.changes.applied(); // defaults are in range
  if (options.discretisation.points != 0)
    require_between("--points", options.discretisation.points, 1, 32);
  const HierarchicSolverOptions& solver = options.solver;
  if (!(solver.cg.tolerance > 0 && solver.cg.tolerance < 1))
    fail<UsageError>("--tolerance ", solver.cg.tolerance,
                     ": a relative residual such as 1e-6, greater than 0 and less than 1");
  if (solver.cg.max_iterations < 1)
    fail<UsageError>("--max-iterations ", solver.cg.max_iterations, ": at least 1");
}

} // namespace

void check_pfem_options(const CLI::App& app, const PfemCommandOptions& o) {
  check_mesh(o);
  check_solver(o);
  if (app.count("--samples") > 0)
    require_between("--samples", o.samples, 1, 64);
  check_field_files(app, o.hdf, o.no_hdf, o.common);
  const bool makes_mesh = o.kind() != ProblemKind::mesh;
  std::vector<OptionUse> uses = {{"--unit", o.kind() != ProblemKind::generator, "a mesh file"},
                                 {"--seed", makes_mesh, "a generator"}};
  for (const char* option : {"--cells", "--size", "--shear", "--distort", "--along", "--across",
                             "--up", "--inner", "--outer", "--height"})
    uses.push_back({option, makes_mesh, "a generator"});
  require_effect(app, uses);
}

} // namespace ossatura
