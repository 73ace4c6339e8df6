// SPDX-License-Identifier: Apache-2.0
// Turning takes an image to one whose axes stand at an angle to its own, in one interpolation, so
// that a bone stands along the axis that loads it.
#pragma once

#include <ossatura/core/base/rotation.hpp>
#include <ossatura/kernels/image/resample.hpp>

namespace ossatura {

/// The voxels of a turned image in the image that it is made of: cubes whose box holds the turned
/// box of the old image, around the same centre.
struct TurnedGrid {
  Kokkos::Array<int, 3> shape{};     ///< voxels of the new image along its axes
  Kokkos::Array<int, 3> old_shape{}; ///< and of the old one
  /// step[3 d + i]: old voxels along d for a voxel along the axis i of the new image.
  Kokkos::Array<double, 9> step{};
  int samples =
      1; ///< of each new voxel along an axis: more than one where it is larger than an old

  /// Where a point of the new image, in its voxels from its lower corner, is in the old image along
  /// d: 0 at the centre of the first voxel. Exact for turns by right angles between equal edges.
  KOKKOS_FUNCTION double place(int d, double x, double y, double z) const {
    return step[3 * d] * (x - 0.5 * shape[0]) + step[3 * d + 1] * (y - 0.5 * shape[1]) +
           step[3 * d + 2] * (z - 0.5 * shape[2]) + (0.5 * old_shape[d] - 0.5);
  }
  /// Whether the centre of a new voxel lies in the old image.
  KOKKOS_FUNCTION bool covers(int x, int y, int z) const {
    for (int d = 0; d < 3; ++d) {
      const double at = place(d, x + 0.5, y + 0.5, z + 0.5);
      if (!(at >= -0.5 && at <= old_shape[d] - 0.5))
        return false;
    }
    return true;
  }
};

/// The grid of an image of boxes with these edges (mm), turned by `rotation` about its centre, when
/// its voxels are cubes of `edge`. Each extent is at least 1 and at most 1e9: the caller has its
/// own limits.
inline TurnedGrid make_turned_grid(const Kokkos::Array<int, 3>& shape,
                                   const std::array<double, 3>& edges, double edge,
                                   const Rotation& rotation) {
  TurnedGrid grid;
  grid.old_shape = shape;
  double finest = edge;
  for (int i = 0; i < 3; ++i) {
    double extent = 0;
    for (int d = 0; d < 3; ++d) {
      const double along = rotation[std::size_t(3 * i + d)], old_edge = edges[std::size_t(d)];
      extent += std::abs(along) * shape[d] * old_edge;
      grid.step[3 * d + i] = along * (edge / old_edge);
      finest = std::min(finest, old_edge);
    }
    const double cubes = extent / edge;
    grid.shape[i] = int(std::clamp(std::ceil(cubes * (1 - detail::edge_rounding)), 1.0, 1e9));
  }
  grid.samples = int(std::clamp(std::ceil(edge / finest - 1e-3), 1.0, 64.0));
  return grid;
}

namespace detail {

template<class Exec>
struct TurnVoxels {
  TurnedGrid grid;
  VoxelArray<Exec> from, to;
  bool nearest;

  /// Within the centres of the outermost old voxels.
  KOKKOS_FUNCTION double place_within(int d, double x, double y, double z) const {
    const double at = grid.place(d, x, y, z), last = from.shape[d] - 1;
    return at < 0 ? 0 : at > last ? last : at;
  }

  /// Halves up, as resample() does.
  KOKKOS_FUNCTION static int rounded(double at, int count) {
    const int nearest = int(Kokkos::floor(at + edge_rounding * count + 0.5));
    return nearest < count ? nearest : count - 1;
  }

  KOKKOS_FUNCTION float nearest_value(double x, double y, double z) const {
    int at[3];
    for (int d = 0; d < 3; ++d)
      at[d] = rounded(place_within(d, x, y, z), from.shape[d]);
    return from.value(from.index(at[0], at[1], at[2]));
  }

