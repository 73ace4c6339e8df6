// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/image/format.hpp>
#include <ossatura/core/io/image/metaimage.hpp>
#include <ossatura/core/io/image/nifti.hpp>
#include <ossatura/core/io/image/raw.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/replaced.hpp"
#include "tests/core/io/sample_files.hpp"
#include "tests/core/io/test_directory.hpp"

#include <cmath>
#include <limits>

using namespace ossatura;
using namespace ossatura_test;

namespace {

/// Writes `bytes` under `name` and reads them with `read`.
template<class Read>
VoxelImage read_as(const Read& read, const std::string& name, const Bytes& bytes) {
  const TestDirectory directory;
  write_bytes(directory / name, bytes);
  return read(directory / name, {}, nullptr, VoxelShape::cube);
}

VoxelImage mha(const Bytes& bytes) {
  return read_as(read_metaimage, "a.mha", bytes);
}
VoxelImage nii(const Bytes& bytes) {
  return read_as(read_nifti, "a.nii", bytes);
}
std::string mha_refusal(const Bytes& bytes) {
  return error_of([&] { mha(bytes); });
}
std::string nii_refusal(const Bytes& bytes) {
  return error_of([&] { nii(bytes); });
}

template<class T>
void check_type(const char* name) {
  INFO(name);
  CHECK(mha(metaimage_header(name) + numbers(ramp<T>())).value == ramp<float>());
  const Bytes big = replaced(metaimage_header(name), "MSB = False", "MSB = True");
  CHECK(mha(big + numbers(ramp<T>(), true)).value == ramp<float>());
}

} // namespace

TEST_CASE("a MetaImage gives shape, spacing, lower corner and values", "[metaimage]") {
  const VoxelImage image = mha(sample_mha());
  CHECK(image.shape == std::array<int, 3>{4, 3, 2});
  CHECK(image.spacing == 0.5);
  CHECK(image.origin == std::array<double, 3>{0.75, 1.75, 2.75}); // offset is a voxel centre
  CHECK(image.value == ramp<float>());
  CHECK(mha(sample_compressed_mha()).value == ramp<float>());
}

TEST_CASE("MetaImages of every type and byte order are read", "[metaimage]") {
  check_type<std::uint8_t>("MET_UCHAR");
  check_type<std::int8_t>("MET_CHAR");
  check_type<std::uint16_t>("MET_USHORT");
  check_type<std::int16_t>("MET_SHORT");
  check_type<std::uint32_t>("MET_UINT");
  check_type<std::int32_t>("MET_INT");
  check_type<std::uint64_t>("MET_ULONG_LONG");
  check_type<std::int64_t>("MET_LONG_LONG");
  check_type<float>("MET_FLOAT");
  check_type<double>("MET_DOUBLE");
}

TEST_CASE("negative values keep their sign", "[metaimage]") {
  std::vector<std::int16_t> values = ramp<std::int16_t>();
  values[0] = -1000; // air in Hounsfield units
  CHECK(mha(metaimage_header("MET_SHORT") + numbers(values)).value[0] == -1000);
}

TEST_CASE("a .mhd file reads its data from the file it names", "[metaimage]") {
  const TestDirectory directory;
  const Bytes data = numbers(ramp<float>());
  write_bytes(directory / "a.mhd", metaimage_header("MET_FLOAT", "HeaderSize = 3\n", "a.raw"));
  CHECK_SAYS(error_of([&] { read_metaimage(directory / "a.mhd"); }), "a.raw", "no such file");
  write_bytes(directory / "a.raw", "abc" + data);
  CHECK(read_metaimage(directory / "a.mhd").value == ramp<float>());
  write_bytes(directory / "a.mhd", metaimage_header("MET_FLOAT", "HeaderSize = -1\n", "a.raw"));
  CHECK(read_metaimage(directory / "a.mhd").value == ramp<float>());
  write_bytes(directory / "a.mhd",
              metaimage_header("MET_FLOAT", "CompressedData = True\n", "a.zraw"));
  write_bytes(directory / "a.zraw", deflated(data, false));
  CHECK(read_metaimage(directory / "a.mhd").value == ramp<float>());
}

