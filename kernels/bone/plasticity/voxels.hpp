// SPDX-License-Identifier: Apache-2.0
// Plasticity of all voxels of a model: the forces and the tangent that plastic strain adds to the
// elastic stiffness matrix, and the state from one load to the next. The law is in
// return_mapping.hpp.
#pragma once

#include <ossatura/kernels/algebra/reproducible_sums/shared.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/bone/fields.hpp>
#include <ossatura/kernels/bone/plasticity/colours.hpp>
#include <ossatura/kernels/bone/plasticity/return_mapping.hpp>

#include <vector>

namespace ossatura {

/// What is kept of plastic strain, in equilibrium with the last load: 77 bytes a node.
template<class Exec>
struct PlasticState {
  /// [num_nodes] rows of detail::PlasticVoxel at lowest corners.
  Kokkos::View<float * [detail::PlasticVoxel::size], typename Exec::array_layout,
               typename Exec::memory_space>
      value;
  Array<std::uint8_t, Exec> flag; ///< [num_nodes] bits of PlasticFlag
};

namespace detail {
/// Bits of PlasticState::flag.
enum PlasticFlag : std::uint8_t {
  has_flown = 1,   ///< the voxel has plastic strain
  flows = 2,       ///< it yields at the displacement that was evaluated last
  never_yields = 4 ///< whatever the displacement
};
} // namespace detail

namespace detail {
template<class Exec>
struct MarkNeverYields {
  Array<std::uint8_t, Exec> elastic, flag;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (elastic(i) != 0)
      flag(i) = never_yields;
  }
};
} // namespace detail

/// Without plastic strain. Voxels stay elastic whose lowest corner `elastic` [num_nodes] marks;
/// none where it is empty. Does not fence.
template<class Exec>
PlasticState<Exec> make_plastic_state(const Exec& exec, const VoxelGrid<Exec>& grid,
                                      const Array<std::uint8_t, Exec>& elastic = {}) {
  PlasticState<Exec> state;
  state.value = decltype(state.value)(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "ossatura::plastic_state"),
      grid.num_nodes);
  Kokkos::deep_copy(exec, state.value, 0.0F);
  state.flag = make_zeros<std::uint8_t>(exec, grid.num_nodes, "ossatura::plastic_flags");
  if (elastic.extent(0) > 0)
    Kokkos::parallel_for("ossatura::mark_never_yields", range(exec, grid.num_nodes),
                         detail::MarkNeverYields<Exec>{elastic, state.flag});
  return state;
}

namespace detail {
/// Where the rows of voxels that have flown are, in the order of their lowest corners.
inline std::vector<std::int64_t> list_flown(const std::vector<std::uint8_t>& flag) {
  std::vector<std::int64_t> flown;
  for (std::size_t i = 0; i < flag.size(); ++i)
    if (flag[i] & has_flown)
      flown.push_back(std::int64_t(i));
  return flown;
}
} // namespace detail

/// Sets rows to those of voxels that have flown, in the order of their lowest corners, and returns
/// all flags. On the host it takes a column at a time beside them. Fences.
template<class Exec>
std::vector<std::uint8_t> list_plastic_state(const Exec& exec, const PlasticState<Exec>& state,
                                             std::vector<float>& rows) {
  std::vector<std::uint8_t> flag = download(exec, state.flag);
  const std::vector<std::int64_t> flown = detail::list_flown(flag);
  constexpr int size = detail::PlasticVoxel::size;
  rows.resize(flown.size() * size);
  const Kokkos::View<float*, Kokkos::HostSpace> column(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "ossatura::plastic_column"), flag.size());
  for (int k = 0; k < size; ++k) {
    Kokkos::deep_copy(exec, column, Kokkos::subview(state.value, Kokkos::ALL, k));
    fence(exec, "ossatura::list_plastic_state");
    for (std::size_t i = 0; i < flown.size(); ++i)
      rows[i * size + std::size_t(k)] = column(flown[i]);
  }
  return flag;
}

