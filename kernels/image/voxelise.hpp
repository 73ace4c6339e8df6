// SPDX-License-Identifier: Apache-2.0
// voxelise finds the voxels whose centres lie inside closed triangle surfaces.
//
// [1] K. Crane, I. Llamas, S. Tariq, "Real-time simulation and rendering of 3D fluids", GPU Gems 3
//     (2007), ch. 30 (inside and outside by crossings).
// [2] M. Schwarz, H.-P. Seidel, "Fast parallel surface and solid voxelization on GPUs", ACM Trans.
//     Graph. 29 (2010) 179. doi:10.1145/1882261.1866201 (an atomic operation per triangle and row).
//
// A ray along x goes through the voxel centres of every (y, z). Each triangle is rasterised in the
// (y, z) plane, and each ray that meets it counts, at the first voxel centre at or behind the
// crossing, 1 where it enters the body and -1 where it leaves. The sum along the ray is the winding
// number: how many shells a centre is in. Shells that overlap are united; one that faces inward
// within another is a cavity.
//
// Vertices are rounded to 2^-16 of a voxel, and all that follows is integer arithmetic, with the
// interval rule [lower, upper) on every axis. Where an edge crosses a line of centres z = const is
// an exact rational number of the edge alone, so the triangles at an edge agree on it: the
// crossings of a row add up to nothing for every closed surface, also with rays through edges and
// vertices. The counts are small integers, which single precision adds exactly: the image is
// bitwise the same on every backend and for every order of the triangles.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/image/array.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace ossatura {

/// A surface in the memory of a backend.
template<class Exec>
struct DeviceSurface {
  using Memory = typename Exec::memory_space;
  Kokkos::View<double* [3], Kokkos::LayoutRight, Memory> vertex; ///< in mm
  Kokkos::View<int* [3], Kokkos::LayoutRight, Memory> triangle;  ///< vertex numbers
};

/// Where voxels are. What of a surface is beyond them, by a voxel at most, does not count.
struct VoxeliseLattice {
  std::array<double, 3> origin{}; ///< lower corner of voxel (0, 0, 0) in the unit of the surface
  std::array<int, 3> shape{};     ///< voxels along x, y, z
};

struct VoxeliseOptions {
  double spacing = 1; ///< edge of a voxel in the unit of the surface (mm)
  int margin = 0;     ///< void layers around the bounding box of the surface
  float value = 1;    ///< of the voxels inside
  /// In the place of one that begins at the bounding box and its margin.
  std::optional<VoxeliseLattice> lattice{};
};

template<class Exec>
struct VoxelisedSurface {
  VoxelArray<Exec> image;           ///< options.value inside, 0 outside
  std::array<double, 3> origin;     ///< lower corner of voxel (0, 0, 0) in the unit of the surface
  std::int64_t num_overlapping = 0; ///< voxels in more than one shell, which count once
  std::int64_t num_reversed = 0;    ///< voxels in folds that face the other way, which are void
};

