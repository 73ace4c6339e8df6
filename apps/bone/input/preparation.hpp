// SPDX-License-Identifier: Apache-2.0
// PreparationOptions say what is done to the grey values of an image before the law: in this order
// it is cropped, filtered, resampled or turned, calibrated and clamped; bins are of the moduli
// after it.
#pragma once

#include <ossatura/core/base/names.hpp>
#include <ossatura/kernels/image/crop.hpp>
#include <ossatura/kernels/image/map_values.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ossatura {

struct BoneOptions;

/// Voxels of an axis from the first to before the last; none: from its start, to its end.
struct CropRange {
  std::optional<int> begin, end;
};

struct GaussianOptions {
  double sigma = 0;           ///< mm
  std::optional<int> support; ///< voxels on either side; else three sigma
};

/// An axis along those of the image, of any length but 0, and an angle.
struct AxisTurn {
  std::array<double, 3> axis;
  double degrees;
};

/// Which principal axis of the bone is turned to the axis of the plates.
enum class Alignment {
  long_axis, ///< along which it extends most
  short_axis ///< and least
};

constexpr Names<Alignment> names_of(Alignment) {
  return {{Alignment::long_axis, "long"}, {Alignment::short_axis, "short"}};
}

struct PreparationOptions {
  std::optional<std::array<CropRange, 3>> crop;
  std::optional<GaussianOptions> gaussian;
  std::optional<std::array<double, 2>> calibration; ///< slope and intercept
  std::optional<std::array<double, 2>> clamp;       ///< lower and upper
  std::optional<Alignment> align;
  std::vector<AxisTurn> turns; ///< after `align`, one after the other
  int bins = 0;                ///< of the moduli; 0: none

  /// Whether planes of an image alone do not do.
  bool needs_whole() const { return crop || gaussian || turns_image(); }
  bool turns_image() const { return align || !turns.empty(); }
  bool maps_values() const { return calibration || clamp; }
  ValueMap map() const;
};

void add_preparation_options(CLI::App& app, BoneOptions& options);

/// Throws UsageError for options that have no effect together.
void check_preparation_options(const CLI::App& app, const BoneOptions& options);

/// Whether each process reads the whole image.
bool reads_whole_image(const BoneOptions& options);

/// The voxels of --crop in an image of this shape; all without it. Throws InputError where the
/// image has them not.
VoxelBox crop_box(const BoneOptions& options, const std::array<int, 3>& shape);

/// Edges (mm) of the voxels of the image before it is resampled or turned: those of its file, or
/// --spacing.
std::array<double, 3> edges_before(const BoneOptions& options, const VoxelImage& source);

/// Throws InputError, starting with `where`, for more voxels of single precision than `bytes` hold;
/// 0 bytes: not known.
void require_room(std::int64_t bytes, const std::array<int, 3>& shape, const std::string& where);

/// Half-widths of the filter along each axis, in voxels of these edges (mm).
std::array<int, 3> gaussian_support(const GaussianOptions& gaussian,
                                    const std::array<double, 3>& edges);

} // namespace ossatura
