// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/image/image_output.hpp>
#include <ossatura/core/io/image/metaimage.hpp>
#include <ossatura/core/io/image/nifti.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/test_directory.hpp"

#include <cmath>
#include <fstream>

using namespace ossatura;
using namespace ossatura_test;

namespace {

using Matrix = std::array<std::array<double, 3>, 3>;

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 3; ++k)
        c[i][j] += a[i][k] * b[k][j];
  return c;
}

/// Turns about z, then y, then x.
Matrix rotation(double x, double y, double z) {
  const auto c = [](double angle) { return std::cos(angle); };
  const auto s = [](double angle) { return std::sin(angle); };
  const Matrix about_x{{{1, 0, 0}, {0, c(x), -s(x)}, {0, s(x), c(x)}}};
  const Matrix about_y{{{c(y), 0, s(y)}, {0, 1, 0}, {-s(y), 0, c(y)}}};
  const Matrix about_z{{{c(z), -s(z), 0}, {s(z), c(z), 0}, {0, 0, 1}}};
  return product(about_x, product(about_y, about_z));
}

VoxelImage sample_image(const Matrix& turn, bool mirrored, const char* world) {
  VoxelImage image;
  image.shape = {5, 4, 3};
  image.spacing = 0.25;
  image.origin = {12.5, -30, 7.25};
  image.world = world;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t d = 0; d < 3; ++d)
      image.direction[3 * i + d] = turn[i][d] * (mirrored && d == 2 ? -1 : 1);
  for (std::size_t i = 0; i < image.num_voxels(); ++i)
    image.value.push_back(float(i) / 8 - 1);
  return image;
}

/// The same voxels at the same places, where x and y may have the other sense.
void check_same(const VoxelImage& found, const VoxelImage& image) {
  CHECK(found.shape == image.shape);
  CHECK(found.spacing == image.spacing);
  CHECK(found.value == image.value);
  for (std::size_t i = 0; i < 3; ++i) {
    const double sense = i < 2 && found.world != image.world ? -1 : 1;
    CHECK(std::abs(sense * found.origin[i] - image.origin[i]) < 1e-5);
    for (std::size_t d = 0; d < 3; ++d)
      CHECK(std::abs(sense * found.direction[3 * i + d] - image.direction[3 * i + d]) < 1e-6);
  }
}

const double half = std::acos(-1.0);

} // namespace

TEST_CASE("images are read back where they were", "[image]") {
  const TestDirectory directory;
  for (const Matrix& turn :
       {rotation(0, 0, 0), rotation(0.3, -0.5, 1.1), rotation(half, 0, 0), rotation(0, half, 0),
        rotation(0, 0, half), rotation(2.5, 1, -2), rotation(half / 2, half / 2, 0)})
    for (const bool mirrored : {false, true})
      for (const char* world : {"RAS", "LPS"}) {
        const VoxelImage image = sample_image(turn, mirrored, world);
        for (const char* name : {"image.nii", "image.nii.gz"}) {
          write_nifti(directory / name, image, "tests", 2);
          const VoxelImage found = read_nifti(directory / name);
          CHECK(found.world == "RAS");
          check_same(found, image);
        }
        for (const int level : {0, 6}) {
          write_metaimage(directory / "image.mha", image, "tests", level);
          const VoxelImage found = read_metaimage(directory / "image.mha");
          CHECK(found.world == "LPS");
          check_same(found, image);
        }
      }
}

TEST_CASE("the place of a NIfTI image is in its sform and its qform alike", "[image]") {
  const TestDirectory directory;
  for (const bool mirrored : {false, true}) {
    const VoxelImage image = sample_image(rotation(2.5, 1, -2), mirrored, "RAS");
    write_nifti(directory / "image.nii", image, "tests", 0);
    std::fstream file(directory / "image.nii", std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(254).write("\0\0", 2); // no sform
    file.close();
    check_same(read_nifti(directory / "image.nii"), image);
  }
}

TEST_CASE("an image that says nothing of its place has none in NIfTI", "[image]") {
  const TestDirectory directory;
  VoxelImage image = sample_image(rotation(0, 0, 0), false, "");
  image.origin = {-0.125, -0.125, -0.125};
  write_nifti(directory / "image.nii", image, "tests", 0);
  std::ifstream file(directory / "image.nii", std::ios::binary);
  char forms[4];
  file.seekg(252).read(forms, 4);
  CHECK(std::string(forms, 4) == std::string(4, '\0'));
  const VoxelImage found = read_nifti(directory / "image.nii");
  CHECK(found.origin == image.origin);
  CHECK(found.world.empty());
}

TEST_CASE("large images are of many gzip members", "[image]") {
  const TestDirectory directory;
  VoxelImage image;
  image.shape = {300, 200, 150};
  image.value.resize(image.num_voxels());
  for (std::size_t i = 0; i < image.value.size(); ++i)
    image.value[i] = float(i % 1013);
  image.world = "RAS";
  write_nifti(directory / "image.nii.gz", image, "tests", 1);
  CHECK(read_nifti(directory / "image.nii.gz").value == image.value);
}

TEST_CASE("images that cannot be written leave nothing", "[image]") {
  const TestDirectory directory;
  VoxelImage image = sample_image(rotation(0, 0, 0), false, "RAS");
  CHECK_THROWS_AS(write_nifti(directory / "none/image.nii", image, "", 0), InputError);
  image.shape = {40000, 1, 1};
  image.value.resize(image.num_voxels());
  CHECK_THROWS_AS(write_nifti(directory / "image.nii", image, "", 0), InputError);
  write_metaimage(directory / "image.mha", image, "", 0);
  CHECK(read_metaimage(directory / "image.mha").shape == image.shape);
  image.value.pop_back();
  CHECK_THROWS_AS(write_metaimage(directory / "image.mha", image, "", 0), std::invalid_argument);
}
