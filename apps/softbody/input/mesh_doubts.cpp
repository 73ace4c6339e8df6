// SPDX-License-Identifier: Apache-2.0
#include "apps/softbody/input/mesh_doubts.hpp"

#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/log.hpp>
#include <ossatura/core/mesh/box.hpp>
#include <ossatura/core/mesh/mechanics/mesh_parts.hpp>
#include <ossatura/solvers/softbody/scene_checks.hpp>

#include <algorithm>

namespace ossatura {

namespace {

/// Soft bodies are hardly longer than this (m), and meshes in mm are.
constexpr double greatest_extent = 100;
/// Longer ones than this (m) are of rubber, wood or steel: in the earth's gravity what is softer
/// than its own weight is flat. An organ in mm is.
constexpr double greatest_soft_extent = 5, gravity = 9.81;

/// Young's modulus of small strains, Pa.
double small_strain_modulus(const SoftMaterial& m) {
  return moduli_of(m.law) == SoftModuli::hooke ? m.young
                                               : 4 * (m.c1 + m.c2) * (1 + poisson_ratio(m));
}

void warn_of_size(const SoftObject& object) {
  const Box box = bounding_box(object.mesh.point);
  const double extent = std::max({box[3] - box[0], box[4] - box[1], box[5] - box[2]});
  const double mass = total_mass(object);
  const double modulus = small_strain_modulus(object.material);
  const bool is_too_soft = object.mesh.shape != ElementShape::triangle && object.node_mass == 0 &&
                           extent > greatest_soft_extent &&
                           object.density * gravity * extent > modulus;
  if (extent > greatest_extent || is_too_soft)
    log_warning("odd-size", '\'', object.name, "' is ", format_number(extent, 4),
                " m long and has ", format_number(mass, 3), " kg",
                is_too_soft
                    ? ", more than its modulus of " + format_number(modulus, 3) + " Pa can carry"
                    : std::string(),
                ": lengths are in m, and \"scale\": 0.001 takes a mesh in mm to them");
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
