// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/image/nrrd.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/replaced.hpp"
#include "tests/core/io/sample_files.hpp"
#include "tests/core/io/test_directory.hpp"

using namespace ossatura;
using namespace ossatura_test;

namespace {

VoxelImage nrrd(const Bytes& bytes, VoxelShape voxels = VoxelShape::cube) {
  const TestDirectory directory;
  write_bytes(directory / "a.nrrd", bytes);
  return read_nrrd(directory / "a.nrrd", {}, nullptr, voxels);
}

std::string nrrd_refusal(const Bytes& bytes) {
  return error_of([&] { nrrd(bytes); });
}

template<class T>
void check_nrrd_type(const char* name) {
  INFO(name);
  CHECK(nrrd(nrrd_header(name) + numbers(ramp<T>())).value == ramp<float>());
  const Bytes big = replaced(nrrd_header(name), "endian: little", "endian: big");
  CHECK(nrrd(big + numbers(ramp<T>(), true)).value == ramp<float>());
}

} // namespace

TEST_CASE("an NRRD gives shape, edges, place and values", "[nrrd]") {
  const VoxelImage image = nrrd(sample_nrrd());
  CHECK(image.shape == std::array<int, 3>{4, 3, 2});
  CHECK(image.spacing == 0.5);
  CHECK(image.origin == std::array<double, 3>{0.75, 1.75, 2.75}); // the origin is a voxel centre
  CHECK(image.world == "LPS");
  CHECK(image.direction == identity_direction);
  CHECK(image.value == ramp<float>());
  CHECK(nrrd(sample_gzip_nrrd()).value == ramp<float>());
}

TEST_CASE("NRRDs of every type and byte order are read", "[nrrd]") {
  check_nrrd_type<std::int8_t>("signed char");
  check_nrrd_type<std::uint8_t>("uchar");
  check_nrrd_type<std::uint8_t>("uint8");
  check_nrrd_type<std::int16_t>("short");
  check_nrrd_type<std::uint16_t>("unsigned short");
  check_nrrd_type<std::int32_t>("int");
  check_nrrd_type<std::uint32_t>("uint32_t");
  check_nrrd_type<std::int64_t>("longlong");
  check_nrrd_type<std::uint64_t>("unsigned long long int");
  check_nrrd_type<float>("float");
  check_nrrd_type<double>("Double");
  const Bytes bytes = replaced(nrrd_header("uint8"), "endian: little\n", "");
  CHECK(nrrd(bytes + numbers(ramp<std::uint8_t>())).value == ramp<float>());
}

TEST_CASE("the axes and the world of an NRRD are kept", "[nrrd]") {
  const Bytes turned = replaced(sample_nrrd(), "(0.5,0,0) (0,0.5,0) (0,0,0.5)",
                                "(0, 0.5, 0) (-0.5, 0, 0) (0, 0, 0.5)");
  const VoxelImage image = nrrd(turned);
  CHECK(image.direction == ImageDirection{0, -1, 0, 1, 0, 0, 0, 0, 1});
  CHECK(image.origin[0] == 1.25); // half a voxel against the second axis
  CHECK(image.origin[1] == 1.75);
  const Bytes lps = "left-posterior-superior";
  CHECK(nrrd(replaced(turned, lps, "RAS")).world == "RAS");
  const VoxelImage las = nrrd(replaced(turned, lps, "left-anterior-superior"));
  CHECK(las.world == "RAS");
  CHECK(las.direction == ImageDirection{0, 1, 0, 1, 0, 0, 0, 0, 1});
  CHECK(las.origin[0] == -1.25);
  CHECK(nrrd(replaced(turned, "space: " + lps, "space: scanner-xyz")).world.empty());
  CHECK(nrrd(replaced(turned, "space units: \"mm\" \"mm\" \"mm\"",
                      "space units: \"um\" \"um\" \"um\""))
            .spacing == Approx(0.0005));

  const Bytes boxes = replaced(sample_nrrd(), "(0,0,0.5)", "(0,0,1.25)");
  CHECK(nrrd(boxes, VoxelShape::box).edges() == std::array<double, 3>{0.5, 0.5, 1.25});
  CHECK_SAYS(nrrd_refusal(boxes), "space directions", "--resample");
  const Bytes bare = replaced(replaced(sample_nrrd(), "space directions: (0.5,0,0) (0,0.5,0) ",
                                       "spacings: 0.5 0.5 0.5\n# "),
                              "space origin: (1,2,3)\n", "");
  CHECK(nrrd(bare).spacing == 0.5);
  const Bytes mm = "space units: \"mm\" \"mm\" \"mm\"";
  const auto of_axes = [&](const Bytes& units) { return replaced(bare, mm, "units: " + units); };
  CHECK(nrrd(of_axes("\"um\" \"um\" \"um\"")).spacing == Approx(0.0005));
  CHECK(nrrd(replaced(bare, mm + "\n", "")).spacing == 0.5);
  CHECK_SAYS(nrrd_refusal(of_axes("\"cm\" \"cm\" \"cm\"")), "units: \"cm\"", "mm, m or um");
  CHECK_SAYS(nrrd_refusal(of_axes("\"mm\" \"mm\" \"um\"")), "units: \"mm\" \"mm\" \"um\"");
  CHECK_SAYS(nrrd_refusal(of_axes("mm mm mm")), "units: mm mm mm");
  CHECK(nrrd(bare).world == "LPS");
  CHECK(nrrd(bare).origin == std::array<double, 3>{-0.25, -0.25, -0.25});
  CHECK_FALSE(nrrd(bare).says_place);
  const VoxelImage by_axes =
      nrrd(replaced(bare, mm + "\n", "axis mins: 1 2 3\ncenters: cell node ???\n"));
  CHECK(by_axes.origin == std::array<double, 3>{1, 1.75, 3});
  CHECK(by_axes.says_place);
}

