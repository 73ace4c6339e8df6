// SPDX-License-Identifier: Apache-2.0
// This file makes one object of a scene: its mesh in place, and the parts of the mesh that boxes
// select.
#include "apps/driver/problem/mesh_selector.hpp"
#include "apps/softbody/input/model.hpp"
#include <ossatura/core/base/log.hpp>
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/base/rotation.hpp>
#include <ossatura/core/io/mesh/element_file.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>

#include <algorithm>

namespace ossatura {

namespace {

const char* plural_of(ElementShape shape) {
  return shape == ElementShape::triangle ? "triangles"
         : shape == ElementShape::tetra  ? "tetrahedra"
                                         : "hexahedra";
}

ElementMesh make_mesh(const MeshChoice& choice, std::int64_t& unused_points) {
  const auto& size = choice.size;
  unused_points = 0;
  switch (choice.kind) {
  case MeshChoice::Kind::cloth:
    return make_cloth(choice.count[0], choice.count[1], size[0], size[1]);
  case MeshChoice::Kind::hexa_box:
    return make_hexa_box(choice.count, size);
  case MeshChoice::Kind::tetra_box:
    return make_tetra_box(choice.count, size);
  case MeshChoice::Kind::ellipsoid:
    return make_tetra_ellipsoid(size, choice.count[0]);
  case MeshChoice::Kind::file:
    break;
  }
  ElementFileOptions options;
  options.unit = choice.unit;
  ElementFile file = read_element_mesh(choice.file, options);
  unused_points = file.unused_points;
  return std::move(file.mesh);
}

/// Scales, turns about the axis through the origin, moves.
void place(const ObjectChoice& choice, std::vector<double>& point) {
  const Rotation turn = rotation_about(choice.axis, choice.degrees);
  for (std::size_t i = 0; i + 2 < point.size(); i += 3) {
    double* const x = &point[i];
    const double p[3] = {choice.scale * x[0], choice.scale * x[1], choice.scale * x[2]};
    for (std::size_t d = 0; d < 3; ++d)
      x[d] = turn[3 * d] * p[0] + turn[3 * d + 1] * p[1] + turn[3 * d + 2] * p[2] +
             choice.translation[d];
  }
}

void check_law(const ObjectChoice& choice, const ElementMesh& mesh) {
  const std::string where = choice.place + ".material";
  const bool flat = mesh.shape == ElementShape::triangle;
  if (!is_made_for(choice.material.law, mesh.shape))
    fail<InputError>(where, ": the law ", name_of(choice.material.law), " is for tetrahedra; ",
                     describe_source(choice.mesh), " has ", plural_of(mesh.shape),
                     ": choose corotational");
  if (flat != choice.has_thickness)
    fail<InputError>(where,
                     flat ? ": \"thickness\" is missing: that of the triangles of "
                          : ": \"thickness\" has no effect on ",
                     describe_source(choice.mesh),
                     flat ? " in m" : ", which has no triangles: leave it out");
}

/// Refuses forces on fixed nodes alone, and tells of those that lose a part so.
void warn_of_lost_load(const LoadChoice& load, const std::vector<std::int32_t>& nodes,
                       const SoftObject& object) {
  const auto is_fixed = [&object](std::int32_t node) {
    return std::binary_search(object.fixed.begin(), object.fixed.end(), node);
  };
  const auto lost = std::count_if(nodes.begin(), nodes.end(), is_fixed);
  if (lost == std::ptrdiff_t(nodes.size()))
    fail<InputError>(load.where.place, ": all loaded nodes are fixed, so that the force does "
                                       "nothing: load others, or free these");
  if (lost > 0)
    log_warning("lost-load", load.where.place, ": ", lost, " of ", nodes.size(),
                " loaded nodes are fixed (node ",
                *std::find_if(nodes.begin(), nodes.end(), is_fixed),
                " is the first), and their part of the force does nothing: load others, or free "
                "these");
}

void add_loads(const ObjectChoice& choice, const MeshSelector& select, SoftObject& object) {
  if (choice.loads.empty())
    return;
  object.load.assign(object.mesh.point.size(), 0);
  for (const LoadChoice& load : choice.loads) {
    const std::vector<std::int32_t> nodes = select.nodes(load.where);
    warn_of_lost_load(load, nodes, object);
    const double share = load.is_total ? 1 / double(nodes.size()) : 1;
    for (const std::int32_t node : nodes)
      for (std::size_t d = 0; d < 3; ++d)
        object.load[3 * std::size_t(node) + d] += share * load.force[d];
  }
}

void add_velocity(const ObjectChoice& choice, SoftObject& object) {
  if (choice.velocity == std::array<double, 3>{0, 0, 0})
    return;
  if (object.fixed.size() == object.mesh.num_points())
    fail<InputError>(choice.place, ".velocity: all nodes of \"", choice.name,
                     "\" are fixed, so that it does nothing: leave it out, or free some of them");
  object.velocity.resize(object.mesh.point.size());
  for (std::size_t i = 0; i < object.velocity.size(); ++i)
    object.velocity[i] = choice.velocity[i % 3];
  for (const std::int32_t node : object.fixed)
    std::fill_n(&object.velocity[3 * std::size_t(node)], 3, 0.0);
}

} // namespace

std::string describe_source(const MeshChoice& mesh) {
  std::string text = std::to_string(mesh.count[0]);
  switch (mesh.kind) {
  case MeshChoice::Kind::cloth:
    return "cloth of " + text + " x " + std::to_string(mesh.count[1]) + " nodes";
  case MeshChoice::Kind::ellipsoid:
    return "ellipsoid of " + text + "^3 cells";
  case MeshChoice::Kind::hexa_box:
  case MeshChoice::Kind::tetra_box:
    text +=
        " x " + std::to_string(mesh.count[1]) + " x " + std::to_string(mesh.count[2]) + " cells";
    return (mesh.kind == MeshChoice::Kind::hexa_box ? "hexa_box of " : "tetra_box of ") + text;
  case MeshChoice::Kind::file:
    break;
  }
  return mesh.file;
}

SoftObject make_soft_object(const ObjectChoice& choice, std::int64_t& unused_points) {
  SoftObject object;
  object.name = choice.name;
  object.mesh = make_mesh(choice.mesh, unused_points);
  object.material = choice.material;
  object.density = choice.density;
  object.node_mass = choice.node_mass;
  check_law(choice, object.mesh);
  place(choice, object.mesh.point);

  MeshTraits traits;
  traits.body = "scaled, turned and moved, the object";
  if (unused_points > 0)
    traits.no_numbers = choice.mesh.file + " has " + std::to_string(unused_points) +
                        " points without element, which are left out, so that its numbers of nodes "
                        "are not those of the file: choose by boxes, or clean the mesh";
  const MeshSets no_sets;
  const MeshSelector select(object.mesh, no_sets, no_sets, traits);
  for (const MeshSelection& nodes : choice.fixed) {
    const std::vector<std::int32_t> found = select.nodes(nodes);
    object.fixed.insert(object.fixed.end(), found.begin(), found.end());
  }
  std::sort(object.fixed.begin(), object.fixed.end());
  object.fixed.erase(std::unique(object.fixed.begin(), object.fixed.end()), object.fixed.end());
  add_loads(choice, select, object);
  add_velocity(choice, object);
  if (!choice.regions.empty())
    object.factor.assign(object.mesh.num_elem(), 1);
  for (const RegionChoice& region : choice.regions)
    for (const std::int32_t e : select.elements(region.where))
      object.factor[std::size_t(e)] = region.young_factor;
  return object;
}

} // namespace ossatura
