// SPDX-License-Identifier: Apache-2.0
// An additive process builds a part in layers, and material needs material below it [1]. A voxel of
// blueprint density b is printed with
//   p = smin(b, B),   B = smax(p of the five voxels below: straight down and its four neighbours),
//   smin(b, B) = (b + B - sqrt((b - B)^2 + e) + sqrt(e)) / 2,   smax(p) = (sum p_j^P)^(1 / Q),
// P = 40, e = 1e-4, Q = P + log(5) / log(0.5); the first layer stands on the plate, p = b. Slopes
// of 45 degrees support themselves. smax of solid voxels is up to 5^(1 / Q) = 1.044, and p up
// to 1.005. [1] shifts the sum away from 0, where its root has no derivative; here powers are of
// p_j by the largest of them, which needs no shift.
//
// [1] M. Langelaar. An additive manufacturing filter for topology optimization of print-ready
//     designs. Struct. Multidiscip. Optim. 55 (2017) 871-883, doi:10.1007/s00158-016-1522-2.
#pragma once

#include <ossatura/core/mesh/design_role.hpp>
#include <ossatura/kernels/image/grid.hpp>

#include <cmath>

namespace ossatura {

inline constexpr int overhang_power = 40;                                   ///< P
inline constexpr double overhang_root = overhang_power - 2.321928094887362; ///< Q: log2(5) less
inline constexpr double overhang_smoothing = 1e-4;                          ///< e
/// Printed densities are at most 1 and this.
inline constexpr double overhang_excess = 5e-3;

/// Layers of the voxels of a grid. Vectors are [num_nodes].
template<class Exec>
struct PrintLayers {
  VoxelGrid<Exec> grid;
  Array<float, Exec> solid; ///< greater than 0 at voxels
  int axis = 2, sense = 1;  ///< layers grow so
  int first = 0, last = 0;  ///< places along the axis of the layer on the plate and of the last one
  /// By axis: the body goes on in mirror images beyond the lower, the upper end of the grid.
  Kokkos::Array<bool, 3> low_mirror{}, high_mirror{};

  KOKKOS_FUNCTION int num_layers() const { return sense * (last - first) + 1; }
  KOKKOS_FUNCTION std::int64_t layer_size() const {
    return std::int64_t(grid.shape[(axis + 1) % 3]) * grid.shape[(axis + 2) % 3];
  }
  /// -1 where there is none.
  KOKKOS_FUNCTION int voxel(int layer, int u, int v) const {
    if (layer < 0 || layer >= num_layers())
      return -1;
    int at[3];
    at[axis] = first + sense * layer;
    at[(axis + 1) % 3] = u;
    at[(axis + 2) % 3] = v;
    const int i = grid.find(at[0], at[1], at[2]);
    return i >= 0 && solid(i) > 0 ? i : -1;
  }
  KOKKOS_FUNCTION int column(std::int64_t item, int which) const {
    const int width = grid.shape[(axis + 1) % 3];
    return int(which == 0 ? item % width : item / width);
  }
  /// The place whose mirror image is one beyond an end, else x.
  KOKKOS_FUNCTION int image(int x, int across) const {
    if (x == -1 && low_mirror[across])
      return 0;
    return x == grid.shape[across] && high_mirror[across] ? x - 1 : x;
  }
  /// The place of (u, v), or of one of its four neighbours.
  KOKKOS_FUNCTION int neighbour_u(int k, int u) const {
    return image(k == 1 ? u - 1 : k == 2 ? u + 1 : u, (axis + 1) % 3);
  }
  KOKKOS_FUNCTION int neighbour_v(int k, int v) const {
    return image(k == 3 ? v - 1 : k == 4 ? v + 1 : v, (axis + 2) % 3);
  }
  /// Calls visit(voxel) for those of a layer at (u, v) and its four neighbours, images among them.
  template<class Visit>
  KOKKOS_FUNCTION void for_cross(int layer, int u, int v, const Visit& visit) const {
    for (int k = 0; k < 5; ++k) {
      const int i = voxel(layer, neighbour_u(k, u), neighbour_v(k, v));
      if (i >= 0)
        visit(i);
    }
  }
};

namespace detail {

KOKKOS_INLINE_FUNCTION double whole_power(double x, int n) {
  double result = 1;
  for (; n > 0; n /= 2, x *= x)
    if (n % 2 == 1)
      result *= x;
  return result;
}

/// smax and its derivatives P / Q (p / largest)^(P - 1) smax / (largest sum), of numbers that are
/// at least 0.
struct SmoothMaximum {
  double largest = 0, sum = 0; ///< sum of (p / largest)^P

