// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/output/files.hpp"

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/base/timer.hpp>
#include <ossatura/core/base/version.hpp>
#include <ossatura/core/io/surface/write_3mf.hpp>
#include <ossatura/core/io/surface/write_stl.hpp>
#include <ossatura/core/mesh/iso_surface.hpp>
#include <ossatura/core/mesh/surface/enclosed_volume.hpp>
#include <ossatura/core/mesh/surface/fit_surface.hpp>
#include <ossatura/core/mesh/surface/mirror_surface.hpp>
#include <ossatura/core/mesh/surface/smooth_surface.hpp>
#include <ossatura/solvers/topopt/loads.hpp>
#include <ossatura/solvers/topopt/parts.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>

namespace ossatura {

namespace {

/// Names of fields may not have a slash, and should be typed with ease.
std::string name_suffix(const std::string& case_name) {
  std::string name = "_";
  for (const unsigned char c : case_name)
    name += std::isalnum(c) != 0 ? char(c) : '_';
  return name;
}

/// [num_nodes] bits.
std::vector<std::uint8_t> component_masks(const DesignProblem& problem,
                                          const std::vector<HeldComponents>& list) {
  std::vector<std::uint8_t> held(problem.num_nodes());
  for (const HeldComponents& one : list)
    held[std::size_t(one.node)] |= one.components;
  return held;
}

/// The rigid body of each node, from 1; 0: none.
std::vector<std::int32_t> rigid_bodies(const DesignProblem& problem) {
  std::vector<std::int32_t> number(problem.num_nodes());
  for (std::size_t i = 0; i < problem.rigid.size(); ++i)
    for (const std::int32_t node : problem.rigid[i])
      number[std::size_t(node)] = std::int32_t(i) + 1;
  return number;
}

/// The held components of each node, as bits, and the springs: with loads and displacements, which
/// are there too, the balance of forces can be computed from the file alone.
void write_supports(const DesignProblem& problem, VtkHdfWriter& file) {
  file.constant_point_data<std::uint8_t>("held",
                                         [&] { return component_masks(problem, problem.held); });
  if (!problem.rigid.empty())
    file.constant_point_data<std::int32_t>("rigid_body", [&] { return rigid_bodies(problem); });
  if (!problem.springs.empty())
    file.constant_point_data<double>(
        "spring", [&] { return sum_springs(problem); }, 3, "N/m");
}

std::vector<std::uint8_t> roles(const DesignProblem& problem) {
  std::vector<std::uint8_t> role;
  for (const DesignRole one : problem.role)
    role.push_back(std::uint8_t(one));
  return role;
}

std::vector<double> nodal_forces(const DesignProblem& problem, const NodeLoads& loads) {
  std::vector<double> force(3 * problem.num_nodes());
  for (const NodeForce& one : loads.forces)
    for (std::size_t c = 0; c < 3; ++c)
      force[3 * std::size_t(one.node) + c] += one.force[c];
  return force;
}

std::vector<double> imposed_displacements(const DesignProblem& problem, const NodeLoads& loads) {
  std::vector<double> imposed(3 * problem.num_nodes());
  for (const NodeDisplacement& one : loads.displacements)
    imposed[3 * std::size_t(one.node) + std::size_t(one.component)] = one.value;
  return imposed;
}

} // namespace

void write_design(const std::string& path, const TopoptModel& model, const DesignFields& fields,
                  int step, const RunFacts& facts, Hdf5Compression compression, VtkHdfKept* kept) {
  const DesignProblem& problem = model.problem;
  VtkHdfWriter file(path, compression, kept);
  if (problem.solids) {
    file.set_solids(*problem.solids);
  } else {
    const ElementMesh& mesh = model.mesh();
    file.set_mesh(mesh.point, mesh.node, VtkCell::hexahedron);
  }
  file.cell_data("density", fields.density, 1, "1");
  if (!fields.variable.empty())
    file.cell_data("variable", fields.variable, 1, "1");
  if (!problem.role.empty())
    file.constant_cell_data<std::uint8_t>("role", [&] { return roles(problem); });
  if (!problem.material.empty())
    file.constant_cell_data<std::uint8_t>("material", [&] { return problem.material; });
  if (!fields.energy.empty())
    file.cell_data("strain_energy_density", fields.energy, 1, "J/m3");
  if (!fields.stress.empty())
    file.cell_data("relaxed_von_mises", fields.stress, 1, "Pa");
  write_supports(problem, file);
  for (std::size_t i = 0; i < fields.mode.size(); ++i)
    file.point_data("mode_" + std::to_string(i + 1), fields.mode[i], 3, "1");
  if (!fields.mode.empty() && problem.mirror_supports)
    file.constant_point_data<std::uint8_t>("held_without_mirrors", [&] {
      return component_masks(problem, problem.mirror_supports->held);
    });
  std::vector<std::string> suffixes;
  for (std::size_t i = 0; i < fields.displacement.size(); ++i) {
    std::string suffix;
    if (fields.displacement.size() > 1)
      suffix = name_suffix(model.case_names[i]);
    if (std::count(suffixes.begin(), suffixes.end(), suffix) > 0)
      suffix += "_" + std::to_string(i);
    suffixes.push_back(suffix);
    file.point_data("displacement" + suffix, fields.displacement[i], 3, "m");
    file.constant_point_data<double>(
        "load" + suffix, [&] { return nodal_forces(problem, problem.cases[i].loads); }, 3, "N");
    if (i < fields.weight.size() && !fields.weight[i].empty())
      file.point_data("weight" + suffix, fields.weight[i], 3, "N");
    if (i < fields.thermal_force.size() && !fields.thermal_force[i].empty()) {
      file.point_data("thermal_force" + suffix, fields.thermal_force[i], 3, "N");
      file.constant_point_data<double>(
          "temperature_change" + suffix, [&] { return problem.cases[i].loads.warming; }, 1, "K");
    }
    if (!problem.cases[i].loads.displacements.empty())
      file.constant_point_data<double>(
          "imposed" + suffix,
          [&] { return imposed_displacements(problem, problem.cases[i].loads); }, 3, "m");
  }
  file.set_run(facts);
  file.set_run("step", std::to_string(step));
  file.commit();
}

namespace {

SolidParts parts_of(const TopoptModel& model, const std::vector<double>& density, double level) {
  if (model.problem.solids)
    return solid_parts(*model.problem.solids, node_means(*model.problem.solids, density), level);
  const ElementMesh& mesh = model.mesh();
  return solid_parts(mesh, node_means(mesh, density), level);
}

/// The surface with its images in all mirrors, the numbers of its vertices there, and the box
/// around.
struct WholeSurface {
  TriangleSurface surface;
  std::vector<int> number;
  Box bounds;
  std::vector<bool> is_fitted;
};

/// Those of a surface and of its image, triangle by triangle.
std::vector<bool> fitted_of_both(const std::vector<bool>& is_fitted,
                                 const MirroredSurface& joined) {
  std::vector<bool> both(joined.surface.vertex.size(), false);
  for (std::size_t v = 0; v < is_fitted.size(); ++v)
    if (joined.number[v] >= 0)
      both[std::size_t(joined.number[v])] = is_fitted[v];
  const std::size_t half = joined.surface.triangle.size() / 2;
  for (std::size_t t = 0; t < half; ++t) {
    const std::array<int, 3>& own = joined.surface.triangle[t];
    const std::array<int, 3>& image = joined.surface.triangle[half + t]; // turned
    for (const auto& [from, to] :
         {std::pair{own[0], image[0]}, {own[1], image[2]}, {own[2], image[1]}})
      both[std::size_t(to)] = both[std::size_t(from)];
  }
  return both;
}

WholeSurface join_images(const DesignProblem& problem, const TriangleSurface& modelled,
                         const std::vector<bool>& is_fitted) {
  WholeSurface whole{modelled, {}, problem.bounds(), is_fitted};
  const Box& box = whole.bounds;
  // As nodes are held on mirrors, and rounding.
  const double slack = 2 * rounding_of(box);
  whole.number.resize(modelled.vertex.size());
  std::iota(whole.number.begin(), whole.number.end(), 0);
  for (const MirrorPlane& mirror : problem.mirrors) {
    MirroredSurface joined = mirror_surface(whole.surface, mirror.axis, mirror.place, slack);
    for (int& number : whole.number)
      number = number < 0 ? -1 : joined.number[std::size_t(number)];
    if (!is_fitted.empty())
      whole.is_fitted = fitted_of_both(whole.is_fitted, joined);
    whole.surface = std::move(joined.surface);
    double& low = whole.bounds[std::size_t(mirror.axis)];
    double& high = whole.bounds[std::size_t(mirror.axis) + 3];
    const double image[2] = {2 * mirror.place - high, 2 * mirror.place - low};
    low = std::min(low, image[0]);
    high = std::max(high, image[1]);
  }
  return whole;
}

/// Joins the images to the surface, if they can be, and returns the box around all. `number`: of
/// the vertices of the model in the surface.
Box join_images(const TopoptModel& model, DesignSurface& design, std::vector<int>& number,
                std::vector<bool>& is_fitted) {
  WholeSurface whole = join_images(model.problem, design.surface, is_fitted);
  if (const std::string defect = describe_first_open_edge(whole.surface); !defect.empty()) {
    log_warning("not-joined",
                "the surface is of the model alone, since its images in the mirrors "
                "cannot be joined to it: it touches a mirror along ",
                defect, ". Model a body that has faces where it touches a mirror");
    return model.problem.bounds();
  }
  design.modelled = std::move(design.surface);
  design.surface = std::move(whole.surface);
  design.num_copies = 1 << model.problem.mirrors.size();
  number = std::move(whole.number);
  is_fitted = std::move(whole.is_fitted);
  return whole.bounds;
}

/// Puts faces of cubes back to the surface that these filled; vertices in mirrors stay there.
/// Returns which are on it.
std::vector<bool> fit_to_body(const TopoptModel& model, TriangleSurface& surface) {
  const FilledBody& body = *model.filled;
  std::vector<std::uint8_t> faces;
  faces.reserve(surface.vertex.size());
  for (const std::array<double, 3>& vertex : surface.vertex)
    faces.push_back(body.cubes->faces_at(vertex));
  const std::vector<std::array<double, 3>> before = surface.vertex;
  FittedSurface fitted = fit_surface(std::move(surface), faces, body.surface, body.cubes->edge());
  const double slack = rounding_of(model.problem.bounds());
  for (const MirrorPlane& mirror : model.problem.mirrors) {
    const std::size_t axis = std::size_t(mirror.axis);
    for (std::size_t v = 0; v < before.size(); ++v)
      if (std::fabs(before[v][axis] - mirror.place) <= slack)
        fitted.surface.vertex[v][axis] = before[v][axis];
  }
  surface = std::move(fitted.surface);
  return std::move(fitted.is_fitted);
}

} // namespace

DesignSurface make_design_surface(const TopoptModel& model, const std::vector<double>& density,
                                  const SurfaceChoices& choices) {
  const TimedScope scope("ossatura::topopt::surface");
  SolidParts solid = parts_of(model, density, choices.level);
  const std::string defect = describe_first_open_edge(solid.surface);
  OSSATURA_REQUIRE(defect.empty(), defect);
  const LooseParts sorted = find_loose_parts(model.problem, model.supported, solid);
  const std::vector<double> volumes = part_volumes(solid);
  DesignSurface design;
  PartsSummary& parts = design.parts;
  parts.num_parts = solid.num_parts;
  parts.joined = sorted.joined;
  parts.beside = sorted.beside;
  parts.keeps_loose = choices.keep_loose;
  for (std::size_t part = 0; part < volumes.size(); ++part) {
    parts.volume += volumes[part];
    if (sorted.loose[part]) {
      ++parts.num_loose;
      parts.loose_volume += volumes[part];
    }
  }
  design.surface = choices.keep_loose || parts.num_loose == 0 ? std::move(solid.surface)
                                                              : without_parts(solid, sorted.loose);
  if (design.surface.triangle.empty())
    return design;
  std::vector<bool> is_fitted;
  if (model.filled && choices.smooth > 0)
    is_fitted = fit_to_body(model, design.surface);
  std::vector<int> number;
  const Box bounds =
      choices.whole ? join_images(model, design, number, is_fitted) : model.problem.bounds();
  design.num_fitted = std::count(is_fitted.begin(), is_fitted.end(), true);
  // All together, so that there is no crease in a mirror.
  const TimedScope of_smoothing("ossatura::topopt::smooth");
  SmoothedSurface smooth =
      smooth_surface(std::move(design.surface), choices.smooth, bounds, is_fitted);
  design.surface = std::move(smooth.surface);
  design.num_held = smooth.num_held;
  // Vertices in a mirror alone stay: what triangles there enclose is nothing wherever these are.
  for (std::size_t v = 0; v < number.size(); ++v)
    if (number[v] >= 0)
      design.modelled.vertex[v] = design.surface.vertex[std::size_t(number[v])];
  return design;
}

namespace {

/// None, with a warning, where the surface is empty.
std::optional<SurfaceSummary> summarise(const std::string& path, const DesignSurface& design,
                                        double level) {
  if (design.surface.triangle.empty()) {
    log_warning("empty-surface", path, ": not written, because no node has a mean density above ",
                level, "; a lower --stl-level may have");
    return {};
  }
  SurfaceSummary summary;
  summary.num_vertices = std::int64_t(design.surface.vertex.size());
  summary.num_triangles = std::int64_t(design.surface.triangle.size());
  summary.num_held = design.num_held;
  summary.num_fitted = design.num_fitted;
  summary.num_copies = design.num_copies;
  summary.volume = enclosed_volume(design.surface);
  return summary;
}

std::string program_name() {
  return std::string("ossatura ") + version() + " topopt";
}

} // namespace

std::optional<SurfaceSummary> write_design_surface(const std::string& path,
                                                   const TopoptModel& model,
                                                   const DesignSurface& design, double level) {
  const std::optional<SurfaceSummary> summary = summarise(path, design, level);
  if (!summary)
    return {};
  if (model.unit == 1) {
    write_stl(path, design.surface, program_name());
    return summary;
  }
  TriangleSurface in_units = design.surface;
  for (auto& vertex : in_units.vertex)
    for (double& x : vertex)
      x /= model.unit;
  write_stl(path, in_units, program_name());
  return summary;
}

std::optional<SurfaceSummary> write_design_3mf(const std::string& path, const DesignSurface& design,
                                               double level) {
  const std::optional<SurfaceSummary> summary = summarise(path, design, level);
  if (summary)
    write_3mf(path, design.surface, 1000, program_name());
  return summary;
}

} // namespace ossatura