TEST_CASE("axes of a MetaImage are kept, those of the first axis first", "[metaimage]") {
  const auto read = [](const char* matrix) {
    return mha(metaimage_header("MET_UCHAR", "TransformMatrix = " + Bytes(matrix) + "\n") +
               numbers(ramp<std::uint8_t>()));
  };
  const VoxelImage turned = read("0 1 0 0 0 -1 1 0 0"); // x runs along y, y along -z, z along x
  CHECK(turned.direction == ImageDirection{0, 0, 1, 1, 0, 0, 0, -1, 0});
  CHECK(turned.origin == std::array<double, 3>{1 - 0.25, 2 - 0.25, 3 + 0.25});
  CHECK(turned.world == "LPS");
  CHECK(read("1 0 0 0 1 0 0 0 1").direction == identity_direction);
  const Bytes data = numbers(ramp<std::uint8_t>());
  for (const char* matrix :
       {"1 0 0 0 1 0 0 0 2", "1 0.1 0 0 1 0 0 0 1", "0 0 0 0 0 0 0 0 0", "1 0 0 0 1 0 0 0 nan"})
    CHECK_SAYS(
        mha_refusal(metaimage_header("MET_UCHAR", "TransformMatrix = " + Bytes(matrix) + "\n") +
                    data),
        "a.mha", "TransformMatrix");
}

TEST_CASE("voxels beyond any length of bone are refused", "[metaimage]") {
  for (const char* edge : {"1e-100", "1e-10", "1e10"})
    CHECK_SAYS(mha_refusal(replaced(metaimage_header("MET_UCHAR"), "0.5 0.5 0.5",
                                    Bytes(edge) + " " + edge + " " + edge) +
                           numbers(ramp<std::uint8_t>())),
               "a.mha", "edge of a voxel");
}

TEST_CASE("MetaImages that are not read say why", "[metaimage]") {
  const Bytes data = numbers(ramp<std::uint8_t>());
  const Bytes good = metaimage_header("MET_UCHAR") + data;
  REQUIRE(mha(good).value == ramp<float>());
  CHECK_SAYS(mha_refusal(replaced(good, "0.5 0.5 0.5", "0.5 0.5 0.6")), "a.mha", "not cubes",
             "resample to 0.5");
  const double mean = mha(replaced(good, "0.5 0.5 0.5", "0.5 0.5 0.5001")).spacing;
  CHECK(std::abs(mean - 1.5001 / 3) < 1e-15);
  CHECK_SAYS(mha_refusal(replaced(good, "0.5 0.5 0.5", "0.5 0.5 0")), "positive");
  CHECK_SAYS(mha_refusal(replaced(good, "0.5 0.5 0.5", "0.5 nan 0.5")), "finite");
  CHECK_SAYS(mha_refusal(replaced(good, "0.5 0.5 0.5", "0.5 0.5")), "three numbers");
  CHECK_SAYS(mha_refusal(replaced(good, "BinaryData = True", "BinaryData = False")), "ASCII",
             "BinaryData = True");
  CHECK_SAYS(mha_refusal(replaced(good, "NDims = 3", "NDims = 2")), "NDims = 2", "3-D");
  CHECK_SAYS(mha_refusal(replaced(good, "MET_UCHAR", "MET_UCHAR_ARRAY")), "MET_UCHAR_ARRAY");
  CHECK_SAYS(mha_refusal(replaced(good, "DimSize = 4 3 2", "DimSize = 4 3")), "DimSize");
  CHECK_SAYS(mha_refusal(replaced(good, "DimSize = 4 3 2", "DimSize = 4 3 0")), "no voxels");
  CHECK_SAYS(mha_refusal(replaced(good, "DimSize = 4 3 2", "DimSize = 4 3 -2")), "DimSize");
  CHECK_SAYS(mha_refusal(replaced(good, "DimSize = 4 3 2", "DimSize = 2000000 3 2")), "2^20");
  CHECK_SAYS(mha_refusal(replaced(good, "DimSize = 4 3 2", "DimSize = 900000 900000 2")), "2^40");
  CHECK_SAYS(mha_refusal(replaced(good, "DimSize = 4 3 2", "DimSize = 4 3 3")), "truncated",
             "4 x 3 x 3 voxels of 1 byte");
  CHECK_SAYS(mha_refusal(replaced(good, "LOCAL", "LIST")), "LIST", "slices");
  CHECK_SAYS(mha_refusal(metaimage_header("MET_UCHAR", "ElementNumberOfChannels = 3\n") + data),
             "3 channels");
  CHECK_SAYS(mha_refusal("hello\nworld\n"), "not a MetaImage");
  CHECK_SAYS(mha_refusal("ObjectType = Image\nNDims = 3\n"), "ElementDataFile");
  Bytes squeezed = sample_compressed_mha();
  CHECK_SAYS(mha_refusal(squeezed.substr(0, squeezed.size() - 8)), "truncated");
  squeezed[squeezed.size() - 20] ^= 0x55;
  CHECK_SAYS(mha_refusal(squeezed), "compressed data");
  CHECK_SAYS(mha_refusal(replaced(sample_compressed_mha(), "4 3 2", "1000 1000 1000")),
             "compressed bytes");
  std::vector<float> values = ramp<float>();
  values[5] = std::numeric_limits<float>::quiet_NaN();
  CHECK_SAYS(mha_refusal(metaimage_header("MET_FLOAT") + numbers(values)), "(1, 1, 0) is nan");
}

