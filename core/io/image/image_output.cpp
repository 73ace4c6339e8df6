// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/image/image_output.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/image/place.hpp>
#include <ossatura/core/io/image/world_frame.hpp>
#include <ossatura/core/io/text/atomic_file.hpp>
#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/machine/processors.hpp>

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <memory>
#include <new>
#include <sstream>

namespace ossatura {

namespace {

/// Bytes that one thread compresses at a time.
constexpr std::size_t part_bytes = std::size_t(1) << 24;

struct FreeCompressor {
  void operator()(libdeflate_compressor* compressor) const {
    libdeflate_free_compressor(compressor);
  }
};
using Compressor = std::unique_ptr<libdeflate_compressor, FreeCompressor>;

Compressor make_compressor(int level) {
  Compressor compressor(libdeflate_alloc_compressor(level));
  if (!compressor)
    throw std::bad_alloc();
  return compressor;
}

/// Centre of voxel (0, 0, 0) and axes of an image in a world.
struct Place {
  std::array<double, 3> centre;
  ImageDirection direction;
};

Place place_in(const VoxelImage& image, const std::string& world) {
  const double back = -image.spacing;
  Place place{lower_corner(image.origin, {back, back, back}, image.direction), image.direction};
  const bool turned = !image.world.empty() && image.world != world;
  for (std::size_t i = 0; turned && i < 2; ++i) { // RAS and LPS: x and y have the other sense
    place.centre[i] = -place.centre[i];
    for (std::size_t d = 0; d < 3; ++d)
      place.direction[3 * i + d] = -place.direction[3 * i + d];
  }
  return place;
}

/// b, c, d of the unit quaternion of a rotation, whose first number is at least 0, by [1]. Its
/// third axis is turned back before where the image is mirrored.
std::array<double, 3> quaternion(const ImageDirection& direction, double mirror) {
  const auto r = [&](std::size_t i, std::size_t d) {
    return direction[3 * i + d] * (d == 2 ? mirror : 1);
  };
  // Four times the products of the largest number with each.
  const double trace = r(0, 0) + r(1, 1) + r(2, 2);
  const std::array<double, 4> square{1 + trace, 1 + 2 * r(0, 0) - trace, 1 + 2 * r(1, 1) - trace,
                                     1 + 2 * r(2, 2) - trace};
  const auto most = std::size_t(std::max_element(square.begin(), square.end()) - square.begin());
  const double ab = r(2, 1) - r(1, 2), ac = r(0, 2) - r(2, 0), ad = r(1, 0) - r(0, 1);
  const double bc = r(0, 1) + r(1, 0), bd = r(0, 2) + r(2, 0), cd = r(1, 2) + r(2, 1);
  const std::array<std::array<double, 4>, 4> product{{{square[0], ab, ac, ad},
                                                      {ab, square[1], bc, bd},
                                                      {ac, bc, square[2], cd},
                                                      {ad, bd, cd, square[3]}}};
  const double scale =
      (product[most][0] < 0 ? -1 : 1) / (2 * std::sqrt(std::max(square[most], 1e-30)));
  return {scale * product[most][1], scale * product[most][2], scale * product[most][3]};
}

std::array<char, 352> nifti_header(const VoxelImage& image, const std::string& text) {
  std::array<char, 352> bytes{}; // the last four say that there is no extension
  const auto put = [&](std::size_t at, const auto& value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
  };
  const Place place = place_in(image, "RAS");
  // With neither qform nor sform programs put it where they put the image that did not say, which
  // is not the same in all of them: in ITK its axes are along LPS, in nibabel x is turned round.
  const bool is_placed = !image.world.empty() || place.direction != identity_direction ||
                         place.centre != std::array<double, 3>{0, 0, 0};
  const double mirror = is_mirrored(place.direction) ? -1 : 1;
  put(0, std::int32_t(348));
  put(40, std::int16_t(3));
  put(76, float(mirror));
  for (std::size_t d = 0; d < 3; ++d) {
    put(42 + 2 * d, std::int16_t(image.shape[d]));
    put(80 + 4 * d, float(image.spacing));
  }
  for (std::size_t d = 4; d < 8; ++d)
    put(40 + 2 * d, std::int16_t(1));
  put(70, std::int16_t(16)); // float
  put(72, std::int16_t(32));
  put(108, float(bytes.size()));
  put(112, float(1)); // the scale
  bytes[123] = 2;     // mm
  std::memcpy(bytes.data() + 148, text.data(), std::min<std::size_t>(text.size(), 79));
  put(252, std::int16_t(is_placed)); // qform and sform: of the scanner
  put(254, std::int16_t(is_placed));
  const std::array<double, 3> turn = quaternion(place.direction, mirror);
  for (std::size_t i = 0; i < 3; ++i) {
    put(256 + 4 * i, float(turn[i]));
    put(268 + 4 * i, float(place.centre[i]));
    for (std::size_t d = 0; d < 3; ++d)
      put(280 + 16 * i + 4 * d, float(image.spacing * place.direction[3 * i + d]));
    put(292 + 16 * i, float(place.centre[i]));
  }
  std::memcpy(bytes.data() + 344, "n+1", 4);
  return bytes;
}

/// A file that is whole when close() returns.
class OutputStream {
public:
  explicit OutputStream(const std::string& path)
      : atomic_(path)
      , file_(atomic_.temporary_path(), std::ios::binary) {}