/// Sets what list_plastic_state() listed of the same voxels. Returns false, and sets nothing, where
/// numbers do not fit. Fences.
template<class Exec>
bool set_plastic_state(const Exec& exec, const std::vector<std::uint8_t>& flag,
                       const std::vector<float>& rows, const PlasticState<Exec>& state) {
  const std::vector<std::int64_t> flown = detail::list_flown(flag);
  constexpr int size = detail::PlasticVoxel::size;
  if (flag.size() != state.flag.extent(0) || rows.size() != flown.size() * size)
    return false;
  const Kokkos::View<float*, Kokkos::HostSpace> column("ossatura::plastic_column", flag.size());
  for (int k = 0; k < size; ++k) {
    for (std::size_t i = 0; i < flown.size(); ++i)
      column(flown[i]) = rows[i * size + std::size_t(k)];
    Kokkos::deep_copy(exec, Kokkos::subview(state.value, Kokkos::ALL, k), column);
    fence(exec, "ossatura::set_plastic_state");
  }
  upload_to(exec, flag, state.flag);
  fence(exec, "ossatura::set_plastic_state");
  return true;
}

/// The voxels of a model that yield.
template<class Exec>
struct PlasticVoxels {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  double edge = 1; ///< mm
  YieldCone cone;
  VoxelColours<Exec> colours;
};

namespace detail {

template<class Exec>
KOKKOS_INLINE_FUNCTION VoxelYield yield_of(const LameField<Exec>& lame, const YieldCone& cone,
                                           double edge, int lowest) {
  return VoxelYield(cone, lame.lambda(lowest), lame.mu(lowest), lame.modulus(lowest), edge);
}

template<class Exec>
KOKKOS_INLINE_FUNCTION void find_voxel_nodes(const VoxelGrid<Exec>& grid, const Site& s, int lowest,
                                             int (&node)[8]) {
  node[0] = lowest;
  for (int v = 1; v < 8; ++v)
    node[v] = grid.find(s.x + (v & 1), s.y + (v >> 1 & 1), s.z + (v >> 2));
}

/// The modes of x [3 num_nodes] in a voxel.
template<class Vector>
KOKKOS_INLINE_FUNCTION void load_modes(const int (&node)[8], const Vector& x, double (&modes)[24]) {
  for (int v = 0; v < 8; ++v)
    for (int c = 0; c < 3; ++c)
      modes[3 * v + c] = double(x(3 * std::int64_t(node[v]) + c));
  for (int c = 0; c < 3; ++c)
    transform_vertices(modes + c);
}

template<class Exec>
KOKKOS_INLINE_FUNCTION PlasticVoxel load_plastic(const PlasticState<Exec>& state, int lowest) {
  PlasticVoxel plastic{};
  if (!(state.flag(lowest) & has_flown))
    return plastic;
  for (int i = 0; i < 6; ++i)
    plastic.strain[i] = double(state.value(lowest, i));
  for (int k = 0; k < num_higher_modes; ++k)
    plastic.mode[k] = double(state.value(lowest, 6 + k));
  plastic.multiplier = double(state.value(lowest, 6 + num_higher_modes));
  return plastic;
}

/// y -= scale K (plastic strain) for one voxel.
template<class Vector>
KOKKOS_INLINE_FUNCTION void
subtract_plastic_force(const VoxelYield& voxel, const int (&node)[8], const double (&strain)[6],
                       const double (&mode)[num_higher_modes], double scale, const Vector& y) {
  double force[24];
  plastic_modes(strain, mode, voxel.edge, force);
  apply_mode_stiffness(voxel.edge * voxel.lambda, voxel.edge * voxel.mu, force);
  for (int c = 0; c < 3; ++c)
    transform_modes(force + c);
  for (int v = 0; v < 8; ++v)
    for (int c = 0; c < 3; ++c)
      y(3 * std::int64_t(node[v]) + c) -= typename Vector::value_type(scale * force[3 * v + c]);
}

template<class Exec>
struct SubtractPlasticForces {
  PlasticVoxels<Exec> voxels;
  PlasticState<Exec> state;
  Array<double, Exec> u, y;