TEST_CASE("NIfTI-1, NIfTI-2, compressed and big-endian images are read", "[nifti]") {
  const VoxelImage image = nii(sample_nii());
  CHECK(image.shape == std::array<int, 3>{4, 3, 2});
  CHECK(image.spacing == 0.5);
  CHECK(image.value == ramp<float>());
  CHECK(read_as(read_nifti, "a.nii.gz", sample_nii_gz()).value == ramp<float>());
  // Two gzip members, as pigz and bgzip write them.
  const Bytes plain = sample_nii();
  CHECK(nii(deflated(plain.substr(0, 370), true) + deflated(plain.substr(370), true)).value ==
        ramp<float>());
  NiftiFields big;
  big.big = true;
  CHECK(nii(nifti_1(big, numbers(ramp<std::int16_t>(), true))).value == ramp<float>());
  const VoxelImage second = nii(sample_nifti_2());
  CHECK(std::abs(second.spacing - 0.5) < 1e-15);
  CHECK(second.value[3] == 7); // 3 * 2 + 1
}

TEST_CASE("scaling, units and a single time step of NIfTI are honoured", "[nifti]") {
  NiftiFields f;
  f.slope = 0.5f;
  f.inter = -1;
  f.units = 3 | 8; // micron and seconds
  f.pixdim = {1, 60, 60, 60, 1, 0, 0, 0};
  f.dim = {4, 4, 3, 2, 1, 1, 1, 1};
  const VoxelImage image = nii(nifti_1(f, numbers(ramp<std::int16_t>())));
  CHECK(std::abs(image.spacing - 0.06) < 1e-16);
  CHECK(image.value[3] == 0.5f);
}

TEST_CASE("NIfTI images that are not read say why", "[nifti]") {
  const Bytes data = numbers(ramp<std::int16_t>());
  const auto with = [&](auto change) {
    NiftiFields f;
    change(f);
    return nii_refusal(nifti_1(f, data));
  };
  REQUIRE(with([](NiftiFields&) {}) == "no error");
  CHECK_SAYS(with([](NiftiFields& f) { f.pixdim[2] = 0.75f; }), "a.nii", "not cubes", "resample");
  CHECK_SAYS(with([](NiftiFields& f) { f.pixdim[2] = 0; }), "positive");
  CHECK_SAYS(with([](NiftiFields& f) { f.dim[0] = 2; }), "2 dimensions");
  CHECK_SAYS(with([](NiftiFields& f) { f.dim[0] = 99; }), "99 dimensions");
  CHECK_SAYS(with([](NiftiFields& f) { f.dim[0] = 4, f.dim[4] = 7; }), "4 dimensions");
  CHECK_SAYS(with([](NiftiFields& f) { f.dim[1] = -4; }), "-4 voxels");
  CHECK_SAYS(with([](NiftiFields& f) { f.dim[1] = 400; }), "truncated", "400 x 3 x 2");
  CHECK_SAYS(with([](NiftiFields& f) { f.datatype = 128; }), "datatype 128"); // RGB
  CHECK_SAYS(with([](NiftiFields& f) { f.magic = Bytes("ni1\0", 4); }), ".img");
  CHECK_SAYS(with([](NiftiFields& f) { f.magic = Bytes("n+9\0", 4); }), "signature");
  CHECK_SAYS(with([](NiftiFields& f) { f.vox_offset = 3; }), "byte 3");
  CHECK_SAYS(with([](NiftiFields& f) { f.slope = HUGE_VALF; }), "scl_slope");
  CHECK_SAYS(with([](NiftiFields& f) { f.units = 5; }), "unit 5");
  CHECK_SAYS(nii_refusal("short"), "a.nii");
  CHECK_SAYS(nii_refusal(Bytes(400, 'x')), "not a NIfTI file");
  const Bytes squeezed = sample_nii_gz();
  CHECK_SAYS(nii_refusal(squeezed.substr(0, squeezed.size() / 2)), "truncated");
}