namespace detail {

constexpr int fixed_bits = 16; ///< a voxel is 2^16 units
constexpr std::int64_t fixed_half = std::int64_t(1) << (fixed_bits - 1);
constexpr int max_voxelised_extent = 1 << 14; ///< products of two lengths stay below 2^62

/// ceil(a / b) for b > 0.
KOKKOS_INLINE_FUNCTION std::int64_t ceil_divide(std::int64_t a, std::int64_t b) {
  return a > 0 ? (a - 1) / b + 1 : -(-a / b);
}

/// a / b to the nearest integer for b > 0, halves up.
KOKKOS_INLINE_FUNCTION std::int64_t round_divide(std::int64_t a, std::int64_t b) {
  return ceil_divide(2 * a - b + 1, 2 * b);
}

/// The first voxel of an axis whose centre is at or above `position`, within 0 .. n.
KOKKOS_INLINE_FUNCTION int first_centre(std::int64_t position, int n) {
  const std::int64_t i = (position + fixed_half - 1) >> fixed_bits;
  return i < 0 ? 0 : i > n ? n : int(i);
}

/// The corners of a triangle in fixed point, [corner][axis].
struct FixedTriangle {
  std::int64_t corner[3][3];
};

/// Where an edge crosses a plane z = const.
struct EdgeCrossing {
  int first_row;  ///< the first (y) centre at or above the crossing
  std::int64_t y; ///< rounded, for the interpolation of x only
  std::int64_t x;
};

/// The crossings of the two edges of the triangle that pass z in the sense of [lower, upper); false
/// if there are none.
KOKKOS_INLINE_FUNCTION bool cross_plane(const FixedTriangle& triangle, std::int64_t z, int ny,
                                        EdgeCrossing (&crossing)[2]) {
  int found = 0;
  for (int e = 0; e < 3; ++e) {
    const std::int64_t* a = triangle.corner[e];
    const std::int64_t* b = triangle.corner[e == 2 ? 0 : e + 1];
    if ((a[2] > z) == (b[2] > z))
      continue;
    if (a[2] > b[2]) {
      const std::int64_t* swap = a;
      a = b;
      b = swap;
    }
    const std::int64_t height = b[2] - a[2];
    const std::int64_t rise_y = (z - a[2]) * (b[1] - a[1]);
    const std::int64_t rise_x = (z - a[2]) * (b[0] - a[0]);
    crossing[found].first_row = first_centre(a[1] + ceil_divide(rise_y, height), ny);
    crossing[found].y = a[1] + round_divide(rise_y, height);
    crossing[found].x = a[0] + round_divide(rise_x, height);
    ++found;
  }
  return found == 2;
}

/// x between two crossings at `y`, never outside of theirs.
KOKKOS_INLINE_FUNCTION std::int64_t cross_between(const EdgeCrossing& a, const EdgeCrossing& b,
                                                  std::int64_t y) {
  if (y <= a.y || a.y == b.y)
    return a.x;
  if (y >= b.y)
    return b.x;
  return a.x + round_divide((y - a.y) * (b.x - a.x), b.y - a.y);
}

/// Whether a ray along x enters the body through this triangle, by its projection to (y, z).
KOKKOS_INLINE_FUNCTION bool enters(const FixedTriangle& t) {
  const std::int64_t* a = t.corner[0];
  const std::int64_t* b = t.corner[1];
  const std::int64_t* c = t.corner[2];
  return (b[1] - a[1]) * (c[2] - a[2]) < (b[2] - a[2]) * (c[1] - a[1]);
}

/// The surface on the voxel lattice.
template<class Exec>
struct FixedSurface {
  DeviceSurface<Exec> surface;
  Kokkos::Array<double, 3> origin;
  double spacing;
  Kokkos::Array<int, 3> shape;

