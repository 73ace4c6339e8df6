// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/parosol/input.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/sample_files.hpp"
#include "tests/core/io/test_directory.hpp"

#include <cmath>
#include <limits>

using namespace ossatura;
using namespace ossatura_test;

namespace {

const float not_a_number = std::numeric_limits<float>::quiet_NaN();

VoxelModel read(const TestDirectory& directory, const ParosolFile& file,
                const ParosolOptions& options = {}) {
  write_parosol(directory / "bone.h5", file);
  return read_parosol(directory / "bone.h5", options);
}

/// The message for a file that must be refused.
std::string refusal(const ParosolFile& file, const ParosolOptions& options = {}) {
  const TestDirectory directory;
  return error_of([&] { read(directory, file, options); });
}

} // namespace

TEST_CASE("a ParOSol image has x fastest and nodes in x, y, z", "[parosol]") {
  const TestDirectory directory;
  ParosolFile file;
  file.image = ramp<float>();
  const VoxelModel model = read(directory, file);
  CHECK(model.modulus.shape == std::array<int, 3>{4, 3, 2});
  CHECK(model.modulus.spacing == 0.25);
  CHECK(model.poisson == 0.3);
  CHECK(model.poisson_image.empty());
  CHECK(model.modulus.value == ramp<float>());
  REQUIRE(model.displacements.size() == 2);
  CHECK(model.displacements[0].node == std::array<int, 3>{0, 0, 0});
  CHECK(model.displacements[0].component == 2);
  CHECK(model.displacements[0].value == 0); // not ParOSol's 1e-16
  CHECK(model.displacements[1].node == std::array<int, 3>{4, 3, 2});
  CHECK(model.displacements[1].component == 0);
  CHECK(model.displacements[1].value == -0.5);
  CHECK(model.forces.empty());
}

TEST_CASE("scalars may have extents (1) and the image may be compressed", "[parosol]") {
  const TestDirectory directory;
  ParosolFile file;
  file.scalar_is_list = true;
  file.gzip = 4;
  file.image = ramp<float>();
  const VoxelModel model = read(directory, file);
  CHECK(model.modulus.spacing == 0.25);
  CHECK(model.poisson == 0.3);
  CHECK(model.modulus.value == ramp<float>());
}

TEST_CASE("the spellings of Poisson's ratio in use are read", "[parosol]") {
  for (const char* name : {"Poisons_ratio", "Poissons_ratio", "Poison_ratio", "Poisson_ratio"}) {
    const TestDirectory directory;
    ParosolFile file;
    file.poisson_name = name;
    file.poisson = {0.2};
    CHECK(read(directory, file).poisson == 0.2);
  }
}

TEST_CASE("moduli in GPa become MPa and the log says which unit was taken", "[parosol]") {
  const TestDirectory directory;
  ParosolOptions options;
  std::vector<std::string> remarks;
  options.remarks = &remarks;
  options.modulus_unit = ModulusUnit::GPa;
  ParosolFile file;
  file.image.assign(24, 2.5f);
  CHECK(read(directory, file, options).modulus.value == std::vector<float>(24, 2500.f));
  REQUIRE(remarks.size() == 1);
  CHECK_SAYS(remarks[0], "GPa", "bone.h5");
}

TEST_CASE("Poisson's ratio per voxel is read, and not looked at in void", "[parosol]") {
  const TestDirectory directory;
  ParosolFile file;
  file.image[5] = 0;
  file.poisson_image.assign(24, 0.25f);
  file.poisson_image[5] = not_a_number;
  file.poisson.clear(); // the image is enough
  const VoxelModel model = read(directory, file);
  REQUIRE(model.poisson_image.size() == 24);
  CHECK(model.poisson_image[4] == 0.25f);
  CHECK(model.poisson_image[5] == 0);
}

TEST_CASE("an option replaces what the file says of Poisson's ratio", "[parosol]") {
  const TestDirectory directory;
  ParosolFile file;
  file.poisson_image.assign(24, 0.25f);
  ParosolOptions options;
  options.poisson = 0.4;
  const VoxelModel model = read(directory, file, options);
  CHECK(model.poisson == 0.4);
  CHECK(model.poisson_image.empty());
  options.poisson = 0.5;
  CHECK_THROWS_AS(read(directory, file, options), UsageError);
}

