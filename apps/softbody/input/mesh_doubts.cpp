// SPDX-License-Identifier: Apache-2.0
#include "apps/softbody/input/mesh_doubts.hpp"

#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/log.hpp>
#include <ossatura/core/mesh/mechanics/mesh_parts.hpp>
#include <ossatura/solvers/softbody/scene_checks.hpp>

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

} // namespace

void warn_of_object(const SoftObject& object) {
  warn_of_size(object);
  const double poisson = poisson_ratio(object.material);
  if (may_lock(object))
    log_warning("locking", '\'', object.name, "' has Poisson's ratio ", format_number(poisson, 4),
                ": linear ", object.mesh.shape == ElementShape::tetra ? "tetrahedra" : "hexahedra",
                " of a material that keeps its volume are too stiff above ", locks_above,
                "; take a smaller ratio, or compare with a finer mesh");
  if (const int parts = int(find_mesh_parts(object.mesh).first.size()); parts > 1)
    log_warning(
        "mesh-in-parts", "the mesh of '", object.name, "' is in ", parts,
        " parts that share no node, and move apart: join them where they are meant to be one "
        "body, or make them objects of their own");
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