  KOKKOS_FUNCTION FixedTriangle triangle(std::int64_t t) const {
    FixedTriangle fixed;
    for (int c = 0; c < 3; ++c)
      for (int d = 0; d < 3; ++d) {
        const double voxels = (surface.vertex(surface.triangle(t, c), d) - origin[d]) / spacing;
        // A product with a power of two is exact: a fused multiply-add changes nothing here.
        fixed.corner[c][d] = std::int64_t(floor(voxels * (2 * fixed_half) + 0.5));
      }
    return fixed;
  }
  /// The z layers of centres that a triangle may meet: [first, second).
  KOKKOS_FUNCTION Kokkos::Array<int, 2> layers(const FixedTriangle& fixed) const {
    std::int64_t low = fixed.corner[0][2];
    std::int64_t high = low;
    for (int c = 1; c < 3; ++c) {
      low = fixed.corner[c][2] < low ? fixed.corner[c][2] : low;
      high = fixed.corner[c][2] > high ? fixed.corner[c][2] : high;
    }
    return {first_centre(low, shape[2]), first_centre(high, shape[2])};
  }
};

template<class Exec>
struct SurfaceExtent {
  DeviceSurface<Exec> surface;
  KOKKOS_FUNCTION void operator()(std::int64_t i, double& x0, double& x1, double& y0, double& y1,
                                  double& z0, double& z1, std::int64_t& not_finite) const {
    const double x = surface.vertex(i, 0);
    const double y = surface.vertex(i, 1);
    const double z = surface.vertex(i, 2);
    not_finite += !(x - x == 0) || !(y - y == 0) || !(z - z == 0);
    x0 = Kokkos::min(x0, x);
    x1 = Kokkos::max(x1, x);
    y0 = Kokkos::min(y0, y);
    y1 = Kokkos::max(y1, y);
    z0 = Kokkos::min(z0, z);
    z1 = Kokkos::max(z1, z);
  }
};

template<class Exec>
struct CountBadTriangles {
  DeviceSurface<Exec> surface;
  KOKKOS_FUNCTION void operator()(std::int64_t t, std::int64_t& count) const {
    const int num_vertices = int(surface.vertex.extent(0));
    bool bad = false;
    for (int c = 0; c < 3; ++c)
      bad = bad || surface.triangle(t, c) < 0 || surface.triangle(t, c) >= num_vertices;
    count += bad;
  }
};

/// layer_begin(t) = z layers of the triangles before t.
template<class Exec>
struct ScanLayers {
  FixedSurface<Exec> fixed;
  Array<std::int64_t, Exec> layer_begin; ///< [num_triangles + 1]
  KOKKOS_FUNCTION void operator()(std::int64_t t, std::int64_t& sum, bool final) const {
    if (final)
      layer_begin(t) = sum;
    if (t + 1 < std::int64_t(layer_begin.extent(0))) {
      const Kokkos::Array<int, 2> layers = fixed.layers(fixed.triangle(t));
      sum += layers[1] - layers[0];
    }
  }
};

/// One z layer of one triangle: counts its crossing in every row of voxels that it crosses.
template<class Exec>
struct CountCrossings {
  FixedSurface<Exec> fixed;
  Array<std::int64_t, Exec> layer_begin;
  VoxelArray<Exec> image;    ///< crossings between a centre and the one before it
  Array<float, Exec> behind; ///< [nz * ny], those behind the last centre

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    std::int64_t t = 0; // the triangle: layer_begin(t) <= item < layer_begin(t + 1)
    for (std::int64_t end = std::int64_t(layer_begin.extent(0)) - 1; end - t > 1;) {
      const std::int64_t middle = t + (end - t) / 2;
      if (layer_begin(middle) <= item)
        t = middle;
      else
        end = middle;
    }
    const FixedTriangle triangle = fixed.triangle(t);
    const int z = fixed.layers(triangle)[0] + int(item - layer_begin(t));
    const int nx = fixed.shape[0], ny = fixed.shape[1];
    EdgeCrossing crossing[2];
    if (!cross_plane(triangle, (std::int64_t(z) << fixed_bits) + fixed_half, ny, crossing))
      return;
    const float sense = enters(triangle) ? 1.0f : -1.0f;
    const int low = crossing[0].first_row <= crossing[1].first_row ? 0 : 1;
    const EdgeCrossing& a = crossing[low];
    const EdgeCrossing& b = crossing[1 - low];
    for (int y = a.first_row; y < b.first_row; ++y) {
      const std::int64_t centre = (std::int64_t(y) << fixed_bits) + fixed_half;
      const int x = first_centre(cross_between(a, b, centre), nx);
      const std::int64_t row = std::int64_t(z) * ny + y;
      Kokkos::atomic_add(x < nx ? &image.value(row * nx + x) : &behind(row), sense);
    }
  }
};

/// Counts of centres by their winding number.
struct WindingCounts {
  std::int64_t outward = 0;     ///< centres in shells that face outward
  std::int64_t inward = 0;      ///< and in those that face inward
  std::int64_t overlapping = 0; ///< in more than one of a kind
  std::int64_t leaks = 0;       ///< rows whose crossings do not add up to nothing
  std::int64_t first_leak = 0;
};

/// Turns the crossings of a row into windings.
template<class Exec>
struct SumRows {
  VoxelArray<Exec> image;
  Array<float, Exec> behind;
  KOKKOS_FUNCTION void operator()(std::int64_t row, std::int64_t& outward, std::int64_t& inward,
                                  std::int64_t& overlapping, std::int64_t& leaks,
                                  std::int64_t& first_leak) const {
    float winding = 0;
    const std::int64_t nx = image.shape[0];
    for (std::int64_t i = row * nx; i < (row + 1) * nx; ++i) {
      winding += image.value(i);
      image.value(i) = winding;
      outward += winding > 0;
      inward += winding < 0;
      overlapping += winding > 1 || winding < -1;
    }
    if (winding + behind(row) != 0) {
      ++leaks;
      first_leak = Kokkos::min(first_leak, row);
    }
  }
};

