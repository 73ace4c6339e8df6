// SPDX-License-Identifier: Apache-2.0
// Lists of the voxels of fields: their moduli, and where they are in the image.
#pragma once

#include <ossatura/kernels/bone/fields.hpp>

#include <cstdint>

namespace ossatura {

namespace detail {

template<class Exec>
struct ListModuli {
  LameField<Exec> lame;
  Array<int, Exec> element;
  Array<double, Exec> modulus;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const { modulus(e) = lame.modulus(element(e)); }
};

template<class Exec>
struct PlaceVoxels {
  VoxelGrid<Exec> grid;
  Array<int, Exec> element;
  std::int64_t nx, ny;
  Array<std::int64_t, Exec> voxel;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    const Site s = grid.site(element(e));
    voxel(e) = s.x + nx * (s.y + ny * std::int64_t(s.z));
  }
};

} // namespace detail

/// Young's moduli (MPa) of the voxels with the lowest nodes `element`. Does not fence.
template<class Exec>
Array<double, Exec> list_moduli(const Exec& exec, const LameField<Exec>& lame,
                                const Array<int, Exec>& element) {
  const auto modulus =
      make_uninitialized<double>(exec, element.extent(0), "ossatura::bone::modulus");
  Kokkos::parallel_for("ossatura::bone::list_moduli", range(exec, element.extent(0)),
                       detail::ListModuli<Exec>{lame, element, modulus});
  return modulus;
}

/// The numbers x + nx (y + ny z) in the whole image of these voxels. Does not fence.
template<class Exec>
Array<std::int64_t, Exec> place_voxels(const Exec& exec, const VoxelGrid<Exec>& grid,
                                       const Array<int, Exec>& element, int nx, int ny) {
  const auto voxel =
      make_uninitialized<std::int64_t>(exec, element.extent(0), "ossatura::bone::voxel");
  Kokkos::parallel_for("ossatura::bone::place_voxels", range(exec, element.extent(0)),
                       detail::PlaceVoxels<Exec>{grid, element, nx, ny, voxel});
  return voxel;
}

} // namespace ossatura
