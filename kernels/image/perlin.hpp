// SPDX-License-Identifier: Apache-2.0
// Perlin noise makes synthetic bone as the intersection of two thresholded coherent-noise
// functions.
//
// [1] C. Flaig, P. Arbenz, "A highly scalable matrix-free multigrid solver for microFE analysis
//     based on a pointer-less octree", LSSC 2011, LNCS 7116. doi:10.1007/978-3-642-29843-1_56
// [2] K. Perlin, "Improving noise", ACM Trans. Graph. 21 (2002) 681-682. doi:10.1145/566654.566636
// [3] G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators",
//     OOPSLA 2014 (the mixing function). doi:10.1145/2660193.2660195
//
// The noise is evaluated in integers (24 fractional bits): there is no rounding that a fused
// multiply-add or another order of operations could change, so one seed gives bitwise the same
// image on every backend and with any number of threads.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/comm/communicator.hpp>
#include <ossatura/kernels/algebra/mix_bits.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/image/array.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace ossatura {

/// A synthetic bone; the domain is shape / feature cells of the noise lattice, so shape and feature
/// multiplied by the same factor give the same bone at another resolution.
struct PerlinOptions {
  std::array<int, 3> shape{64, 64, 64}; ///< nx, ny, nz
  double feature = 43;     ///< edge of a cell of the noise lattice in voxels, at least 1
  double threshold = 0.25; ///< solid where both |f1| and |f2| are below it
  double fraction = 0;     ///< if > 0, the wanted solid fraction; replaces `threshold`
  std::uint64_t seed = 0;
  float modulus = 1000; ///< of the solid, in MPa
};

template<class Exec>
struct PerlinBone {
  VoxelArray<Exec> modulus; ///< options.modulus or 0
  double threshold = 0;     ///< the one given or found
  std::int64_t num_solid = 0;
};

namespace detail {

constexpr int noise_bits = 24;
constexpr std::int32_t noise_one = 1 << noise_bits;
constexpr int num_gradients = 256;

/// Where a voxel centre lies on one axis of the noise lattice.
struct NoiseSample {
  std::int32_t cell;
  std::int32_t fraction; ///< in the cell, 0 .. noise_one
  std::int32_t fade;     ///< quintic fade of the fraction, 0 .. noise_one
};

/// The contribution of the lattice points at one x along a row: value + slope * (x - x of the
/// points).
struct NoiseLine {
  std::int32_t value;
  std::int32_t slope;
};

using NoiseGradients = std::array<std::array<std::int32_t, 3>, num_gradients>;

// >> of a negative integer is arithmetic (rounds down) in every compiler Kokkos supports.
KOKKOS_INLINE_FUNCTION std::int64_t noise_scale(std::int64_t a, std::int64_t b) {
  return (a * b) >> noise_bits;
}

KOKKOS_INLINE_FUNCTION std::int64_t noise_mix(std::int64_t a, std::int64_t b, std::int64_t t) {
  return a + noise_scale(b - a, t);
}

/// Number of the gradient at a lattice point.
KOKKOS_INLINE_FUNCTION int gradient_number(std::uint64_t seed, int x, int y, int z) {
  std::uint64_t h = mix_bits(seed + golden_step * (1 + std::uint64_t(std::int64_t(x))));
  h = mix_bits(h + golden_step * (1 + std::uint64_t(std::int64_t(y))));
  h = mix_bits(h + golden_step * (1 + std::uint64_t(std::int64_t(z))));
  return int(h % num_gradients);
}

/// The line of the lattice points (x, y.cell + 0|1, z.cell + 0|1); `gradient(g, c)` is component c
/// of gradient g.
template<class Gradient>
KOKKOS_INLINE_FUNCTION NoiseLine noise_line(const Gradient& gradient, std::uint64_t seed, int x,
                                            const NoiseSample& y, const NoiseSample& z) {
  std::int64_t value[2];
  std::int64_t slope[2];
  for (int dz = 0; dz < 2; ++dz) {
    std::int64_t v[2];
    std::int64_t s[2];
    for (int dy = 0; dy < 2; ++dy) {
      const int g = gradient_number(seed, x, y.cell + dy, z.cell + dz);
      v[dy] = noise_scale(gradient(g, 1), y.fraction - dy * noise_one) +
              noise_scale(gradient(g, 2), z.fraction - dz * noise_one);
      s[dy] = gradient(g, 0);
    }
    value[dz] = noise_mix(v[0], v[1], y.fade);
    slope[dz] = noise_mix(s[0], s[1], y.fade);
  }
  return {std::int32_t(noise_mix(value[0], value[1], z.fade)),
          std::int32_t(noise_mix(slope[0], slope[1], z.fade))};
}

/// The noise at `x` between the lines of its cell, in units of 1 / noise_one.
KOKKOS_INLINE_FUNCTION std::int64_t noise_between(const NoiseLine& lower, const NoiseLine& upper,
                                                  const NoiseSample& x) {
  return noise_mix(lower.value + noise_scale(lower.slope, x.fraction),
                   upper.value + noise_scale(upper.slope, x.fraction - noise_one), x.fade);
}

/// Positions of the n voxel centres of an axis: (i + 1/2) / feature * scale + shift.
inline std::vector<NoiseSample> noise_axis(int n, double feature, double scale, double shift) {
  std::vector<NoiseSample> samples(n);
  for (int i = 0; i < n; ++i) {
    const double position = (i + 0.5) / feature * scale + shift;
    const double cell = std::floor(position);
    const double t = std::floor((position - cell) * noise_one) / noise_one;
    const double fade = t * t * t * (t * (t * 6 - 15) + 10);
    samples[i] = {std::int32_t(cell), std::int32_t(t * noise_one),
                  std::int32_t(std::floor(fade * noise_one + 0.5))};
  }
  return samples;
}

/// Directions spread evenly over the sphere (a Fibonacci spiral), of the length 2.12 with which the
/// noise of unit gradients spans about -1 .. 1 and thresholds mean what they do in libnoise.
inline NoiseGradients noise_gradients() {
  NoiseGradients gradients;
  const double golden_angle = Kokkos::numbers::pi * (3 - std::sqrt(5.0));
  for (int i = 0; i < num_gradients; ++i) {
    const double z = 1 - (2 * i + 1.0) / num_gradients;
    const double r = std::sqrt(1 - z * z);
    const double direction[3] = {r * std::cos(i * golden_angle), r * std::sin(i * golden_angle), z};
    for (int c = 0; c < 3; ++c)
      gradients[i][c] = std::int32_t(std::floor(2.12 * direction[c] * noise_one + 0.5));
  }
  return gradients;
}

/// One noise function over the image.
template<class Exec>
struct NoiseField {
  Array<NoiseSample, Exec> axis[3]; ///< one sample per voxel layer
  int first_cell;                   ///< along x
  int num_lines;                    ///< along x
};

template<class Exec>
NoiseField<Exec> make_noise_field(const Exec& exec, const PerlinOptions& options,
                                  std::array<double, 3> scale, std::array<double, 3> shift) {
  NoiseField<Exec> field;
  for (int d = 0; d < 3; ++d) {
    const std::vector<NoiseSample> samples =
        noise_axis(options.shape[d], options.feature, scale[d], shift[d]);
    field.axis[d] = upload(exec, "ossatura::noise_axis", samples);
    if (d == 0) {
      field.first_cell = samples.front().cell;
      field.num_lines = samples.back().cell - samples.front().cell + 2;
    }
  }
  return field;
}

/// One team per row of voxels: first the lines of the row, then level = max(|f1|, |f2|) along it.
/// A row crosses few cells, so hashing and most of the interpolation are paid per cell.
template<class Exec>
struct NoiseLevel {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Lines = Kokkos::View<NoiseLine*, typename Exec::scratch_memory_space,
                             Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  NoiseField<Exec> field[2];
  Array<std::int32_t, Exec> gradients; ///< [num_gradients, 3]
  std::uint64_t seed;
  int scratch_level;
  VoxelArray<Exec> level;

