// SPDX-License-Identifier: Apache-2.0
// The balance sums all forces from outside on a voxel model, of supports and loads.
#pragma once

#include <ossatura/core/mesh/mechanics/force_balance.hpp>
#include <ossatura/kernels/algebra/reproducible_sums/shared.hpp>
#include <ossatura/kernels/image/grid.hpp>

namespace ossatura {

namespace detail {
template<class Exec>
struct AddBalance {
  VoxelGrid<Exec> grid;
  Array<std::uint8_t, Exec> held;
  double edge;
  double centre[3];
  Array<double, Exec> u, product; ///< K u
  Array<double, Exec> load;       ///< or empty

  /// Force, moment, their scales, work, its scale.
  KOKKOS_FUNCTION void operator()(std::int64_t node, double* sum) const {
    const Site site = grid.site(int(node));
    const double arm[3] = {edge * site.x - centre[0], edge * site.y - centre[1],
                           edge * site.z - centre[2]};
    double force[3], size = 0, distance = 0, work = 0;
    for (int c = 0; c < 3; ++c) {
      const std::int64_t dof = 3 * node + c;
      const bool is_held = held(node) >> c & 1; // its reaction is K u - load
      force[c] = is_held ? product(dof) : load.extent(0) > 0 ? load(dof) : 0;
      size += force[c] * force[c];
      distance += arm[c] * arm[c];
      work += force[c] * u(dof);
    }
    if (size == 0)
      return;
    for (int c = 0; c < 3; ++c) {
      const int a = (c + 1) % 3, b = (c + 2) % 3;
      sum[c] += force[c];
      sum[3 + c] += arm[a] * force[b] - arm[b] * force[a];
    }
    sum[6] += Kokkos::sqrt(size);
    sum[7] += Kokkos::sqrt(size * distance);
    sum[8] += work;
    sum[9] += Kokkos::fabs(work);
  }
};
} // namespace detail

/// The balance of u [3 num_nodes] with the nodal forces product = K u and load [3 num_nodes], which
/// may be empty; moments about `centre` (mm). `nodes` are those that this process owns; by all
/// that share them. The energy is for the caller. Fences.
template<class Exec>
ForceBalance sum_balance(const Exec& exec, const SharedEntries& nodes, const VoxelGrid<Exec>& grid,
                         const Array<std::uint8_t, Exec>& held, double edge,
                         const double (&centre)[3], const Array<double, Exec>& u,
                         const Array<double, Exec>& product, const Array<double, Exec>& load) {
  const std::array<double, 10> s =
      sum_in_groups<10>(exec, nodes,
                        detail::AddBalance<Exec>{
                            grid, held, edge, {centre[0], centre[1], centre[2]}, u, product, load});
  ForceBalance balance;
  balance.force = {s[0], s[1], s[2]};
  balance.moment = {s[3], s[4], s[5]};
  balance.force_scale = s[6];
  balance.moment_scale = s[7];
  balance.work = s[8];
  balance.work_scale = s[9];
  return balance;
}

} // namespace ossatura
