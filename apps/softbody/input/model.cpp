// SPDX-License-Identifier: Apache-2.0
#include "apps/softbody/input/model.hpp"

#include "apps/driver/options/notation.hpp"
#include "apps/driver/options/suggest.hpp"
#include "apps/driver/output/table.hpp"
#include "apps/softbody/input/read_scene.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/solvers/softbody/doubts.hpp>
#include <ossatura/solvers/softbody/scene_checks.hpp>

#include <algorithm>
#include <optional>
#include <utility>

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

/// Names the object that moves freely, and says what would hold it.
void refuse_loose(const ObjectChoice& choice, const SoftObject& object) {
  const LooseObject why = why_loose(object);
  if (why == LooseObject::no)
    return;
  if (why == LooseObject::membrane)
    fail<InputError>(choice.place, ": '", object.name,
                     "' has no mass and nothing that keeps its triangles in their plane, so that "
                     "its motion is not determined: give a density or node_mass greater than 0");
  fail<InputError>(choice.place, ": '", object.name, "' has no mass and ",
                   why == LooseObject::nothing_fixed ? "nothing is fixed"
                                                     : "is fixed on one line alone",
                   ", so that its motion is not determined: give a density or node_mass greater "
                   "than 0, or fix three nodes that are not on a line");
}

bool has_contact(const SoftScene& scene) {
  return !scene.obstacles.empty() || scene.contact_between_objects;
}

/// One iteration has no tolerance: who gives one means to have more of them.
void refuse_idle_tolerance(const SoftbodyCommandOptions& options, const SoftOptions& of_scene,
                           const SoftOptions& made) {
  const double usual = SoftOptions().newton_tolerance;
  const char* idle = " has no effect on the one Newton iteration of a step, which is linearly "
                     "implicit: ";
  if (made.newton_iterations > 1)
    return;
  if (options.changes.applied().newton_tolerance != usual)
    fail<UsageError>("--newton-tolerance", idle, "give --newton 10, or leave it out");
  if (of_scene.newton_tolerance != usual && of_scene.newton_iterations == 1)
    fail<InputError>(options.scene, ": solver.newton_tolerance", idle,
                     "give \"newton_iterations\": 10, or leave it out");
}

/// The first of what is chosen for the factor, by its key and its option.
std::optional<std::pair<const char*, const char*>> choice_of_factor(const SoftOptions& o) {
  const SoftOptions usual;
  if (refresh_text(o) != refresh_text(usual))
    return {{"refresh", "--refresh"}};
  if (o.refresh_after != usual.refresh_after)
    return {{"refresh_after", "--refresh-after"}};
  if (o.place != usual.place)
    return {{"factor", "--factor"}};
  if (o.apply != usual.apply)
    return {{"apply", "--apply"}};
  if (o.storage != usual.storage)
    return {{"factor_storage", "--factor-storage"}};
  if (o.bands != usual.bands)
    return {{"bands", "--bands"}};
  if (o.warp != usual.warp)
    return {{"warp", "--no-warp"}};
  return {};
}

/// A scene with another preconditioner has no factor; one to which an option gives another may
/// have chosen how its own is made.
void refuse_idle_factor(const SoftbodyCommandOptions& options, const SoftOptions& of_scene,
                        const SoftOptions& made) {
  if (made.preconditioner == SoftPreconditioner::ldlt ||
      of_scene.preconditioner == SoftPreconditioner::ldlt)
    return;
  if (const auto idle = choice_of_factor(of_scene))
    fail<InputError>(options.scene, ": solver.", idle->first, " has no effect beside \"",
                     name_of(of_scene.preconditioner),
                     "\", which has no factor: leave it out, or give \"preconditioner\": \"ldlt\"");
  if (const auto idle = choice_of_factor(options.changes.applied()))
    fail<UsageError>(idle->second, " has no effect on the preconditioner ",
                     name_of(of_scene.preconditioner), " of ", options.scene,
                     ": leave it out, or give --preconditioner ldlt");
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

SoftbodyModel make_softbody_model(const SoftbodyCommandOptions& options, DriverContext& context) {
  const TimedScope scope("ossatura::softbody::read");
  SceneDocument document = read_scene(options.scene);
  std::vector<FileRecord>& inputs = context.provenance().inputs;
  inputs.push_back(record_input(options.scene));
  replace_meshes(options, document);

  SoftbodyModel model;
  model.scene = document.world;
  model.options = document.options;
  options.changes.apply_to(model.options);
  refuse_idle_tolerance(options, document.options, model.options);
  refuse_idle_factor(options, document.options, model.options);
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
    refuse_loose(choice, object);
    info.mass = total_mass(object);
    if (choice.mesh.kind == MeshChoice::Kind::file)
      inputs.push_back(record_input(choice.mesh.file));
    if (info.unused_points > 0)
      log_warning("unused-points", info.source, ": ", format_count(info.unused_points),
                  " points belong to no element and are left out");
    log_info("object '", info.name, "': ", info.source, ", ",
             format_count(std::int64_t(object.mesh.num_points())), " nodes, ",
             format_count(std::int64_t(object.mesh.num_elem())), " elements");
    warn_of_object(object, model.scene);
    model.info.push_back(info);
  }
  warn_of_motion(model.scene, model.options.time_step);
  warn_of_obstacles(model.scene, model.options.time_step);
  return model;
}

} // namespace ossatura
