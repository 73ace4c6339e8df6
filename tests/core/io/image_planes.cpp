// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/hdf5/file.hpp>
#include <ossatura/core/io/image/metaimage.hpp>
#include <ossatura/core/io/image/nifti.hpp>
#include <ossatura/core/io/image/raw.hpp>
#include <ossatura/core/io/parosol/input.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/replaced.hpp"
#include "tests/core/io/sample_files.hpp"
#include "tests/core/io/test_directory.hpp"

#include <functional>
#include <limits>

using namespace ossatura;
using namespace ossatura_test;

namespace {

// More than two of the blocks that samples are read by, which end within planes.
constexpr int nx = 96, ny = 128, nz = 200;
constexpr std::size_t num_voxels = std::size_t(nx) * ny * nz;
constexpr float not_finite = std::numeric_limits<float>::infinity();

using Read = std::function<VoxelImage(const ChoosePlanes&)>;

template<class T>
std::vector<T> sample_values() {
  std::vector<T> values(num_voxels);
  for (std::size_t i = 0; i < num_voxels; ++i) {
    const std::size_t number = i % 251 + i / 100000;
    values[i] = T(number);
  }
  return values;
}

std::vector<float> values_in(const std::vector<float>& values, ImagePlanes planes) {
  const std::size_t plane = values.size() / nz;
  return {values.begin() + long(plane) * planes.begin, values.begin() + long(plane) * planes.end};
}

VoxelImage read_part(const Read& read, ImagePlanes part) {
  return read([part](int num_planes) {
    CHECK(num_planes == nz);
    return part;
  });
}

/// Readers of planes have what the reader of all has there.
void check_planes(const Read& read) {
  const VoxelImage whole = read({});
  REQUIRE(whole.value == sample_values<float>());
  CHECK(whole.planes().count() == nz);
  for (const ImagePlanes part :
       {ImagePlanes{0, nz}, ImagePlanes{0, 1}, ImagePlanes{0, 90}, ImagePlanes{85, 86},
        ImagePlanes{90, nz}, ImagePlanes{nz - 1, nz}, ImagePlanes{100, 100}, ImagePlanes{nz, nz}}) {
    INFO(part.begin << " to " << part.end);
    const VoxelImage image = read_part(read, part);
    CHECK(image.shape == whole.shape);
    CHECK(image.spacing == whole.spacing);
    CHECK(image.origin == whole.origin);
    CHECK(image.planes().begin == part.begin);
    CHECK(image.planes().end == part.end);
    CHECK(image.value == values_in(whole.value, part));
  }
  CHECK_THROWS_AS(read_part(read, {0, nz + 1}), std::invalid_argument);
  CHECK_THROWS_AS(read_part(read, {-1, 1}), std::invalid_argument);
}

/// The first of three readers of planes that fails says what the reader of all says.
void check_refusal(const Read& read, const std::string& expected) {
  const std::string whole = error_of([&] { read({}); });
  CHECK_SAYS(error_of([&] { read({}); }), expected);
  std::string first = "no error";
  for (const ImagePlanes part : {ImagePlanes{0, 64}, ImagePlanes{64, 128}, ImagePlanes{128, nz}})
    if (first == "no error")
      first = error_of([&] { read_part(read, part); });
  CHECK(first == whole);
}

Bytes header_of(const std::string& type, bool compressed) {
  return replaced(metaimage_header(type, compressed ? "CompressedData = True\n" : ""), "4 3 2",
                  "96 128 200");
}

Read reader_of_mha(const TestDirectory& directory, const Bytes& bytes) {
  const std::string path = directory / "a.mha";
  write_bytes(path, bytes);
  return [path](const ChoosePlanes& planes) { return read_metaimage(path, planes); };
}

Read reader_of_nii(const TestDirectory& directory, const Bytes& bytes) {
  const std::string path = directory / "a.nii";
  write_bytes(path, bytes);
  return [path](const ChoosePlanes& planes) { return read_nifti(path, planes); };
}

Bytes sample_nifti() {
  NiftiFields fields;
  fields.dim = {3, nx, ny, nz, 1, 1, 1, 1};
  return nifti_1(fields, numbers(sample_values<std::int16_t>()));
}

/// With Poisson's ratio of each voxel, in chunks that planes cut.
ParosolFile sample_parosol() {
  ParosolFile file;
  file.image_shape = file.poisson_image_shape = {nz, ny, nx};
  file.image = sample_values<float>();
  file.poisson_image.assign(num_voxels, 0.25f);
  for (std::size_t i = 0; i < num_voxels; ++i)
    file.poisson_image[i] += 0.001f * float(i % 97);
  file.chunk = {7, 50, 33};
  file.gzip = 1;
  return file;
}

VoxelModel parosol_part(const std::string& path, const ChoosePlanes& planes) {
  ParosolOptions options;
  options.planes = planes;
  return read_parosol(path, options);
}

Read reader_of_parosol(const TestDirectory& directory, const ParosolFile& file) {
  const std::string path = directory / "a.h5";
  write_parosol(path, file);
  return [path](const ChoosePlanes& planes) { return parosol_part(path, planes).modulus; };
}

} // namespace

