// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/image/samples.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/machine/part_loop.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <sstream>
#include <vector>

namespace ossatura {
namespace {

template<class T>
void convert(const unsigned char* bytes, std::size_t count, double slope, double intercept,
             float* value) {
  const bool scaled = slope != 1 || intercept != 0;
  for (std::size_t i = 0; i < count; ++i) {
    T x;
    std::memcpy(&x, bytes + i * sizeof(T), sizeof(T));
    value[i] = scaled ? float(double(x) * slope + intercept) : float(x);
  }
}

void convert(SampleType type, const unsigned char* bytes, std::size_t count, double slope,
             double intercept, float* value) {
  switch (type) {
  case SampleType::u8:
    return convert<std::uint8_t>(bytes, count, slope, intercept, value);
  case SampleType::i8:
    return convert<std::int8_t>(bytes, count, slope, intercept, value);
  case SampleType::u16:
    return convert<std::uint16_t>(bytes, count, slope, intercept, value);
  case SampleType::i16:
    return convert<std::int16_t>(bytes, count, slope, intercept, value);
  case SampleType::u32:
    return convert<std::uint32_t>(bytes, count, slope, intercept, value);
  case SampleType::i32:
    return convert<std::int32_t>(bytes, count, slope, intercept, value);
  case SampleType::u64:
    return convert<std::uint64_t>(bytes, count, slope, intercept, value);
  case SampleType::i64:
    return convert<std::int64_t>(bytes, count, slope, intercept, value);
  case SampleType::f32:
    return convert<float>(bytes, count, slope, intercept, value);
  case SampleType::f64:
    return convert<double>(bytes, count, slope, intercept, value);
  }
}

/// Makes values of samples, by all threads. Returns which is the first that is not finite; `count`
/// where all are.
std::size_t convert_block(SampleType type, ByteOrder order, unsigned char* bytes, std::size_t count,
                          double slope, double intercept, float* value) {
  std::atomic<std::size_t> first_wrong = count;
  for_parts(count, std::size_t(1) << 17, [&](std::size_t begin, std::size_t end) {
    unsigned char* const part = bytes + begin * size_of(type);
    to_native(part, end - begin, size_of(type), order);
    convert(type, part, end - begin, slope, intercept, value + begin);
    std::size_t wrong = begin;
    while (wrong < end && std::isfinite(value[wrong]))
      ++wrong;
    std::size_t known = first_wrong;
    while (wrong < end && wrong < known && !first_wrong.compare_exchange_weak(known, wrong)) {
    }
  });
  return first_wrong;
}

/// The values of the image itself.
class ImageValues : public VoxelTarget {
public:
  explicit ImageValues(VoxelImage& image)
      : image_(image) {}
  void begin(const VoxelImage& image, ImagePlanes planes) override {
    image_.value.resize(image.voxels_per_plane() * std::size_t(planes.count()));
  }
  float* room(std::size_t first, std::size_t /*count*/) override {
    return image_.value.data() + first;
  }
  void filled(std::size_t /*first*/, std::size_t /*count*/) override {}

private:
  VoxelImage& image_;
};

} // namespace

void to_native(unsigned char* bytes, std::size_t count, std::size_t size, ByteOrder order) {
  const std::uint16_t probe = 1;
  unsigned char low;
  std::memcpy(&low, &probe, 1);
  const bool little = low == 1;
  if (size == 1 || little == (order == ByteOrder::little))
    return;
  for (std::size_t i = 0; i < count; ++i)
    std::reverse(bytes + i * size, bytes + (i + 1) * size);
}

std::size_t size_of(SampleType type) {
  constexpr std::size_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8}; // in the order of SampleType
  return sizes[std::size_t(type)];
}

void read_samples(const std::string& where, ByteStream& stream, SampleType type, ByteOrder order,
                  const ChoosePlanes& choose, VoxelTarget* target, VoxelImage& image, double slope,
                  double intercept, DataEnd data_end) {
  const std::size_t size = size_of(type);
  const std::size_t count = image.num_voxels(); // below 2^40, so bytes fit in 64 bits
  std::ostringstream meaning;
  meaning << image.shape[0] << " x " << image.shape[1] << " x " << image.shape[2] << " voxels of "
          << size << (size == 1 ? " byte" : " bytes");
  stream.require_plausible(std::uint64_t(count) * size, meaning.str());
  const ImagePlanes planes = planes_to_read(choose, image.shape[2]);
  image.first_plane = planes.begin;
  const std::size_t begin = image.first_voxel();
  const std::size_t end = begin + image.voxels_per_plane() * std::size_t(planes.count());
  ImageValues values(image);
  VoxelTarget& to = target == nullptr ? values : *target;
  try {
    to.begin(image, planes);
  } catch (const std::exception&) {
    fail<BackendError>(where, ": ", meaning.str(), " do not fit in memory");
  }
  if (begin == end)
    return;
  // Whichever planes are wanted, the blocks are those of the whole image: what is wrong in one is
  // found in the same order, and said in the same words. Large ones have work for all threads.
  const std::size_t block = std::size_t(1) << (count < std::size_t(1) << 24 ? 20 : 23);
  std::vector<unsigned char> bytes(std::min(block, count) * size);
  for (std::size_t first = 0; first < end; first += block) {
    const std::size_t part = std::min(block, count - first);
    if (first + part <= begin) {
      stream.skip(part * size);
      continue;
    }
    stream.read(bytes.data(), part * size);
    const std::size_t from = std::max(first, begin), wanted = std::min(first + part, end) - from;
    float* const value = to.room(from - begin, wanted);
    const std::size_t wrong = convert_block(type, order, bytes.data() + (from - first) * size,
                                            wanted, slope, intercept, value);
    if (wrong < wanted) {
      const std::size_t nx = std::size_t(image.shape[0]);
      const std::size_t ny = std::size_t(image.shape[1]);
      const std::size_t v = from + wrong;
      fail<InputError>(where, ": voxel (x, y, z) = (", v % nx, ", ", v / nx % ny, ", ", v / nx / ny,
                       ") is ", value[wrong],
                       "; values must be finite: write background as a number, say 0");
    }
    to.filled(from - begin, wanted);
  }
  if (end == count && data_end == DataEnd::file)
    stream.require_end("the " + meaning.str());
}

} // namespace ossatura
