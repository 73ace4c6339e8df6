// SPDX-License-Identifier: Apache-2.0
// Samples are voxel values as files store them, by type and byte order.
#pragma once

#include <ossatura/core/base/names.hpp>
#include <ossatura/core/io/image/planes.hpp>
#include <ossatura/core/io/image/voxel_target.hpp>
#include <ossatura/core/io/text/byte_stream.hpp>
#include <ossatura/core/mesh/voxel_image.hpp>

#include <string>

namespace ossatura {

enum class SampleType { u8, i8, u16, i16, u32, i32, u64, i64, f32, f64 };
enum class ByteOrder { little, big };

constexpr Names<SampleType> names_of(SampleType) {
  return {{SampleType::u8, "uint8"},   {SampleType::i8, "int8"},    {SampleType::u16, "uint16"},
          {SampleType::i16, "int16"},  {SampleType::u32, "uint32"}, {SampleType::i32, "int32"},
          {SampleType::u64, "uint64"}, {SampleType::i64, "int64"},  {SampleType::f32, "float32"},
          {SampleType::f64, "float64"}};
}

std::size_t size_of(SampleType type);

/// Puts `count` numbers of `size` bytes each into the byte order of this machine.
void to_native(unsigned char* bytes, std::size_t count, std::size_t size, ByteOrder order);

/// Whether the samples end where the file does: what follows would be a wrong shape or type.
enum class DataEnd { file, anywhere };

/// Reads the samples of the planes that are chosen into `image` as value * slope + intercept,
/// rounded to float; the stream is at the first sample of plane 0, and image.shape is set before.
/// Planes below are passed over: inflated for nothing, where they are compressed. Throws InputError
/// where the stream cannot hold the whole image, ends within these planes or, unless `data_end`
/// says that it may, goes on behind the last one, and for a value that is not finite, naming the
/// voxel; BackendError where the planes do not fit in memory. Values go to `target`, where there is
/// one, and the image is left without.
void read_samples(const std::string& where, ByteStream& stream, SampleType type, ByteOrder order,
                  const ChoosePlanes& choose, VoxelTarget* target, VoxelImage& image,
                  double slope = 1, double intercept = 0, DataEnd data_end = DataEnd::file);

} // namespace ossatura