TEST_CASE("planes of images are those of the whole image", "[image_planes]") {
  const TestDirectory directory;
  const auto mha = [&](const Bytes& bytes) { return reader_of_mha(directory, bytes); };
  const auto nii = [&](const Bytes& bytes) { return reader_of_nii(directory, bytes); };
  const Bytes data = numbers(sample_values<std::int16_t>());
  check_planes(mha(header_of("MET_SHORT", false) + data));
  check_planes(mha(header_of("MET_SHORT", true) + deflated(data, false)));
  const Bytes plain = sample_nifti();
  check_planes(nii(plain));
  check_planes(nii(deflated(plain, true)));
  const std::size_t middle = 3'000'001; // two members, as pigz and bgzip write them
  check_planes(nii(deflated(plain.substr(0, middle), true) + deflated(plain.substr(middle), true)));
  check_planes(reader_of_parosol(directory, sample_parosol()));
}

TEST_CASE("planes of a raw image are sought behind its header", "[image_planes]") {
  const TestDirectory directory;
  const std::string path = directory / "a.raw";
  write_bytes(path, "12345" + numbers(sample_values<float>(), true));
  RawImageOptions options;
  options.shape = {nx, ny, nz};
  options.type = SampleType::f32;
  options.order = ByteOrder::big;
  options.header_bytes = 5;
  const Read read = [&](const ChoosePlanes& planes) {
    options.planes = planes;
    return read_raw_image(path, options);
  };
  check_planes(read);
  options.header_bytes = 4; // the size of the file is everybody's
  CHECK_SAYS(error_of([&] { read_part(read, {0, 1}); }), "make", "check shape, type and header");
}

TEST_CASE("the first reader of planes that fails says what one of all says", "[image_planes]") {
  const TestDirectory directory;
  const auto mha = [&](const Bytes& bytes) { return reader_of_mha(directory, bytes); };
  for (const bool compressed : {false, true}) {
    INFO(compressed);
    const Bytes header = header_of("MET_FLOAT", compressed);
    const auto data = [&](const std::vector<float>& values) {
      const Bytes plain = numbers(values);
      return compressed ? deflated(plain, false) : plain;
    };
    std::vector<float> values = sample_values<float>();
    const Bytes good = data(values);
    check_refusal(mha(header + good + "x"),
                  compressed ? "the compressed data is" : "more data than");
    check_refusal(mha(header + good.substr(0, good.size() * 3 / 4)), "truncated");
    CHECK(read_part(mha(header + good), {0, nz}).value == values);

    values.back() = not_finite;
    const Read last = mha(header + data(values));
    check_refusal(last, "(95, 127, 199) is inf");
    CHECK(read_part(last, {0, nz - 1}).planes().count() == nz - 1);
    values[num_voxels / 2] = -not_finite;
    check_refusal(mha(header + data(values) + "x"), "(0, 0, 100) is -inf");
  }
}

