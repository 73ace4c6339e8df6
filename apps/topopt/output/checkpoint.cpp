// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/output/checkpoint.hpp"

#include "apps/driver/output/content_hash.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/solvers/topopt/frequencies/frequencies.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

const char* const format = "ossatura topopt checkpoint 4";

void add_forces(ContentHash& hash, const std::vector<NodeForce>& forces) {
  hash.add(forces.size());
  for (const NodeForce& force : forces) {
    hash.add(force.node);
    for (const double component : force.force)
      hash.add(component);
  }
}

/// Of a lattice what its mesh would add, plane by plane.
void add_mesh(ContentHash& hash, const DesignProblem& problem) {
  if (problem.solids) {
    hash.add(problem.solids->point);
    hash.add(problem.solids->node);
    hash.add_bytes(problem.solids->kind.data(), problem.solids->kind.size());
    return;
  }
  if (!problem.lattice) {
    hash.add(problem.mesh.point);
    hash.add(problem.mesh.node);
    return;
  }
  const LatticeBody& body = *problem.lattice;
  hash.add(3 * problem.num_nodes());
  for (int z = 0; z <= body.cells()[2]; ++z) {
    const std::vector<double> points = body.points_in_plane(z);
    hash.add_bytes(points.data(), points.size() * sizeof(double));
  }
  hash.add(8 * problem.num_elem());
  for (int z = 0; z < body.cells()[2]; ++z) {
    const std::vector<std::int32_t> nodes = body.elements_in_layer(z);
    hash.add_bytes(nodes.data(), nodes.size() * sizeof(std::int32_t));
  }
}

void add_load_cases(ContentHash& hash, const DesignProblem& problem) {
  hash.add(problem.cases.size());
  for (const DesignLoadCase& load_case : problem.cases) {
    add_forces(hash, load_case.loads.forces);
    hash.add(load_case.weight);
    for (const NodeDisplacement& moved : load_case.loads.displacements) {
      hash.add(moved.node);
      hash.add(moved.component);
      hash.add(moved.value);
    }
    for (const BodyLoad& load : load_case.loads.body) {
      hash.add(load.square_speed);
      for (const auto* vector : {&load.acceleration, &load.origin, &load.axis})
        for (const double component : *vector)
          hash.add(component);
      for (const HexaMaterial& one : problem.materials)
        hash.add(one.density);
    }
    for (const double change : load_case.loads.warming) // none: as before there were any
      hash.add(change);
    for (std::size_t i = 0; i < problem.materials.size() && !load_case.loads.warming.empty(); ++i)
      hash.add(problem.materials[i].expansion);
  }
}

void add_continuation(ContentHash& hash, const Continuation& c) {
  for (const double value : {c.start, c.end, c.factor, c.increment})
    hash.add(value);
  hash.add(c.every);
}

void add_process(ContentHash& hash, const DesignProcess& process) {
  const auto add_plane = [&](int axis, double place) {
    hash.add(axis);
    hash.add(place);
  };
  const auto add_direction = [&](const ProcessAxis& direction) {
    hash.add(direction.axis);
    hash.add(direction.sense);
  };
  hash.add(process.extrude.value_or(-1));
  hash.add(process.symmetry.size());
  for (const DesignProcess::Plane& plane : process.symmetry)
    add_plane(plane.axis, plane.place);
  hash.add(process.rotation ? process.rotation->sectors : 0);
  if (process.rotation)
    for (const double x : process.rotation->point)
      add_plane(process.rotation->axis, x);
  hash.add(!process.draw ? 0 : process.draw->parting ? 2 : 1);
  if (process.draw) {
    add_direction(process.draw->direction);
    hash.add(process.draw->parting.value_or(0));
  }
  hash.add(process.overhang.has_value());
  if (process.overhang)
    add_direction(*process.overhang);
}

bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

} // namespace

