// SPDX-License-Identifier: Apache-2.0
// A model cut among the ranks of a launcher, beside the whole of it, which every rank has.
#pragma once

#include "tests/kernels/bone/cell_levels.hpp"
#include <ossatura/kernels/bone/local_material.hpp>

namespace ossatura::test {

/// What a process sees of an image that it has as a whole: void elsewhere. `halo` is how far it
/// sees, less than cut_halo only in tests of what that breaks.
template<class Exec>
struct VisibleImage {
  CutTable<Exec> table;
  VoxelArray<Exec> image;
  int halo = cut_halo;
  Kokkos::Array<int, 3> shape = image.shape;

  KOKKOS_FUNCTION float value_or_void(int x, int y, int z) const {
    const float value = image.value_or_void(x, y, z);
    return value > 0 && table.is_near(x, y, z, 1, halo, false) ? value : 0.0f;
  }
};

/// The planes of this rank of a model.
template<class Exec>
MaterialImage<Exec> upload_planes(const Exec& exec, const Communicator& comm,
                                  const reference::Model& model) {
  return take_planes(exec, upload_material(exec, model), planes_of_rank(comm, model.shape[2]));
}

template<class Exec>
struct CutModel {
  Communicator comm;
  DeviceComm<Exec> device_comm;
  reference::Model model;
  VoxelGrid<Exec> whole, grid; ///< all nodes, and those that this rank sees
  LameField<Exec> whole_lame, lame;
  VoxelCut cut;
  CutTable<Exec> table;
  HaloPlan<Exec> plan;

  CutModel(const Exec& exec, reference::Model m, int bits, int halo = cut_halo,
           const Communicator& ranks = Communicator::world())
      : comm(ranks)
      , device_comm(ranks)
      , model(std::move(m)) {
    const MaterialImage<Exec> material = upload_material(exec, model);
    whole = make_voxel_grid(exec, material.solid());
    whole_lame = make_lame_field(exec, whole, material);
    cut = make_voxel_cut(bits, whole.shape, count_superblock_nodes(exec, whole, bits), comm.size());
    table = make_cut_table(exec, cut, comm.rank());
    const VisibleImage<Exec> visible{table, material.solid(), halo};
    grid = ossatura::detail::make_any_voxel_grid(exec, visible);
    ossatura::detail::find_owned_nodes(exec, comm, table, grid);
    lame.lambda_scale = material.lambda_scale;
    lame.mu_scale = material.mu_scale;
    lame.mu_value = restrict_to_grid(exec, grid, visible);
    // Lambda may be negative, and is not read where mu is 0.
    lame.lambda_value =
        material.uniform_poisson() ? lame.mu_value : restrict_to_grid(exec, grid, material.first);
    plan = make_halo_plan(exec, comm, cut, grid);
    exec.fence();
  }

  /// The part of this rank, ghosts too, of a vector of all nodes.
  std::vector<double> local_part(const std::vector<double>& all) const {
    std::map<std::array<int, 3>, int> number;
    for (const auto& site : host_sites(whole))
      number.emplace(site, int(number.size()));
    std::vector<double> part;
    for (const auto& site : host_sites(grid))
      for (int c = 0; c < 3; ++c)
        part.push_back(all[std::size_t(3 * number.at(site) + c)]);
    return part;
  }
  /// The same without ghosts, of all ranks in their order.
  template<class Scalar>
  std::vector<Scalar> join(const Exec& exec, const Array<Scalar, Exec>& local) const {
    const std::vector<Scalar> host = download(exec, local);
    return comm.gather(std::vector<Scalar>(host.begin() + 3 * grid.owned.begin,
                                           host.begin() + 3 * grid.owned.end));
  }
};

/// Models of several superblocks for cuts, and some that leave ranks with nothing.
inline std::vector<reference::Model> cut_models() {
  std::vector<reference::Model> models = cell_models();
  // noise with struts of a voxel or two
  models.push_back(reference::random_model({26, 21, 30}, 0.4, 1e3, 0.3, 0.3, 99, 0.25));
  models.push_back(reference::random_model({19, 33, 18}, 0.25, 1e3, 0.3, 0.45, 98, 0.5));
  // empty octants
  models.push_back(drawn_model({24, 24, 24}, [](int x, int y, int z) {
    return (x < 11 && y < 9 && z < 10) || (x > 14 && y > 13 && z > 12) || (x == 5 && y == 5);
  }));
  return models;
}

} // namespace ossatura::test