  KOKKOS_FUNCTION void operator()(int lowest, const Site& site) const {
    if (!voxels.lame.solid(lowest) || state.flag(lowest) & never_yields)
      return;
    const VoxelYield voxel = yield_of(voxels.lame, voxels.cone, voxels.edge, lowest);
    int node[8];
    double modes[24];
    find_voxel_nodes(voxels.grid, site, lowest, node);
    load_modes(node, u, modes);
    PlasticVoxel plastic = load_plastic(state, lowest);
    const VoxelTrial trial(voxel, modes, plastic);
    const bool yields = trial.yield > 0;
    const int kept = state.flag(lowest) & has_flown;
    state.flag(lowest) = std::uint8_t(kept | (yields ? flows : 0));
    if (yields)
      VoxelReturn(voxel, trial).add_to(trial, plastic);
    if (yields || kept != 0)
      subtract_plastic_force(voxel, node, plastic.strain, plastic.mode, 1, y);
  }
};

template<class Exec, class Scalar>
struct SubtractPlasticTangent {
  PlasticVoxels<Exec> voxels;
  PlasticState<Exec> state;
  Array<double, Exec> u;
  double scale;
  Array<Scalar, Exec> x, y;

  KOKKOS_FUNCTION void operator()(int lowest, const Site& site) const {
    if (!(state.flag(lowest) & flows))
      return;
    const VoxelYield voxel = yield_of(voxels.lame, voxels.cone, voxels.edge, lowest);
    int node[8];
    double modes[24], strain[6], mode[num_higher_modes];
    find_voxel_nodes(voxels.grid, site, lowest, node);
    load_modes(node, u, modes);
    const VoxelTrial trial(voxel, modes, load_plastic(state, lowest));
    if (!(trial.yield > 0))
      return;
    load_modes(node, x, modes);
    VoxelReturn(voxel, trial).differentiate(voxel, trial, modes, strain, mode);
    subtract_plastic_force(voxel, node, strain, mode, scale, y);
  }
};

/// Twice the elastic energy of what is not plastic: density of the mean, and of the higher modes.
KOKKOS_INLINE_FUNCTION double elastic_product(const VoxelYield& voxel, const double (&stress)[6],
                                              const double (&strain)[6],
                                              const double (&force)[num_higher_modes],
                                              const double (&mode)[num_higher_modes]) {
  double mean = 0, higher = 0;
  for (int i = 0; i < 6; ++i)
    mean += stress[i] * strain[i];
  for (int k = 0; k < num_higher_modes; ++k)
    higher += force[k] * mode[k];
  return voxel.volume() * mean + higher;
}

/// Elastic strain and stress of a voxel.
struct VoxelStress {
  double strain[6], mode[num_higher_modes], stress[6], force[num_higher_modes];

  KOKKOS_INLINE_FUNCTION VoxelStress(const VoxelYield& voxel, const double (&modes)[24],
                                     const PlasticVoxel& plastic) {
    mean_strain(modes, voxel.edge, strain);
    for (int i = 0; i < 6; ++i)
      strain[i] -= plastic.strain[i];
    for (int k = 0; k < num_higher_modes; ++k)
      mode[k] = modes[higher_mode(k)] - plastic.mode[k];
    mean_stress_of(voxel, strain, stress);
    stress_modes(voxel, mode, force);
  }
};

/// Advances the state of a voxel, and adds elastic energy, plastic work, whether it has flown, and
/// its multiplier.
template<class Exec>
struct CommitPlastic {
  PlasticVoxels<Exec> voxels;
  PlasticState<Exec> state;
  Array<double, Exec> before, u;