DesignIdentity identify(const DesignProblem& problem, const DesignOptions& o) {
  DesignIdentity identity;
  ContentHash hash;
  add_mesh(hash, problem);
  identity.mesh = hash.digits();

  hash.add(problem.young);
  hash.add(problem.poisson);
  for (std::size_t i = 0; i < problem.materials.size() && !problem.material.empty(); ++i) {
    hash.add(problem.materials[i].young);
    hash.add(problem.materials[i].poisson);
  }
  for (const std::uint8_t number : problem.material)
    hash.add(number);
  hash.add(problem.held.size());
  for (const HeldComponents& held : problem.held) {
    hash.add(held.node);
    hash.add(held.components);
  }
  add_load_cases(hash, problem);
  hash.add(problem.role.size());
  for (const DesignRole role : problem.role)
    hash.add(role);
  for (const MirrorPlane& mirror : problem.mirrors) {
    hash.add(mirror.axis);
    hash.add(mirror.place);
  }
  for (const std::vector<std::int32_t>& body : problem.rigid) { // none: as before there were any
    hash.add(body.size());
    for (const std::int32_t node : body)
      hash.add(node);
  }
  add_forces(hash, problem.output);
  for (const NodeSpring& spring : problem.springs) {
    hash.add(spring.node);
    hash.add(spring.component);
    hash.add(spring.stiffness);
  }
  for (const DesignLimit& limit : problem.limits) { // none: as checkpoints of before there were any
    hash.add(limit.kind);
    hash.add(limit.limit);
    hash.add(limit.load_case);
    hash.add(limit.at_least);
    add_forces(hash, limit.direction);
    for (const HexaMaterial& one : problem.materials)
      hash.add(one.density);
  }
  identity.problem = hash.digits();

  hash.add(o.objective);
  hash.add(o.filter);
  hash.add(o.method);
  for (const double value :
       {o.volume_fraction, o.min_modulus, o.radius, o.threshold, o.move, o.start})
    hash.add(value);
  hash.add(o.projection);
  add_continuation(hash, o.penalty);
  add_continuation(hash, o.sharpness);
  hash.add(o.warm_start);
  if (o.grid != DesignGrid::mesh) // as checkpoints of before there were others
    hash.add(o.grid);
  if (o.process.any())
    add_process(hash, o.process);
  if (o.robust > 0) // likewise
    hash.add(o.robust);
  if (is_held_to_frequencies(problem, o)) {
    hash.add(count_frequencies(problem, o));
    if (problem.mirror_supports)
      for (const HeldComponents& one : problem.mirror_supports->held) {
        hash.add(one.node);
        hash.add(one.components);
      }
    for (const HexaMaterial& one : problem.materials)
      hash.add(one.density);
  }
  identity.options = hash.digits();
  identity.course = {{"--step-tolerance", o.tolerance_of_steps()}};
  return identity;
}

void write_design_checkpoint(const std::string& path, const DesignState& state,
                             const DesignIdentity& identity,
                             const std::vector<std::pair<std::string, std::string>>& run) {
  CheckpointFile file(path, format);
  {
    Hdf5Group root = file.root();
    root.set_attribute("mesh", identity.mesh);
    root.set_attribute("problem", identity.problem);
    root.set_attribute("options", identity.options);
    write_course(root, identity.course);
    root.write_scalar("steps", state.steps);
    if (state.first_step > 0)
      root.write_scalar("first_step", state.first_step);
    root.write_scalar("scale", state.scale);
    root.write_scalar("penalty", state.penalty);
    root.write_scalar("sharpness", state.sharpness);
    root.write_scalar("change", state.change);
    const auto write = [](Hdf5Group& group, const std::string& name,
                          const std::vector<double>& values) {
      group.write(name, {values.size()}, values.data());
    };
    root.write_scalar("excess", state.excess);
    if (state.dilated_limit > 0)
      root.write_scalar("dilated_limit", state.dilated_limit);
    if (state.move_share != 1)
      root.write_scalar("move_share", state.move_share);
    write(root, "limit_scale", state.limit_scale);
    write(root, "objectives", state.objectives);
    write(root, "x", state.x);
    write(root, "x_old", state.x_old);
    write(root, "x_older", state.x_older);
    write(root, "low", state.low);
    write(root, "high", state.high);
    root.write_scalar("num_displacements", std::int64_t(state.displacement.size()));
    for (std::size_t i = 0; i < state.displacement.size(); ++i)
      write(root, "displacement_" + std::to_string(i), state.displacement[i]);
    const HexaPreconditionerState& kept = state.preconditioner;
    write(root, "preconditioner_modulus", kept.modulus);
    write(
        root, "preconditioner_age",
        {double(kept.age.matrices), double(kept.age.own), double(kept.age.excess), kept.age.rate});
    Hdf5Group facts = root.create_group("run");
    for (const auto& [name, value] : run)
      facts.set_attribute(name, value);
  }
  file.commit();
}

std::size_t find_mesh_of_checkpoint(const std::string& path,
                                    const std::vector<DesignIdentity>& identities) {
  const std::string mesh = open_checkpoint(path, format).root().text_attribute("mesh");
  const auto found = std::find_if(identities.begin(), identities.end(),
                                  [&](const DesignIdentity& one) { return one.mesh == mesh; });
  return std::size_t(found - identities.begin());
}