  KOKKOS_FUNCTION double value() const {
    return largest > 0 ? exp((overhang_power * log(largest) + log(sum)) / overhang_root) : 0;
  }
  /// By p, with the value.
  KOKKOS_FUNCTION double slope(double p, double value) const {
    if (!(largest > 0))
      return 0;
    return overhang_power / overhang_root * whole_power(p / largest, overhang_power - 1) * value /
           (largest * sum);
  }
};

KOKKOS_INLINE_FUNCTION double smooth_minimum(double b, double support) {
  return 0.5 * (b + support - sqrt((b - support) * (b - support) + overhang_smoothing) +
                sqrt(overhang_smoothing));
}
/// By the first; that by the second is 1 less this.
KOKKOS_INLINE_FUNCTION double smooth_minimum_slope(double b, double support) {
  return 0.5 * (1 - (b - support) / sqrt((b - support) * (b - support) + overhang_smoothing));
}

template<class Exec>
struct PrintSupports {
  PrintLayers<Exec> layers;
  Array<double, Exec> printed;

  /// Of a voxel in this layer, by those below.
  KOKKOS_FUNCTION SmoothMaximum operator()(int layer, int u, int v) const {
    SmoothMaximum result;
    double p[5];
    int count = 0;
    layers.for_cross(layer - 1, u, v, [&](int i) {
      p[count] = printed(i);
      result.largest = p[count] > result.largest ? p[count] : result.largest;
      ++count;
    });
    for (int k = 0; k < count && result.largest > 0; ++k)
      result.sum += whole_power(p[k] / result.largest, overhang_power);
    return result;
  }
};

template<class Exec>
struct PrintLayer {
  PrintSupports<Exec> supports;
  Array<std::uint8_t, Exec> role;
  Array<double, Exec> blueprint;
  int layer;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const PrintLayers<Exec>& layers = supports.layers;
    const int u = layers.column(item, 0), v = layers.column(item, 1);
    const int i = layers.voxel(layer, u, v);
    if (i < 0)
      return;
    if (role(i) != std::uint8_t(DesignRole::free))
      supports.printed(i) = role(i) == std::uint8_t(DesignRole::solid) ? 1 : 0;
    else if (layer == 0)
      supports.printed(i) = blueprint(i);
    else
      supports.printed(i) = smooth_minimum(blueprint(i), supports(layer, u, v).value());
  }
};

/// Adds to the gradients of a layer those that come by the layer above it, which is complete.
template<class Exec>
struct SweepLayerBack {
  PrintSupports<Exec> supports;
  Array<std::uint8_t, Exec> role;
  Array<double, Exec> blueprint, gradient;
  int layer;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const PrintLayers<Exec>& layers = supports.layers;
    const int u = layers.column(item, 0), v = layers.column(item, 1);
    const int i = layers.voxel(layer, u, v);
    if (i < 0 || role(i) != std::uint8_t(DesignRole::free))
      return;
    double sum = gradient(i);
    for (int k = 0; k < 5; ++k) {
      const int above_u = layers.neighbour_u(k, u), above_v = layers.neighbour_v(k, v);
      const int above = layers.voxel(layer + 1, above_u, above_v);
      if (above < 0 || role(above) != std::uint8_t(DesignRole::free))
        continue;
      const SmoothMaximum support = supports(layer + 1, above_u, above_v);
      const double value = support.value();
      sum += gradient(above) * (1 - smooth_minimum_slope(blueprint(above), value)) *
             support.slope(supports.printed(i), value);
    }
    gradient(i) = sum;
  }
};

/// Makes complete gradients by printed densities those by the blueprint, above the first layer.
template<class Exec>
struct PrintBack {
  PrintSupports<Exec> supports;
  Array<std::uint8_t, Exec> role;
  Array<double, Exec> blueprint, gradient;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    const PrintLayers<Exec>& layers = supports.layers;
    const std::int64_t item = k % layers.layer_size();
    const int layer = 1 + int(k / layers.layer_size());
    const int u = layers.column(item, 0), v = layers.column(item, 1);
    const int i = layers.voxel(layer, u, v);
    if (i >= 0 && role(i) == std::uint8_t(DesignRole::free))
      gradient(i) *= smooth_minimum_slope(blueprint(i), supports(layer, u, v).value());
  }
};