  KOKKOS_FUNCTION void store(int lowest, const PlasticVoxel& plastic) const {
    for (int i = 0; i < 6; ++i)
      state.value(lowest, i) = float(plastic.strain[i]);
    for (int k = 0; k < num_higher_modes; ++k)
      state.value(lowest, 6 + k) = float(plastic.mode[k]);
    state.value(lowest, 6 + num_higher_modes) = float(plastic.multiplier);
    state.flag(lowest) = has_flown | flows;
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i, double* sum) const {
    const int lowest = int(i);
    if (!voxels.lame.solid(lowest))
      return;
    const VoxelYield voxel = yield_of(voxels.lame, voxels.cone, voxels.edge, lowest);
    int node[8];
    double modes[24];
    find_voxel_nodes(voxels.grid, voxels.grid.site(lowest), lowest, node);
    load_modes(node, u, modes);
    const PlasticVoxel old = load_plastic(state, lowest);
    const VoxelTrial trial(voxel, modes, old);
    PlasticVoxel plastic = old;
    const bool yields = trial.yield > 0 && !(state.flag(lowest) & never_yields);
    if (yields) {
      VoxelReturn(voxel, trial).add_to(trial, plastic);
      store(lowest, plastic);
      plastic = load_plastic(state, lowest); // as it is kept
    }
    const VoxelStress now(voxel, modes, plastic);
    sum[0] += 0.5 * elastic_product(voxel, now.stress, now.strain, now.force, now.mode);
    if (yields) {
      load_modes(node, before, modes);
      VoxelStress mean(voxel, modes, old);
      double strain[6], mode[num_higher_modes];
      for (int k = 0; k < 6; ++k) {
        mean.stress[k] = 0.5 * (mean.stress[k] + now.stress[k]);
        strain[k] = plastic.strain[k] - old.strain[k];
      }
      for (int k = 0; k < num_higher_modes; ++k) {
        mean.force[k] = 0.5 * (mean.force[k] + now.force[k]);
        mode[k] = plastic.mode[k] - old.mode[k];
      }
      sum[1] += elastic_product(voxel, mean.stress, strain, mean.force, mode);
    }
    sum[2] += state.flag(lowest) & has_flown ? 1 : 0;
    sum[3] += plastic.multiplier;
  }
};

template<class Exec>
struct ComputePlasticFields {
  PlasticVoxels<Exec> voxels;
  PlasticState<Exec> state;
  Array<double, Exec> u;
  FieldArrays<Exec> out;
  Array<float, Exec> plastic_strain;

  /// Adds the voxel's elastic energy in N mm.
  KOKKOS_FUNCTION void operator()(std::int64_t e, double* energy) const {
    const int lowest = out.element(e);
    const VoxelYield voxel = yield_of(voxels.lame, voxels.cone, voxels.edge, lowest);
    int node[8];
    double modes[24], strain[6];
    find_voxel_nodes(voxels.grid, voxels.grid.site(lowest), lowest, node);
    load_modes(node, u, modes);
    const PlasticVoxel plastic = load_plastic(state, lowest);
    const VoxelStress now(voxel, modes, plastic);
    *energy += 0.5 * elastic_product(voxel, now.stress, now.strain, now.force, now.mode);
    double density = 0, shear = 0;
    for (int i = 0; i < 6; ++i)
      density += 0.5 * now.stress[i] * now.strain[i];
    for (int i = 3; i < 6; ++i)
      shear += now.stress[i] * now.stress[i];
    const double a = now.stress[0] - now.stress[1], b = now.stress[1] - now.stress[2],
                 c = now.stress[2] - now.stress[0];
    out.energy_density(e) = float(density);
    out.effective_strain(e) = float(std::sqrt(2 * density / voxels.lame.modulus(lowest)));
    out.von_mises(e) = float(std::sqrt(0.5 * (a * a + b * b + c * c) + 3 * shear));
    plastic_strain(e) = float((1 - voxels.cone.pressure) * plastic.multiplier);
    mean_strain(modes, voxels.edge, strain);
    for (int i = 0; i < 6; ++i) {
      out.strain(6 * e + i) = float(strain[i]);
      out.stress(6 * e + i) = float(now.stress[i]);
    }
  }
};

} // namespace detail

