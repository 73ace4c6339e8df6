// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/softbody/doubts.hpp>

#include <ossatura/core/base/log.hpp>
#include <ossatura/core/mesh/mechanics/coincident_nodes.hpp>
#include <ossatura/core/mesh/mechanics/folded_mesh.hpp>
#include <ossatura/core/mesh/mechanics/mesh_parts.hpp>
#include <ossatura/core/mesh/mechanics/odd_gravity.hpp>
#include <ossatura/solvers/softbody/scene_checks.hpp>
#include <ossatura/solvers/softbody/unit_checks.hpp>

#include <algorithm>
#include <ostream>
#include <set>
#include <sstream>

namespace ossatura {

namespace {

/// A number with so many digits; a place with four of each.
struct Digits {
  double value;
  int count;
};
std::ostream& operator<<(std::ostream& out, const Digits& number) {
  std::ostringstream text; // whose precision nothing else has
  text.precision(number.count);
  text << number.value;
  return out << text.str();
}

struct Place {
  const double* x;
};
std::ostream& operator<<(std::ostream& out, const Place& place) {
  return out << '(' << Digits{place.x[0], 4} << ", " << Digits{place.x[1], 4} << ", "
             << Digits{place.x[2], 4} << ") m";
}

void warn_of_size(const SoftObject& object) {
  if (const auto odd = find_odd_size(object)) {
    std::ostringstream carried;
    if (odd->modulus)
      carried << ", more than its modulus of " << Digits{*odd->modulus, 3} << " Pa can carry";
    log_warning("odd-size", '\'', object.name, "' is ", Digits{odd->extent, 4}, " m long and has ",
                Digits{odd->mass, 3}, " kg", carried.str(),
                ": lengths are in m, and a mesh in mm needs a scale of 0.001");
  }
  if (!is_odd_density(object))
    return;
  std::ostringstream masses;
  if (object.node_mass > 0)
    masses << ", by a node_mass of " << Digits{object.node_mass, 4} << " kg";
  log_warning("odd-density", '\'', object.name, "' has a density of ",
              Digits{mean_density(object), 4}, " kg/m3", masses.str(),
              ", and its weight and its motion go with it: that of water is 1000 kg/m3, which is "
              "1 g/cm3");
}

void warn_of_modulus(const SoftObject& object, const SoftScene& scene) {
  const auto odd = find_odd_modulus(object, scene);
  if (!odd)
    return;
  std::ostringstream what;
  if (odd->kind == OddModulus::Kind::weak)
    what << "so that its own weight is " << Digits{odd->weight, 3}
         << " times what would stretch it to twice its length";
  else
    what << (odd->kind == OddModulus::Kind::stiff ? "and no material as light is as stiff"
                                                  : "and no material as heavy is as soft");
  log_warning("odd-modulus", '\'', object.name, "' has Young's modulus ", Digits{odd->young, 4},
              " Pa and a density of ", Digits{object.density, 4}, " kg/m3, ", what.str(),
              ": moduli are in Pa; soft tissue has some 1e3 to 1e5, rubber 1e6, wood 1e10, steel "
              "2.1e11 with 7850 kg/m3");
}

void warn_of_velocity(const SoftObject& object) {
  const auto odd = find_odd_velocity(object);
  if (!odd)
    return;
  std::ostringstream sound;
  if (odd->sound > 0)
    sound << ", and waves go through it at " << Digits{odd->sound, 3} << " m/s";
  log_warning("odd-velocity", '\'', object.name, "' starts with ", Digits{odd->speed, 4}, " m/s",
              sound.str(), ": velocities are in m/s, so that 2000 mm/s are 2");
}

/// A place of supports that holds more than was meant, as of mm, holds all.
void warn_of_held(const SoftObject& object, const SoftScene& scene) {
  const std::set<std::int32_t> fixed(object.fixed.begin(), object.fixed.end());
  if (fixed.size() == object.mesh.num_points() && !scene.contact_between_objects)
    log_warning("held-whole", "all ", fixed.size(), " nodes of '", object.name,
                "' are fixed: it does not move, and without contact between objects nothing feels "
                "it; places of supports are in m");
}

} // namespace

void warn_of_object(const SoftObject& object, const SoftScene& scene) {
  warn_of_size(object);
  warn_of_modulus(object, scene);
  warn_of_velocity(object);
  warn_of_held(object, scene);
  if (may_lock(object))
    log_warning("locking", '\'', object.name, "' has Poisson's ratio ",
                Digits{poisson_ratio(object.material), 4}, ": linear ",
                object.mesh.shape == ElementShape::tetra ? "tetrahedra" : "hexahedra",
                " of a material that keeps its volume are too stiff above ", locks_above,
                "; take a smaller ratio, or compare with a finer mesh");
  if (const std::string folds = describe_folds(find_folds(object.mesh), "m"); !folds.empty())
    log_warning("folded-mesh", "the mesh of '", object.name, "' ", folds,
                ". Their volume and stiffness count twice: mend the mesh there");
  if (const CoincidentNodes twice = find_coincident_nodes(object.mesh);
      twice.count > 0 || twice.hanging > 0)
    log_warning("split-mesh", "the mesh of '", object.name, "': ", describe_coincident(twice));
  else if (const std::size_t parts = find_mesh_parts(object.mesh).first.size(); parts > 1)
    log_warning("mesh-in-parts", "the mesh of '", object.name, "' is in ", parts,
                " parts that share no node, and move apart: join them where they are meant to be "
                "one body, or give each by itself");
}

void warn_of_motion(const SoftScene& scene, double time_step) {
  constexpr double greatest_friction = 5; // beyond rubber on anything
  double friction = scene.contact_friction;
  for (const SoftObstacle& obstacle : scene.obstacles)
    friction = std::max(friction, obstacle.friction);
  if (friction > greatest_friction)
    log_warning("odd-friction", "a coefficient of friction of ", Digits{friction, 4},
                ", with which nothing slides: it is force by force, the tangent of the angle at "
                "which a body begins to slide, 0.577 for 30 degrees");
  if (const auto gravity = find_odd_gravity(scene))
    log_warning("odd-gravity", "gravity is ", Digits{*gravity, 4}, " m/s2, ",
                Digits{*gravity / earth_gravity, 3},
                " times that of the earth: it is in m/s2 (9.81), not in mm/s2 or cm/s2");
  if (const auto step = find_long_step(scene, time_step))
    log_warning("long-steps", '\'', scene.objects[step->object].name, "' would move by ",
                Digits{step->motion, 3}, " m in the first step, and is ", Digits{step->extent, 3},
                " m long: contact looks once in a step, and then at all its nodes at a time, which "
                "takes minutes where they are thousands. Take a smaller time step than ",
                Digits{time_step, 6},
                " s, or see whether gravity (m/s2), velocities (m/s) and forces (N) are in their "
                "units");
}

void warn_of_obstacles(const SoftScene& scene, double time_step) {
  for (std::size_t k = 0; k < scene.obstacles.size(); ++k)
    for (const SoftObject& object : scene.objects) {
      const InsideObstacle inside = find_inside(scene.obstacles[k], object);
      if (inside.count > 0)
        log_warning("starts-inside-obstacle", inside.count, " nodes of '", object.name,
                    "' start inside obstacles[", k, "], the deepest by ", Digits{inside.depth, 3},
                    " m at ", Place{&object.mesh.point[3 * std::size_t(inside.deepest)]},
                    ", which will push them out at once, with ",
                    Digits{inside.depth / time_step, 3}, " m/s: move one of the two");
    }
}

void warn_of_stretch(const SoftObject& object, double stretch, const std::string& when) {
  constexpr double most = 10; // rubbers break below
  if (stretch > most)
    log_warning(
        "overstretched", '\'', object.name, "' is stretched to ", Digits{stretch, 3},
        " times its length ", when,
        ", as no material is: see whether its moduli are in Pa (a modulus of 10 kPa is 1e4) "
        "and forces in N; or take a stiffer material, or smaller loads");
}

bool warn_of_nested(const SoftScene& scene) {
  const auto nested = find_nested(scene);
  if (nested)
    log_warning("surfaces-intersect", "at the start '", scene.objects[nested->inner].name,
                "' lies within '", scene.objects[nested->outer].name,
                "', or in its place: contact keeps surfaces apart that begin apart; move them "
                "apart");
  return nested.has_value();
}

void warn_of_crossing(const SurfaceCrossing& crossing, const SoftScene& scene,
                      const std::string& when, bool is_start) {
  log_warning("surfaces-intersect", when, " '", scene.objects[std::size_t(crossing.first)].name,
              "' and '", scene.objects[std::size_t(crossing.second)].name,
              "' are in each other: ", crossing.count, crossing.count == 1 ? " edge, " : " edges, ",
              Digits{crossing.depth, 3}, " m deep at ", Place{crossing.place},
              ". Contact finds nodes against faces, not edges against edges: ",
              is_start ? "move them apart"
                       : "refine the meshes where they meet, or take a smaller time step");
}

} // namespace ossatura