TEST_CASE("damage of a compressed image is found by who reads it", "[image_planes]") {
  const TestDirectory directory;
  const auto mha = [&](const Bytes& bytes) { return reader_of_mha(directory, bytes); };
  const Bytes header = header_of("MET_FLOAT", true);
  const std::vector<float> values = sample_values<float>();
  const Bytes plain = numbers(values);
  check_refusal(mha(header + deflated(plain.substr(0, plain.size() - 4000), false)),
                "ends 4000 bytes early");
  check_refusal(mha(header + deflated(plain + "more", false)), "more data than");
  Bytes damaged = header + deflated(plain, false);
  damaged.back() ^= 1; // of the checksum
  const Read read = mha(damaged);
  check_refusal(read, "compressed data is damaged");
  CHECK(read_part(read, {0, 64}).value == values_in(values, {0, 64}));
}

TEST_CASE("planes of a ParOSol image name voxels of the whole", "[image_planes]") {
  const TestDirectory directory;
  ParosolFile file = sample_parosol();
  const std::string path = directory / "a.h5";
  write_parosol(path, file);
  const VoxelModel whole = parosol_part(path, {});
  const VoxelModel part = parosol_part(path, [](int) { return ImagePlanes{30, 31}; });
  CHECK(whole.poisson_image.size() == num_voxels);
  CHECK(part.poisson_image == values_in(whole.poisson_image, {30, 31}));
  CHECK(part.displacements.size() == whole.displacements.size());
  const VoxelModel nothing = parosol_part(path, [](int) { return ImagePlanes{nz, nz}; });
  CHECK(nothing.poisson_image.empty());

  file.poisson_image[num_voxels - 2] = 0.5f;
  check_refusal(reader_of_parosol(directory, file), "ratio of voxel (x, y, z) = (94, 127, 199)");
  file.image[num_voxels - 1] = -1;
  file.poisson_image[num_voxels - 2] = 0.25f;
  check_refusal(reader_of_parosol(directory, file), "modulus of voxel (x, y, z) = (95, 127, 199)");
  file.image[1] = -2;
  check_refusal(reader_of_parosol(directory, file), "modulus of voxel (x, y, z) = (1, 0, 0) is -2");
}

TEST_CASE("rows of a dataset are read where it has them", "[image_planes]") {
  const TestDirectory directory;
  const std::string path = directory / "rows.h5";
  std::vector<double> values(5 * 3);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = double(i);
  Hdf5File file = Hdf5File::create(path);
  file.root().write("rows", {5, 3}, values.data());
  file.root().write_scalar("number", 4.5);
  file.close();
  const Hdf5Group root = Hdf5File::open(path).root();
  const Hdf5Dataset rows = root.dataset("rows");
  CHECK(rows.read_rows<double>(0, 5) == values);
  CHECK(rows.read_rows<float>(3, 2) == std::vector<float>{9, 10, 11, 12, 13, 14});
  CHECK(rows.read_rows<float>(5, 0).empty());
  CHECK_THROWS_AS(rows.read_rows<float>(4, 2), std::invalid_argument);
  CHECK_THROWS_AS(rows.read_rows<float>(6, 0), std::invalid_argument);
  CHECK(root.dataset("number").read<double>() == std::vector<double>{4.5});
}

TEST_CASE("bytes that are passed over are there", "[image_planes]") {
  const TestDirectory directory;
  const std::string path = directory / "bytes";
  Bytes plain(100'000, 'a');
  plain.back() = 'z';
  for (const bool compressed : {false, true}) {
    write_bytes(path, compressed ? deflated(plain, true) : plain);
    const auto coding = compressed ? ByteStream::Coding::deflate : ByteStream::Coding::plain;
    ByteStream stream(path, 0, coding);
    char last = 0;
    stream.skip(2);
    stream.skip(plain.size() - 3);
    stream.read(&last, 1);
    CHECK(last == 'z');
    stream.require_end("all");
    ByteStream beyond(path, 0, coding);
    CHECK_SAYS(error_of([&] { beyond.skip(plain.size() + 1); }), path,
               compressed ? "ends 1 bytes early" : "is truncated: the data ends early");
  }
}
