// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/image/format.hpp>
#include <ossatura/core/io/itk/image.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/sample_files.hpp"
#include "tests/core/io/test_directory.hpp"

#include <limits>

using namespace ossatura;
using namespace ossatura_test;

namespace {

ItkFile sample_itk() {
  ItkFile file;
  file.value = ramp<std::int16_t>();
  return file;
}

/// The message for a file that must be refused.
std::string refusal_of_itk(const ItkFile& file, bool trial = false) {
  const TestDirectory directory;
  write_itk(directory / "ct.h5", file);
  ItkImageOptions options;
  options.trial = trial;
  return error_of([&] { read_itk_hdf5(directory / "ct.h5", options); });
}

} // namespace

TEST_CASE("an image of ITK's HDF5 has its values and its place", "[itk]") {
  const TestDirectory directory;
  for (const unsigned gzip : {0u, 5u})
    for (const bool latest : {false, true}) {
      ItkFile file = sample_itk();
      file.gzip = gzip;
      file.latest = latest;
      write_itk(directory / "ct.h5", file);
      CHECK(guess_format(directory / "ct.h5") == ImageFormat::itk);
      ItkImageOptions options;
      options.trial = latest;
      const VoxelImage image = read_itk_hdf5(directory / "ct.h5", options);
      CHECK(image.shape == std::array<int, 3>{4, 3, 2});
      CHECK(image.value == ramp<float>());
      CHECK(image.spacing == 0.5);
      CHECK(image.world == "LPS");
      // Columns are the axes of the image: x of it runs along y of the world, y against x.
      CHECK(image.direction == ImageDirection{0, -1, 0, 1, 0, 0, 0, 0, 1});
      // From the centre of the first voxel half an edge against each axis.
      CHECK(image.origin[0] == Approx(1 + 0.25));
      CHECK(image.origin[1] == Approx(-2 - 0.25));
      CHECK(image.origin[2] == Approx(3 - 0.25));
    }
}

TEST_CASE("planes of an image of ITK are those of the whole", "[itk]") {
  const TestDirectory directory;
  write_itk(directory / "ct.h5", sample_itk());
  ItkImageOptions upper;
  upper.planes = [](int num_planes) { return ImagePlanes{num_planes - 1, num_planes}; };
  const VoxelImage image = read_itk_hdf5(directory / "ct.h5", upper);
  CHECK(image.first_plane == 1);
  const std::vector<float> all = ramp<float>();
  CHECK(image.value == std::vector<float>(all.begin() + 12, all.end()));
}

TEST_CASE("boxes of ITK's HDF5 are taken where they may be", "[itk]") {
  const TestDirectory directory;
  ItkFile file = sample_itk();
  file.spacing = {0.5, 0.5, 0.75};
  write_itk(directory / "ct.h5", file);
  CHECK_SAYS(refusal_of_itk(file), "ct.h5: /ITKImage/0/Spacing", "0.75");
  ItkImageOptions boxes;
  boxes.voxels = VoxelShape::box;
  CHECK(read_itk_hdf5(directory / "ct.h5", boxes).edges() == std::array<double, 3>{0.5, 0.5, 0.75});
}

TEST_CASE("other images of ITK's HDF5 are refused", "[itk]") {
  ItkFile file = sample_itk();
  file.shape = {2, 3, 2, 2};
  file.dimension = {2, 3, 2};
  CHECK_SAYS(refusal_of_itk(file), "ct.h5: /ITKImage/0/VoxelData", "2 components for each voxel");
  file = sample_itk();
  file.shape = {6, 4};
  file.dimension = {4, 6};
  CHECK_SAYS(refusal_of_itk(file), "VoxelData", "a 3-D image is expected");
  file = sample_itk();
  file.dimension = {4, 2, 3};
  CHECK_SAYS(refusal_of_itk(file), "VoxelData has extents 4 x 3 x 2", "4 x 2 x 3", "damaged");
  file = sample_itk();
  file.directions[0] = 0.5;
  CHECK_SAYS(refusal_of_itk(file), "Directions is no rotation");
  file = sample_itk();
  file.origin[1] = std::numeric_limits<double>::quiet_NaN();
  CHECK_SAYS(refusal_of_itk(file, true), "Origin is not finite");
  const TestDirectory directory;
  write_parosol(directory / "bone.h5");
  CHECK(guess_format(directory / "bone.h5") == ImageFormat::parosol);
  CHECK_SAYS(error_of([&] { read_itk_hdf5(directory / "bone.h5"); }), "'ITKImage'");
}
