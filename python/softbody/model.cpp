// SPDX-License-Identifier: Apache-2.0
#include "python/softbody/model.hpp"

#include "python/engine/arrays.hpp"
#include "python/engine/runtime.hpp"
#include <ossatura/core/base/log.hpp>
#include <ossatura/core/io/mesh/duplicate_elements.hpp>
#include <ossatura/core/mesh/turned_top.hpp>
#include <ossatura/solvers/softbody/crossing_watch.hpp>
#include <ossatura/solvers/softbody/doubts.hpp>
#include <ossatura/solvers/softbody/energy_watch.hpp>
#include <ossatura/solvers/softbody/solver.hpp>

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

namespace ossatura::python {

namespace {

SoftLaw law_named(const std::string& name) {
  for (const Named<SoftLaw>& entry : name_table<SoftLaw>)
    if (name == entry.name)
      return entry.value;
  fail<UsageError>("no law \"", name, '"');
}

/// The body's material, whose parameters are in their ranges.
SoftMaterial material_of(const SoftBody& body, ElementShape shape) {
  SoftMaterial material;
  material.law = law_named(body.law);
  material.young = body.young;
  material.poisson = body.poisson;
  material.c1 = body.c1;
  material.c2 = body.c2;
  material.bulk = body.bulk;
  material.thickness = body.thickness;
  for (const SoftParameter& parameter : soft_parameters)
    if (parameter.is_of(material.law) && !parameter.admits(material.*parameter.value))
      fail<InputError>('\'', body.name, "': ", parameter.name, '=', material.*parameter.value, ": ",
                       parameter.expected);
  if (const char* fault = fault_of(material))
    fail<InputError>('\'', body.name, "': ", fault);
  if (!is_made_for(material.law, shape))
    fail<InputError>('\'', body.name, "': the law ", body.law, " is for tetrahedra, and these are ",
                     name_of(shape), "s");
  return material;
}

ElementShape shape_of(const SoftBody& body) {
  return body.nodes_per_elem == 3   ? ElementShape::triangle
         : body.nodes_per_elem == 4 ? ElementShape::tetra
                                    : ElementShape::hexa;
}

SoftObject object_of(const SoftBody& body) {
  SoftObject object;
  object.name = body.name;
  object.mesh.shape = shape_of(body);
  object.mesh.point = body.point;
  object.mesh.node = body.node;
  if (const auto twice = find_duplicate_element(body.node, body.nodes_per_elem))
    fail<InputError>('\'', body.name, "': elements: element ", twice->second,
                     " has the same nodes as element ", twice->first,
                     ": it would count twice; remove one of the two");
  if (const std::string turned = describe_turned_top(object.mesh); !turned.empty())
    fail<InputError>('\'', body.name, "': elements: ", turned);
  object.material = material_of(body, object.mesh.shape);
  object.density = body.density;
  object.fixed = body.fixed;
  object.load = body.load;
  object.velocity = body.velocity;
  return object;
}

SoftObstacle obstacle_of(const SoftWall& wall) {
  SoftObstacle obstacle;
  obstacle.kind = wall.is_sphere ? SoftObstacle::Kind::sphere : SoftObstacle::Kind::plane;
  for (int d = 0; d < 3; ++d) {
    obstacle.point[d] = wall.point[std::size_t(d)];
    obstacle.normal[d] = wall.normal[std::size_t(d)];
  }
  obstacle.radius = wall.radius;
  obstacle.friction = wall.friction;
  return obstacle;
}

SoftScene scene_of(const SoftWorld& world) {
  SoftScene scene;
  for (const SoftBody& body : world.bodies)
    scene.objects.push_back(object_of(body));
  for (const SoftWall& wall : world.walls)
    scene.obstacles.push_back(obstacle_of(wall));
  for (int d = 0; d < 3; ++d)
    scene.gravity[d] = world.gravity[std::size_t(d)];
  scene.contact_between_objects = world.contact_between_objects;
  scene.contact_friction = world.contact_friction;
  scene.contact_distance = world.contact_distance;
  return scene;
}

/// Of forces on fixed nodes, which do nothing.
void warn_of_lost_load(const SoftObject& object) {
  std::int64_t loaded = 0, lost = 0;
  std::int32_t first = -1;
  for (std::size_t i = 0; 3 * i < object.load.size(); ++i) {
    const double* const f = &object.load[3 * i];
    if (f[0] == 0 && f[1] == 0 && f[2] == 0)
      continue;
    ++loaded;
    if (std::binary_search(object.fixed.begin(), object.fixed.end(), std::int32_t(i)) &&
        ++lost == 1)
      first = std::int32_t(i);
  }
  if (lost > 0)
    log_warning("lost-load", '\'', object.name, "': ", lost, " of ", loaded,
                " loaded nodes are fixed (node ", first,
                " is the first), and their part of the force does nothing: load others, or free "
                "these");
}

/// Of bodies that begin in each other: their positions are those at the start. Whether it has told.
bool warn_of_start(const SoftScene& scene, const std::optional<SurfaceCrossing>& through) {
  if (!through)
    return warn_of_nested(scene);
  warn_of_crossing(*through, scene, "at the start", true);
  return true;
}

/// Of a scene that the library takes.
void warn_of_doubts(const SoftScene& scene, double time_step) {
  for (const SoftObject& object : scene.objects) {
    warn_of_lost_load(object);
    warn_of_object(object, scene);
  }
  warn_of_obstacles(scene, time_step);
  warn_of_motion(scene, time_step);
}

SoftOptions options_of(const SoftWorld& world) {
  SoftOptions options;
  options.time_step = world.time_step;
  options.rayleigh_mass = world.rayleigh_mass;
  options.rayleigh_stiffness = world.rayleigh_stiffness;
  options.newton_iterations = world.newton_iterations;
  options.tolerance = world.tolerance;
  options.max_iterations = world.max_iterations;
  return options;
}

template<class Exec>
class ModelOf : public SoftModel, Holder {
public:
  ModelOf(const Exec& exec, const SoftWorld& world)
      : exec_(exec) {
    SoftScene scene = scene_of(world);
    rounding_energy_ = energy_of_rounding(scene);
    solver_ = std::make_unique<SoftSolver<Exec>>(exec, scene, options_of(world));
    warn_of_doubts(scene, world.time_step);
    num_points_ = std::int64_t(solver_->positions(exec).size() / 3);
    crossings_.emplace(scene);
    if (crossings_->is_watching()) {
      start_ = crossings_->look(solver_->positions(exec));
      has_crossed_ = warn_of_start(scene, start_.through);
      scene_ = std::move(scene);
    }
  }
  void drop() noexcept override { solver_.reset(); }
  std::int64_t num_points() const override { return num_points_; }

