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

} // namespace

void warn_of_object(const SoftObject& object) {
  const Box box = bounding_box(object.mesh.point);
  const double extent = std::max({box[3] - box[0], box[4] - box[1], box[5] - box[2]});
  if (extent > greatest_extent)
    log_warning("odd-size", '\'', object.name, "' is ", format_number(extent, 4),
                " m long: lengths are in m, and \"scale\": 0.001 takes a mesh in mm to them");
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
