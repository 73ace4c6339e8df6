// SPDX-License-Identifier: Apache-2.0
#include "bench/pfem/problem.hpp"

#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/core/mesh/hexa/changes.hpp>
#include <ossatura/core/pfem/meshes.hpp>
#include <ossatura/kernels/pfem/hexa_batch.hpp>

#include <cmath>

namespace ossatura::bench {

namespace {

/// Positive definite at every position: the second summand is v v^T.
void anisotropic_elasticity(const double (&x)[3], double (&d)[elasticity_entries]) {
  static const std::vector<double> isotropic = isotropic_elasticity(1, 0.3);
  const double scale = 1 + 0.3 * std::sin(0.7 * x[0] + 0.4 * x[1] - 0.9 * x[2]);
  double v[6];
  for (int i = 0; i < 6; ++i)
    v[i] = 0.5 * std::cos(0.8 * i + 0.5 * x[0] - 0.6 * x[1] + 0.3 * x[2]);
  for (int i = 0; i < 6; ++i)
    for (int j = i; j < 6; ++j) {
      const int entry = elasticity_entry(i, j);
      d[entry] = scale * isotropic[std::size_t(entry)] + v[i] * v[j];
    }
}

} // namespace

CurvedHexaMesh make_pfem_mesh(PfemShapes shapes, const int (&cells)[3]) {
  CurvedHexaMesh curved;
  curved.mesh = make_hexa_box(cells, {double(cells[0]), double(cells[1]), double(cells[2])});
  if (shapes == PfemShapes::points || shapes == PfemShapes::elements)
    distort(curved.mesh, 0.2, 1);
  if (shapes == PfemShapes::sheared) {
    for (double& x : curved.mesh.point)
      x += 0.2 * std::sin(2.3 * x);
    shear(curved.mesh, {0.3, 0.2, 0.1});
  }
  return curved;
}

CurvedHexaMesh make_pfem_elements(PfemShapes shapes, std::int64_t num_elem) {
  const int side = int(std::ceil(std::cbrt(double(num_elem)) - 1e-9));
  const int layers = int((num_elem + std::int64_t(side) * side - 1) / (std::int64_t(side) * side));
  CurvedHexaMesh curved = make_pfem_mesh(shapes, {side, side, layers});
  curved.mesh.node.resize(8 * std::size_t(num_elem));
  return curved;
}

ElasticityField make_pfem_elasticity(PfemShapes shapes, const CurvedHexaMesh& curved) {
  ElasticityField field;
  if (shapes == PfemShapes::cubes) {
    field.value = isotropic_elasticity(1, 0.3);
    return field;
  }
  if (shapes == PfemShapes::points) {
    field.at_point = [](std::int64_t, const double(&x)[3], double(&d)[elasticity_entries]) {
      anisotropic_elasticity(x, d);
    };
    return field;
  }
  const ElementMesh& mesh = curved.mesh;
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    double centre[3] = {0, 0, 0}, d[elasticity_entries];
    for (std::size_t a = 0; a < 8; ++a)
      for (std::size_t i = 0; i < 3; ++i)
        centre[i] += mesh.point[3 * std::size_t(mesh.node[8 * e + a]) + i] / 8;
    anisotropic_elasticity(centre, d);
    field.value.insert(field.value.end(), d, d + elasticity_entries);
  }
  return field;
}

} // namespace ossatura::bench
