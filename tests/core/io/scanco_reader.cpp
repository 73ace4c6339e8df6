// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/scanco/image.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/replaced.hpp"
#include "tests/core/io/sample_files.hpp"
#include "tests/core/io/test_directory.hpp"

#include <algorithm>
#include <array>
#include <cmath>

using namespace ossatura;
using namespace ossatura_test;

namespace {

VoxelImage scanco(const Bytes& bytes, ScancoValues* values = nullptr,
                  VoxelShape voxels = VoxelShape::cube) {
  const TestDirectory directory;
  write_bytes(directory / "a.x", bytes);
  return read_scanco(directory / "a.x", {}, nullptr, voxels, values);
}

std::string scanco_refusal(const Bytes& bytes) {
  return error_of([&] { scanco(bytes); });
}

std::vector<float> densities() {
  std::vector<float> found;
  for (const float v : ramp<float>())
    found.push_back(float(double(v) * (1600.0 / 8192) - 400));
  return found;
}

void check_place(const VoxelImage& image, const std::array<double, 3>& corner) {
  CHECK(image.shape == std::array<int, 3>{4, 3, 2});
  CHECK(std::abs(image.spacing - 0.082) < 1e-8);
  CHECK(image.world.empty());
  for (std::size_t d = 0; d < 3; ++d)
    CHECK(std::abs(image.origin[d] - corner[d]) < 1e-8);
}

template<class T>
void check_scanco_type(std::int32_t kind, bool is_030) {
  INFO(std::hex << kind);
  ScancoValues values;
  const VoxelImage image = scanco(scanco_aim(kind, numbers(ramp<T>()), is_030), &values);
  CHECK(values.labels == (sizeof(T) == 1));
  CHECK(values.unit == (sizeof(T) == 1 ? "" : "mg HA/ccm"));
  CHECK(image.value == (sizeof(T) == 1 ? ramp<float>() : densities()));
}

} // namespace

TEST_CASE("an ISQ gives shape, edges and densities by its calibration", "[scanco]") {
  ScancoValues values;
  const VoxelImage image = scanco(sample_isq(), &values);
  check_place(image, {-0.041, -0.041, -0.041});
  CHECK(values.unit == "mg HA/ccm");
  CHECK_FALSE(values.labels);
  CHECK(image.value == densities());
  CHECK(scanco(sample_isq() + Bytes(100, '\0')).value == densities()); // to the end of a block

  const Bytes plain = scanco_isq(numbers(ramp<std::int16_t>()), false);
  CHECK(scanco(plain, &values).value == ramp<float>());
  CHECK(values.unit.empty());
  CHECK_FALSE(values.labels);
}

TEST_CASE("AIMs of both versions and every type are read", "[scanco]") {
  for (const bool is_030 : {false, true}) {
    check_place(scanco(scanco_aim(0x00020002, numbers(ramp<std::int16_t>()), is_030)),
                {0.041, -0.205, 0.205});
    check_scanco_type<std::int8_t>(0x00010001, is_030);
    check_scanco_type<std::uint8_t>(0x00160001, is_030);
    check_scanco_type<std::uint8_t>(0x000d0001, is_030);
    check_scanco_type<std::int16_t>(0x00020002, is_030);
    check_scanco_type<std::uint16_t>(0x00170002, is_030);
    check_scanco_type<std::int32_t>(0x00030004, is_030);
  }
  check_scanco_type<float>(0x001a0004, true);
  ScancoValues values;
  CHECK(scanco(scanco_aim(0x00020002, numbers(ramp<std::int16_t>()), false, "! no calibration\n"),
               &values)
            .value == ramp<float>());
  CHECK(values.unit.empty());
}