  KOKKOS_FUNCTION std::int64_t operator()(int g, int c) const { return gradients(3 * g + c); }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int y = team.league_rank() % level.shape[1];
    const int z = level.first_plane + team.league_rank() / level.shape[1];
    const int num_lines = field[0].num_lines;
    const Lines lines(team.team_scratch(scratch_level), num_lines + field[1].num_lines);
    Kokkos::parallel_for(
        Kokkos::TeamThreadRange(team, num_lines + field[1].num_lines), [&](const int i) {
          const NoiseField<Exec>& f = field[i < num_lines ? 0 : 1];
          const int line = i < num_lines ? i : i - num_lines;
          lines(i) = noise_line(*this, seed, f.first_cell + line, f.axis[1](y), f.axis[2](z));
        });
    team.team_barrier();
    const std::int64_t row = level.index(0, y, z);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, level.shape[0]), [&](const int x) {
      const NoiseSample x0 = field[0].axis[0](x);
      const NoiseSample x1 = field[1].axis[0](x);
      const NoiseLine* line0 = &lines(x0.cell - field[0].first_cell);
      const NoiseLine* line1 = &lines(num_lines + x1.cell - field[1].first_cell);
      std::int64_t f0 = noise_between(line0[0], line0[1], x0);
      std::int64_t f1 = noise_between(line1[0], line1[1], x1);
      f0 = f0 < 0 ? -f0 : f0;
      f1 = f1 < 0 ? -f1 : f1;
      level.value(row + x) = float(Kokkos::max(f1, f0)) / noise_one;
    });
  }
};

template<class Exec>
struct CountBelow {
  Array<float, Exec> value;
  double threshold;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& count) const {
    count += value(i) < threshold;
  }
};

template<class Exec>
struct SolidBelow {
  Array<float, Exec> value;
  double threshold;
  float modulus;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    value(i) = value(i) < threshold ? modulus : 0.0f;
  }
};

template<class Exec>
std::int64_t count_below(const Exec& exec, const Array<float, Exec>& value, double threshold) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce("ossatura::count_below", range(exec, value.extent(0)),
                          CountBelow<Exec>{value, threshold}, count);
  return count;
}

} // namespace detail