TEST_CASE("what follows the announced voxels, and checksums, are looked at", "[metaimage]") {
  const Bytes mha = sample_mha(), nii = sample_nii(), gz = sample_nii_gz();
  CHECK_SAYS(mha_refusal(mha + "x"), "more data", "4 x 3 x 2");
  CHECK_SAYS(mha_refusal(replaced(mha, "DimSize = 4 3 2", "DimSize = 4 3 1")), "more data");
  CHECK_SAYS(mha_refusal(replaced(mha, "DimSize = 4 3 2", "DimSize = 4 3 1\nDimSize = 4 3 2")),
             "DimSize", "twice");
  CHECK_SAYS(nii_refusal(nii + "x"), "more data");
  CHECK_SAYS(nii_refusal(deflated(nii + "x", true)), "more data");
  CHECK_SAYS(nii_refusal(gz + deflated("x", true)), "more data");
  CHECK(nii_refusal(gz + deflated("", true)) == "no error"); // as bgzip ends
  CHECK_SAYS(nii_refusal(gz + "x"), "the compressed data is");
  // The last eight bytes are the checksum and the size, of zlib the last four are the checksum.
  for (std::size_t back = 1; back <= 8; ++back) {
    Bytes damaged = gz;
    damaged[damaged.size() - back] ^= 1;
    CHECK_SAYS(nii_refusal(damaged), "compressed data is damaged");
    CHECK_SAYS(nii_refusal(gz.substr(0, gz.size() - back)), "truncated");
  }
  const Bytes zlib = sample_compressed_mha();
  for (std::size_t back = 1; back <= 4; ++back) {
    Bytes damaged = zlib;
    damaged[damaged.size() - back] ^= 1;
    CHECK_SAYS(mha_refusal(damaged), "compressed data is damaged");
  }
}

TEST_CASE("a raw image is read by its description", "[raw]") {
  const TestDirectory directory;
  const std::string path = directory / "a.raw";
  RawImageOptions options;
  options.shape = {4, 3, 2};
  options.type = SampleType::u16;
  options.order = ByteOrder::big;
  options.spacing = 0.25;
  options.header_bytes = 5;
  write_bytes(path, "12345" + numbers(ramp<std::uint16_t>(), true));
  const VoxelImage image = read_raw_image(path, options);
  CHECK(image.value == ramp<float>());
  CHECK(image.shape == std::array<int, 3>{4, 3, 2});
  CHECK(image.spacing == 0.25);

  options.header_bytes = 4;
  CHECK_SAYS(error_of([&] { read_raw_image(path, options); }), "53 bytes", "make 52", "uint16");
  options.header_bytes = 1000;
  CHECK_SAYS(error_of([&] { read_raw_image(path, options); }), "53 bytes");
  options.header_bytes = 5;
  options.shape = {4, 3, 0};
  CHECK_SAYS(error_of<UsageError>([&] { read_raw_image(path, options); }), "4, 3, 0");
  options.shape = {4, 3, 2};
  options.spacing = 0;
  CHECK_SAYS(error_of<UsageError>([&] { read_raw_image(path, options); }), "spacing");
}

TEST_CASE("formats are told by content first, then by name", "[format]") {
  const TestDirectory directory;
  const auto format = [&](const std::string& name, const Bytes& bytes) {
    write_bytes(directory / name, bytes);
    return guess_format(directory / name);
  };
  write_parosol(directory / "bone.dat");
  CHECK(guess_format(directory / "bone.dat") == ImageFormat::parosol);
  CHECK(format("a.txt", sample_mha()) == ImageFormat::metaimage);
  CHECK(format("b", sample_nii()) == ImageFormat::nifti);
  CHECK(format("c", sample_nii_gz()) == ImageFormat::nifti);
  CHECK(format("n", sample_nrrd()) == ImageFormat::nrrd);
  for (const Bytes& bytes : {sample_isq(), sample_aim_020(), sample_aim_bits(true)})
    CHECK(format("s", bytes) == ImageFormat::scanco);
  CHECK(format("d", sample_off()) == ImageFormat::surface);
  CHECK(format("e", sample_ascii_stl()) == ImageFormat::surface);
  CHECK(format("f.STL", sample_binary_stl()) == ImageFormat::surface);
  CHECK(format("g.raw", sample_off()) == ImageFormat::raw); // raw may begin with anything
  CHECK(format("x", Bytes(128, '\0') + "DICM and more") == ImageFormat::dicom);
  CHECK(guess_format(directory.path()) == ImageFormat::dicom); // of slices
  CHECK(std::string(title_of(ImageFormat::metaimage)) == "MetaImage");

  const auto refused = [&](const std::string& name, const Bytes& bytes) {
    return error_of([&] { format(name, bytes); });
  };
  CHECK_SAYS(refused("x.tif", Bytes("II*\0", 4) + "rest"), "TIFF");
  CHECK_SAYS(refused("x.npy", "\x93NUMPY\x01"), "NumPy");
  CHECK_SAYS(refused("big.tif", Bytes("II+\0\x08\0\0\0", 8)), "TIFF");
  CHECK_SAYS(refused("x.xyz", "what is this"), "of no format that is read", ".mha");
  CHECK_SAYS(refused("x.gz", deflated("what is this", true)), "gzip");
  CHECK_SAYS(refused("x.mha", ""), "is empty");
  CHECK_SAYS(error_of([&] { guess_format(directory / "none"); }), "no such file");
  CHECK_SAYS(error_of([&] { guess_format("/dev/null"); }), "not a regular file");
}
