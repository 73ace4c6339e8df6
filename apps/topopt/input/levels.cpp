// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/input/levels.hpp"

#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/require.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

/// The least radius of a filter, in edges: that of the default.
constexpr double least_radius = 1.5;
/// The part by which forces may differ: as areas of faces do where cubes fill a round body.
constexpr double alike = 0.1;

double edge_of(const TopoptModel& model) {
  return model.problem.lattice->edge();
}

/// The document with cells `times` as large.
void coarsen(ProblemDocument& document, int times, double edge) {
  HexaSource& mesh = document.mesh;
  document.is_coarser = true;
  if (is_image(mesh))
    fail<InputError>(document.file, ": ", mesh.file,
                     " is an image, and has the grid of its voxels alone: leave --levels "
                     "(\"levels\") out, or resample the image, and begin with the design of the "
                     "coarser one (--start-from)");
  if (mesh.voxel)
    *mesh.voxel *= times;
  else {
    std::array<int, 3> cells = cells_of(mesh);
    if (!mesh.size)
      mesh.size = {double(cells[0]), double(cells[1]), double(cells[2])};
    for (int& count : cells) {
      if (count % times != 0)
        fail<InputError>(document.file, ": ", count, " cells are no multiple of ", times,
                         ", so that no coarser grid fits (--levels): take multiples (--cells), or "
                         "fewer levels");
      count /= times;
    }
    mesh.cells = cells;
  }
  if (document.keep) // a layer has at least the elements at supports and loads
    document.keep = std::max(*document.keep, edge);
}

double size_of_forces(const NodeLoads& loads) {
  double sum = 0;
  for (const NodeForce& one : loads.forces)
    sum += std::hypot(one.force[0], one.force[1], one.force[2]);
  return sum;
}

void require_same_forces(const std::string& where, const TopoptModel& coarse,
                         const TopoptModel& finest) {
  for (std::size_t k = 0; k < finest.problem.cases.size(); ++k) {
    const double own = size_of_forces(coarse.problem.cases[k].loads),
                 asked = size_of_forces(finest.problem.cases[k].loads);
    if (!(std::fabs(own - asked) <= alike * asked))
      fail<InputError>(where, "the forces of load case '", finest.case_names[k], "' are ",
                       format_number(own), " N and not ", format_number(asked),
                       " N: give \"total_force\" or a traction on faces that the grid has, or "
                       "fewer levels");
  }
}

TopoptModel make_coarser(const TopoptCommandOptions& options, const TopoptModel& finest,
                         int times) {
  const double edge = times * edge_of(finest);
  const std::string where =
      options.problem + ": on the grid of cubes of " + format_number(edge) + " m (--levels): ";
  ProblemDocument document = make_document(options);
  coarsen(document, times, edge);
  TopoptModel model;
  try {
    model = build_topopt_model(std::move(document), options.changes);
  } catch (const InputError& error) {
    fail<InputError>(where, error.what());
  }
  require_same_forces(where, model, finest);
  const double radius =
      finest.options.radius > 0 ? finest.options.radius : least_radius * edge_of(finest);
  model.options.radius = std::max(radius, least_radius * edge_of(model));
  return model;
}

} // namespace

std::vector<TopoptModel> make_coarser_models(const TopoptCommandOptions& options,
                                             const TopoptModel& finest) {
  const int count = finest.levels;
  std::vector<TopoptModel> models;
  if (count == 0)
    return models;
  const auto refuse = [&](const auto&... why) {
    if (options.has_levels)
      fail<UsageError>("--levels ", why...);
    fail<InputError>(options.problem, ": \"levels\" ", why...);
  };
  if (!finest.problem.lattice)
    refuse("makes coarser grids of voxels, and ", finest.source,
           " is no box, generator or surface on these: take --grid voxels, or begin with the "
           "design of a coarser mesh (--start-from)");
  const int steps = finest.options.max_steps;
  if (steps < 2 * count)
    refuse(count, ": takes at least ", 2 * count, " steps, some for each grid, and there are ",
           steps, " (--steps)");
  for (int k = 0; k < count; ++k) {
    TopoptModel model = make_coarser(options, finest, 1 << (count - k));
    // Three quarters of the steps are on coarser grids, as many on each.
    model.options.max_steps = int(std::int64_t(3) * steps * (k + 1) / (4 * count));
    models.push_back(std::move(model));
  }
  return models;
}

} // namespace ossatura
