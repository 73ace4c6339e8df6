// SPDX-License-Identifier: Apache-2.0
// A scene document states a scene as users write it, checked as far as a check is possible without
// the meshes. SI units.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>
#include <ossatura/core/mesh/mesh_selection.hpp>
#include <ossatura/solvers/softbody/options.hpp>
#include <ossatura/solvers/softbody/scene.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

/// Where the mesh of an object comes from.
struct MeshChoice {
  enum class Kind { file, cloth, hexa_box, tetra_box, ellipsoid } kind = Kind::file;
  std::string file;           ///< as it is opened
  double unit = 1;            ///< m per unit of the file
  int count[3] = {0, 0, 0};   ///< nodes a side of a cloth, cells of the others
  double size[3] = {0, 0, 0}; ///< m; semi-axes of an ellipsoid
};

struct LoadChoice {
  MeshSelection where;
  std::array<double, 3> force{}; ///< N
  bool is_total = false;         ///< shared by the nodes, instead of for each
};

/// Elements, by their centres, that are stiffer or softer.
struct RegionChoice {
  MeshSelection where; ///< a box
  double young_factor = 1;
};

struct ObjectChoice {
  std::string name, place;
  MeshChoice mesh;
  double scale = 1;
  std::array<double, 3> axis{0, 0, 1}, translation{};
  double degrees = 0;
  SoftMaterial material;
  bool has_thickness = false;
  std::vector<RegionChoice> regions;
  double density = 1000, node_mass = 0;
  std::vector<MeshSelection> fixed;
  std::vector<LoadChoice> loads;
  std::array<double, 3> velocity{};
};

struct SceneDocument {
  std::string file;
  int steps = 0;
  std::vector<ObjectChoice> objects;
  SoftScene world;     ///< all but its objects
  SoftOptions options; ///< time step, damping and solver
};

} // namespace ossatura
