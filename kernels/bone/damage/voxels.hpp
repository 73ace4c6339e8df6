// SPDX-License-Identifier: Apache-2.0
// Damage of all voxels of a model: their moduli for a displacement, and the state from one load to
// the next. The law is in law.hpp. A damaged voxel is an elastic one with a smaller modulus, so
// that products, multigrid and fields are those of elasticity.
#pragma once

#include <ossatura/kernels/algebra/reproducible_sums/shared.hpp>
#include <ossatura/kernels/bone/damage/law.hpp>
#include <ossatura/kernels/bone/fields.hpp>
#include <ossatura/kernels/bone/plasticity/voxels.hpp>

namespace ossatura {

/// The voxels of a model that break. 4 to 8 bytes a node, and 8 of their state.
template<class Exec>
struct DamagedVoxels {
  VoxelGrid<Exec> grid;
  LameField<Exec> intact;
  LameField<Exec> damaged; ///< arrays of its own, times 1 - D
  double edge = 1;         ///< mm
  DamageLaw law;
  Array<float, Exec> most; ///< [num_nodes] the largest r up to the last load, at lowest corners
  /// The same and, where damage is `irreversible`, of what was evaluated since.
  Array<float, Exec> trial;
  bool irreversible = false;
  Array<std::uint8_t, Exec> elastic{}; ///< [num_nodes] not 0 at lowest corners of voxels that no
                                       ///< load damages; or empty, where there are none
  KOKKOS_FUNCTION bool is_elastic(int lowest) const {
    return elastic.extent(0) > 0 && elastic(lowest) != 0;
  }
};

/// Without damage; copies the moduli. `elastic`: as in DamagedVoxels. Does not fence.
template<class Exec>
DamagedVoxels<Exec> make_damaged_voxels(const Exec& exec, const VoxelGrid<Exec>& grid,
                                        const LameField<Exec>& intact, double edge,
                                        const DamageLaw& law,
                                        const Array<std::uint8_t, Exec>& elastic = {}) {
  DamagedVoxels<Exec> voxels{grid, intact, intact, edge, law, {}, {}, false, elastic};
  const auto copy_of = [&](const Array<float, Exec>& value) {
    const auto own =
        make_uninitialized<float>(exec, value.extent(0), "ossatura::damaged_voxels::lame");
    Kokkos::deep_copy(exec, own, value);
    return own;
  };
  voxels.damaged.mu_value = copy_of(intact.mu_value);
  const bool is_one = intact.lambda_value.data() == intact.mu_value.data();
  voxels.damaged.lambda_value = is_one ? voxels.damaged.mu_value : copy_of(intact.lambda_value);
  voxels.most = make_zeros<float>(exec, grid.num_nodes, "ossatura::damaged_voxels::most");
  voxels.trial = make_zeros<float>(exec, grid.num_nodes, "ossatura::damaged_voxels::trial");
  return voxels;
}

namespace detail {

template<class Exec>
KOKKOS_INLINE_FUNCTION VoxelDamage damage_of(const DamagedVoxels<Exec>& voxels, int lowest) {
  return VoxelDamage(voxels.law, voxels.intact.lambda(lowest), voxels.intact.mu(lowest),
                     voxels.intact.modulus(lowest), voxels.edge);
}

/// The modes of u in the voxel of a lowest corner.
template<class Exec>
KOKKOS_INLINE_FUNCTION void find_modes(const VoxelGrid<Exec>& grid, int lowest,
                                       const Array<double, Exec>& u, double (&modes)[24]) {
  int node[8];
  find_voxel_nodes(grid, grid.site(lowest), lowest, node);
  load_modes(node, u, modes);
}

/// Writes moduli at u.
template<class Exec>
struct SoftenVoxels {
  DamagedVoxels<Exec> voxels;
  Array<double, Exec> u;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int lowest = int(i);
    if (!voxels.intact.solid(lowest) || voxels.is_elastic(lowest))
      return;
    const VoxelDamage damage = damage_of(voxels, lowest);
    double modes[24];
    find_modes(voxels.grid, lowest, u, modes);
    const double before = double(voxels.trial(lowest)), now = damage.load(modes);
    if (voxels.irreversible && now > before)
      voxels.trial(lowest) = float(now);
    const double kept = damage.kept(now > before ? now : before);
    voxels.damaged.mu_value(lowest) = float(kept * double(voxels.intact.mu_value(lowest)));
    voxels.damaged.lambda_value(lowest) = float(kept * double(voxels.intact.lambda_value(lowest)));
  }
};

/// Writes the moduli that the last load left.
template<class Exec>
struct KeepDamage {
  DamagedVoxels<Exec> voxels;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int lowest = int(i);
    if (!voxels.intact.solid(lowest) || voxels.is_elastic(lowest))
      return;
    const double kept = damage_of(voxels, lowest).kept(double(voxels.most(lowest)));
    voxels.damaged.mu_value(lowest) = float(kept * double(voxels.intact.mu_value(lowest)));
    voxels.damaged.lambda_value(lowest) = float(kept * double(voxels.intact.lambda_value(lowest)));
  }
};

