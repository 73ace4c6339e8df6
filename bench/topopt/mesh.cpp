// SPDX-License-Identifier: Apache-2.0
#include "bench/topopt/mesh.hpp"

#include <ossatura/core/mesh/generators/element_meshes.hpp>

#include <random>

namespace ossatura::bench {

ElementMesh make_bench_hexa_mesh(HexaMesh mesh, int n) {
  ElementMesh box = make_hexa_box({n, n, n}, {double(n), double(n), double(n)});
  if (mesh == HexaMesh::distorted) {
    std::mt19937 random(1);
    for (double& x : box.point)
      x += 0.4 * (random() / 4294967296.0 - 0.5);
  }
  return box;
}

std::vector<double> make_bench_moduli(std::size_t num_elem) {
  std::mt19937 random(2);
  std::vector<double> modulus(num_elem);
  for (double& value : modulus)
    value = 0.001 + 0.999 * (random() / 4294967296.0);
  return modulus;
}

} // namespace ossatura::bench
