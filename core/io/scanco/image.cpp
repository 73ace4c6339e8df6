// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/scanco/image.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/image/place.hpp>
#include <ossatura/core/io/image/samples.hpp>
#include <ossatura/core/io/image/voxel_limits.hpp>
#include <ossatura/core/io/text/input_file.hpp>
#include <ossatura/core/io/text/scanner.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

namespace ossatura {
namespace {

constexpr std::size_t block_bytes = 512;
constexpr std::uint64_t max_log_bytes = std::uint64_t(16) << 20;

using Head = std::vector<unsigned char>;

/// Little-endian, as all numbers of these files.
std::int64_t integer_at(const Head& head, std::size_t at, std::size_t size = 4) {
  std::uint64_t bits = 0;
  for (std::size_t b = size; b-- > 0;)
    bits = bits << 8 | head[at + b];
  return size == 4 ? std::int64_t(std::int32_t(std::uint32_t(bits))) : std::int64_t(bits);
}

/// A VAX number of two (F) or four (D, as G without its longer exponent) words of 16 bits, whose
/// order is that of IEEE's big-endian words, with an exponent that is larger by 2.
double vax_at(const Head& head, std::size_t at, std::size_t size) {
  std::uint64_t bits = 0;
  for (std::size_t word = 0; word < size; word += 2)
    bits = bits << 16 | std::uint64_t(head[at + word + 1]) << 8 | head[at + word];
  if (size == 4) {
    const auto half = std::uint32_t(bits);
    float number;
    std::memcpy(&number, &half, 4);
    return 0.25 * double(number);
  }
  double number;
  std::memcpy(&number, &bits, 8);
  return 0.25 * number;
}

std::string text_at(const Head& head, std::size_t at, std::size_t size) {
  std::string_view text = text_of(head).substr(at, size);
  text = text.substr(0, text.find('\0'));
  const std::size_t end = text.find_last_not_of(' ');
  return std::string(text.substr(0, end == std::string_view::npos ? 0 : end + 1));
}

/// What the header says.
struct ScancoHeader {
  std::array<std::int64_t, 3> shape{};
  std::array<double, 3> edges{};    ///< mm
  std::array<double, 3> position{}; ///< of the first voxel's centre, in voxels
  int kind = 0;                     ///< of an AIM; that of 16-bit integers for an ISQ
  std::uint64_t data_begin = 0;
  std::size_t size_bytes = 4; ///< of the number before runs
  double slope = 1, intercept = 0, mu_scaling = 0;
  std::string unit; ///< of slope v / mu_scaling + intercept; empty: no calibration
};

constexpr int kind_i16 = 0x00020002;
constexpr int kind_bit_runs = 0x00150001;
constexpr int kind_byte_runs = 0x00080002;

Head read_at_least(const std::string& path, std::size_t bytes, const char* what) {
  Head head = read_head(path, bytes);
  if (head.size() < bytes)
    fail<InputError>(path, ": is truncated: ", head.size(), " bytes, and ", what, " has ", bytes);
  return head;
}

/// The calibration of an ISQ lies in blocks of an extended header, whose directory has an entry of
/// 128 bytes for each of at most four parts: a name at 8, the number of its blocks at 24.
void read_isq_calibration(const Head& head, ScancoHeader& header) {
  std::size_t directory = block_bytes;
  if (head.size() < directory + block_bytes)
    return;
  if (text_at(head, directory + 8, 16) == "MultiHeader")
    directory += block_bytes;
  if (head.size() < directory + block_bytes)
    return;
  std::uint64_t begin = directory + block_bytes;
  for (std::size_t entry = directory; entry < directory + block_bytes; entry += 128) {
    const std::int64_t blocks = integer_at(head, entry + 24);
    if (blocks < 0 || begin + std::uint64_t(blocks) * block_bytes > head.size())
      return;
    if (text_at(head, entry + 8, 16) == "Calibration" && blocks >= 2) {
      const auto at = std::size_t(begin);
      header.unit = text_at(head, at + 648, 16);
      header.slope = vax_at(head, at + 664, 8);
      header.intercept = vax_at(head, at + 672, 8);
      return;
    }
    begin += std::uint64_t(blocks) * block_bytes;
  }
}

ScancoHeader read_isq_header(const std::string& path, std::uint64_t size) {
  const Head start = read_at_least(path, block_bytes, "the header of an ISQ");
  if (integer_at(start, 16) == 9 || integer_at(start, 64) == 0)
    fail<InputError>(path, ": is a Scanco RAD, a radiograph; a stack of slices (.isq) is expected");
  ScancoHeader header;
  header.kind = kind_i16;
  for (std::size_t d = 0; d < 3; ++d) {
    header.shape[d] = integer_at(start, 44 + 4 * d);
    // Of the whole image, um.
    header.edges[d] = 1e-3 * double(integer_at(start, 56 + 4 * d)) /
                      double(std::max<std::int64_t>(1, header.shape[d]));
  }
  header.mu_scaling = double(integer_at(start, 88));
  const std::int64_t blocks = integer_at(start, 508);
  if (blocks < 0 || std::uint64_t(blocks + 1) * block_bytes > size)
    fail<InputError>(path, ": the header claims ", blocks,
                     " blocks of 512 bytes before the voxels of a file of ", size,
                     " bytes: the file is damaged or truncated");
  header.data_begin = std::uint64_t(blocks + 1) * block_bytes;
  read_isq_calibration(read_head(path, std::size_t(std::min(header.data_begin, max_log_bytes))),
                       header);
  return header;
}

/// The processing log of an AIM: lines of a key, at least two spaces, and a value.
void read_aim_log(std::string_view log, ScancoHeader& header) {
  const auto value_of = [&](std::string_view key) -> std::string {
    for (std::size_t begin = 0; begin < log.size();) {
      const std::size_t end = std::min(log.find('\n', begin), log.size());
      const std::string_view line = log.substr(begin, end - begin);
      begin = end + 1;
      if (line.substr(0, key.size()) != key || line.substr(key.size(), 2) != "  ")
        continue;
      const std::size_t first = line.find_first_not_of(' ', key.size());
      if (first == std::string_view::npos)
        return {};
      const std::size_t last = line.find_last_not_of(std::string_view(" \r\0", 3));
      return std::string(line.substr(first, last + 1 - first));
    }
    return {};
  };
  const auto number_of = [&](std::string_view key, double& number) {
    return TextScanner::parse(value_of(key), number);
  };
  if (number_of("Density: slope", header.slope) &&
      number_of("Density: intercept", header.intercept) &&
      number_of("Mu_Scaling", header.mu_scaling))
    header.unit = value_of("Density: unit");
}

ScancoHeader read_aim_header(const std::string& path, std::uint64_t size, bool is_030) {
  // Lengths of what follows one another: this list, the description, the log, the voxels, others.
  const std::size_t word = is_030 ? 8 : 4, list = is_030 ? 16 : 0, description = list + 5 * word,
                    description_bytes = is_030 ? 208 : 120;
  const Head start = read_at_least(path, description + description_bytes, "the header of an AIM");
  ScancoHeader header;
  header.size_bytes = word;
  std::array<std::int64_t, 3> bytes{};
  for (std::size_t part = 0; part < 3; ++part)
    bytes[part] = integer_at(start, list + part * word, word);
  const std::uint64_t left = size - list;
  std::uint64_t before = 0;
  for (const std::int64_t part : bytes) {
    if (part < 0 || std::uint64_t(part) > left - before)
      fail<InputError>(path, ": a part of the header claims ", part, " bytes of a file of ", size,
                       ": the file is damaged or truncated");
    before += std::uint64_t(part);
  }
  if (bytes[0] != std::int64_t(5 * word) || bytes[1] < std::int64_t(description_bytes) ||
      std::uint64_t(bytes[2]) > max_log_bytes)
    fail<InputError>(path, ": lengths of ", bytes[0], ", ", bytes[1], " and ", bytes[2],
                     " bytes for the parts of the header: this is no AIM of version 020 or 030");
  header.data_begin = list + before;
  // Pointers and numbers of the program; then, as triples, position, shape, and five others; then
  // edges.
  header.kind = int(integer_at(start, description + (is_030 ? 12 : 20)));
  const std::size_t triples = description + (is_030 ? 16 : 24);
  for (std::size_t d = 0; d < 3; ++d) {
    header.position[d] = double(integer_at(start, triples + d * word, word));
    header.shape[d] = integer_at(start, triples + (3 + d) * word, word);
    const std::size_t edge = triples + 21 * word + d * word;
    header.edges[d] = is_030 ? 1e-6 * double(integer_at(start, edge, 8)) // nm
                             : vax_at(start, edge, 4);                   // mm
  }
  const Head log = read_bytes(path, list + std::uint64_t(bytes[0]) + std::uint64_t(bytes[1]),
                              std::size_t(bytes[2]));
  read_aim_log(text_of(log), header);
  return header;
}

/// None for runs.
std::optional<SampleType> sample_type(const std::string& path, int kind, bool is_030) {
  switch (kind) {
  case 0x00010001:
    return SampleType::i8;
  case 0x00160001:
  case 0x000d0001:
    return SampleType::u8;
  case kind_i16:
    return SampleType::i16;
  case 0x00170002:
    return SampleType::u16;
  case 0x00030004:
    return SampleType::i32;
  case 0x001a0004:
    if (is_030)
      return SampleType::f32;
    fail<InputError>(
        path, ": voxels are VAX floats; write them as 16-bit integers, or as AIM of version 030");
  case 0x00060001:
    fail<InputError>(
        path,
        ": voxels are packed bits, of which no file was at hand to read them right; write the "
        "segmentation as runs (D1TbinCmp, D1TcharCmp) or as bytes");
  case kind_bit_runs:
  case kind_byte_runs:
    return std::nullopt;
  default: {
    std::ostringstream number;
    number << std::hex << unsigned(kind);
    fail<InputError>(path, ": voxels are of the type 0x", number.str(),
                     "; integers of 1, 2 and 4 bytes, floats and runs are read");
  }
  }
}

/// Bytes of voxels out of runs.
class AimDecoder {
public:
  AimDecoder(std::string path, const ScancoHeader& header, const std::array<int, 3>& shape)
      : path_(std::move(path))
      , header_(header)
      , shape_(shape)
      , count_(std::size_t(shape[0]) * std::size_t(shape[1]) * std::size_t(shape[2])) {}

