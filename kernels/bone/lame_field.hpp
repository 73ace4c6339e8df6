// SPDX-License-Identifier: Apache-2.0
// A LameField holds Lame's constants of the voxels of a grid.
#pragma once

#include <ossatura/kernels/image/grid.hpp>

namespace ossatura {

/// Lame's constants of isotropic elasticity for Young's modulus 1.
struct LamePerModulus {
  double lambda, mu;
};
inline LamePerModulus lame_per_modulus(double poisson) {
  OSSATURA_REQUIRE(poisson > -1 && poisson < 0.5, "Poisson's ratio " << poisson);
  return {poisson / ((1 + poisson) * (1 - 2 * poisson)), 0.5 / (1 + poisson)};
}

/// Lame's constants in MPa of the voxel with lowest corner `node`: lambda(node), mu(node); zero
/// where the node is no voxel's lowest corner. With one Poisson ratio both come from one array of
/// moduli; with a ratio per voxel there are two arrays. The scales carry lambda(1, nu) and mu(1,
/// nu).
template<class Exec>
struct LameField {
  Array<float, Exec> lambda_value, mu_value; ///< [num_nodes]; mu_value > 0 marks a voxel
  double lambda_scale = 1, mu_scale = 1;

  KOKKOS_FUNCTION bool solid(int node) const { return mu_value(node) > 0; }
  KOKKOS_FUNCTION double lambda(int node) const { return lambda_scale * lambda_value(node); }
  KOKKOS_FUNCTION double mu(int node) const { return mu_scale * mu_value(node); }
  /// Young's modulus.
  KOKKOS_FUNCTION double modulus(int node) const {
    const double l = lambda(node), m = mu(node);
    return m * (3 * l + 2 * m) / (l + m);
  }
};

/// An image of isotropic voxels: either Young's moduli with one Poisson ratio (`second` is empty),
/// or lambda and mu (`first` and `second`). Void is where the last of them is 0.
template<class Exec>
struct MaterialImage {
  VoxelArray<Exec> first, second;
  double lambda_scale = 1, mu_scale = 1;

  bool uniform_poisson() const { return second.value.extent(0) == 0; }
  /// The image whose values are greater than 0 exactly at the solid voxels.
  const VoxelArray<Exec>& solid() const { return uniform_poisson() ? first : second; }
};

/// Young's moduli in MPa (0 = void) and one Poisson ratio. Keeps a reference to `modulus`.
template<class Exec>
MaterialImage<Exec> make_material(const VoxelArray<Exec>& modulus, double poisson) {
  const LamePerModulus lame = lame_per_modulus(poisson);
  return {modulus, {}, lame.lambda, lame.mu};
}

namespace detail {
template<class Exec>
struct ConvertToLame {
  Array<float, Exec> E;
  Array<float, Exec> nu;
  Array<float, Exec> lambda;
  Array<float, Exec> mu;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& count) const {
    const double e = E(i), v = nu(i);
    const bool solid = e > 0, valid = v > -1 && v < 0.5;
    count += solid && !valid;
    lambda(i) = solid && valid ? float(e * v / ((1 + v) * (1 - 2 * v))) : 0.0f;
    mu(i) = solid && valid ? float(e / (2 * (1 + v))) : 0.0f;
  }
};
} // namespace detail

/// Young's moduli in MPa (0 = void) and a Poisson ratio per voxel, in (-1, 0.5) at solid voxels.
template<class Exec>
MaterialImage<Exec> make_material(const Exec& exec, const VoxelArray<Exec>& modulus,
                                  const VoxelArray<Exec>& poisson) {
  const std::array<int, 3> shape{modulus.shape[0], modulus.shape[1], modulus.shape[2]};
  const ImagePlanes planes = modulus.planes();
  OSSATURA_REQUIRE(poisson.value.extent(0) == modulus.value.extent(0),
                   "images of modulus and Poisson ratio differ in size");
  MaterialImage<Exec> material{make_voxel_array(exec, shape, planes),
                               make_voxel_array(exec, shape, planes), 1, 1};
  const Array<float, Exec> E = modulus.value, nu = poisson.value, lambda = material.first.value,
                           mu = material.second.value;
  std::int64_t invalid = 0;
  Kokkos::parallel_reduce("ossatura::make_material", range(exec, modulus.num_voxels()),
                          detail::ConvertToLame<Exec>{E, nu, lambda, mu}, invalid);
  if (invalid > 0)
    fail<InputError>(invalid, " solid voxels have a Poisson ratio outside (-1, 0.5)");
  return material;
}

/// The constants of `material` at the voxels of `grid`. Does not fence.
template<class Exec>
LameField<Exec> make_lame_field(const Exec& exec, const VoxelGrid<Exec>& grid,
                                const MaterialImage<Exec>& material) {
  LameField<Exec> lame;
  lame.lambda_scale = material.lambda_scale;
  lame.mu_scale = material.mu_scale;
  lame.lambda_value = restrict_to_grid(exec, grid, material.first);
  lame.mu_value = material.uniform_poisson() ? lame.lambda_value
                                             : restrict_to_grid(exec, grid, material.second);
  return lame;
}

} // namespace ossatura
