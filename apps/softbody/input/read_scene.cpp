// SPDX-License-Identifier: Apache-2.0
#include "apps/softbody/input/read_scene.hpp"

#include "apps/driver/problem/json_file.hpp"
#include "apps/driver/problem/json_place.hpp"

#include <cmath>
#include <filesystem>
#include <limits>

namespace ossatura {

namespace {

using Place = JsonPlace;

double read_friction(const Place& place) {
  const auto friction = place.find("friction");
  return friction ? friction->not_negative("Coulomb's coefficient, at least 0") : 0;
}

void copy(const std::array<double, 3>& from, double (&to)[3]) {
  for (std::size_t d = 0; d < 3; ++d)
    to[d] = from[d];
}

SoftObstacle read_obstacle(const Place& place) {
  place.require_object({"plane", "sphere"});
  SoftObstacle obstacle;
  const char* point = "three coordinates in m";
  if (place.only_name({"plane", "sphere"}) == "plane") {
    const Place plane = place.at("plane", "");
    plane.require_object({"point", "normal", "friction"});
    obstacle.kind = SoftObstacle::Kind::plane;
    copy(plane.at("point", point).numbers<3>(point), obstacle.point);
    const char* expected = "three components of the normal, which points to the free side";
    const Place given = plane.at("normal", expected);
    const std::array<double, 3> normal = given.numbers<3>(expected);
    const double length = std::hypot(normal[0], normal[1], normal[2]);
    if (!(length > 0))
      given.fail_value("a normal that is not zero");
    for (std::size_t d = 0; d < 3; ++d)
      obstacle.normal[d] = normal[d] / length;
    obstacle.friction = read_friction(plane);
    return obstacle;
  }
  const Place sphere = place.at("sphere", "");
  sphere.require_object({"centre", "radius", "friction"});
  obstacle.kind = SoftObstacle::Kind::sphere;
  copy(sphere.at("centre", point).numbers<3>(point), obstacle.point);
  const char* radius = "a radius in m, greater than 0";
  obstacle.radius = sphere.at("radius", radius).positive(radius);
  obstacle.friction = read_friction(sphere);
  return obstacle;
}

void read_contact(const Place& place, std::size_t num_objects, SoftScene& world) {
  place.require_object({"between_objects", "friction", "distance"});
  const auto between = place.find("between_objects");
  world.contact_between_objects = between && between->boolean();
  if (world.contact_between_objects && num_objects < 2)
    fail<InputError>(between->where(), ": has no effect on one object, which is in no contact with "
                                       "itself: leave it out, or give more objects");
  const auto require_effect = [&](const char* number, bool used, const char* without) {
    if (place.has(number) && !used)
      fail<InputError>(place.at(number, "").where(), ": has no effect without ", without,
                       ": leave it out");
  };
  require_effect("friction", world.contact_between_objects,
                 "\"between_objects\": true (obstacles have a friction of their own)");
  require_effect("distance", world.contact_between_objects || !world.obstacles.empty(),
                 "obstacles or \"between_objects\": true");
  world.contact_friction = read_friction(place);
  if (const auto distance = place.find("distance"))
    world.contact_distance = distance->positive("a distance in m, greater than 0");
}

void read_damping(const Place& place, SoftOptions& options) {
  place.require_object({"mass", "stiffness"});
  if (const auto mass = place.find("mass"))
    options.rayleigh_mass = mass->not_negative("Rayleigh's coefficient of the mass in 1/s");
  if (const auto stiffness = place.find("stiffness"))
    options.rayleigh_stiffness =
        stiffness->not_negative("Rayleigh's coefficient of the stiffness in s");
}

std::vector<ObjectChoice> read_objects(const Place& scene, const std::string& directory) {
  const char* expected = "a list of at least one object";
  const Place list = scene.at("objects", expected);
  std::vector<ObjectChoice> objects;
  for (const Place& place : list.items(expected)) {
    objects.push_back(read_object(place, directory));
    for (std::size_t i = 0; i + 1 < objects.size(); ++i)
      if (objects[i].name == objects.back().name)
        fail<InputError>(place.where(), ".name: \"", objects[i].name,
                         "\" is there twice: each object has a name of its own");
  }
  if (objects.empty())
    list.fail_value(expected);
  return objects;
}

} // namespace

SceneDocument read_scene(const std::string& path) {
  const nlohmann::ordered_json json = read_json(path);
  const Place place(json, path);
  place.require_object({"description", "time_step", "steps", "gravity", "damping", "objects",
                        "obstacles", "contact", "solver"});
  SceneDocument scene;
  scene.file = path;
  if (const auto description = place.find("description"))
    description->text("a text");
  const char* steps = "the number of steps, at least 1";
  scene.steps = place.at("steps", steps).whole(1, std::numeric_limits<int>::max(), steps);
  const char* time_step = "the time of a step in s, greater than 0";
  scene.options.time_step = place.at("time_step", time_step).positive(time_step);
  if (const auto gravity = place.find("gravity"))
    copy(gravity->numbers<3>("three components in m/s2"), scene.world.gravity);
  if (const auto damping = place.find("damping"))
    read_damping(*damping, scene.options);
  scene.objects = read_objects(place, std::filesystem::path(path).parent_path().string());
  if (const auto obstacles = place.find("obstacles"))
    for (const Place& obstacle : obstacles->items("a list of planes and spheres"))
      scene.world.obstacles.push_back(read_obstacle(obstacle));
  if (const auto contact = place.find("contact"))
    read_contact(*contact, scene.objects.size(), scene.world);
  if (const auto solver = place.find("solver"))
    read_solver(*solver, scene.options);
  return scene;
}

} // namespace ossatura