  /// Linear between the centres of old voxels.
  KOKKOS_FUNCTION double linear_value(double x, double y, double z) const {
    int low[3];
    double part[3];
    for (int d = 0; d < 3; ++d) {
      const int last = from.shape[d] - 1;
      const double at = place_within(d, x, y, z);
      low[d] = int(at) < last ? int(at) : (last > 0 ? last - 1 : 0);
      part[d] = at - low[d];
    }
    double sum = 0;
    for (int corner = 0; corner < 8; ++corner) {
      double weight = 1;
      int at[3];
      for (int d = 0; d < 3; ++d) {
        const int upper = corner >> d & 1;
        weight *= upper ? part[d] : 1 - part[d];
        at[d] = low[d] + upper;
      }
      if (weight != 0) // else the voxel may not be there
        sum += weight * double(from.value(from.index(at[0], at[1], at[2])));
    }
    return sum;
  }

  KOKKOS_FUNCTION void operator()(std::int64_t voxel) const {
    const std::int64_t row = voxel / to.shape[0];
    const int x = int(voxel - row * to.shape[0]), y = int(row % to.shape[1]),
              z = int(row / to.shape[1]);
    if (nearest) {
      to.value(voxel) = nearest_value(x + 0.5, y + 0.5, z + 0.5);
      return;
    }
    const int n = grid.samples;
    double sum = 0;
    for (int c = 0; c < n; ++c)
      for (int b = 0; b < n; ++b)
        for (int a = 0; a < n; ++a)
          sum += linear_value(x + (a + 0.5) / n, y + (b + 0.5) / n, z + (c + 0.5) / n);
    to.value(voxel) = float(sum / (double(n) * n * n));
  }
};

template<class Exec>
struct ClearBeside {
  TurnedGrid grid;
  VoxelArray<Exec> image;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t row = i / image.shape[0];
    if (!grid.covers(int(i - row * image.shape[0]), int(row % image.shape[1]),
                     image.first_plane + int(row / image.shape[1])))
      image.value(i) = 0;
  }
};

} // namespace detail

/// An image, all planes of which are here, as one with the voxels of `grid`. Values are linear
/// between the centres of the old voxels, or the mean of samples^3 of these where new voxels are
/// larger; labels are those of the nearest voxel. Beside the old image they are those of its
/// outermost voxels, which every law for the image takes: clear_beside() is for what comes of them.
/// Sums are in double precision, in one order. Fences.
template<class Exec>
VoxelArray<Exec> turn_image(const Exec& exec, const VoxelArray<Exec>& image, const TurnedGrid& grid,
                            Resampling kind) {
  OSSATURA_REQUIRE(image.first_plane == 0 && image.planes().end == image.shape[2],
                   "only planes " << image.first_plane << " to " << image.planes().end << " of "
                                  << image.shape[2] << " are here");
  for (int d = 0; d < 3; ++d)
    OSSATURA_REQUIRE(image.shape[d] == grid.old_shape[d], "a grid of another image");
  const VoxelArray<Exec> to = make_voxel_array(exec, {grid.shape[0], grid.shape[1], grid.shape[2]});
  Kokkos::parallel_for("ossatura::turn_image", range(exec, to.num_voxels()),
                       detail::TurnVoxels<Exec>{grid, image, to, kind == Resampling::nearest});
  fence(exec, "ossatura::turn_image");
  return to;
}

/// Makes 0 of the voxels, or planes of them, of a turned image whose centres lie beside the old
/// one: nothing is known of them. Does not fence.
template<class Exec>
void clear_beside(const Exec& exec, const TurnedGrid& grid, const VoxelArray<Exec>& image) {
  Kokkos::parallel_for("ossatura::clear_beside", range(exec, image.num_voxels()),
                       detail::ClearBeside<Exec>{grid, image});
}

} // namespace ossatura