TEST_CASE("loads, body forces and tractions are added; repeated rows count once", "[parosol]") {
  const TestDirectory directory;
  ParosolFile file;
  file.loaded = {1, 2, 3, 1, 0, 0, 0, 0, 1, 2, 3, 1};
  file.loaded_value = {5, 7, 6};
  file.body = {1, 2, 3, 1};
  file.body_value = {10};
  file.traction = {2, 3, 4, 2};
  file.traction_value = {20};
  std::vector<std::string> remarks;
  ParosolOptions options;
  options.remarks = &remarks;
  const VoxelModel model = read(directory, file, options);
  REQUIRE(model.forces.size() == 4);
  CHECK(model.forces[0].value == 7);
  CHECK(model.forces[1].value == 6); // the last row of (3, 2, 1) y, as in ParOSol
  CHECK(model.forces[1].node == std::array<int, 3>{3, 2, 1});
  CHECK(model.forces[1].component == 1);
  CHECK(model.forces[2].value == 10); // another list: adds up
  CHECK(model.forces[3].value == 20);
  CHECK(model.forces[3].component == 2);
  REQUIRE(remarks.size() == 2);
  CHECK_SAYS(remarks[1], "Loaded_Nodes", "last row");
}

TEST_CASE("repeated displacement rows keep their order", "[parosol]") {
  const TestDirectory directory;
  ParosolFile file;
  file.fixed = {0, 0, 0, 2, 0, 0, 0, 2};
  file.fixed_value = {1, 2};
  const VoxelModel model = read(directory, file);
  REQUIRE(model.displacements.size() == 2);
  CHECK(model.displacements[1].value == 2);
}

TEST_CASE("a model without displacements is read as such", "[parosol]") {
  const TestDirectory directory;
  ParosolFile file;
  file.fixed.clear();
  file.fixed_value.clear();
  CHECK(read(directory, file).displacements.empty());
}

TEST_CASE("missing datasets are named with what is there", "[parosol]") {
  ParosolFile file;
  file.image.clear();
  CHECK_SAYS(refusal(file), "bone.h5: /Image_Data", "'Image'", "Voxelsize");
  file = {};
  file.voxel_size.clear();
  CHECK_SAYS(refusal(file), "'Voxelsize'");
  file = {};
  file.poisson.clear();
  CHECK_SAYS(refusal(file), "'Poisons_ratio'", "option");
  file = {};
  file.fixed_value.clear();
  CHECK_SAYS(refusal(file), "'Fixed_Displacement_Values'");
  file = {};
  file.fixed.clear();
  CHECK_SAYS(refusal(file), "'Fixed_Displacement_Coordinates'");
}

TEST_CASE("a wrong rank is named with extents and remedy", "[parosol]") {
  ParosolFile file;
  file.image_shape = {6, 4};
  CHECK_SAYS(refusal(file), "bone.h5: /Image_Data/Image has rank 2 (6 x 4)",
             "a ParOSol image is z, y, x: write a 3-D dataset");
  file = {};
  file.fixed_shape = {8};
  CHECK_SAYS(refusal(file), "/Image_Data/Fixed_Displacement_Coordinates has rank 1", "N x 4");
  file = {};
  file.fixed_shape = {4, 2};
  CHECK_SAYS(refusal(file), "has 2 columns", "z, y, x, direction");
  file = {};
  file.fixed_value = {1, 2, 3};
  CHECK_SAYS(refusal(file), "3 values for 2 rows");
  file = {};
  file.voxel_size = {0.1, 0.1, 0.2};
  CHECK_SAYS(refusal(file), "Voxelsize has 3 values", "one number");
  file = {};
  file.poisson_image.assign(24, 0.3f);
  file.poisson_image_shape = {4, 3, 2};
  CHECK_SAYS(refusal(file), "Poissons_ratio_Image", "4 x 3 x 2", "2 x 3 x 4");
}

