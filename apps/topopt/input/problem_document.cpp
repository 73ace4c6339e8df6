// SPDX-License-Identifier: Apache-2.0
// The document of a run comes from a problem file, a mesh file or a generator, changed by the
// command line.
#include "apps/topopt/bodies/step_file.hpp"
#include "apps/topopt/input/model.hpp"
#include "apps/topopt/input/read_problem.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/image/format.hpp>
#include <ossatura/solvers/topopt/generators.hpp>

#include <algorithm>
#include <filesystem>

namespace ossatura {

bool is_surface(const HexaSource& source) {
  const std::string ending = std::filesystem::path(source.file).extension().string();
  return source.kind == HexaSource::Kind::file &&
         (ending == ".stl" || ending == ".off" || is_step(source.file));
}

bool is_image(const HexaSource& source) {
  if (source.kind != HexaSource::Kind::file || source.file.empty())
    return false;
  std::error_code none;
  if (std::filesystem::is_directory(source.file, none))
    return true; // slices of DICOM
  if (std::filesystem::path(source.file).extension() == ".hdf")
    return false; // a mesh, as results are; images of ParOSol are .h5
  const std::optional<ImageFormat> format = format_by_name(source.file);
  return format && *format != ImageFormat::surface;
}

std::array<int, 3> cells_of(const HexaSource& source) {
  if (source.kind == HexaSource::Kind::generator && !source.cells)
    for (const GeneratorInfo& info : generator_infos())
      if (source.generator == info.name)
        return info.cells;
  return source.cells.value_or(std::array<int, 3>{});
}

namespace {

/// Sets what fills a surface, or which voxels of an image are the body, and refuses it for others.
void set_voxels(const TopoptCommandOptions& options, HexaSource& mesh) {
  if (options.voxel)
    mesh.voxel = options.voxel;
  if (options.lower)
    mesh.lower = options.lower;
  if (mesh.voxel && is_image(mesh))
    fail<UsageError>("--voxel has no effect on ", mesh.file,
                     ", an image, whose voxels are the elements: leave it out, and resample the "
                     "image for larger ones");
  if (mesh.voxel && !is_surface(mesh))
    fail<UsageError>("--voxel has no effect without a surface (.stl, .off, .step): leave it out");
  if (!mesh.voxel && is_surface(mesh))
    fail<UsageError>(mesh.file, ": a surface needs --voxel M, the edge of the cubes that fill it");
  if (mesh.lower && !is_image(mesh))
    fail<UsageError>("--lower has no effect without an image (.mha, .nii.gz, .nrrd): leave it out");
  if (!mesh.lower && is_image(mesh))
    fail<UsageError>(mesh.file, ": an image needs --lower V (\"lower\" of the mesh): voxels of V "
                                "and more are the body, 1 where they are labels");
}

/// Puts a limit of the command line in the place of all of its kind.
void set_limit(const std::optional<double>& value, DesignLimitKind kind, const char* option,
               std::vector<LimitChoice>& limits, bool at_least = false) {
  if (!value)
    return;
  limits.erase(std::remove_if(limits.begin(), limits.end(),
                              [&](const LimitChoice& one) { return one.kind == kind; }),
               limits.end());
  LimitChoice limit;
  limit.place = option;
  limit.kind = kind;
  limit.value = *value;
  limit.at_least = at_least;
  limits.push_back(std::move(limit));
}

} // namespace

ProblemDocument make_document(const TopoptCommandOptions& options) {
  ProblemDocument document;
  if (options.kind() == ProblemKind::json) {
    document = read_problem(options.problem);
  } else {
    document.file = options.problem;
    const bool is_generator = options.kind() == ProblemKind::generator;
    document.mesh.kind = is_generator ? HexaSource::Kind::generator : HexaSource::Kind::file;
    (is_generator ? document.mesh.generator : document.mesh.file) = options.problem;
  }
  HexaSource& mesh = document.mesh;
  const bool is_file = mesh.kind == HexaSource::Kind::file;
  if (is_file && (options.cells || options.size || options.distort || options.renumber))
    fail<UsageError>("--cells, --size, --distort and --renumber have no effect on the mesh ",
                     mesh.file, ": leave them out");
  if (!is_file && options.unit)
    fail<UsageError>("--unit has no effect without a mesh file: leave it out");
  if (options.cells)
    mesh.cells = options.cells;
  if (options.size)
    mesh.size = options.size;
  mesh.distort = options.distort.value_or(mesh.distort);
  if (options.renumber)
    mesh.renumber = options.renumber;
  mesh.seed = options.common.seed;
  if (options.unit && is_image(mesh))
    fail<UsageError>("--unit has no effect on ", mesh.file,
                     ", an image, which says its edges: leave it out");
  mesh.unit = is_image(mesh) ? unit_of_images : options.unit.value_or(mesh.unit);
  mesh.says_unit = mesh.says_unit || options.unit || is_image(mesh);
  set_voxels(options, mesh);
  if (options.mass_density)
    document.mass_density = options.mass_density;
  if (options.keep)
    document.keep = options.keep;
  document.whole = document.whole || options.whole;
  if (options.young)
    document.young = options.young;
  if (options.poisson)
    document.poisson = options.poisson;
  document.material_option = options.young          ? "--young"
                             : options.poisson      ? "--poisson"
                             : options.mass_density ? "--mass-density"
                                                    : "";
  if (options.objective) {
    document.is_least_volume = *options.objective == DesignObjective::volume;
    document.is_frequency = *options.objective == DesignObjective::frequency;
  }
  document.has_objective = options.objective.has_value();
  set_limit(options.max_compliance, DesignLimitKind::compliance, "--max-compliance",
            document.limits);
  set_limit(options.max_stress, DesignLimitKind::stress, "--max-stress", document.limits);
  set_limit(options.max_mass, DesignLimitKind::mass, "--max-mass", document.limits);
  set_limit(options.min_frequency, DesignLimitKind::frequency, "--min-frequency", document.limits,
            true);
  document.has_volume = document.has_volume || options.has_volume;
  return document;
}

} // namespace ossatura
