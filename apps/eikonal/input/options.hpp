// SPDX-License-Identifier: Apache-2.0
// EikonalCommandOptions hold the options of `ossatura eikonal`: each member is one option, with its
// default and its unit.
#pragma once

#include "apps/driver/options/common.hpp"
#include "apps/eikonal/input/generator_syntax.hpp"
#include "apps/eikonal/input/site_syntax.hpp"
#include <ossatura/core/io/mesh/tetra_file.hpp>
#include <ossatura/solvers/eikonal/ranks/point_cut.hpp>
#include <ossatura/solvers/eikonal/solver.hpp>

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ossatura {

/// What the ranks of a launcher divide among them.
enum class EikonalSplit {
  automatic, ///< sets, where each rank gets one
  sets,
  mesh
};

constexpr Names<EikonalSplit> names_of(EikonalSplit) {
  return {{EikonalSplit::automatic, "auto"},
          {EikonalSplit::sets, "sets"},
          {EikonalSplit::mesh, "mesh"}};
}

struct EikonalCommandOptions {
  CommonOptions common;

  // Mesh
  std::string input;
  TetraFileOptions file;
  std::optional<GeneratedMesh> generated; ///< instead of an input

  // Velocities
  std::string velocity_file;                  ///< by tag; or .dat, of each tetrahedron
  std::optional<ConductionVelocity> velocity; ///< of all tags
  std::vector<int> non_conducting;            ///< tags

  // Sites
  std::vector<SiteChoice> sites; ///< one set
  std::string site_file;         ///< one or several sets

  EikonalOptions solver;
  EikonalSplit split = EikonalSplit::automatic;
  PointPartition partition = PointPartition::curve; ///< of the mesh among ranks

  // Results
  std::string hdf, igb, dat;
  bool no_hdf = false;

  /// Whether velocities are given for each tetrahedron: by file.value_fields, or a file.
  bool has_tetra_velocities() const;
};

/// The kinds of mesh files, told by their names.
enum class TetraFileKind { carp, gmsh, vtk };
TetraFileKind tetra_file_kind(const std::string& path);

/// Adds all options, with groups, an example and the exit codes for --help.
void add_eikonal_options(CLI::App& app, EikonalCommandOptions& options);

/// Throws UsageError, with the remedy, for values out of range and for options that have no effect
/// together. `app` is the parsed one, which knows what was given.
void check_eikonal_options(const CLI::App& app, const EikonalCommandOptions& options);

/// Whether ranks divide the sets of sites, each with the whole mesh; else they divide the mesh.
bool divides_sets(const EikonalCommandOptions& options, std::int64_t num_sets, int num_ranks);

/// Throws UsageError for options that cannot be had where `num_ranks` divide the mesh.
void check_mesh_split(const EikonalCommandOptions& options, int num_ranks);

} // namespace ossatura
