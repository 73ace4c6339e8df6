// SPDX-License-Identifier: Apache-2.0
// A problem document states a topology optimisation as users write it, checked as far as a check is
// possible without the mesh. SI units.
#pragma once

#include "apps/driver/options/changes.hpp"
#include <ossatura/core/mesh/mesh_selection.hpp>
#include <ossatura/solvers/topopt/options.hpp>
#include <ossatura/solvers/topopt/part/selections.hpp>
#include <ossatura/solvers/topopt/problem.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

/// m per unit of images, mm.
inline constexpr double unit_of_images = 1e-3;

/// Where the hexahedra come from.
struct HexaSource {
  enum class Kind { file, box, generator } kind = Kind::file;
  std::string file;                          ///< as it is opened
  double unit = 1;                           ///< m per unit of the file
  bool says_unit = false;                    ///< else it is taken for m
  std::optional<double> voxel;               ///< m, edge of the cubes that fill a surface
  std::optional<double> lower;               ///< voxels of an image below it are void
  std::string generator;                     ///< one of generator_names()
  std::optional<std::array<int, 3>> cells;   ///< of a box it is there; a generator has its own
  std::optional<std::array<double, 3>> size; ///< m; a cell is a cube of 1 m if it is not there
  double distort = 0;                        ///< part of an edge by which inner nodes are moved
  std::uint64_t seed = 0;                    ///< of the distortion
  std::optional<std::uint64_t> renumber;     ///< seed of a random order of nodes and elements
};

/// Of a box or a generator: what is given, or what the generator has otherwise.
std::array<int, 3> cells_of(const HexaSource& source);

/// Whether the file is a surface, or a STEP file, to be filled with cubes.
bool is_surface(const HexaSource& source);

/// Whether it is an image, by its name, whose voxels are the elements.
bool is_image(const HexaSource& source);

/// Whether the body is of cubes, and solved on voxels unless the problem says otherwise.
inline bool is_of_voxels(const HexaSource& source) {
  return is_surface(source) || is_image(source);
}

/// Nodes or elements, by what a MeshSelection is of, or by a cylinder, a surface, faces of a STEP
/// file or labels of an image.
struct PlaceSelection : MeshSelection {
  std::optional<Cylinder> cylinder;
  std::optional<double> wall; ///< m: nodes of the boundary as near to the cylinder's wall
  std::string surface;        ///< a file, as it is opened
  std::vector<std::int32_t> faces;
  std::vector<std::int32_t> labels;
  std::optional<double> within; ///< m from the surface, or the faces

  /// Whether it is of what a mesh has not.
  bool is_of_places() const {
    return cylinder || !surface.empty() || !faces.empty() || !labels.empty();
  }
};

struct SupportChoice {
  PlaceSelection nodes;
  std::uint8_t components = 7; ///< bit c: component c is held
};

struct ForceChoice {
  enum class Kind {
    each,     ///< N on every node
    total,    ///< N, shared by the nodes
    traction, ///< N / m^2 on the boundary faces whose four nodes are chosen
    remote    ///< N and N m at a point, which the nodes take (distribute_load.hpp)
  } kind = Kind::each;
  PlaceSelection nodes;
  std::array<double, 3> value{};
  std::array<double, 3> point{}, moment{}; ///< m and N m, of remote loads
};

/// Components of nodes that are moved; others stay free.
struct DisplacementChoice {
  PlaceSelection nodes;
  std::array<std::optional<double>, 3> value; ///< m
};

/// By how much nodes are warmer than where nothing is strained.
struct TemperatureChoice {
  std::optional<PlaceSelection> nodes; ///< none: all
  double change = 0;                   ///< K
};

/// Added to the case of the mesh that has this name, else a case of its own.
struct CaseChoice {
  std::string name;
  std::optional<double> weight;
  std::vector<ForceChoice> forces;
  std::vector<DisplacementChoice> displacements;
  std::vector<BodyLoad> body;                  ///< gravity and rotation
  std::vector<TemperatureChoice> temperatures; ///< the last one counts
};

struct MaterialChoice {
  PlaceSelection elements;
  HexaMaterial material; ///< density 0: not known
};

struct PassiveChoice {
  PlaceSelection elements;
  DesignRole role = DesignRole::solid;
};

/// The mean displacement of the nodes in this direction.
struct OutputChoice {
  PlaceSelection nodes;
  std::array<double, 3> direction{};
};

struct SpringChoice {
  PlaceSelection nodes;
  std::array<double, 3> stiffness{}; ///< N / m, shared by the nodes
};

/// What the design is held to beside the volume.
struct LimitChoice {
  std::string place; ///< for messages
  DesignLimitKind kind = DesignLimitKind::compliance;
  double value = 0;
  bool at_least = false;
  std::optional<std::string> load_case;
  PlaceSelection nodes; ///< of displacements: their mean in this direction
  std::array<double, 3> direction{};
};

/// Numbers that have an effect beside some choices alone.
struct GivenNumbers {
  bool radius = false, threshold = false, sharpness = false;
  bool chebyshev_degree = false, forming_cost = false;
};

struct ProblemDocument {
  std::string file; ///< for messages: the problem, or the mesh, or the name of the generator
  HexaSource mesh;
  std::optional<double> young, poisson;  ///< else those of the mesh
  std::string material_option;           ///< that gave one of them or the next
  std::optional<double> mass_density;    ///< kg / m^3
  std::optional<double> expansion;       ///< 1 / K
  std::vector<MaterialChoice> materials; ///< of some elements; the last one counts
  std::vector<SupportChoice> supports;
  std::vector<PlaceSelection> rigid; ///< nodes of bodies that do not bend, and are free otherwise
  std::vector<CaseChoice> cases;
  std::vector<PassiveChoice> passive;
  std::optional<double> keep; ///< m around supports and loads that stay solid
  std::vector<MirrorPlane> mirrors;
  bool whole = false; ///< the surface has its images in the mirrors
  bool is_mechanism = false;
  bool is_least_volume = false, is_frequency = false; ///< the objective
  bool has_objective = false;                         ///< chosen on the command line
  std::vector<LimitChoice> limits;
  bool has_volume = false; ///< how much is said by the user
  std::vector<OutputChoice> outputs;
  std::vector<SpringChoice> springs;
  std::vector<std::string> surfaces; ///< files that selections name, as they are opened
  bool is_coarser = false;           ///< cells are larger than those that the user asks for
  int levels = 0;                    ///< coarser grids before
  std::string start_from;            ///< a design of another mesh, or empty
  bool has_steps = false;            ///< how many is said, so that doing them is what was asked for
  GivenNumbers given;                ///< by the problem
  /// Each puts what the problem says in the place of a default.
  Changes<DesignOptions> changes;
};

} // namespace ossatura