template<class Exec>
struct PaintInside {
  float sense; ///< of the windings inside
  float value;
  VoxelArray<Exec> image;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    image.value(i) = sense * image.value(i) > 0 ? value : 0.0f;
  }
};

/// The lattice of the options around the surface; checks both. Fences.
template<class Exec>
FixedSurface<Exec> fit_lattice(const Exec& exec, const DeviceSurface<Exec>& surface,
                               const VoxeliseOptions& options) {
  OSSATURA_REQUIRE(options.spacing > 0 && std::isfinite(options.spacing),
                   "voxels of edge " << options.spacing);
  OSSATURA_REQUIRE(options.margin >= 0, "margin of " << options.margin << " voxels");
  const std::int64_t num_triangles = surface.triangle.extent(0);
  if (num_triangles == 0)
    fail<InputError>("the surface has no triangles; there is nothing to voxelise");
  std::int64_t num_bad = 0;
  Kokkos::parallel_reduce("ossatura::voxelise::check", range(exec, num_triangles),
                          CountBadTriangles<Exec>{surface}, num_bad);
  if (num_bad > 0)
    fail<InputError>(num_bad, " triangles of the surface name vertices that do not exist (it has ",
                     surface.vertex.extent(0), ")");
  double lower[3];
  double upper[3];
  std::int64_t not_finite = 0;
  Kokkos::parallel_reduce("ossatura::voxelise::extent", range(exec, surface.vertex.extent(0)),
                          SurfaceExtent<Exec>{surface}, Kokkos::Min<double>(lower[0]),
                          Kokkos::Max<double>(upper[0]), Kokkos::Min<double>(lower[1]),
                          Kokkos::Max<double>(upper[1]), Kokkos::Min<double>(lower[2]),
                          Kokkos::Max<double>(upper[2]), Kokkos::Sum<std::int64_t>(not_finite));
  if (not_finite > 0)
    fail<InputError>(not_finite, " vertices of the surface are not finite");
  FixedSurface<Exec> fixed;
  fixed.surface = surface;
  fixed.spacing = options.spacing;
  for (int d = 0; d < 3; ++d) {
    if (options.lattice) {
      const int layers = options.lattice->shape[std::size_t(d)];
      OSSATURA_REQUIRE(layers > 0 && layers <= max_voxelised_extent,
                       layers << " voxels along axis " << d << ", of 1 to "
                              << max_voxelised_extent);
      fixed.shape[d] = layers;
      fixed.origin[d] = options.lattice->origin[std::size_t(d)];
      if (!(lower[d] >= fixed.origin[d] - options.spacing &&
            upper[d] <= fixed.origin[d] + (layers + 1) * options.spacing))
        fail<InputError>("the surface spans ", lower[d], " to ", upper[d], " along axis ", d,
                         ", which is beyond the voxels");
      continue;
    }
    // The last layer counts only if its centres lie in the box.
    const double layers = std::max(1.0, std::ceil((upper[d] - lower[d]) / options.spacing - 0.5)) +
                          2.0 * options.margin;
    if (!(layers <= max_voxelised_extent))
      fail<InputError>("voxels of edge ", options.spacing, " give ", layers, " of them along axis ",
                       d, "; at most ", max_voxelised_extent, " are possible");
    fixed.shape[d] = int(layers);
    fixed.origin[d] = lower[d] - options.margin * options.spacing;
  }
  return fixed;
}

} // namespace detail

/// Copies vertices (in mm) and triangles (vertex numbers) to the backend; fences.
template<class Exec>
DeviceSurface<Exec> upload_surface(const Exec& exec,
                                   const std::vector<std::array<double, 3>>& vertex,
                                   const std::vector<std::array<int, 3>>& triangle) {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  using HostVertices =
      Kokkos::View<const double* [3], Kokkos::LayoutRight, Kokkos::HostSpace, Unmanaged>;
  using HostTriangles =
      Kokkos::View<const int* [3], Kokkos::LayoutRight, Kokkos::HostSpace, Unmanaged>;
  static_assert(sizeof(std::array<double, 3>) == 3 * sizeof(double), "rows without padding");
  static_assert(sizeof(std::array<int, 3>) == 3 * sizeof(int), "rows without padding");
  DeviceSurface<Exec> surface;
  surface.vertex = decltype(surface.vertex)(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "ossatura::vertex"), vertex.size());
  surface.triangle = decltype(surface.triangle)(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "ossatura::triangle"), triangle.size());
  if (!vertex.empty())
    Kokkos::deep_copy(exec, surface.vertex, HostVertices(vertex.data()->data(), vertex.size()));
  if (!triangle.empty())
    Kokkos::deep_copy(exec, surface.triangle,
                      HostTriangles(triangle.data()->data(), triangle.size()));
  exec.fence();
  return surface;
}