TEST_CASE("an NRRD may have its data beside it, or at its end", "[nrrd]") {
  const TestDirectory directory;
  const Bytes head = nrrd_header("short", "data file: a.raw\n"),
              data = numbers(ramp<std::int16_t>());
  write_bytes(directory / "a.nhdr", head);
  write_bytes(directory / "a.raw", data);
  CHECK(read_nrrd(directory / "a.nhdr").value == ramp<float>());
  CHECK(nrrd_data_file(directory / "a.nhdr") == directory / "a.raw");
  write_bytes(directory / "a.nhdr", head.substr(0, head.size() - 2)); // without a blank line
  CHECK(read_nrrd(directory / "a.nhdr").value == ramp<float>());
  write_bytes(directory / "a.nhdr", nrrd_header("short", "byte skip: -1\ndatafile: a.raw\n"));
  write_bytes(directory / "a.raw", "a header of its own" + data);
  CHECK(read_nrrd(directory / "a.nhdr").value == ramp<float>());
  write_bytes(directory / "b.nrrd", sample_nrrd());
  CHECK(nrrd_data_file(directory / "b.nrrd") == directory / "b.nrrd");
  write_bytes(directory / "a.raw", data.substr(1));
  CHECK_SAYS(error_of([&] { read_nrrd(directory / "a.nhdr"); }), "a.raw", "truncated");
  write_bytes(directory / "a.nhdr", nrrd_header("short", "data file: none.raw\n"));
  CHECK_SAYS(error_of([&] { read_nrrd(directory / "a.nhdr"); }), "none.raw", "no such file");
}

TEST_CASE("what is no NRRD of grey values is refused", "[nrrd]") {
  const Bytes good = sample_nrrd();
  const auto says = [&](const Bytes& from, const Bytes& to) {
    return nrrd_refusal(replaced(good, from, to));
  };
  CHECK_SAYS(says("NRRD0005", "NRRE0005"), "not an NRRD");
  CHECK_SAYS(says("dimension: 3", "dimension: 4"), "dimension: 4", "3-D image");
  CHECK_SAYS(says("sizes: 4 3 2", "sizes: 4 3"), "sizes: 4 3", "three numbers");
  CHECK_SAYS(says("sizes: 4 3 2", "sizes: 4 3 0"), "sizes");
  CHECK_SAYS(says("type: short", "type: block"), "type: block");
  CHECK_SAYS(says("encoding: raw", "encoding: hex"), "encoding: hex", "raw and gzip");
  CHECK_SAYS(says("endian: little\n", ""), "endian", "is missing");
  CHECK_SAYS(says("(0,0,0.5)", "(0,0.5,0.5)"), "space directions");
  CHECK_SAYS(says("(0,0,0.5)", "(0,0)"), "3 vectors are expected");
  CHECK_SAYS(says("(0,0,0.5)", "none"), "3 vectors are expected");
  CHECK_SAYS(says("(1,2,3)", "(1,2,nan)"), "1 vectors are expected");
  CHECK_SAYS(says("space directions: (0.5,0,0) (0,0.5,0) (0,0,0.5)\n", ""), "neither");
  CHECK_SAYS(says("sizes: 4 3 2\n", "sizes: 4 3 2\nsizes: 4 3 2\n"), "line 4", "twice");
  CHECK_SAYS(says("sizes: 4 3 2\n", "sizes 4 3 2\n"), "line 3", "field: value");
  CHECK_SAYS(says("encoding: raw\n", "encoding: raw\nline skip: 2\n"), "line skip");
  CHECK_SAYS(says("encoding: raw\n", "encoding: raw\nbyte skip: 7\n"), "byte skip: 7");
  CHECK_SAYS(says("encoding: raw\n", "encoding: raw\ndata file: a%03d.raw 1 9 1\n"), "many files");
  CHECK_SAYS(says("\"mm\" \"mm\" \"mm\"", "\"inch\""), "space units");
  CHECK_SAYS(nrrd_refusal(good.substr(0, good.size() - 1)), "a.nrrd");
  CHECK_SAYS(nrrd_refusal(good + "x"), "a.nrrd");
  CHECK_SAYS(nrrd_refusal(sample_gzip_nrrd().substr(0, sample_gzip_nrrd().size() - 9)), "a.nrrd");
  CHECK_SAYS(nrrd_refusal(good.substr(0, 60)), "a.nrrd");
}