TEST_CASE("a wrong type is named", "[parosol]") {
  const TestDirectory directory;
  const std::string path = directory / "bone.h5";
  const auto replace = [&](const char* name, hid_t type, const std::vector<hsize_t>& shape,
                           const void* data) {
    write_parosol(path);
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t group = H5Gopen2(file, "Image_Data", H5P_DEFAULT);
    H5Ldelete(group, name, H5P_DEFAULT);
    put_dataset(group, name, type, type, shape, data);
    H5Gclose(group);
    H5Fclose(file);
    return error_of([&] { read_parosol(path); });
  };
  const std::vector<float> floats(8, 0.f);
  CHECK_SAYS(replace("Fixed_Displacement_Coordinates", H5T_NATIVE_FLOAT, {2, 4}, floats.data()),
             "floating-point numbers", "integers");
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, 4);
  const std::string letters(24 * 4, 'x');
  CHECK_SAYS(replace("Image", text, {2, 3, 4}, letters.data()), "/Image_Data/Image holds text",
             "floats");
  CHECK_SAYS(replace("Voxelsize", text, {}, letters.data()), "holds text", "in mm");
  H5Tclose(text);
}

TEST_CASE("other integer types of coordinates and images of integers are read", "[parosol]") {
  const TestDirectory directory;
  const std::string path = directory / "bone.h5";
  write_parosol(path);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t group = H5Gopen2(file, "Image_Data", H5P_DEFAULT);
  H5Ldelete(group, "Fixed_Displacement_Coordinates", H5P_DEFAULT);
  H5Ldelete(group, "Image", H5P_DEFAULT);
  const std::vector<std::int64_t> rows{1, 2, 3, 0, 0, 0, 0, 1};
  put_dataset(group, "Fixed_Displacement_Coordinates", H5T_STD_I64BE, H5T_NATIVE_INT64, {2, 4},
              rows.data());
  const std::vector<std::uint8_t> labels = ramp<std::uint8_t>();
  put_dataset(group, "Image", H5T_STD_U8LE, H5T_NATIVE_UINT8, {2, 3, 4}, labels.data());
  H5Gclose(group);
  H5Fclose(file);
  const VoxelModel model = read_parosol(path);
  CHECK(model.displacements.at(0).node == std::array<int, 3>{3, 2, 1});
  CHECK(model.modulus.value == ramp<float>());
}

TEST_CASE("coordinates outside the lattice and bad directions name the row", "[parosol]") {
  ParosolFile file;
  file.fixed = {0, 0, 0, 2, 0, 0, 5, 0};
  CHECK_SAYS(refusal(file), "row 1", "(0, 0, 5, 0)", "x = 5 is not in 0 to 4");
  file.fixed = {0, 0, 0, 2, 3, 0, 0, 0};
  CHECK_SAYS(refusal(file), "row 1", "z = 3 is not in 0 to 2");
  file.fixed = {0, 0, 0, 3, 0, 0, 0, 0};
  CHECK_SAYS(refusal(file), "row 0", "direction 3", "0 (x), 1 (y) or 2 (z)");
  file = {};
  file.loaded = {0, 4, 0, 1};
  file.loaded_value = {1};
  CHECK_SAYS(refusal(file), "Loaded_Nodes_Coordinates", "y = 4");
}

TEST_CASE("values that make no sense name the place", "[parosol]") {
  ParosolFile file;
  file.image[1 + 4 * (2 + 3 * 1)] = not_a_number;
  CHECK_SAYS(refusal(file), "voxel (x, y, z) = (1, 2, 1) is nan");
  file = {};
  file.image[3] = -1;
  CHECK_SAYS(refusal(file), "voxel (x, y, z) = (3, 0, 0) is -1", "negative");
  file.image[3] = std::numeric_limits<float>::infinity();
  CHECK_SAYS(refusal(file), "inf");
  ParosolOptions gpa;
  gpa.modulus_unit = ModulusUnit::GPa;
  file.image[3] = 3e38f; // finite in GPa, not in MPa
  CHECK_SAYS(refusal(file, gpa), "finite");
  for (const double h : {0., -1., std::nan(""), HUGE_VAL}) {
    file = {};
    file.voxel_size = {h};
    CHECK_SAYS(refusal(file), "/Image_Data/Voxelsize is");
  }
  for (const double nu : {0.5, -1., 0.7, std::nan("")}) {
    file = {};
    file.poisson = {nu};
    CHECK_SAYS(refusal(file), "/Image_Data/Poisons_ratio is", "(-1, 0.5)");
    file = {};
    file.poisson_image.assign(24, 0.3f);
    file.poisson_image[7] = float(nu);
    CHECK_SAYS(refusal(file), "Poissons_ratio_Image", "(3, 1, 0)", "(-1, 0.5)");
  }
  file = {};
  file.fixed_value[1] = not_a_number;
  CHECK_SAYS(refusal(file), "Fixed_Displacement_Values", "row 1");
}