  SoftNumbers step() override {
    if (is_broken_)
      fail<UsageError>("a step of this world was interrupted: set_state() to one that is whole");
    try {
      begin_watch();
      const SoftStep step = solver_->step(exec_);
      watch(step);
      watch_surfaces(step);
      return {step.time,        step.converged, step.newton_iterations, step.iterations,
              step.halvings,    step.inverted,  step.contacts,          step.residual,
              step.penetration, step.total};
    } catch (const SoftBreakdown& error) {
      throw NotConverged(error.what());
    } catch (const Interrupted&) {
      is_broken_ = true;
      throw;
    }
  }
  double time() const override { return solver_->time(); }
  void positions(double* out) const override {
    fill_array(exec_, out, 3 * num_points_,
               [&](const Array<double, Exec>& array) { solver_->positions(exec_, array); });
  }
  void velocities(double* out) const override {
    fill_array(exec_, out, 3 * num_points_,
               [&](const Array<double, Exec>& array) { solver_->velocities(exec_, array); });
  }
  std::array<double, 3> energy() const override {
    const SoftEnergy energy = solver_->energy(exec_);
    return {energy.kinetic, energy.elastic, energy.potential};
  }
  void set_loads(const double* load) override {
    is_watching_ = false;
    solver_->set_loads(exec_, points(load));
  }
  void set_fixed_velocities(const double* velocity) override {
    is_pulled_ = true;
    solver_->set_fixed_velocities(exec_, points(velocity));
  }
  void set_state(const double* positions, const double* velocities, double time) override {
    is_watching_ = has_crossed_ = false;
    start_ = {};
    solver_->set_state(exec_, points(positions), points(velocities), time);
    is_broken_ = false;
  }

