// SPDX-License-Identifier: Apache-2.0
#include "apps/softbody/output/checkpoint.hpp"

#include "apps/driver/output/content_hash.hpp"
#include <ossatura/core/base/require.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

const char* const format = "ossatura softbody checkpoint 5";

void add_vector(ContentHash& hash, const double (&x)[3]) {
  for (const double component : x)
    hash.add(component);
}

} // namespace

SceneIdentity identify(const SoftScene& scene, const SoftOptions& options) {
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
    for (const SoftParameter& p : soft_parameters)
      hash.add(m.*p.value);
    for (const double value : {m.thickness, object.density, object.node_mass})
      hash.add(value);
    hash.add(object.factor);
    hash.add(object.fixed);
    hash.add(object.load);
    hash.add(object.velocity); // of no effect on what is left, but another one is another scene
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
  hash.add(options.rayleigh_mass);
  hash.add(options.rayleigh_stiffness);
  identity.scene = hash.digits();
  identity.course = {{"--time-step", options.time_step},
                     {"--newton", double(options.newton_iterations)},
                     {"--tolerance", options.tolerance}};
  if (options.newton_iterations > 1)
    identity.course.push_back({"--newton-tolerance", options.newton_tolerance});
  if (scene.contact_between_objects || !scene.obstacles.empty())
    identity.course.push_back({"--contact-tolerance", options.contact_tolerance});
  return identity;
}

namespace {

/// What is empty is not there.
void write_solver(Hdf5Group& root, const SoftState& s) {
  Hdf5Group solver = root.create_group("solver");
  const auto write_points = [&solver](const char* name, const std::vector<double>& values) {
    solver.write(name, {values.size() / 3, 3}, values.data());
  };
  solver.write_scalar("last_iterations", s.last_iterations);
  solver.write_scalar("planned", s.planned);
  solver.write_scalar("planned_corrections", s.planned_corrections);
  if (!s.factor_positions.empty()) {
    write_points("factor_positions", s.factor_positions);
    write_points("factor_velocities", s.factor_velocities);
    solver.write_scalar("factor_step", s.factor_step);
    solver.write_scalar("staleness", s.staleness);
    solver.write_scalar("rounds_lost", s.rounds_lost);
    solver.write_scalar("inverse_is_current", int(s.inverse_is_current));
  }
  if (!s.inverse_positions.empty()) {
    write_points("inverse_positions", s.inverse_positions);
    write_points("inverse_velocities", s.inverse_velocities);
  }
  if (const std::size_t pairs = s.contact.node.size(); pairs > 0) {
    solver.write("contact_node", {pairs}, s.contact.node.data());
    solver.write("contact_target", {pairs}, s.contact.target.data());
    solver.write("contact_frame", {pairs, 9}, s.contact.frame.data());
    solver.write("contact_force", {pairs, 3}, s.contact.multiplier.data());
  }
}

void read_solver(const Hdf5Group& root, SoftState& s) {
  const Hdf5Group solver = root.group("solver");
  const auto number = [&solver](const char* name) {
    return solver.dataset(name).read_scalar<int>("a number of the solver's state");
  };
  s.last_iterations = number("last_iterations");
  s.planned = number("planned");
  s.planned_corrections = number("planned_corrections");
  if (solver.has("factor_positions")) {
    s.factor_positions = solver.dataset("factor_positions").read<double>();
    s.factor_velocities = solver.dataset("factor_velocities").read<double>();
    s.factor_step = solver.dataset("factor_step").read_scalar<double>("a step in s");
    s.staleness = number("staleness");
    s.rounds_lost = number("rounds_lost");
    s.inverse_is_current = number("inverse_is_current") != 0;
  }
  if (solver.has("inverse_positions")) {
    s.inverse_positions = solver.dataset("inverse_positions").read<double>();
    s.inverse_velocities = solver.dataset("inverse_velocities").read<double>();
  }
  if (solver.has("contact_node")) {
    s.contact.node = solver.dataset("contact_node").read<std::int32_t>();
    s.contact.target = solver.dataset("contact_target").read<std::int32_t>();
    s.contact.frame = solver.dataset("contact_frame").read<double>();
    s.contact.multiplier = solver.dataset("contact_force").read<double>();
  }
}

} // namespace

void write_checkpoint(const std::string& path, const Checkpoint& state,
                      const SceneIdentity& identity,
                      const std::vector<std::pair<std::string, std::string>>& run) {
  CheckpointFile file(path, format);
  {
    Hdf5Group root = file.root();
    root.set_attribute("meshes", identity.meshes);
    root.set_attribute("scene", identity.scene);
    write_course(root, identity.course);
    root.write_scalar("step", state.step);
    const SoftState& s = state.state;
    root.write_scalar("time", s.time);
    root.write("positions", {s.positions.size() / 3, 3}, s.positions.data());
    root.write("velocities", {s.velocities.size() / 3, 3}, s.velocities.data());
    write_solver(root, s);
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
                           "materials, masses, fixed nodes, loads, velocities at the start, "
                           "obstacles, contact, gravity or damping are not");
  warn_of_other_course(path, root, identity.course);
  Checkpoint state;
  state.step = root.dataset("step").read_scalar<int>("the number of steps done");
  state.state.time = root.dataset("time").read_scalar<double>("the time in s");
  const auto read = [&](const char* name) {
    const std::vector<double> values = root.dataset(name).read<double>();
    if (values.size() != 3 * num_nodes ||
        !std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); }))
      fail<InputError>(path, ": /", name, ": expected three finite numbers for each of ", num_nodes,
                       " nodes; the file is damaged");
    return values;
  };
  state.state.positions = read("positions");
  state.state.velocities = read("velocities");
  if (state.step < 0 || !std::isfinite(state.state.time))
    fail<InputError>(path, ": step ", state.step, " at ", state.state.time,
                     " s: the file is damaged");
  read_solver(root, state.state);
  return state;
}

} // namespace ossatura
