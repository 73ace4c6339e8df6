// SPDX-License-Identifier: Apache-2.0
#include "apps/softbody/input/mesh_doubts.hpp"

#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/log.hpp>
#include <ossatura/core/mesh/mechanics/mesh_parts.hpp>
#include <ossatura/solvers/softbody/scene_checks.hpp>
#include <ossatura/solvers/softbody/unit_checks.hpp>

#include <string>

namespace ossatura {

namespace {

void warn_of_size(const SoftObject& object) {
  if (const auto odd = find_odd_size(object))
    log_warning("odd-size", '\'', object.name, "' is ", format_number(odd->extent, 4),
                " m long and has ", format_number(odd->mass, 3), " kg",
                odd->modulus ? ", more than its modulus of " + format_number(*odd->modulus, 3) +
                                   " Pa can carry"
                             : std::string(),
                ": lengths are in m, and \"scale\": 0.001 takes a mesh in mm to them");
  if (is_odd_density(object))
    log_warning(
        "odd-density", '\'', object.name, "' has a density of ", format_number(object.density, 4),
        " kg/m3, and its weight and its motion go with it: that of water is 1000 kg/m3, which "
        "is 1 g/cm3");
}

void warn_of_modulus(const SoftObject& object, const SoftScene& scene) {
  const auto odd = find_odd_modulus(object, scene);
  if (!odd)
    return;
  const bool is_weak = odd->kind == OddModulus::Kind::weak;
  log_warning("odd-modulus", '\'', object.name, "' has Young's modulus ",
              format_number(odd->young, 4), " Pa and a density of ",
              format_number(object.density, 4), " kg/m3, ",
              is_weak ? "so that its own weight is " + format_number(odd->weight, 3) +
                            " times what would stretch it to twice its length"
              : odd->kind == OddModulus::Kind::stiff ? "and no material as light is as stiff"
                                                     : "and no material as heavy is as soft",
              ": moduli are in Pa; soft tissue has some 1e3 to 1e5, rubber 1e6, wood 1e10, steel "
              "2.1e11 with 7850 kg/m3");
}

} // namespace

void warn_of_object(const SoftObject& object, const SoftScene& scene) {
  warn_of_size(object);
  warn_of_modulus(object, scene);
  const double poisson = poisson_ratio(object.material);
  if (may_lock(object))
    log_warning("locking", '\'', object.name, "' has Poisson's ratio ", format_number(poisson, 4),
                ": linear ", object.mesh.shape == ElementShape::tetra ? "tetrahedra" : "hexahedra",
                " of a material that keeps its volume are too stiff above ", locks_above,
                "; take a smaller ratio, or compare with a finer mesh");
  if (const FoldedMesh folds = find_folds(object.mesh); folds.count > 0)
    log_warning("folded-mesh", "the mesh of '", object.name, "' is folded: at ",
                format_count(folds.count), folds.count == 1 ? " face" : " faces",
                " both tetrahedra lie on the same side, in each other, elements ", folds.elem[0],
                " and ", folds.elem[1], " at (", format_number(folds.place[0], 4), ", ",
                format_number(folds.place[1], 4), ", ", format_number(folds.place[2], 4),
                ") m the first. Their volume and stiffness count twice: mend the mesh there");
  if (const int parts = int(find_mesh_parts(object.mesh).first.size()); parts > 1)
    log_warning(
        "mesh-in-parts", "the mesh of '", object.name, "' is in ", parts,
        " parts that share no node, and move apart: join them where they are meant to be one "
        "body, or make them objects of their own");
}

void warn_of_motion(const SoftScene& scene, double time_step) {
  if (const auto gravity = find_odd_gravity(scene))
    log_warning("odd-gravity", "gravity is ", format_number(*gravity, 4), " m/s2, ",
                format_number(*gravity / 9.81, 3),
                " times that of the earth: it is in m/s2 (9.81), not in mm/s2 or cm/s2");
  if (const auto step = find_long_step(scene, time_step)) {
    const SoftObject& object = scene.objects[step->object];
    log_warning("long-steps", '\'', object.name, "' would move by ", format_number(step->motion, 3),
                " m in the first step, and is ", format_number(step->extent, 3),
                " m long: contact looks once in a step, and then at all its nodes at a time, which "
                "takes minutes where they are thousands. Take a smaller --time-step than ",
                format_number(time_step),
                " s, or see whether gravity (m/s2), velocities (m/s) and "
                "forces (N) are in their units");
  }
}

void warn_of_nested(const SoftScene& scene) {
  if (const auto nested = find_nested(scene))
    log_warning(
        "surfaces-intersect", "at the start '", scene.objects[nested->inner].name,
        "' lies within '", scene.objects[nested->outer].name,
        "', or in its place: contact keeps surfaces apart that begin apart; move the objects "
        "apart");
}

} // namespace ossatura
