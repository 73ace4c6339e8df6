// SPDX-License-Identifier: Apache-2.0
#include "apps/softbody/input/mesh_doubts.hpp"

#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/log.hpp>

#include <numeric>

namespace ossatura {

int count_parts(const ElementMesh& mesh) {
  std::vector<std::int32_t> parent(mesh.num_points());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&parent](std::int32_t i) {
    while (parent[std::size_t(i)] != i)
      i = parent[std::size_t(i)] = parent[std::size_t(parent[std::size_t(i)])];
    return i;
  };
  int parts = int(mesh.num_points());
  const std::size_t n = std::size_t(nodes_per_elem(mesh.shape));
  for (std::size_t k = 0; k < mesh.node.size(); ++k) {
    const std::int32_t a = root(mesh.node[k - k % n]), b = root(mesh.node[k]);
    parts -= a != b;
    parent[std::size_t(b)] = a;
  }
  return parts;
}

double poisson_ratio(const SoftMaterial& material) {
  if (material.law != SoftLaw::mooney_rivlin)
    return material.poisson;
  const double shear = 2 * (material.c1 + material.c2);
  return (3 * material.bulk - 2 * shear) / (2 * (3 * material.bulk + shear));
}

void warn_of_object(const SoftObject& object) {
  constexpr double locks_above = 0.48;
  const double poisson = poisson_ratio(object.material);
  if (object.mesh.shape != ElementShape::triangle && poisson > locks_above)
    log_warning("locking", '\'', object.name, "' has Poisson's ratio ", format_number(poisson, 4),
                ": linear ", object.mesh.shape == ElementShape::tetra ? "tetrahedra" : "hexahedra",
                " of a material that keeps its volume are too stiff above ", locks_above,
                "; take a smaller ratio, or compare with a finer mesh");
  if (const int parts = count_parts(object.mesh); parts > 1)
    log_warning(
        "mesh-in-parts", "the mesh of '", object.name, "' is in ", parts,
        " parts that share no node, and move apart: join them where they are meant to be one "
        "body, or make them objects of their own");
}

} // namespace ossatura
