// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/image/nifti.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/image/place.hpp>
#include <ossatura/core/io/image/samples.hpp>
#include <ossatura/core/io/image/voxel_limits.hpp>
#include <ossatura/core/io/text/input_file.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>

namespace ossatura {
namespace {

/// The fields of either header that matter here.
struct NiftiHeader {
  ByteOrder order = ByteOrder::little;
  std::array<std::int64_t, 8> dim{};
  int datatype = 0;
  std::array<double, 8> pixdim{};
  double data_offset = 0;
  double slope = 0;
  double intercept = 0;
  int units = 0;
  int qform = 0;
  int sform = 0;
  std::array<double, 3> quaternion{};
  std::array<double, 3> q_offset{};
  std::array<std::array<double, 4>, 3> s_row{};
};

constexpr std::size_t size_1 = 348;
constexpr std::size_t size_2 = 540;

/// Numbers at byte positions of a header in either byte order.
class Fields {
public:
  Fields(const unsigned char* bytes, ByteOrder order)
      : bytes_(bytes)
      , order_(order) {}
  int byte(std::size_t position) const { return bytes_[position]; }
  template<class T>
  T at(std::size_t position) const {
    unsigned char piece[sizeof(T)];
    std::memcpy(piece, bytes_ + position, sizeof(T));
    to_native(piece, 1, sizeof(T), order_);
    T value;
    std::memcpy(&value, piece, sizeof(T));
    return value;
  }

private:
  const unsigned char* bytes_;
  ByteOrder order_;
};

NiftiHeader parse_1(const Fields& f) {
  NiftiHeader h;
  for (std::size_t i = 0; i < 8; ++i) {
    h.dim[i] = f.at<std::int16_t>(40 + 2 * i);
    h.pixdim[i] = double(f.at<float>(76 + 4 * i));
  }
  h.datatype = f.at<std::int16_t>(70);
  h.data_offset = double(f.at<float>(108));
  h.slope = double(f.at<float>(112));
  h.intercept = double(f.at<float>(116));
  h.units = f.byte(123);
  h.qform = f.at<std::int16_t>(252);
  h.sform = f.at<std::int16_t>(254);
  for (std::size_t i = 0; i < 3; ++i) {
    h.quaternion[i] = double(f.at<float>(256 + 4 * i));
    h.q_offset[i] = double(f.at<float>(268 + 4 * i));
    for (std::size_t k = 0; k < 4; ++k)
      h.s_row[i][k] = double(f.at<float>(280 + 16 * i + 4 * k));
  }
  return h;
}

NiftiHeader parse_2(const Fields& f) {
  NiftiHeader h;
  for (std::size_t i = 0; i < 8; ++i) {
    h.dim[i] = f.at<std::int64_t>(16 + 8 * i);
    h.pixdim[i] = f.at<double>(104 + 8 * i);
  }
  h.datatype = f.at<std::int16_t>(12);
  h.data_offset = double(f.at<std::int64_t>(168));
  h.slope = f.at<double>(176);
  h.intercept = f.at<double>(184);
  h.qform = f.at<std::int32_t>(344);
  h.sform = f.at<std::int32_t>(348);
  for (std::size_t i = 0; i < 3; ++i) {
    h.quaternion[i] = f.at<double>(352 + 8 * i);
    h.q_offset[i] = f.at<double>(376 + 8 * i);
    for (std::size_t k = 0; k < 4; ++k)
      h.s_row[i][k] = f.at<double>(400 + 32 * i + 8 * k);
  }
  h.units = f.at<std::int32_t>(500);
  return h;
}

ByteStream::Coding coding_of(const std::string& path) {
  const std::vector<unsigned char> head = read_head(path, 2);
  const bool gzip = head.size() == 2 && head[0] == 0x1f && head[1] == 0x8b;
  return gzip ? ByteStream::Coding::deflate : ByteStream::Coding::plain;
}

NiftiHeader read_header(const std::string& path, ByteStream& stream) {
  std::array<unsigned char, size_2> bytes{};
  stream.read(bytes.data(), 4);
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    const Fields fields(bytes.data(), order);
    const std::int32_t size = fields.at<std::int32_t>(0);
    if (size != std::int32_t(size_1) && size != std::int32_t(size_2))
      continue;
    stream.read(bytes.data() + 4, std::size_t(size) - 4);
    const char* magic =
        reinterpret_cast<const char*>(bytes.data()) + (size == std::int32_t(size_1) ? 344 : 4);
    if (std::memcmp(magic, "ni1", 3) == 0 || std::memcmp(magic, "ni2", 3) == 0)
      fail<InputError>(path, ": is the header of a NIfTI pair (.hdr and .img); convert it to one "
                             ".nii file, for example with nifti_tool or nibabel");
    if (std::memcmp(magic, size == std::int32_t(size_1) ? "n+1" : "n+2", 4) != 0)
      fail<InputError>(path, ": has no NIfTI signature 'n+1' or 'n+2': it is an ANALYZE file or "
                             "damaged");
    NiftiHeader header = size == std::int32_t(size_1) ? parse_1(fields) : parse_2(fields);
    header.order = order;
    if (!(header.data_offset >= double(size)) || header.data_offset > 1e9)
      fail<InputError>(path, ": the NIfTI header says that data begins at byte ",
                       header.data_offset, ", which cannot be");
    return header;
  }
  fail<InputError>(path, ": is not a NIfTI file (no header of 348 or 540 bytes)");
}

SampleType sample_type(const std::string& path, int datatype) {
  switch (datatype) { // codes of [1]
  case 2:
    return SampleType::u8;
  case 4:
    return SampleType::i16;
  case 8:
    return SampleType::i32;
  case 16:
    return SampleType::f32;
  case 64:
    return SampleType::f64;
  case 256:
    return SampleType::i8;
  case 512:
    return SampleType::u16;
  case 768:
    return SampleType::u32;
  case 1024:
    return SampleType::i64;
  case 1280:
    return SampleType::u64;
  default:
    break;
  }
  fail<InputError>(path, ": NIfTI datatype ", datatype,
                   " is not read; write one real number per voxel (integer, float or double)");
}

double unit_in_mm(const std::string& path, int units) {
  switch (units & 7) {
  case 0:
    return 1; // unknown: mm by convention
  case 1:
    return 1000;
  case 2:
    return 1;
  case 3:
    return 1e-3;
  default:
    break;
  }
  fail<InputError>(path, ": NIfTI spatial unit ", units & 7,
                   " is unknown; it must be 1 (m), 2 (mm) or 3 (micron)");
}

/// The axes of the image by its quaternion, in units of a voxel: axis d along [d].
std::array<std::array<double, 3>, 3> turned_axes(const NiftiHeader& h) {
  auto [b, c, d] = h.quaternion;
  double a = 1 - (b * b + c * c + d * d);
  if (a < -1e-3)
    return {};    // no unit quaternion
  if (a < 1e-7) { // a half turn, up to the rounding of the header
    const double length = std::sqrt(b * b + c * c + d * d);
    b /= length, c /= length, d /= length;
    a = 0;
  }
  a = std::sqrt(a);
  const double mirror = h.pixdim[0] < 0 ? -1 : 1; // of the third axis
  return {{{a * a + b * b - c * c - d * d, 2 * (b * c + a * d), 2 * (b * d - a * c)},
           {2 * (b * c - a * d), a * a + c * c - b * b - d * d, 2 * (c * d + a * b)},
           {mirror * 2 * (b * d + a * c), mirror * 2 * (c * d - a * b),
            mirror * (a * a + d * d - c * c - b * b)}}};
}

using Axes = std::array<std::array<double, 3>, 3>;

double inner_product(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// Whether three axes of some length are at right angles.
bool are_orthogonal(const Axes& axis) {
  for (std::size_t d = 0; d < 3; ++d) {
    const std::array<double, 3>&a = axis[d], &b = axis[(d + 1) % 3];
    const double size = std::sqrt(inner_product(a, a) * inner_product(b, b));
    if (!(size > 0) || !(std::fabs(inner_product(a, b)) < 1e-3 * size))
      return false;
  }
  return true;
}

double length_of(const std::array<double, 3>& a) {
  return std::sqrt(inner_product(a, a));
}

/// Origin and direction, per [1]: by the affine map of the header (sform), or else by its rotation
/// (qform); with neither the centre of the first voxel is at 0. An affine map that shears voxels,
/// as registration makes them, leaves the word to the rotation; one whose edges are others than
/// those of pixdim is refused: either may be right.
void read_place(const std::string& path, const NiftiHeader& h, double unit, VoxelImage& image) {
  std::array<double, 3> centre{};
  std::optional<ImageDirection> direction;
  if (h.sform > 0) {
    Axes axis{};
    for (std::size_t i = 0; i < 3; ++i) {
      centre[i] = h.s_row[i][3] * unit;
      for (std::size_t d = 0; d < 3; ++d)
        axis[d][i] = h.s_row[i][d] * unit;
    }
    direction = make_direction(axis, image.edges());
    if (!direction && are_orthogonal(axis))
      fail<InputError>(path, ": voxels have edges of ", length_of(axis[0]), " x ",
                       length_of(axis[1]), " x ", length_of(axis[2]),
                       " mm by the sform of the NIfTI header, and other ones by its pixdim: "
                       "correct the one that is wrong");
    if (!direction && h.qform <= 0)
      fail<InputError>(path, ": the sform of the NIfTI header is no rotation of voxels with the "
                             "edges that pixdim gives: resample the image, or correct the header");
  }
  if (!direction && h.qform > 0) {
    direction = make_direction(turned_axes(h), {1, 1, 1});
    for (std::size_t i = 0; i < 3; ++i)
      centre[i] = h.q_offset[i] * unit;
  }
  if (!direction && h.qform > 0)
    fail<InputError>(path, ": the qform of the NIfTI header is no rotation: correct the header");
  if (!direction) { // the header does not say
    image.origin = lower_corner({0, 0, 0}, image.edges(), image.direction);
    return;
  }
  for (const double x : centre)
    if (!std::isfinite(x))
      fail<InputError>(path, ": the origin of the NIfTI header is not finite");
  image.direction = *direction;
  image.origin = lower_corner(centre, image.edges(), *direction);
  image.world = "RAS";
}

} // namespace

VoxelImage read_nifti(const std::string& path, const ChoosePlanes& planes, VoxelTarget* target,
                      VoxelShape voxels) {
  require_input_file(path);
  ByteStream stream(path, 0, coding_of(path));
  const NiftiHeader header = read_header(path, stream);

  const std::int64_t rank = header.dim[0];
  const bool three = rank >= 3 && rank <= 7 &&
                     std::all_of(header.dim.begin() + 4, header.dim.begin() + 1 + rank,
                                 [](std::int64_t extent) { return extent == 1; });
  if (!three)
    fail<InputError>(path, ": the NIfTI image has ", rank,
                     " dimensions; a 3-D image, or one of a single time, is expected");
  for (int axis = 1; axis <= 3; ++axis)
    if (header.dim[std::size_t(axis)] < 1)
      fail<InputError>(path, ": the NIfTI header claims ", header.dim[std::size_t(axis)],
                       " voxels along axis ", axis);
  VoxelImage image;
  image.shape = require_voxel_shape(path, std::uint64_t(header.dim[1]),
                                    std::uint64_t(header.dim[2]), std::uint64_t(header.dim[3]));
  const double unit = unit_in_mm(path, header.units);
  // Lengths, per [1]: which way axes run is said by sform and qform. Others read them so, too.
  set_edges(path + ": pixdim",
            {std::fabs(header.pixdim[1]) * unit, std::fabs(header.pixdim[2]) * unit,
             std::fabs(header.pixdim[3]) * unit},
            voxels, image);
  read_place(path, header, unit, image);

  const SampleType type = sample_type(path, header.datatype);
  // Slope zero means no scaling, per [1].
  const bool scaled = header.slope != 0;
  if (scaled && (!std::isfinite(header.slope) || !std::isfinite(header.intercept)))
    fail<InputError>(
        path, ": scl_slope ", header.slope, " or scl_inter ", header.intercept,
        " is not finite: correct the header (a slope of 0 says that values are as they are)");
  ByteStream data(path, 0, coding_of(path));
  data.skip(std::uint64_t(header.data_offset));
  read_samples(path, data, type, header.order, planes, target, image, scaled ? header.slope : 1,
               scaled ? header.intercept : 0);
  return image;
}

} // namespace ossatura
