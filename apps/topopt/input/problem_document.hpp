// SPDX-License-Identifier: Apache-2.0
// A problem document states a topology optimisation as users write it, checked as far as a check is
// possible without the mesh. SI units.
#pragma once

#include "apps/driver/options/changes.hpp"
#include <ossatura/core/mesh/mesh_selection.hpp>
#include <ossatura/solvers/topopt/options.hpp>
#include <ossatura/solvers/topopt/problem.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

/// Where the hexahedra come from.
struct HexaSource {
  enum class Kind { file, box, generator } kind = Kind::file;
  std::string file;                          ///< as it is opened
  double unit = 1;                           ///< m per unit of the file
  std::optional<double> voxel;               ///< m, edge of the cubes that fill a surface
  std::string generator;                     ///< one of generator_names()
  std::optional<std::array<int, 3>> cells;   ///< of a box it is there; a generator has its own
  std::optional<std::array<double, 3>> size; ///< m; a cell is a cube of 1 m if it is not there
  double distort = 0;                        ///< part of an edge by which inner nodes are moved
  std::uint64_t seed = 0;                    ///< of the distortion
  std::optional<std::uint64_t> renumber;     ///< seed of a random order of nodes and elements
};

/// Whether the file is a surface, to be filled with cubes.
bool is_surface(const HexaSource& source);

struct SupportChoice {
  MeshSelection nodes;
  std::uint8_t components = 7; ///< bit c: component c is held
};

struct ForceChoice {
  enum class Kind {
    each,    ///< N on every node
    total,   ///< N, shared by the nodes
    traction ///< N / m^2 on the boundary faces whose four nodes are chosen
  } kind = Kind::each;
  MeshSelection nodes;
  std::array<double, 3> value{};
};

/// Added to the case of the mesh that has this name, else a case of its own.
struct CaseChoice {
  std::string name;
  std::optional<double> weight;
  std::vector<ForceChoice> forces;
};

struct PassiveChoice {
  MeshSelection elements;
  DesignRole role = DesignRole::solid;
};

/// The mean displacement of the nodes in this direction.
struct OutputChoice {
  MeshSelection nodes;
  std::array<double, 3> direction{};
};

struct SpringChoice {
  MeshSelection nodes;
  std::array<double, 3> stiffness{}; ///< N / m, shared by the nodes
};

struct ProblemDocument {
  std::string file; ///< for messages: the problem, or the mesh, or the name of the generator
  HexaSource mesh;
  std::optional<double> young, poisson; ///< else those of the mesh
  std::vector<SupportChoice> supports;
  std::vector<CaseChoice> cases;
  std::vector<PassiveChoice> passive;
  std::vector<MirrorPlane> mirrors;
  bool is_mechanism = false;
  std::vector<OutputChoice> outputs;
  std::vector<SpringChoice> springs;
  bool has_steps = false; ///< how many is said, so that doing them is what was asked for
  /// Each puts what the problem says in the place of a default.
  Changes<DesignOptions> changes;
};

} // namespace ossatura
