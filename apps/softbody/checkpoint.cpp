// SPDX-License-Identifier: Apache-2.0
#include "apps/softbody/checkpoint.hpp"

#include "apps/driver/checkpoint_file.hpp"
#include "apps/driver/content_hash.hpp"
#include "core/require.hpp"

#include <algorithm>
#include <cmath>

namespace femura {

namespace {

const char* const format = "femura softbody checkpoint 2";

void add_vector(ContentHash& hash, const double (&x)[3]) {
  for (const double component : x)
    hash.add(component);
}

} // namespace

SceneIdentity identify(const SoftScene& scene) {
  SceneIdentity identity;
  ContentHash hash;
  for (const SoftObject& object : scene.objects) {
    hash.add(object.name);
    hash.add(object.mesh.shape);
    hash.add(object.mesh.point);
    hash.add(object.mesh.node);
  }
  identity.meshes = hash.digits();
  for (const SoftObject& object : scene.objects) {
    const SoftMaterial& m = object.material;
    hash.add(m.law);
    hash.add(m.rotation);
    for (const double value :
         {m.young, m.poisson, m.c1, m.c2, m.bulk, m.thickness, object.density, object.node_mass})
      hash.add(value);
    hash.add(object.factor);
    hash.add(object.fixed);
    hash.add(object.load);
  }
  for (const SoftObstacle& obstacle : scene.obstacles) {
    hash.add(obstacle.kind);
    add_vector(hash, obstacle.point);
    add_vector(hash, obstacle.normal);
    hash.add(obstacle.radius);
    hash.add(obstacle.friction);
  }
  add_vector(hash, scene.gravity);
  hash.add(scene.contact_between_objects);
  hash.add(scene.contact_friction);
  hash.add(scene.contact_distance);
  identity.scene = hash.digits();
  return identity;
}

void write_checkpoint(const std::string& path, const Checkpoint& state,
                      const SceneIdentity& identity,
                      const std::vector<std::pair<std::string, std::string>>& run) {
  CheckpointFile file(path, format);
  {
    Hdf5Group root = file.root();
    root.set_attribute("meshes", identity.meshes);
    root.set_attribute("scene", identity.scene);
    root.write_scalar("step", state.step);
    root.write_scalar("time", state.time);
    root.write("positions", {state.positions.size() / 3, 3}, state.positions.data());
    root.write("velocities", {state.velocities.size() / 3, 3}, state.velocities.data());
    Hdf5Group facts = root.create_group("run");
    for (const auto& [name, value] : run)
      facts.set_attribute(name, value);
  }
  file.commit();
}

Checkpoint read_checkpoint(const std::string& path, const SceneIdentity& identity,
                           std::size_t num_nodes) {
  const Hdf5File file = open_checkpoint(path, format);
  const Hdf5Group root = file.root();
  if (root.text_attribute("meshes") != identity.meshes)
    fail<InputError>(path, ": is a checkpoint of other meshes: its objects have other points or "
                           "elements than those of this scene");
  if (root.text_attribute("scene") != identity.scene)
    fail<InputError>(path, ": is a checkpoint of another scene: its meshes are the same, but "
                           "materials, masses, fixed nodes, loads, obstacles, contact or gravity "
                           "are not");
  Checkpoint state;
  state.step = root.dataset("step").read_scalar<int>("the number of steps done");
  state.time = root.dataset("time").read_scalar<double>("the time in s");
  const auto read = [&](const char* name) {
    const std::vector<double> values = root.dataset(name).read<double>();
    if (values.size() != 3 * num_nodes ||
        !std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); }))
      fail<InputError>(path, ": /", name, ": expected three finite numbers for each of ", num_nodes,
                       " nodes; the file is damaged");
    return values;
  };
  state.positions = read("positions");
  state.velocities = read("velocities");
  if (state.step < 0 || !std::isfinite(state.time))
    fail<InputError>(path, ": step ", state.step, " at ", state.time, " s: the file is damaged");
  return state;
}

} // namespace femura