/// v . K u of an intact voxel.
KOKKOS_INLINE_FUNCTION double intact_product(const VoxelYield& voxel, const double (&v)[24],
                                             double (&u)[24]) {
  apply_mode_stiffness(voxel.edge * voxel.lambda, voxel.edge * voxel.mu, u);
  double sum = 0;
  for (int i = 0; i < 24; ++i)
    sum += v[i] * u[i];
  return sum;
}

/// Advances the state of a voxel, and adds elastic energy, dissipation, whether it is damaged and
/// whether it is broken, its damage, and whether that has grown.
template<class Exec>
struct CommitDamage {
  DamagedVoxels<Exec> voxels;
  Array<double, Exec> before, u;

  KOKKOS_FUNCTION void operator()(std::int64_t i, double* sum) const {
    const int lowest = int(i);
    if (!voxels.intact.solid(lowest))
      return;
    const VoxelDamage damage = damage_of(voxels, lowest);
    double modes[24], force[24];
    find_modes(voxels.grid, lowest, u, modes);
    const double old = double(voxels.most(lowest)), trial = double(voxels.trial(lowest));
    const double now = voxels.is_elastic(lowest) ? 0 : damage.load(modes),
                 most = now > trial ? now : trial;
    const double kept = damage.kept(most);
    find_modes(voxels.grid, lowest, u, force);
    sum[0] += 0.5 * kept * intact_product(damage.intact, modes, force);
    if (most > old) {
      voxels.most(lowest) = voxels.trial(lowest) = float(most);
      find_modes(voxels.grid, lowest, before, force);
      sum[1] += 0.5 * (damage.kept(old) - kept) * intact_product(damage.intact, modes, force);
      sum[5] += kept < damage.kept(old) ? 1 : 0;
    }
    sum[2] += most > 1 ? 1 : 0;
    sum[3] += kept > broken_stiffness ? 0 : 1;
    sum[4] += 1 - kept;
  }
};

template<class Exec>
struct ListDamage {
  DamagedVoxels<Exec> voxels;
  Array<int, Exec> element;
  Array<float, Exec> damage;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    const int lowest = element(e);
    damage(e) = float(1 - damage_of(voxels, lowest).kept(double(voxels.most(lowest))));
  }
};

} // namespace detail

/// Writes the moduli `damaged` that voxels have at u [3 num_nodes]. Does not fence.
template<class Exec>
void soften_voxels(const Exec& exec, const DamagedVoxels<Exec>& voxels,
                   const Array<double, Exec>& u) {
  Kokkos::parallel_for("ossatura::soften_voxels", range(exec, voxels.grid.num_nodes),
                       detail::SoftenVoxels<Exec>{voxels, u});
}

/// Writes the moduli `damaged` that the last load left. Does not fence.
template<class Exec>
void keep_damage(const Exec& exec, const DamagedVoxels<Exec>& voxels) {
  Kokkos::parallel_for("ossatura::keep_damage", range(exec, voxels.grid.num_nodes),
                       detail::KeepDamage<Exec>{voxels});
}

/// The voxels at the last load, whatever was evaluated since.
template<class Exec>
DamagedVoxels<Exec> at_last_load(DamagedVoxels<Exec> voxels) {
  voxels.trial = voxels.most;
  voxels.irreversible = false;
  return voxels;
}

/// Sums over the voxels after a load.
struct DamageSums {
  double elastic_energy;          ///< N mm
  double dissipation;             ///< of this load, N mm
  double num_damaged, num_broken; ///< voxels
  double damage;                  ///< sum of D
  double num_worse;               ///< voxels whose D has grown
};

/// Makes u, for which soften_voxels was last, the last load: its damage is kept. `before` is that
/// of the load before. With K of an intact voxel the dissipation of a load is (D - D before) / 2 u
/// . K u_before: that and the change of the elastic energy are the work of the mean of the forces
/// before and after. Fences.
template<class Exec>
DamageSums commit_damage(const Exec& exec, const SharedEntries& nodes,
                         const DamagedVoxels<Exec>& voxels, const Array<double, Exec>& before,
                         const Array<double, Exec>& u) {
  const auto sum = sum_in_groups<6>(exec, nodes, detail::CommitDamage<Exec>{voxels, before, u});
  return {sum[0], sum[1], sum[2], sum[3], sum[4], sum[5]};
}

/// As compute_voxel_fields at the centre, at the last load u, with strain, stress and `damage`.
/// Effective strain is that of the strain, all else of the stress that is left. `energy` is set to
/// the elastic energy in N mm. Fences.
template<class Exec>
VoxelFields<Exec> compute_damage_fields(const Exec& exec, const SharedEntries& nodes,
                                        const DamagedVoxels<Exec>& voxels,
                                        const Array<double, Exec>& u, double& energy) {
  soften_voxels(exec, at_last_load(voxels), u);
  VoxelFields<Exec> fields = compute_voxel_fields(
      exec, nodes, voxels.grid, voxels.damaged, voxels.edge, u, EnergyPoint::centre, true, energy);
  fields.damage = make_uninitialized<float>(exec, fields.elements.count(), "ossatura::damage");
  Kokkos::parallel_for("ossatura::list_damage", range(exec, fields.elements.count()),
                       detail::ListDamage<Exec>{voxels, fields.element, fields.damage});
  fence(exec, "ossatura::list_damage");
  return fields;
}

} // namespace ossatura