/// Voxels of edge options.spacing, from the lower corner of the bounding box of the surface minus
/// the margin or those of options.lattice, with options.value where the centre is inside. A centre
/// on the surface counts as inside at the lower side of the body and outside at the upper one.
/// Closed shells that overlap are united, one within another that faces the other way is a cavity;
/// whether all face outward or all inward does not matter. Throws InputError for a surface that is
/// not closed, empty, not finite, of more than 16384 voxels along an axis, beyond options.lattice,
/// or where more than a thousandth of the voxels are in shells that face the wrong way. Fences to
/// find out, not after the last write.
template<class Exec>
VoxelisedSurface<Exec> voxelise(const Exec& exec, const DeviceSurface<Exec>& surface,
                                const VoxeliseOptions& options) {
  const detail::FixedSurface<Exec> fixed = detail::fit_lattice(exec, surface, options);
  VoxelisedSurface<Exec> result;
  result.origin = {fixed.origin[0], fixed.origin[1], fixed.origin[2]};
  result.image = make_voxel_array(exec, {fixed.shape[0], fixed.shape[1], fixed.shape[2]});

  const std::int64_t num_triangles = surface.triangle.extent(0);
  const Array<std::int64_t, Exec> layer_begin(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "ossatura::layer_begin"),
      num_triangles + 1);
  std::int64_t num_layers = 0;
  Kokkos::parallel_scan("ossatura::voxelise::layers", range(exec, num_triangles + 1),
                        detail::ScanLayers<Exec>{fixed, layer_begin}, num_layers);

  const std::int64_t num_rows = std::int64_t(fixed.shape[1]) * fixed.shape[2];
  const Array<float, Exec> behind(Kokkos::view_alloc(exec, "ossatura::crossings_behind"), num_rows);
  Kokkos::deep_copy(exec, result.image.value, 0.0f);
  Kokkos::parallel_for("ossatura::voxelise::count", range(exec, num_layers),
                       detail::CountCrossings<Exec>{fixed, layer_begin, result.image, behind});
  detail::WindingCounts found;
  Kokkos::parallel_reduce(
      "ossatura::voxelise::sum", range(exec, num_rows), detail::SumRows<Exec>{result.image, behind},
      Kokkos::Sum<std::int64_t>(found.outward), Kokkos::Sum<std::int64_t>(found.inward),
      Kokkos::Sum<std::int64_t>(found.overlapping), Kokkos::Sum<std::int64_t>(found.leaks),
      Kokkos::Min<std::int64_t>(found.first_leak));
  const std::int64_t leak_y = found.first_leak % fixed.shape[1],
                     leak_z = found.first_leak / fixed.shape[1];
  if (found.leaks > 0)
    fail<InputError>(
        "the surface is not closed, or its triangles are not oriented alike: ", found.leaks, " of ",
        num_rows,
        " rows of voxels along x do not enter it as often as they leave it, the first "
        "at y = ",
        result.origin[1] + (double(leak_y) + 0.5) * fixed.spacing,
        ", z = ", result.origin[2] + (double(leak_z) + 0.5) * fixed.spacing, "; close its holes");
  const std::int64_t most = std::max(found.outward, found.inward);
  result.num_reversed = std::min(found.outward, found.inward);
  result.num_overlapping = found.overlapping;
  if (result.num_reversed > most / 1000)
    fail<InputError>(
        "shells of the surface face different ways: ", found.outward,
        " voxels are in shells that face outward and ", found.inward,
        " in shells that face inward; let all bodies face outward and cavities inward");
  Kokkos::parallel_for("ossatura::voxelise::paint", range(exec, result.image.num_voxels()),
                       detail::PaintInside<Exec>{found.outward >= found.inward ? 1.0f : -1.0f,
                                                 options.value, result.image});
  return result;
}

} // namespace ossatura
