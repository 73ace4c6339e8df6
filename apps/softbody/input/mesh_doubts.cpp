// SPDX-License-Identifier: Apache-2.0
#include "apps/softbody/input/mesh_doubts.hpp"

#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/log.hpp>
#include <ossatura/core/mesh/mechanics/mesh_parts.hpp>
#include <ossatura/solvers/softbody/scene_checks.hpp>

namespace ossatura {

void warn_of_object(const SoftObject& object) {
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

} // namespace ossatura