  std::vector<unsigned char> decode(std::uint64_t file_bytes) {
    const std::uint64_t left = file_bytes - header_.data_begin;
    if (left < header_.size_bytes)
      truncated();
    const Head number = read_bytes(path_, header_.data_begin, header_.size_bytes);
    const std::int64_t bytes = integer_at(number, 0, header_.size_bytes);
    if (bytes < std::int64_t(header_.size_bytes) || std::uint64_t(bytes) > left)
      fail<InputError>(path_, ": ", bytes, " bytes of runs are claimed, and ", left,
                       " are left of the file: it is damaged or truncated");
    // A run has at most 255 voxels.
    const std::size_t stored = std::size_t(bytes) - header_.size_bytes;
    if (count_ / 255 > stored)
      truncated();
    const Head runs = read_bytes(path_, header_.data_begin + header_.size_bytes, stored);
    return header_.kind == kind_bit_runs ? expand_bit_runs(runs) : expand_byte_runs(runs);
  }

private:
  [[noreturn]] void truncated() const {
    fail<InputError>(path_, ": is truncated: its voxels end before the last of ", shape_[0], " x ",
                     shape_[1], " x ", shape_[2]);
  }

  /// Two values, then lengths of runs of one and the other in turn; 255 is 254, and the same goes
  /// on.
  std::vector<unsigned char> expand_bit_runs(const Head& runs) const {
    std::vector<unsigned char> voxels;
    voxels.reserve(count_);
    bool second = false;
    for (std::size_t r = 2; r < runs.size() && voxels.size() < count_; ++r) {
      const std::size_t length = runs[r] == 255 ? 254 : runs[r];
      voxels.insert(voxels.end(), std::min(length, count_ - voxels.size()), runs[second ? 1 : 0]);
      if (runs[r] != 255)
        second = !second;
    }
    if (voxels.size() < count_)
      truncated();
    return voxels;
  }