TEST_CASE("runs of an AIM are its voxels", "[scanco]") {
  for (const bool is_030 : {false, true}) {
    std::vector<float> bits(24, 0);
    std::fill_n(bits.begin() + 5, 13, 127.f);
    ScancoValues values;
    CHECK(scanco(sample_aim_bits(is_030), &values).value == bits);
    CHECK(values.labels);
    CHECK(values.unit.empty());
    std::vector<float> bytes(24, 9);
    std::fill_n(bytes.begin(), 4, -3.f);
    CHECK(scanco(sample_aim_bytes(is_030), &values).value == bytes);
    CHECK(values.labels);
  }
  // 255 is a run of 254 that goes on.
  Bytes large =
      replaced(scanco_aim(0x00150001, scanco_runs(Bytes("\x01\x02\xff\x03\x07", 5), false), false),
               numbers<std::int32_t>({4, 3, 2}), numbers<std::int32_t>({4, 3, 22}));
  std::vector<float> expected(264, 1);
  std::fill_n(expected.begin() + 257, 7, 2.f);
  CHECK(scanco(large).value == expected);
}

TEST_CASE("planes of a Scanco image are those of the whole", "[scanco]") {
  const TestDirectory directory;
  for (const Bytes& bytes : {sample_isq(), sample_aim_bits(true)}) {
    write_bytes(directory / "a.x", bytes);
    const VoxelImage whole = read_scanco(directory / "a.x");
    const VoxelImage part = read_scanco(directory / "a.x", [](int) { return ImagePlanes{1, 2}; });
    CHECK(part.first_plane == 1);
    CHECK(part.value == std::vector<float>(whole.value.begin() + 12, whole.value.end()));
  }
}

TEST_CASE("Scanco images that are damaged or of another kind are refused", "[scanco]") {
  const Bytes isq = sample_isq(), aim = sample_aim_020();
  CHECK_SAYS(scanco_refusal(isq.substr(0, 300)), "truncated", "512");
  CHECK_SAYS(scanco_refusal(isq.substr(0, isq.size() - 1)), "truncated");
  CHECK_SAYS(
      scanco_refusal(replaced(isq, numbers<std::int32_t>({3, 48}), numbers<std::int32_t>({9, 48}))),
      "RAD");
  CHECK_SAYS(scanco_refusal(replaced(isq, numbers<std::int32_t>({4, 3, 2}),
                                     numbers<std::int32_t>({4, -3, 2}))),
             "-3");
  CHECK_SAYS(scanco_refusal(replaced(isq, numbers<std::int32_t>({328, 246}),
                                     numbers<std::int32_t>({328, 400}))),
             "cubes");
  CHECK(scanco(replaced(isq, numbers<std::int32_t>({328, 246}), numbers<std::int32_t>({328, 492})),
               nullptr, VoxelShape::box)
            .edges()[1] == Approx(0.164));
  CHECK_SAYS(scanco_refusal(replaced(isq, number<std::int32_t>(8192), number<std::int32_t>(0))),
             "makes no densities");

  CHECK_SAYS(scanco_refusal(aim.substr(0, 100)), "truncated");
  CHECK_SAYS(scanco_refusal(aim.substr(0, aim.size() - 6)), "truncated");
  CHECK_SAYS(scanco_refusal(replaced(aim, numbers<std::int32_t>({20, 140}),
                                     numbers<std::int32_t>({20, 141141}))),
             "141141", "damaged");
  CHECK_SAYS(scanco_refusal(
                 replaced(aim, numbers<std::int32_t>({20, 140}), numbers<std::int32_t>({24, 140}))),
             "no AIM");
  CHECK_SAYS(scanco_refusal(scanco_aim(0x00060001, Bytes(4, '\1'), false)), "packed bits");
  CHECK_SAYS(scanco_refusal(scanco_aim(0x001a0004, Bytes(96, '\1'), false)), "VAX floats");
  CHECK_SAYS(scanco_refusal(scanco_aim(0x00120003, Bytes(72, '\1'), false)), "0x120003");
  CHECK_SAYS(scanco_refusal(scanco_aim(0x00080002, scanco_runs("\x04\xfd\x13\x09", false), false)),
             "truncated");
  CHECK_SAYS(scanco_refusal(scanco_aim(0x00080002, number<std::int32_t>(1 << 30), false)),
             "1073741824", "damaged");
}
