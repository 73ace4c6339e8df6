// SPDX-License-Identifier: Apache-2.0
#include "apps/eikonal/input/model.hpp"

#include "apps/driver/options/notation.hpp"
#include "apps/driver/output/table.hpp"
#include "apps/eikonal/input/doubts.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/mesh/generators/tetra_meshes.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <utility>

namespace ossatura {

namespace {

constexpr std::size_t most_tetra = std::size_t(1) << 29; // 4 of each are numbered by 31 bits

/// The files that a mesh is read from, as far as they exist.
std::vector<std::string> mesh_files(const EikonalCommandOptions& options) {
  namespace fs = std::filesystem;
  const std::string& fibres = options.file.fibre_file;
  std::vector<std::string> files = {options.input};
  if (tetra_file_kind(options.input) == TetraFileKind::carp) {
    const std::string extension = fs::path(options.input).extension().string();
    bool binary = extension == ".bpts" || extension == ".belem" || extension == ".blon";
    std::string base = options.input;
    if (binary || extension == ".pts" || extension == ".elem" || extension == ".lon")
      base.resize(base.size() - extension.size());
    else
      binary = !fs::exists(base + ".pts");
    const std::string b = binary ? ".b" : ".";
    files = {base + b + "pts", base + b + "elem"};
    if (fibres.empty())
      files.push_back(base + b + "lon");
  }
  if (!fibres.empty())
    files.push_back(fibres);
  files.erase(std::remove_if(files.begin(), files.end(),
                             [](const std::string& file) { return !fs::exists(file); }),
              files.end());
  return files;
}

TetraMesh make_mesh(const GeneratedMesh& generated, std::uint64_t seed) {
  switch (generated.kind) {
  case MeshGenerator::ventricles:
    return make_ventricles(generated.h);
  case MeshGenerator::slab:
    return make_slab(generated.h);
  case MeshGenerator::box:
    break;
  }
  return make_tetra_box(generated.cells, generated.h, {0, 0, 0}, generated.jitter, seed);
}

/// By tag. None where velocities are those of each tetrahedron.
VelocityTable velocity_table(const EikonalCommandOptions& options) {
  if (options.has_tetra_velocities())
    return {};
  if (!options.velocity_file.empty())
    return read_velocities(options.velocity_file);
  VelocityTable table;
  table.origin = "--velocity";
  if (options.velocity)
    table.other = options.velocity;
  else if (options.generated->kind == MeshGenerator::ventricles)
    table.other = ConductionVelocity{0.6, 0.4, 0.2};
  else if (options.generated->kind == MeshGenerator::slab)
    table.other = ConductionVelocity{0.6, 0.3, 0.3};
  else
    table.other = ConductionVelocity{0.6, 0.6, 0.6};
  return table;
}

/// The sites of the generators. The slab's is the stimulus of Niederer et al. (2011).
SiteSet default_sites(MeshGenerator kind) {
  SiteSet set;
  set.origin = std::string("--generate ") + name_of(kind);
  if (kind == MeshGenerator::slab) {
    set.sites.push_back(parse_site("box:0,0,0,1.5,1.5,1.5"));
    return set;
  }
  for (const TimedPoint& start : ventricle_sites()) {
    std::string text = "point:";
    for (std::size_t d = 0; d < 3; ++d)
      text += (d == 0 ? "" : ",") + format_number(start.point[d]);
    set.sites.push_back(parse_site(text + "@t=" + format_number(start.time)));
  }
  return set;
}

std::vector<SiteSet> site_sets(const EikonalCommandOptions& options) {
  if (!options.site_file.empty())
    return read_site_sets(options.site_file);
  if (!options.sites.empty())
    return {{"", "--site", options.sites}};
  return {default_sites(options.generated->kind)};
}

/// `value`: the fields of the mesh that were asked for.
MeshVelocities make_velocities(const EikonalCommandOptions& options, const VelocityTable& table,
                               std::vector<double> value, const EikonalModel& model) {
  MeshVelocities velocities;
  const std::size_t num_tetra = model.mesh.num_tetra();
  if (options.has_tetra_velocities()) {
    velocities.origin = options.velocity_file;
    if (options.velocity_file.empty())
      velocities.origin = options.input + ": " + joined(options.file.value_fields, ", ");
    else
      value = read_cell_values(options.velocity_file, num_tetra);
    if (const std::size_t row = value.size() / num_tetra; row > 3)
      fail<InputError>(velocities.origin, ": ", row,
                       " numbers for each tetrahedron: one field of one ",
                       "to three components, or one for each direction, are velocities");
    velocities.by_tetra = tetra_velocities(value, num_tetra, velocities.origin);
  } else {
    velocities.origin = table.origin;
    velocities.by_tag = choose_velocities(table, model.num_by_tag, model.source);
  }
  block_tags(model.mesh, model.num_by_tag, options.non_conducting, model.source, velocities);
  warn_of_mesh(model.mesh, velocities, table.by_tag, model.source);
  if (!options.generated) {
    warn_of_split_mesh(model.mesh, velocities, model.source);
    warn_of_folds(model.mesh, velocities, model.source);
    warn_of_scars(options.input, model.mesh, velocities);
  }
  return velocities;
}

/// Of spheres and boxes in the um of openCARP's points, which hold all of a mesh in mm.
void warn_of_large_site(const SiteSet& set, const SiteChoice& site, std::int64_t count,
                        std::int64_t num_conducting) {
  const bool is_region = site.place == SitePlace::sphere || site.place == SitePlace::box;
  if (is_region && 2 * count > num_conducting)
    log_warning("large-site", set.origin, ": '", site.text, "' starts a wave at ",
                format_count(count), " of ", format_count(num_conducting),
                " vertices at once: its numbers are in mm, whatever unit the mesh is in");
}

/// Refuses sites from which no wave goes, and tells of vertices that were left out.
void check_placed(const SiteSet& set, const PlacedSites& placed, std::int64_t num_conducting) {
  for (std::size_t i = 0; i < placed.vertices.size(); ++i) {
    warn_of_large_site(set, set.sites[i], std::int64_t(placed.vertices[i].size()), num_conducting);
    if (placed.vertices[i].empty())
      fail<InputError>(set.origin, ": '", set.sites[i].text,
                       "' lies in tissue that does not conduct: no wave starts there");
    if (placed.num_blocked[i] > 0)
      log_info(set.origin, ": ", format_count(placed.num_blocked[i]), " vertices of '",
               set.sites[i].text, "' lie in tissue that does not conduct, and are left out");
  }
}

void tell_parts(const EikonalModel& model) {
  const MeshVelocities& velocities = model.velocities;
  const std::vector<std::int64_t>& size = model.parts->size();
  if (velocities.num_blocked > 0)
    log_info(format_count(velocities.num_blocked), " tetrahedra do not conduct; ",
             format_count(model.parts->num_blocked()), " vertices belong to no other");
  if (size.size() > 1)
    log_info(velocities.num_blocked > 0 ? "what conducts" : "the mesh", " is in ",
             format_count(std::int64_t(size.size())),
             " parts that share no vertex: the largest has ", format_count(size[0]),
             " vertices, the next ", format_count(size[1]));
}

} // namespace

double EikonalModel::unreached_mark() const {
  for (const SiteSet& set : sets)
    for (const SiteChoice& site : set.sites)
      if (site.time < 0)
        return std::numeric_limits<double>::quiet_NaN();
  return -1;
}

EikonalModel make_eikonal_model(const EikonalCommandOptions& options, DriverContext& context) {
  const TimedScope scope("ossatura::eikonal::read");
  EikonalModel model;
  std::vector<FileRecord>& inputs = context.provenance().inputs;
  // The small files first: a mistake in them is told before a large mesh is read.
  const VelocityTable table = velocity_table(options);
  if (!options.velocity_file.empty())
    inputs.push_back(record_input(options.velocity_file));
  model.sets = site_sets(options);
  if (!options.site_file.empty())
    inputs.push_back(record_input(options.site_file));
  for (const SiteSet& set : model.sets)
    for (const SiteChoice& site : set.sites)
      if (site.place == SitePlace::list)
        inputs.push_back(record_input(site.file));

  if (options.generated) {
    model.source = options.generated->text;
    model.mesh = make_mesh(*options.generated, options.common.seed);
  } else {
    model.source = options.input;
    model.mesh = read_tetra_mesh(options.input, options.file);
    // In front: results are of this mesh, whose velocities other runs share.
    std::vector<FileRecord> files;
    for (const std::string& file : mesh_files(options))
      files.push_back(record_input(file));
    inputs.insert(inputs.begin(), files.begin(), files.end());
  }
  model.num_by_tag = count_tags(model.mesh);
  if (model.mesh.num_tetra() >= most_tetra)
    fail<InputError>(model.source, ": ", format_count(std::int64_t(model.mesh.num_tetra())),
                     " tetrahedra are more than 2^29, which can be numbered");
  log_info(options.generated ? "made " : "read ", model.source, ": ",
           format_count(std::int64_t(model.mesh.num_points())), " vertices, ",
           format_count(std::int64_t(model.mesh.num_tetra())), " tetrahedra, ",
           model.mesh.fibre.empty() ? "no fibres" : "fibres",
           model.mesh.sheet.empty() ? "" : " and sheets");
  if (model.mesh.num_left_out > 0)
    log_warning("unused-points", model.source, ": ", format_count(model.mesh.num_left_out),
                " points belong to no tetrahedron and are left out: vertices of results are "
                "numbered without them");
  if (double(model.sets.size()) * double(model.mesh.num_points()) > INT32_MAX)
    fail<InputError>(options.site_file, ": ", model.sets.size(), " sets of ",
                     format_count(std::int64_t(model.mesh.num_points())),
                     " times each are numbered with more than 31 bits: solve fewer at once");
  model.velocities = make_velocities(options, table, std::exchange(model.mesh.value, {}), model);
  model.parts.emplace(model.mesh, model.velocities.blocked);
  tell_parts(model);
  const std::int64_t num_conducting =
      std::int64_t(model.mesh.num_points()) - model.parts->num_blocked();
  for (const SiteSet& set : model.sets) {
    model.placed.push_back(place_sites(model.mesh, set));
    model.placed.back().leave_blocked_out(*model.parts);
    check_placed(set, model.placed.back(), num_conducting);
  }
  return model;
}

} // namespace ossatura