namespace {

/// What constraints and the end by the objective go by.
void read_limit_state(const Hdf5File& file, const std::string& path, const DesignProblem& problem,
                      DesignState& state) {
  const Hdf5Group root = file.root();
  state.excess = root.dataset("excess").read_scalar<double>("the excess over limits");
  state.limit_scale = root.dataset("limit_scale").read<double>();
  state.objectives = root.dataset("objectives").read<double>();
  if (state.limit_scale.size() != problem.limits.size() || !all_finite(state.limit_scale) ||
      state.objectives.size() > std::size_t(objective_window) + 1 ||
      !all_finite(state.objectives) || !std::isfinite(state.excess))
    fail<InputError>(path, ": /limit_scale, /objectives: expected ", problem.limits.size(),
                     " and at most ", objective_window + 1, " finite numbers; the file is damaged");
}

} // namespace

DesignState read_design_checkpoint(const std::string& path, const DesignIdentity& identity,
                                   const DesignProblem& problem) {
  const Hdf5File file = open_checkpoint(path, format);
  const Hdf5Group root = file.root();
  if (root.text_attribute("mesh") != identity.mesh)
    fail<InputError>(path, ": is a checkpoint of another mesh: its nodes or elements are others");
  if (root.text_attribute("problem") != identity.problem)
    fail<InputError>(path, ": is a checkpoint of another problem: its mesh is the same, but "
                           "material, supports, loads, passive elements, symmetry, springs or "
                           "constraints are not");
  if (root.text_attribute("options") != identity.options)
    fail<InputError>(
        path,
        ": is a checkpoint of other options: volume, filter, projection, "
        "penalty, modulus of void, method, move, start, warm start, grid and "
        "manufacturing must be as they were; steps, changes and the linear solver may be others");
  warn_of_other_course(path, root, identity.course);
  DesignState state;
  state.steps = root.dataset("steps").read_scalar<int>("the number of steps done");
  if (root.has("first_step")) // after steps on coarser grids
    state.first_step =
        root.dataset("first_step").read_scalar<int>("the steps done on coarser grids");
  state.scale = root.dataset("scale").read_scalar<double>("the scale of the objective");
  state.penalty = root.dataset("penalty").read_scalar<double>("the power of the densities");
  state.sharpness = root.dataset("sharpness").read_scalar<double>("beta of the projection");
  state.change = root.dataset("change").read_scalar<double>("the last change");
  const auto read = [&](const std::string& name, std::size_t size, bool may_be_empty) {
    std::vector<double> values = root.dataset(name).read<double>();
    if (!(values.size() == size || (may_be_empty && values.empty())) || !all_finite(values))
      fail<InputError>(path, ": /", name, ": expected ", size,
                       " finite numbers; the file is damaged");
    return values;
  };
  if (root.has("objectives")) // checkpoints of before have none
    read_limit_state(file, path, problem, state);
  if (root.has("dilated_limit")) // of robust designs
    state.dilated_limit =
        root.dataset("dilated_limit").read_scalar<double>("the volume of the dilated design");
  if (root.has("move_share")) // of least volumes
    state.move_share =
        root.dataset("move_share").read_scalar<double>("the share of the move limit");
  const std::size_t num_elem = problem.num_elem();
  state.x = read("x", num_elem, false);
  state.x_old = read("x_old", num_elem, true);
  state.x_older = read("x_older", num_elem, true);
  state.low = read("low", num_elem, true);
  state.high = read("high", num_elem, true);
  const auto count =
      root.dataset("num_displacements").read_scalar<std::int64_t>("the number of solves of a step");
  if (state.steps < 0 || state.first_step < 0 || state.first_step > state.steps ||
      !std::isfinite(state.scale + state.penalty + state.sharpness + state.change +
                     state.dilated_limit) ||
      !(state.move_share > 0 && state.move_share <= 1) || count < 0 || count > 100000)
    fail<InputError>(path, ": step ", state.steps, ": the file is damaged");
  for (std::int64_t i = 0; i < count; ++i)
    state.displacement.push_back(
        read("displacement_" + std::to_string(i), 3 * problem.num_nodes(), true));
  state.preconditioner.modulus = read("preconditioner_modulus", num_elem, true);
  for (const double modulus : state.preconditioner.modulus)
    if (!(modulus > 0))
      fail<InputError>(path, ": /preconditioner_modulus: expected positive numbers; the file is "
                             "damaged");
  const std::vector<double> age = read("preconditioner_age", 4, false);
  for (const double number : age)
    if (!(number >= 0 && number < 1e15))
      fail<InputError>(path, ": /preconditioner_age: expected 4 numbers from 0; the file is "
                             "damaged");
  state.preconditioner.age = {std::int64_t(age[0]), std::int64_t(age[1]), std::int64_t(age[2]),
                              age[3]};
  return state;
}

} // namespace ossatura