TEST_CASE("what is not a ParOSol file is refused with the reason", "[parosol]") {
  const TestDirectory directory;
  CHECK_SAYS(error_of([&] { read_parosol(directory.path()); }), "is a directory");
  CHECK_SAYS(error_of([&] { read_parosol(directory / "none.h5"); }), "no such file");
  write_bytes(directory / "empty.h5", "");
  CHECK_SAYS(error_of([&] { read_parosol(directory / "empty.h5"); }), "is empty");
  write_bytes(directory / "text.h5", "this is not it");
  CHECK_SAYS(error_of([&] { read_parosol(directory / "text.h5"); }), "not an HDF5 file");
  write_parosol(directory / "bone.h5");
  const Bytes whole = read_bytes_of(directory / "bone.h5");
  write_bytes(directory / "cut.h5", whole.substr(0, whole.size() / 2));
  CHECK_SAYS(error_of([&] { read_parosol(directory / "cut.h5"); }), "truncated");
  H5Fclose(H5Fcreate((directory / "bare.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  CHECK_SAYS(error_of([&] { read_parosol(directory / "bare.h5"); }), "'Image_Data'");
}

TEST_CASE("an image that claims more than its file can hold is refused before allocation",
          "[parosol]") {
  const TestDirectory directory;
  const std::string path = directory / "bone.h5";
  const auto claim = [&](std::vector<hsize_t> extent, bool chunked) {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t group = H5Gcreate2(file, "Image_Data", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(3, extent.data(), nullptr);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk[3] = {16, 1, 1};
    if (chunked)
      H5Pset_chunk(properties, 3, chunk);
    H5Dclose(
        H5Dcreate2(group, "Image", H5T_IEEE_F32LE, space, H5P_DEFAULT, properties, H5P_DEFAULT));
    H5Pclose(properties);
    H5Sclose(space);
    H5Gclose(group);
    H5Fclose(file);
    return error_of([&] { read_parosol(path); });
  };
  CHECK_SAYS(claim({8000, 8000, 8000}, true), "8000 x 8000 x 8000", "more than a file of");
  CHECK_SAYS(claim({8000, 8000, 8000}, false), "more than a file of");
  CHECK_SAYS(claim({1 << 20, 1 << 20, 1}, true), "2^40");
  CHECK_SAYS(claim({(1 << 20) + 1, 1, 1}, true), "2^20");
}

TEST_CASE("the real bone images are read", "[parosol]") {
  const char* shared = std::getenv("OSSATURA_SHARED_DATA");
  const std::string bone = std::string(shared != nullptr ? shared : "../shared/data") + "/bone/";
  struct Known {
    const char* file;
    std::array<int, 3> shape;
    double spacing;
    long solid;
    std::size_t displacements;
  };
  // Counts of solid voxels from the notes beside the data; rows as listed by h5ls.
  for (const Known& known : {Known{"tibia.h5", {119, 107, 80}, 0.060699, 252477, 25239},
                             Known{"trab1240.h5", {108, 108, 126}, 0.0606985, 179421, 11934},
                             Known{"parosol_sphere.h5", {101, 101, 97}, 0.0103093, 457428, 3984}}) {
    const TestDirectory directory;
    std::string path = bone + known.file;
    if (gzFile packed = gzopen((path + ".gz").c_str(), "rb")) {
      Bytes content;
      Bytes part(1 << 16, '\0');
      for (int n; (n = gzread(packed, part.data(), unsigned(part.size()))) > 0;)
        content.append(part, 0, std::size_t(n));
      gzclose(packed);
      path = directory / known.file;
      write_bytes(path, content);
    }
    if (!std::filesystem::exists(path)) {
      WARN("skipped: " << path << " is not here (set OSSATURA_SHARED_DATA)");
      continue;
    }
    const VoxelModel model = read_parosol(path);
    long solid = 0;
    for (const float modulus : model.modulus.value)
      solid += modulus > 0;
    CHECK(model.modulus.shape == known.shape);
    CHECK(std::abs(model.modulus.spacing - known.spacing) < 1e-5 * known.spacing);
    CHECK(model.poisson == 0.3);
    CHECK(solid == known.solid);
    CHECK(model.displacements.size() == known.displacements);
    CHECK(model.forces.empty());
  }
  SUCCEED("every file that is here was read");
}