/// y -= the forces of plastic strain at u [3 num_nodes], with y = K u before: the internal forces
/// of the voxels, whose state is of the last load. Notes which voxels flow. y may not alias u. Does
/// not fence.
template<class Exec>
void subtract_plastic_forces(const Exec& exec, const PlasticVoxels<Exec>& voxels,
                             const PlasticState<Exec>& state, const Array<double, Exec>& u,
                             const Array<double, Exec>& y) {
  for_each_lowest_corner(exec, "ossatura::subtract_plastic_forces", voxels.grid, voxels.colours,
                         detail::SubtractPlasticForces<Exec>{voxels, state, u, y});
}

/// y -= scale (K - K_t) x, with K_t the consistent tangent at u, where subtract_plastic_forces was
/// last: y = K x becomes the product with (1 - scale) K + scale K_t, which is positive definite
/// where K_t alone is not. y may not alias x or u. Does not fence.
template<class Scalar, class Exec>
void subtract_plastic_tangent(const Exec& exec, const PlasticVoxels<Exec>& voxels,
                              const PlasticState<Exec>& state, const Array<double, Exec>& u,
                              double scale, const Array<Scalar, Exec>& x,
                              const Array<Scalar, Exec>& y) {
  for_each_lowest_corner(
      exec, "ossatura::subtract_plastic_tangent", voxels.grid, voxels.colours,
      detail::SubtractPlasticTangent<Exec, Scalar>{voxels, state, u, scale, x, y});
}

/// Sums over the voxels after a load.
struct PlasticSums {
  double elastic_energy; ///< N mm
  double work;           ///< plastic, of this load: mean of the stresses before and after, N mm
  double num_plastic;    ///< voxels that have plastic strain
  double multiplier;     ///< sum of gamma
};

/// Makes u the last load: its plastic strain is kept. `before` is that of the load before. Fences.
template<class Exec>
PlasticSums commit_plastic(const Exec& exec, const SharedEntries& nodes,
                           const PlasticVoxels<Exec>& voxels, const PlasticState<Exec>& state,
                           const Array<double, Exec>& before, const Array<double, Exec>& u) {
  const auto sum =
      sum_in_groups<4>(exec, nodes, detail::CommitPlastic<Exec>{voxels, state, before, u});
  return {sum[0], sum[1], sum[2], sum[3]};
}

/// As compute_voxel_fields at the centre, of the stress that is left, and its elastic energy; with
/// strain and stress, and `plastic_strain` [num_elem]: (1 - a) gamma, which in uniaxial compression
/// is the plastic part of the strain. `energy` is set to the elastic energy in N mm. Fences.
template<class Exec>
VoxelFields<Exec> compute_plastic_fields(const Exec& exec, const SharedEntries& nodes,
                                         const PlasticVoxels<Exec>& voxels,
                                         const PlasticState<Exec>& state,
                                         const Array<double, Exec>& u, double& energy) {
  VoxelFields<Exec> fields;
  fields.element = list_elements(exec, voxels.grid, voxels.lame.mu_value);
  fields.elements = share_elements(exec, nodes, fields.element);
  const std::int64_t n = fields.elements.count();
  const auto make = [&](std::int64_t size) {
    return make_uninitialized<float>(exec, size, "ossatura::plastic_fields");
  };
  fields.energy_density = make(n);
  fields.von_mises = make(n);
  fields.effective_strain = make(n);
  fields.plastic_strain = make(n);
  fields.strain = make(6 * n);
  fields.stress = make(6 * n);
  const detail::FieldArrays<Exec> out{fields.element,   fields.strain,
                                      fields.stress,    fields.energy_density,
                                      fields.von_mises, fields.effective_strain};
  energy = sum_in_groups<1>(
      exec, fields.elements,
      detail::ComputePlasticFields<Exec>{voxels, state, u, out, fields.plastic_strain})[0];
  return fields;
}

} // namespace ossatura
