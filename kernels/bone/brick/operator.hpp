// SPDX-License-Identifier: Apache-2.0
// The brick operator computes the stiffness product of voxels by marching through z with tiles
// ("bricks") of voxels.
//
// A tile is 8 x 8 columns of elements. A warp of a GPU, or a thread of a core, fetches one plane of
// nodes after the other, combines it with the plane before by the Hadamard transform, which
// factorises by axis (kernels/bone/element.hpp), multiplies the 45 coefficients of each element by
// its moduli, and transforms back; a node plane is finished when the layer above it is. Each node
// is read once per tile, an element's forces never leave the tile, and tiles overlap by one row of
// elements, so that every node is finished by one tile: no atomics, a fixed order of additions,
// bitwise reproducible for any number of threads. Only runs of planes that hold nodes are visited
// (tiles.hpp); their list takes 16 bytes per run of some 10^3 nodes, and nothing else is
// stored.
//
// march_warp.hpp has the kernel of GPUs, march_tiles.hpp that of cores.
#pragma once

#include <ossatura/kernels/algebra/fused_updates/fused.hpp>
#include <ossatura/kernels/bone/brick/march_tiles.hpp>
#include <ossatura/kernels/bone/brick/march_warp.hpp>
#include <ossatura/kernels/bone/brick/tiles.hpp>

namespace ossatura {

/// y = A x with A the stiffness matrix of the voxels, without constraints.
template<class Exec>
class BrickOperator {
public:
  static constexpr const char* name = "brick";
  static constexpr const char* description = "by tiles that march through z, bitwise reproducible";
  static constexpr bool published = false;
  static constexpr bool fuses_updates = true;
  static constexpr bool sums_updates = true;
  static constexpr bool is_reproducible = true;
  static constexpr int flops_per_voxel = 72 + 44 + 72 + 24; ///< without the seams of tiles

  /// `edge` is the voxel's edge in mm. Fences.
  BrickOperator(const Exec& exec, const VoxelGrid<Exec>& grid, const LameField<Exec>& lame,
                double edge)
      : grid_(grid)
      , lame_(lame)
      , edge_(edge) {
    using Shape = detail::BrickShape;
    detail::ListTiles<Exec> list{
        grid, Shape::columns_x - 1, Shape::columns_y - 1, Shape::planes, 0, 0, false, {}};
    list.tiles_x = grid.shape[0] / list.step_x + 1;
    list.tiles_y = grid.shape[1] / list.step_y + 1;
    const std::int64_t n =
        std::int64_t(list.tiles_x) * list.tiles_y * (grid.shape[2] / list.planes + 1);
    std::int64_t count = 0;
    Kokkos::parallel_scan("ossatura::BrickOperator::count", range(exec, n), list, count);
    list.tile = tile_ = make_uninitialized<detail::BrickTile>(exec, count, "ossatura::brick_tiles");
    list.write = true;
    if (BackendTraits<Exec>::is_device)
      no_block_ = Array<detail::NodeBlock, Exec>(Kokkos::view_alloc(exec, "ossatura::no_block"), 1);
    Kokkos::parallel_scan("ossatura::BrickOperator::list", range(exec, n), list, count);
  }

  static double bytes_kept(double, double) { return 0; }
  double index_bytes() const { return grid_.bytes(); }

  /// y = A x at owned nodes; x and y [3 num_nodes] must not alias. Does not fence.
  template<class Scalar>
  void apply(const Exec& exec, const Array<Scalar, Exec>& x, const Array<Scalar, Exec>& y) const {
    apply_then(exec, x, StoreProduct<Exec, Scalar>{y});
  }

  /// Finishes every owned node with `update`: see kernels/algebra/fused_updates/fused.hpp. Does not
  /// fence.
  template<class Scalar, class Update>
  void apply_then(const Exec& exec, const Array<Scalar, Exec>& x, const Update& update) const {
    if (lame_.lambda_value.data() == lame_.mu_value.data())
      march<true>(exec, x, update);
    else
      march<false>(exec, x, update);
  }

  /// How many partial sums there are of an update that sums up (SumsUp).
  std::int64_t num_sums() const { return std::int64_t(tile_.extent(0)); }

private:
  template<bool OneModulus, class Scalar, class Update>
  void march(const Exec& exec, const Array<Scalar, Exec>& x, const Update& update) const {
    const Scalar lambda_scale = Scalar(edge_ * lame_.lambda_scale),
                 mu_scale = Scalar(edge_ * lame_.mu_scale);
    if constexpr (BackendTraits<Exec>::is_device) {
      using Kernel = detail::MarchWarp<Exec, Scalar, Update, OneModulus>;
      launch_wide_teams("ossatura::BrickOperator::apply", exec, std::int64_t(tile_.extent(0)),
                        Kernel::max_threads, Kernel::scratch_bytes,
                        Kernel{grid_, lame_, lambda_scale, mu_scale, no_block_, x, tile_, update});
    } else {
      using Kernel = detail::MarchTiles<Exec, Scalar, Update, OneModulus>;
      typename Kernel::Policy policy(exec, int(tile_.extent(0)), 1);
      policy.set_scratch_size(0, Kokkos::PerTeam(int(Kernel::scratch_bytes) + 16));
      Kokkos::parallel_for("ossatura::BrickOperator::apply", policy,
                           Kernel{grid_, lame_, lambda_scale, mu_scale, x, tile_, update});
    }
  }

  VoxelGrid<Exec> grid_;
  LameField<Exec> lame_;
  double edge_;
  Array<detail::BrickTile, Exec> tile_;
  Array<detail::NodeBlock, Exec> no_block_; ///< [1] on devices
};

} // namespace ossatura