/// max(|f1|, |f2|) per voxel centre, f1 and f2 in about -1 .. 1: the bone is where this is below
/// the threshold. f1 is taken at p = centre / feature + 1/2, f2 at the same noise function
/// stretched and shifted far away, as in the mesh tool of ParOSol. Modulus, threshold and fraction
/// are not used. Of `planes` alone. Fences after the tables are up, not after the launch.
template<class Exec>
VoxelArray<Exec> perlin_level(const Exec& exec, const PerlinOptions& options, ImagePlanes planes) {
  OSSATURA_REQUIRE(options.feature >= 1 && std::isfinite(options.feature),
                   "feature of " << options.feature << " voxels; at least 1 is needed");
  detail::NoiseLevel<Exec> kernel;
  kernel.level = make_voxel_array(exec, options.shape, planes);
  kernel.field[0] = detail::make_noise_field(exec, options, {1, 1, 1}, {0.5, 0.5, 0.5});
  kernel.field[1] =
      detail::make_noise_field(exec, options, {0.95, 0.99, 0.90}, {33.3, 42.42, 314.314});
  std::vector<std::int32_t> gradients;
  for (const auto& gradient : detail::noise_gradients())
    gradients.insert(gradients.end(), gradient.begin(), gradient.end());
  kernel.gradients = upload(exec, "ossatura::noise_gradients", gradients);
  kernel.seed = options.seed;

  const std::size_t bytes = detail::NoiseLevel<Exec>::Lines::shmem_size(kernel.field[0].num_lines +
                                                                        kernel.field[1].num_lines);
  kernel.scratch_level = bytes > 32768 ? 1 : 0; // level 0 is 48 kB at the least
  const std::int64_t num_rows = kernel.level.num_rows();
  OSSATURA_REQUIRE(num_rows <= INT32_MAX, "an image of " << num_rows << " rows");
  Kokkos::TeamPolicy<Exec> rows(exec, int(num_rows), Kokkos::AUTO);
  rows.set_scratch_size(kernel.scratch_level, Kokkos::PerTeam(int(bytes)));
  Kokkos::parallel_for("ossatura::perlin_level", rows, kernel);
  return kernel.level;
}

/// The same of the whole image.
template<class Exec>
VoxelArray<Exec> perlin_level(const Exec& exec, const PerlinOptions& options) {
  return perlin_level(exec, options, {0, options.shape[2]});
}

/// The threshold below which lie as nearly `wanted` of the voxels of `level` (finite, >= 0) as can
/// be; found by bisection over the representable floats. Of planes that the ranks of `comm` share
/// all of them call it. Fences.
template<class Exec>
double perlin_threshold(const Exec& exec, const VoxelArray<Exec>& level, double wanted,
                        const Communicator& comm = {}) {
  const auto as_float = [](std::uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  };
  // Non-negative floats are ordered as their bits. Invariant: count(low) < target <= count(high).
  const auto count_below = [&](float threshold) {
    return double(comm.sum(detail::count_below(exec, level.value, threshold)));
  };
  const double target = wanted * double(comm.sum(level.num_voxels()));
  std::uint32_t low = 0;
  std::uint32_t high = 0x7f800000u; // infinity
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    (count_below(as_float(middle)) < target ? low : high) = middle;
  }
  const auto miss = [&](std::uint32_t bits) {
    return std::abs(count_below(as_float(bits)) - target);
  };
  return as_float(miss(low) < miss(high) ? low : high);
}

/// The bone of the options: [1], section on the artificial meshes. Bitwise reproducible over
/// backends and threads (above). The largest component is not selected: see keep_largest_component.
/// With `planes` those alone, of an image that the ranks of `comm` make together; the count is of
/// all. Fences to return it.
template<class Exec>
PerlinBone<Exec> make_perlin_bone(const Exec& exec, const PerlinOptions& options,
                                  ImagePlanes planes, const Communicator& comm) {
  OSSATURA_REQUIRE(options.fraction >= 0 && options.fraction <= 1,
                   "solid fraction of " << options.fraction);
  OSSATURA_REQUIRE(options.fraction > 0 || options.threshold > 0,
                   "noise threshold of " << options.threshold);
  OSSATURA_REQUIRE(options.modulus > 0, "modulus of " << options.modulus << " MPa");
  PerlinBone<Exec> bone;
  bone.modulus = perlin_level(exec, options, planes);
  bone.threshold = options.fraction > 0
                       ? perlin_threshold(exec, bone.modulus, options.fraction, comm)
                       : options.threshold;
  bone.num_solid = comm.sum(detail::count_below(exec, bone.modulus.value, bone.threshold));
  Kokkos::parallel_for(
      "ossatura::make_perlin_bone",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0,
                                                                 bone.modulus.num_voxels()),
      detail::SolidBelow<Exec>{bone.modulus.value, bone.threshold, options.modulus});
  return bone;
}

/// The same of one process.
template<class Exec>
PerlinBone<Exec> make_perlin_bone(const Exec& exec, const PerlinOptions& options) {
  return make_perlin_bone(exec, options, {0, options.shape[2]}, Communicator());
}

} // namespace ossatura
