// SPDX-License-Identifier: Apache-2.0
// Caps are what a specimen without flat ends is potted in for a test: a layer of another material
// at each end that ends in a plane, and fills what is between that plane and the surface of the
// bone as it is seen along the axis.
#pragma once

#include <ossatura/kernels/bone/loads/column_ends.hpp>

namespace ossatura {

/// A cap: on the columns of voxels whose last voxel of bone ends in [first, last], coordinates of
/// faces along the axis.
struct CapEnd {
  bool is_there = false;
  int plane = 0; ///< coordinate of its outer face
  int first = 0, last = 0;
  float modulus = 0, poisson = 0;
};

/// The places of the caps of an image.
template<class Exec>
struct Caps {
  ColumnEnds<Exec> ends; ///< of the bone
  int shift = 0;         ///< of coordinates along the axis in the image, against those of `ends`
  CapEnd lower, upper;   ///< in coordinates of the image

  /// 0: no cap; 1, 2: the lower one, the upper one.
  KOKKOS_FUNCTION int at(int x, int y, int z) const {
    const int voxel[3] = {x, y, z};
    const std::int64_t column = ends.column(voxel);
    if (column < 0 || ends.upper(column) < 0)
      return 0;
    const int place = voxel[ends.axis], begin = ends.lower(column) + shift,
              end = ends.upper(column) + shift;
    if (lower.is_there && begin >= lower.first && begin <= lower.last)
      if (place >= lower.plane && place < begin)
        return 1;
    if (upper.is_there && end >= upper.first && end <= upper.last)
      if (place >= end && place < upper.plane)
        return 2;
    return 0;
  }
};

namespace detail {

template<class Exec>
struct FillCaps {
  Caps<Exec> caps;
  VoxelArray<Exec> modulus;
  Array<float, Exec> poisson; ///< or empty

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t row = i / modulus.shape[0];
    const int which = caps.at(int(i - row * modulus.shape[0]), int(row % modulus.shape[1]),
                              modulus.first_plane + int(row / modulus.shape[1]));
    if (which == 0)
      return;
    const CapEnd& cap = which == 1 ? caps.lower : caps.upper;
    modulus.value(i) = cap.modulus;
    if (poisson.extent(0) > 0)
      poisson(i) = cap.poisson;
  }
};

} // namespace detail

/// Sets the voxels of the caps in an image of moduli and, where it is not empty, that of Poisson's
/// ratios, of which this process has the same planes. Does not fence.
template<class Exec>
void fill_caps(const Exec& exec, const Caps<Exec>& caps, const VoxelArray<Exec>& modulus,
               const Array<float, Exec>& poisson) {
  Kokkos::parallel_for("ossatura::fill_caps", range(exec, modulus.num_voxels()),
                       detail::FillCaps<Exec>{caps, modulus, poisson});
}

} // namespace ossatura
