// SPDX-License-Identifier: Apache-2.0
// Between the oracle's vectors on the whole lattice (tests/reference/voxel_reference.hpp) and the
// compact node vectors of a grid.
#pragma once

#include "tests/kernels/image/host_values.hpp"
#include "tests/reference/voxel_reference.hpp"
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/bone/lame_field.hpp>

#include <array>
#include <vector>

namespace ossatura::test {

template<class Exec>
VoxelArray<Exec> upload_image(const Exec& exec, const reference::Model& model,
                              const std::vector<double>& values) {
  return device_image(exec, model.shape, std::vector<float>(values.begin(), values.end()));
}

/// One Poisson ratio for all voxels if they agree on it, else one for each.
template<class Exec>
MaterialImage<Exec> upload_material(const Exec& exec, const reference::Model& model) {
  const VoxelArray<Exec> modulus = upload_image(exec, model, model.modulus);
  for (double poisson : model.poisson)
    if (poisson != model.poisson[0])
      return make_material(exec, modulus, upload_image(exec, model, model.poisson));
  return make_material(modulus, model.poisson[0]);
}

/// The sites of the nodes of a grid, in its order.
template<class Exec>
std::vector<std::array<int, 3>> host_sites(const VoxelGrid<Exec>& grid) {
  std::vector<std::array<int, 3>> sites;
  for (std::uint64_t packed : host_values(list_sites(Exec(), grid))) {
    const Site s = detail::unpack_site(packed);
    sites.push_back({s.x, s.y, s.z});
  }
  return sites;
}

/// Lattice node -> compact: result[3 i + c] = x[3 model.node(site of i) + c].
template<class Scalar = double, class Exec>
Array<Scalar, Exec> to_compact(const Exec& exec, const VoxelGrid<Exec>& grid,
                               const reference::Model& model, const std::vector<double>& x) {
  std::vector<Scalar> compact;
  for (const auto& s : host_sites(grid))
    for (int c = 0; c < 3; ++c)
      compact.push_back(Scalar(x[3 * model.node(s[0], s[1], s[2]) + c]));
  return upload(exec, "test::compact", compact);
}

/// Compact -> lattice, zero where there is no node. Waits for all work.
template<class Exec, class Values>
std::vector<double> to_lattice(const VoxelGrid<Exec>& grid, const reference::Model& model,
                               const Values& values) {
  Kokkos::fence();
  const auto host = host_values(values);
  const auto sites = host_sites(grid);
  std::vector<double> x(model.num_dofs());
  for (std::size_t i = 0; i < sites.size(); ++i)
    for (int c = 0; c < 3; ++c)
      x[3 * model.node(sites[i][0], sites[i][1], sites[i][2]) + c] = double(host[3 * i + c]);
  return x;
}

} // namespace ossatura::test