  void write(const void* data, std::size_t bytes) {
    file_.write(static_cast<const char*>(data), std::streamsize(bytes));
    require();
  }
  void close() {
    file_.close();
    require();
    atomic_.commit();
  }

private:
  AtomicFile atomic_;
  std::ofstream file_;

  void require() {
    if (!file_)
      fail<InputError>(atomic_.path(), ": cannot be written: ", std::strerror(errno));
  }
};

void require_whole(const VoxelImage& image) {
  OSSATURA_REQUIRE(image.value.size() == image.num_voxels(),
                   image.value.size() << " values of " << image.num_voxels() << " voxels");
  OSSATURA_REQUIRE(image.edges()[1] == image.spacing && image.edges()[2] == image.spacing,
                   "voxels that are no cubes");
}

/// Appends bytes as gzip members.
void write_members(OutputStream& file, const char* data, std::size_t bytes, int level) {
  const std::size_t num_parts = (bytes + part_bytes - 1) / part_bytes;
  const auto at_once = 2 * std::size_t(io_threads()); // parts in memory
  for (std::size_t first = 0; first < num_parts; first += at_once) {
    std::vector<std::vector<char>> members(std::min(at_once, num_parts - first));
    for_parts(members.size(), 1, [&](std::size_t begin, std::size_t end) {
      const Compressor compressor = make_compressor(level);
      for (std::size_t i = begin; i < end; ++i) {
        const std::size_t from = (first + i) * part_bytes,
                          size = std::min(part_bytes, bytes - from);
        members[i].resize(libdeflate_gzip_compress_bound(compressor.get(), size));
        members[i].resize(libdeflate_gzip_compress(compressor.get(), data + from, size,
                                                   members[i].data(), members[i].size()));
      }
    });
    for (const std::vector<char>& member : members)
      file.write(member.data(), member.size());
  }
}

} // namespace

void write_nifti(const std::string& path, const VoxelImage& image, const std::string& text,
                 int level) {
  require_whole(image);
  for (const int extent : image.shape)
    if (extent > 32767)
      fail<InputError>(path, ": ", extent, " voxels along an axis, and NIfTI-1 can say 32767: ",
                       "choose MetaImage (.mha)");
  const std::array<char, 352> header = nifti_header(image, text);
  const auto* values = reinterpret_cast<const char*>(image.value.data());
  const std::size_t bytes = image.value.size() * sizeof(float);
  OutputStream file(path);
  if (path.size() > 3 && path.compare(path.size() - 3, 3, ".gz") == 0) {
    write_members(file, header.data(), header.size(), level);
    write_members(file, values, bytes, level);
  } else {
    file.write(header.data(), header.size());
    file.write(values, bytes);
  }
  file.close();
}

void write_metaimage(const std::string& path, const VoxelImage& image, const std::string& text,
                     int level) {
  require_whole(image);
  const std::size_t bytes = image.value.size() * sizeof(float);
  std::vector<char> compressed;
  if (level > 0) {
    const Compressor compressor = make_compressor(level);
    compressed.resize(libdeflate_zlib_compress_bound(compressor.get(), bytes));
    compressed.resize(libdeflate_zlib_compress(compressor.get(), image.value.data(), bytes,
                                               compressed.data(), compressed.size()));
  }
  const Place place = place_in(image, "LPS");
  std::ostringstream head;
  head << std::setprecision(17) << "ObjectType = Image\nNDims = 3\nBinaryData = True\n"
       << "BinaryDataByteOrderMSB = False\nCompressedData = " << (level > 0 ? "True" : "False");
  if (level > 0)
    head << "\nCompressedDataSize = " << compressed.size();
  const ImageDirection& a = place.direction;
  head << "\nTransformMatrix ="; // axis by axis
  for (std::size_t d = 0; d < 3; ++d)
    for (std::size_t i = 0; i < 3; ++i)
      head << ' ' << a[3 * i + d];
  head << "\nOffset = " << place.centre[0] << ' ' << place.centre[1] << ' ' << place.centre[2]
       << "\nElementSpacing = " << image.spacing << ' ' << image.spacing << ' ' << image.spacing
       << "\nDimSize = " << image.shape[0] << ' ' << image.shape[1] << ' ' << image.shape[2]
       << "\nComment = " << text << "\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n";
  OutputStream file(path);
  file.write(head.str().data(), head.str().size());
  if (level > 0)
    file.write(compressed.data(), compressed.size());
  else
    file.write(image.value.data(), bytes);
  file.close();
}

} // namespace ossatura