  void set_moduli(std::size_t index, const SoftBody& body) override {
    is_watching_ = false;
    solver_->set_moduli(exec_, index, material_of(body, shape_of(body)));
  }
  SoftAdjointNumbers pull_back(const double* start_velocities, const double* positions,
                               const double* velocities, const SoftDerivatives& by) override {
    const SoftRecord<Exec> record{points(start_velocities), points(positions), points(velocities)};
    const std::int64_t n = 3 * num_points_;
    SoftStepGradient found;
    fill_array(exec_, by.positions, n, [&](const Array<double, Exec>& by_positions) {
      fill_array(exec_, by.velocities, n, [&](const Array<double, Exec>& by_velocities) {
        fill_array(exec_, by.loads, n, [&](const Array<double, Exec>& by_loads) {
          found = solver_->pull_back(exec_, record, {by_positions, by_velocities}, by_loads);
        });
      });
    });
    double* next = by.bodies;
    for (const SoftObjectGradient& object : found.objects)
      for (const double value :
           {object.young, object.poisson, object.c1, object.c2, object.bulk, object.density})
        *next++ = value;
    return {found.iterations, found.residual, found.converged};
  }

private:
  Exec exec_;
  std::unique_ptr<SoftSolver<Exec>> solver_;
  std::int64_t num_points_ = 0;
  bool is_broken_ = false;
  /// The energy is asked for in the first of so many steps, as it takes a part of one.
  static constexpr int watched_every = 8;
  std::optional<CrossingWatch> crossings_;
  SceneCrossings start_;
  SoftScene scene_;          ///< where its surfaces are watched
  bool has_crossed_ = false; ///< which was told
  EnergyWatch energies_;
  double rounding_energy_ = 0;
  int num_steps_ = 0;
  int first_watched_ = 0;    ///< number of the step before
  bool is_watching_ = false; ///< since the last change of loads, state or moduli
  bool is_told_ = false;
  bool is_pulled_ = false;    ///< by fixed nodes, which give energy
  bool had_contacts_ = false; ///< since the energy was last asked for

  void begin_watch() {
    if (is_watching_ || is_pulled_ || num_steps_ % watched_every != 0)
      return;
    energies_ = EnergyWatch(solver_->energy(exec_), rounding_energy_);
    first_watched_ = num_steps_;
    is_watching_ = true;
    is_told_ = had_contacts_ = false;
  }
  void watch(const SoftStep& step) {
    ++num_steps_;
    had_contacts_ = had_contacts_ || step.contacts > 0;
    if (!is_watching_ || is_pulled_ || is_told_ ||
        (num_steps_ > first_watched_ + 1 && num_steps_ % watched_every != 0))
      return;
    energies_.add(num_steps_ - first_watched_, solver_->energy(exec_), had_contacts_);
    had_contacts_ = false;
    const EnergyRise& rise = energies_.worst();
    is_told_ = rise.is_doubtful() || energies_.worst_with_contact().is_doubtful();
    if (is_told_ && !rise.is_doubtful())
      warn_of_contact_energy(step);
    else if (is_told_)
      log_warning(
          "energy-rises", "the total energy has risen by ", rise.energy, " J until ", step.time,
          " s, ", 100 * rise.part,
          " % of what was in motion and strain; nothing gives any, and the motion is wrong: "
          "take a smaller time_step, newton_iterations of 10 or so, or a law with exact "
          "tangents (\"neo_hookean\")");
  }

  void warn_of_contact_energy(const SoftStep& step) const {
    const EnergyRise& rise = energies_.worst_with_contact();
    std::ostringstream remedy;
    if (const auto& start = start_.worst)
      remedy << "at the start '" << scene_.objects[std::size_t(start->first)].name << "' and '"
             << scene_.objects[std::size_t(start->second)].name << "' are in each other, by "
             << start->depth << " m at (" << start->place[0] << ", " << start->place[1] << ", "
             << start->place[2] << ") m: move them apart";
    else
      remedy << "move apart what starts in each other or in an obstacle; where nothing does, take "
                "a smaller time_step, or refine the meshes where they meet";
    log_warning("contact-energy", "contact has given ", rise.energy, " J until ", step.time, " s, ",
                100 * rise.part,
                " % of what was in motion and strain: it pushes bodies out of each other within a "
                "step, so that they fly apart; ",
                remedy.str());
  }

  /// Looks for bodies that are through each other, of steps as many as for energies.
  void watch_surfaces(const SoftStep& step) {
    if (!crossings_->is_watching() || has_crossed_ ||
        (num_steps_ > 1 && num_steps_ % watched_every != 0))
      return;
    const SceneCrossings found = crossings_->look(solver_->positions(exec_));
    has_crossed_ = found.through.has_value();
    if (!has_crossed_)
      return;
    std::ostringstream when;
    when << "at " << step.time << " s";
    warn_of_crossing(*found.through, scene_, when.str(), false);
  }

  /// [num_points, 3] of the caller's.
  Array<double, Exec> points(const double* values) const {
    return array_of(exec_, values, 3 * num_points_);
  }
};

} // namespace

SoftModel::~SoftModel() = default;

std::unique_ptr<SoftModel> make_soft(const std::string& backend, const SoftWorld& world) {
  return with_backend(backend, [&](const auto& exec) -> std::unique_ptr<SoftModel> {
    return std::make_unique<ModelOf<std::decay_t<decltype(exec)>>>(exec, world);
  });
}

} // namespace ossatura::python