template<class Exec>
struct CountHanging {
  PrintLayers<Exec> layers;
  Array<double, Exec> density;

  KOKKOS_FUNCTION void operator()(std::int64_t k, std::int64_t& count) const {
    const std::int64_t item = k % layers.layer_size();
    const int layer = 1 + int(k / layers.layer_size());
    const int u = layers.column(item, 0), v = layers.column(item, 1);
    const int i = layers.voxel(layer, u, v);
    if (i < 0 || !(density(i) >= 0.5))
      return;
    bool stands = false;
    layers.for_cross(layer - 1, u, v, [&](int below) { stands = stands || density(below) >= 0.5; });
    count += stands ? 0 : 1;
  }
};

/// Places along an axis where voxels are.
template<class Exec>
struct FindLayers {
  VoxelGrid<Exec> grid;
  Array<float, Exec> solid;
  int axis;
  KOKKOS_FUNCTION void operator()(std::int64_t i, Kokkos::MinMaxScalar<int>& range) const {
    if (!(solid(i) > 0))
      return;
    const Site s = grid.site(int(i));
    const int place = axis == 0 ? s.x : axis == 1 ? s.y : s.z;
    range.min_val = place < range.min_val ? place : range.min_val;
    range.max_val = place > range.max_val ? place : range.max_val;
  }
};

} // namespace detail

/// Of voxels where `solid` [num_nodes] is greater than 0; there is one. Layers grow along `axis`,
/// up for a `sense` of 1, down for -1; there are no mirrors. Fences.
template<class Exec>
PrintLayers<Exec> make_print_layers(const Exec& exec, const VoxelGrid<Exec>& grid,
                                    const Array<float, Exec>& solid, int axis, int sense) {
  Kokkos::MinMaxScalar<int> places;
  Kokkos::parallel_reduce("ossatura::find_layers", range(exec, grid.num_nodes),
                          detail::FindLayers<Exec>{grid, solid, axis}, Kokkos::MinMax<int>(places));
  const bool rises = sense > 0;
  return {grid,
          solid,
          axis,
          sense,
          rises ? places.min_val : places.max_val,
          rises ? places.max_val : places.min_val,
          {},
          {}};
}

/// printed(i) at voxels, layer by layer; must not alias the blueprint. Does not fence.
template<class Exec>
void print_layers(const Exec& exec, const PrintLayers<Exec>& layers,
                  const Array<std::uint8_t, Exec>& role, const Array<double, Exec>& blueprint,
                  const Array<double, Exec>& printed) {
  for (int layer = 0; layer < layers.num_layers(); ++layer)
    Kokkos::parallel_for("ossatura::print_layer", range(exec, layers.layer_size()),
                         detail::PrintLayer<Exec>{{layers, printed}, role, blueprint, layer});
}

/// Makes a gradient by printed densities, 0 where voxels are not free, one by the blueprint, in
/// place, from the last layer to the first. Does not fence.
template<class Exec>
void print_layers_back(const Exec& exec, const PrintLayers<Exec>& layers,
                       const Array<std::uint8_t, Exec>& role, const Array<double, Exec>& blueprint,
                       const Array<double, Exec>& printed, const Array<double, Exec>& gradient) {
  for (int layer = layers.num_layers() - 2; layer >= 0; --layer)
    Kokkos::parallel_for(
        "ossatura::sweep_layer_back", range(exec, layers.layer_size()),
        detail::SweepLayerBack<Exec>{{layers, printed}, role, blueprint, gradient, layer});
  Kokkos::parallel_for("ossatura::print_back",
                       range(exec, layers.layer_size() * (layers.num_layers() - 1)),
                       detail::PrintBack<Exec>{{layers, printed}, role, blueprint, gradient});
}

/// How many voxels above the first layer, of a density of a half or more, have none such of the
/// five below. Fences.
template<class Exec>
std::int64_t count_hanging(const Exec& exec, const PrintLayers<Exec>& layers,
                           const Array<double, Exec>& density) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce("ossatura::count_hanging",
                          range(exec, layers.layer_size() * (layers.num_layers() - 1)),
                          detail::CountHanging<Exec>{layers, density}, count);
  return count;
}

} // namespace ossatura
