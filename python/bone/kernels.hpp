// SPDX-License-Identifier: Apache-2.0
// These kernels check an image, and put what a grid numbers compactly onto the lattice of the
// image.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/bone/fields.hpp>

#include <limits>

namespace ossatura::python {

inline constexpr float largest_modulus = 1e30f; ///< MPa; squares of more overflow

template<class Exec>
struct FindBadModulus {
  Array<float, Exec> modulus;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& first) const {
    const bool is_good = modulus(i) >= 0 && modulus(i) <= largest_modulus; // NaN is not
    first = is_good || first < i ? first : i;
  }
};

/// The first modulus that is negative, too large or no number; -1 where there is none. Fences.
template<class Exec>
std::int64_t find_bad_modulus(const Exec& exec, const Array<float, Exec>& modulus) {
  std::int64_t first = 0;
  Kokkos::parallel_reduce("ossatura::python::find_bad_modulus", range(exec, modulus.extent(0)),
                          FindBadModulus<Exec>{modulus}, Kokkos::Min<std::int64_t>(first));
  return first < std::int64_t(modulus.extent(0)) ? first : -1;
}

template<class Exec>
struct ScatterNodes {
  VoxelGrid<Exec> grid;
  Array<double, Exec> value; ///< [3 num_nodes]
  Array<double, Exec> out;   ///< [nz + 1, ny + 1, nx + 1, 3]

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    const std::int64_t place =
        s.x + (grid.shape[0] + 1) * (s.y + std::int64_t(grid.shape[1] + 1) * s.z);
    for (int c = 0; c < 3; ++c)
      out(3 * place + c) = value(3 * node + c);
  }
};

/// The reverse; 0 at held components.
template<class Exec>
struct GatherFreeNodes {
  VoxelGrid<Exec> grid;
  Array<std::uint8_t, Exec> held; ///< [num_nodes] bits
  Array<double, Exec> in;         ///< [nz + 1, ny + 1, nx + 1, 3]
  Array<double, Exec> value;      ///< [3 num_nodes]

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    const std::int64_t place =
        s.x + (grid.shape[0] + 1) * (s.y + std::int64_t(grid.shape[1] + 1) * s.z);
    for (int c = 0; c < 3; ++c)
      value(3 * node + c) = held(node) >> c & 1 ? 0 : in(3 * place + c);
  }
};

/// Where a voxel, by its lowest node, is in an image [nz, ny, nx], which is that of the grid but
/// for a rim at its upper ends.
template<class Exec>
KOKKOS_FUNCTION std::int64_t place_of_voxel(const VoxelGrid<Exec>& grid,
                                            const Kokkos::Array<int, 3>& shape, int lowest) {
  const Site s = grid.site(lowest);
  return s.x + shape[0] * (s.y + std::int64_t(shape[1]) * s.z);
}

template<class Exec>
struct ScatterVoxels {
  VoxelGrid<Exec> grid;
  Array<int, Exec> element; ///< [num_elem] lowest node of each
  Array<float, Exec> value; ///< [num_elem, components]
  int components;
  Array<float, Exec> out; ///< [nz, ny, nx, components]

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    const std::int64_t place = place_of_voxel(grid, grid.shape, element(e));
    for (int c = 0; c < components; ++c)
      out(components * place + c) = value(components * e + c);
  }
};

template<class Exec>
struct ListFloatModuli {
  LameField<Exec> lame;
  Array<int, Exec> element; ///< [num_elem] lowest node of each
  Array<float, Exec> modulus;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    modulus(e) = float(lame.modulus(element(e)));
  }
};

/// Adds factor w_e' K_e u_e / E_e in double: what the modulus of each voxel has of w' K u.
template<class Exec>
struct ProductPerModulus {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  double edge, factor;
  Array<double, Exec> w, u; ///< [3 num_nodes]
  Array<int, Exec> element;
  Kokkos::Array<int, 3> shape; ///< of the image
  Array<double, Exec> out;     ///< [nz, ny, nx]

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    const int lowest = element(e);
    double left[24], product[24], sum = 0;
    ossatura::detail::load_voxel(grid, w, lowest, left);
    ossatura::detail::load_voxel(grid, u, lowest, product);
    apply_voxel_stiffness(edge * lame.lambda(lowest), edge * lame.mu(lowest), product);
    for (int i = 0; i < 24; ++i)
      sum += left[i] * product[i];
    out(place_of_voxel(grid, shape, lowest)) += factor * sum / lame.modulus(lowest);
  }
};

} // namespace ossatura::python
