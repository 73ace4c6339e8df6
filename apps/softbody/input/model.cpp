// SPDX-License-Identifier: Apache-2.0
#include "apps/softbody/input/model.hpp"

#include "apps/driver/options/notation.hpp"
#include "apps/driver/options/suggest.hpp"
#include "apps/driver/output/table.hpp"
#include "apps/softbody/input/mesh_doubts.hpp"
#include "apps/softbody/input/read_scene.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/kernels/softbody/elements/lumped_mass.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

void replace_meshes(const SoftbodyCommandOptions& options, SceneDocument& document) {
  std::vector<std::string> names;
  for (const ObjectChoice& object : document.objects)
    names.push_back(object.name);
  for (const auto& [name, file] : options.meshes) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      fail<InputError>("--mesh ", name, '=', file, ": ", document.file, " has no object '", name,
                       "', but ", joined(names, ", "), did_you_mean(name, names));
    MeshChoice& mesh = document.objects[std::size_t(found - names.begin())].mesh;
    mesh.kind = MeshChoice::Kind::file;
    mesh.file = file;
  }
}

/// Whether some three of the fixed nodes are not on a line, which holds a body.
bool is_held(const SoftObject& object) {
  const auto at = [&object](std::size_t i) {
    return &object.mesh.point[3 * std::size_t(object.fixed[i])];
  };
  for (std::size_t i = 1; i < object.fixed.size(); ++i)
    for (std::size_t j = 1; j < i; ++j) {
      double b[3], c[3];
      for (std::size_t d = 0; d < 3; ++d) {
        b[d] = at(i)[d] - at(0)[d];
        c[d] = at(j)[d] - at(0)[d];
      }
      const double area = std::hypot(b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2],
                                     b[0] * c[1] - b[1] * c[0]);
      if (area > 1e-9 * std::hypot(b[0], b[1], b[2]) * std::hypot(c[0], c[1], c[2]))
        return true;
    }
  return false;
}

/// Without mass the matrix of a step is that of the stiffness alone, which lets bodies move that
/// nothing holds, and membranes out of their plane.
void refuse_singular(const ObjectChoice& choice, const SoftObject& object) {
  if (object.density > 0 || object.node_mass > 0)
    return;
  if (object.mesh.shape == ElementShape::triangle)
    fail<InputError>(choice.place, ": '", object.name,
                     "' has no mass and nothing that keeps its triangles in their plane, so that "
                     "its motion is not determined: give a density or node_mass greater than 0");
  if (!is_held(object))
    fail<InputError>(choice.place, ": '", object.name, "' has no mass and ",
                     object.fixed.empty() ? "nothing is fixed" : "is fixed on one line alone",
                     ", so that its motion is not determined: give a density or node_mass greater "
                     "than 0, or fix three nodes that are not on a line");
}

/// How many nodes start inside an obstacle, which contact does not expect.
std::int64_t num_inside(const SoftObstacle& obstacle, const SoftObject& object) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < object.mesh.point.size(); i += 3) {
    double r[3];
    for (std::size_t d = 0; d < 3; ++d)
      r[d] = object.mesh.point[i + d] - obstacle.point[d];
    const double distance =
        obstacle.kind == SoftObstacle::Kind::sphere
            ? std::hypot(r[0], r[1], r[2]) - obstacle.radius
            : r[0] * obstacle.normal[0] + r[1] * obstacle.normal[1] + r[2] * obstacle.normal[2];
    count += distance < 0;
  }
  return count;
}

bool has_contact(const SoftScene& scene) {
  return !scene.obstacles.empty() || scene.contact_between_objects;
}

void warn_of_overlap(const SoftScene& scene) {
  for (std::size_t k = 0; k < scene.obstacles.size(); ++k)
    for (const SoftObject& object : scene.objects)
      if (const std::int64_t count = num_inside(scene.obstacles[k], object); count > 0)
        log_warning("starts-inside-obstacle", format_count(count), " nodes of '", object.name,
                    "' start inside obstacles[", k,
                    "], which will push them out at once: move the object or the obstacle");
}

} // namespace

std::int64_t SoftbodyModel::num_nodes() const {
  std::int64_t count = 0;
  for (const SoftObject& object : scene.objects)
    count += std::int64_t(object.mesh.num_points());
  return count;
}

std::int64_t SoftbodyModel::num_elem() const {
  std::int64_t count = 0;
  for (const SoftObject& object : scene.objects)
    count += std::int64_t(object.mesh.num_elem());
  return count;
}

std::int64_t SoftbodyModel::num_fixed() const {
  std::int64_t count = 0;
  for (const SoftObject& object : scene.objects)
    count += std::int64_t(object.fixed.size());
  return count;
}

double mass_of(const SoftObject& object) {
  if (object.node_mass > 0)
    return object.node_mass * double(object.mesh.num_points());
  double volume = 0;
  for (std::size_t e = 0; e < object.mesh.num_elem(); ++e)
    volume += element_volume(object.mesh, e);
  return object.density * volume *
         (object.mesh.shape == ElementShape::triangle ? object.material.thickness : 1);
}

SoftbodyModel make_softbody_model(const SoftbodyCommandOptions& options, DriverContext& context) {
  const TimedScope scope("ossatura::softbody::read");
  SceneDocument document = read_scene(options.scene);
  std::vector<InputRecord>& inputs = context.provenance().inputs;
  inputs.push_back(record_input(options.scene));
  replace_meshes(options, document);

  SoftbodyModel model;
  model.scene = document.world;
  model.options = document.options;
  options.changes.apply_to(model.options);
  model.steps = options.steps.value_or(document.steps);
  if (has_contact(model.scene) && model.options.preconditioner != SoftPreconditioner::ldlt)
    fail<InputError>(options.scene, ": has contact, which needs the factor: the preconditioner ",
                     name_of(model.options.preconditioner), " must be ldlt");
  for (const ObjectChoice& choice : document.objects) {
    SoftObjectInfo info;
    info.name = choice.name;
    info.source = describe_source(choice.mesh);
    model.scene.objects.push_back(make_soft_object(choice, info.unused_points));
    const SoftObject& object = model.scene.objects.back();
    refuse_singular(choice, object);
    info.mass = mass_of(object);
    if (choice.mesh.kind == MeshChoice::Kind::file)
      inputs.push_back(record_input(choice.mesh.file));
    if (info.unused_points > 0)
      log_warning("unused-points", info.source, ": ", format_count(info.unused_points),
                  " points belong to no element and are left out");
    log_info("object '", info.name, "': ", info.source, ", ",
             format_count(std::int64_t(object.mesh.num_points())), " nodes, ",
             format_count(std::int64_t(object.mesh.num_elem())), " elements");
    warn_of_object(object);
    model.info.push_back(info);
  }
  warn_of_overlap(model.scene);
  return model;
}

} // namespace ossatura
