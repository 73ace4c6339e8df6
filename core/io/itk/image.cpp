// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/itk/image.hpp>

#include <ossatura/core/io/hdf5/file.hpp>
#include <ossatura/core/io/hdf5/parallel_read.hpp>
#include <ossatura/core/io/image/place.hpp>
#include <ossatura/core/io/image/voxel_limits.hpp>
#include <ossatura/core/io/text/trial_read.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace ossatura {
namespace {

/// `count` numbers of the geometry.
std::vector<double> read_numbers(const Hdf5Group& image, const char* name, std::uint64_t count) {
  const Hdf5Dataset dataset = image.dataset(name);
  dataset.require_numbers(false, "ITK writes a number for each axis");
  if (dataset.size() != count)
    fail<InputError>(dataset.where(), " has ", dataset.size(), " numbers; a 3-D image has ", count);
  return dataset.read<double>();
}

/// (nx, ny, nz)
std::array<int, 3> read_shape(const Hdf5Group& group, const Hdf5Dataset& voxels) {
  const std::uint64_t rank = group.dataset("Dimension").size();
  const std::vector<std::uint64_t>& extent = voxels.shape();
  if (rank == 3 && extent.size() == 4)
    fail<InputError>(voxels.where(), " has ", extent[3],
                     " components for each voxel; write one grey value or label");
  voxels.require_rank(3, "a 3-D image is expected");
  voxels.require_numbers(false, "images of integers or reals are read");
  const std::vector<double> dimension = read_numbers(group, "Dimension", 3);
  for (std::size_t d = 0; d < 3; ++d)
    if (dimension[d] != double(extent[2 - d]))
      fail<InputError>(voxels.where(), " has extents ", extent[2], " x ", extent[1], " x ",
                       extent[0], " and Dimension is ", dimension[0], " x ", dimension[1], " x ",
                       dimension[2], ": the file is damaged");
  return require_voxel_shape(voxels.where(), extent[2], extent[1], extent[0]);
}

void read_geometry(const Hdf5Group& group, VoxelShape voxels, VoxelImage& image) {
  const std::vector<double> spacing = read_numbers(group, "Spacing", 3);
  const std::vector<double> row = read_numbers(group, "Directions", 9);
  const std::optional<ImageDirection> direction = make_direction(
      {{{row[0], row[1], row[2]}, {row[3], row[4], row[5]}, {row[6], row[7], row[8]}}}, {1, 1, 1});
  if (!direction)
    fail<InputError>(group.where(),
                     "/Directions is no rotation, so voxels are not cubes; resample the image");
  image.direction = *direction;
  set_edges(group.where() + "/Spacing",
            turn_axes({spacing[0], spacing[1], spacing[2]}, image.direction), voxels, image);
  const std::vector<double> centre = read_numbers(group, "Origin", 3);
  for (const double x : centre)
    if (!std::isfinite(x))
      fail<InputError>(group.where(), "/Origin is not finite");
  image.origin = lower_corner({centre[0], centre[1], centre[2]}, image.edges(), image.direction);
  image.world = "LPS";
}

/// Reads planes block by block.
void read_values(const Hdf5Dataset& voxels, const ItkImageOptions& options, VoxelImage& image) {
  const ImagePlanes planes = planes_to_read(options.planes, image.shape[2]);
  image.first_plane = planes.begin;
  const std::size_t plane = image.voxels_per_plane(), nx = std::size_t(image.shape[0]);
  if (options.trial) {
    try_rows_by_threads<float>(voxels, std::uint64_t(planes.begin), std::uint64_t(planes.count()));
    return;
  }
  voxels.make_rows<float>(std::uint64_t(planes.begin), 0); // is checked before there is room for it
  if (options.target != nullptr)
    options.target->begin(image, planes);
  else
    image.value.reserve(plane * std::size_t(planes.count()));
  const std::size_t block = std::max<std::size_t>(1, (std::size_t(1) << 23) / plane); // planes
  for (std::size_t first = 0; first < std::size_t(planes.count()); first += block) {
    const std::size_t rows = std::min(block, std::size_t(planes.count()) - first);
    const std::vector<float> value =
        read_rows_by_threads<float>(voxels, std::uint64_t(planes.begin) + first, rows);
    const auto wrong =
        std::find_if(value.begin(), value.end(), [](float v) { return !std::isfinite(v); });
    if (wrong != value.end()) {
      const std::size_t v =
          image.first_voxel() + first * plane + std::size_t(wrong - value.begin());
      fail<InputError>(voxels.where(), ": voxel (x, y, z) = (", v % nx, ", ", v % plane / nx, ", ",
                       v / plane, ") is ", *wrong,
                       "; values must be finite: write background as a number, say 0");
    }
    if (options.target != nullptr) {
      std::copy(value.begin(), value.end(), options.target->room(first * plane, value.size()));
      options.target->filled(first * plane, value.size());
    } else {
      image.value.insert(image.value.end(), value.begin(), value.end());
    }
  }
}

VoxelImage read_image(const std::string& path, const ItkImageOptions& options) {
  const Hdf5File file = Hdf5File::open(path);
  const Hdf5Group group = file.root().group("ITKImage").group("0");
  const Hdf5Dataset voxels = group.dataset("VoxelData");
  VoxelImage image;
  image.shape = read_shape(group, voxels);
  read_geometry(group, options.voxels, image);
  read_values(voxels, options, image);
  return image;
}

} // namespace

VoxelImage read_itk_hdf5(const std::string& path, const ItkImageOptions& options) {
  if (options.trial)
    require_survivable_read(path, [&] { read_image(path, options); });
  ItkImageOptions in_earnest = options;
  in_earnest.trial = false;
  return read_image(path, in_earnest);
}

} // namespace ossatura