  /// Pairs of a length and a value.
  std::vector<unsigned char> expand_byte_runs(const Head& runs) const {
    std::vector<unsigned char> voxels;
    voxels.reserve(count_);
    for (std::size_t r = 0; r + 1 < runs.size() && voxels.size() < count_; r += 2)
      voxels.insert(voxels.end(), std::min(std::size_t(runs[r]), count_ - voxels.size()),
                    runs[r + 1]);
    if (voxels.size() < count_)
      truncated();
    return voxels;
  }

  std::string path_;
  const ScancoHeader& header_;
  std::array<int, 3> shape_;
  std::size_t count_;
};

/// The planes that are chosen of voxels of a signed byte.
void hand_over(const std::vector<unsigned char>& voxels, const ChoosePlanes& choose,
               VoxelTarget* target, VoxelImage& image) {
  const ImagePlanes planes = planes_to_read(choose, image.shape[2]);
  image.first_plane = planes.begin;
  const std::size_t begin = image.first_voxel(),
                    count = image.voxels_per_plane() * std::size_t(planes.count());
  if (target != nullptr)
    target->begin(image, planes);
  else
    image.value.resize(count);
  constexpr std::size_t block = std::size_t(1) << 20;
  for (std::size_t first = 0; first < count; first += block) {
    const std::size_t part = std::min(block, count - first);
    float* const value = target != nullptr ? target->room(first, part) : image.value.data() + first;
    for (std::size_t i = 0; i < part; ++i)
      value[i] = float(static_cast<signed char>(voxels[begin + first + i]));
    if (target != nullptr)
      target->filled(first, part);
  }
}

} // namespace

VoxelImage read_scanco(const std::string& path, const ChoosePlanes& planes, VoxelTarget* target,
                       VoxelShape voxels, ScancoValues* values) {
  const std::uint64_t size = require_input_file(path);
  const Head magic = read_head(path, 16);
  const bool is_isq = text_of(magic) == "CTDATA-HEADER_V1",
             is_030 = text_of(magic).substr(0, 12) == "AIMDATA_V030";
  const ScancoHeader header =
      is_isq ? read_isq_header(path, size) : read_aim_header(path, size, is_030);
  VoxelImage image;
  for (const std::int64_t extent : header.shape)
    if (extent < 1)
      fail<InputError>(path, ": an extent of ", extent, " voxels: the file is damaged");
  image.shape = require_voxel_shape(path, std::uint64_t(header.shape[0]),
                                    std::uint64_t(header.shape[1]), std::uint64_t(header.shape[2]));
  set_edges(path, header.edges, voxels, image);
  std::array<double, 3> centre{};
  for (std::size_t d = 0; d < 3; ++d)
    centre[d] = header.position[d] * image.edges()[d];
  image.origin = lower_corner(centre, image.edges(), image.direction);

  const std::optional<SampleType> type = sample_type(path, header.kind, is_030);
  // A scanner that was not calibrated writes slope 0.
  const bool calibrated = type && size_of(*type) > 1 && !header.unit.empty() && header.slope != 0;
  if (calibrated &&
      !(header.mu_scaling > 0 && std::isfinite(header.slope) && std::isfinite(header.intercept)))
    fail<InputError>(path, ": its calibration, ", header.slope, " v / ", header.mu_scaling, " + ",
                     header.intercept, " ", header.unit,
                     ", makes no densities: the header is damaged");
  if (values != nullptr)
    *values = {!type || size_of(*type) == 1, calibrated ? header.unit : ""};
  if (!type) {
    hand_over(AimDecoder(path, header, image.shape).decode(size), planes, target, image);
    return image;
  }
  ByteStream stream(path, header.data_begin, ByteStream::Coding::plain);
  read_samples(path, stream, *type, ByteOrder::little, planes, target, image,
               calibrated ? header.slope / header.mu_scaling : 1, calibrated ? header.intercept : 0,
               DataEnd::anywhere);
  return image;
}

} // namespace ossatura
