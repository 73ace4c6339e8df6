// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/image/metaimage.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/image/place.hpp>
#include <ossatura/core/io/image/samples.hpp>
#include <ossatura/core/io/image/voxel_limits.hpp>
#include <ossatura/core/io/text/input_file.hpp>
#include <ossatura/core/io/text/scanner.hpp>

#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace ossatura {
namespace {

constexpr std::size_t max_header = std::size_t(1) << 16;

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// The `Key = Value` lines up to ElementDataFile, which is the last one.
class MetaHeader {
public:
  explicit MetaHeader(const std::string& path)
      : path_(path) {
    const std::vector<unsigned char> bytes = read_head(path, max_header);
    const std::string_view head = text_of(bytes);
    TextScanner scan(head);
    while (scan.next_line()) {
      const std::string_view line = scan.line();
      const std::size_t equals = line.find('=');
      if (equals == std::string_view::npos)
        fail<InputError>(path, ": line ", scan.line_number(), " is not 'Key = Value'",
                         value_.empty() ? ": this is not a MetaImage" : "");
      const std::string key(trim(line.substr(0, equals)));
      if (!value_.try_emplace(key, trim(line.substr(equals + 1))).second)
        fail<InputError>(path, ": line ", scan.line_number(), ": ", key, " is there twice");
      if (key == "ElementDataFile") {
        size_ = head.size() - scan.rest().size();
        return;
      }
    }
    fail<InputError>(path, ": the MetaImage header has no ElementDataFile in its first ",
                     bytes.size(), " bytes: it is truncated or not a MetaImage");
  }

  /// Bytes up to the line break after ElementDataFile.
  std::size_t size() const { return size_; }
  bool has(const std::string& key) const { return value_.count(key) != 0; }

  std::string text(const std::string& key, const std::string& otherwise) const {
    const auto found = value_.find(key);
    return found == value_.end() ? otherwise : found->second;
  }

  /// The first of `keys` that is there, as three numbers; `otherwise` if none is.
  template<class T>
  std::array<T, 3> three(std::initializer_list<const char*> keys,
                         const std::array<T, 3>* otherwise) const {
    for (const char* key : keys)
      if (has(key)) {
        std::array<T, 3> found{};
        TextScanner scan(value_.at(key));
        scan.next_line();
        for (T& number : found)
          if (!scan.number(number))
            fail<InputError>(path_, ": ", key, " = ", value_.at(key),
                             ": three numbers are expected");
        if (!scan.word().empty())
          fail<InputError>(path_, ": ", key, " = ", value_.at(key), ": more than three numbers");
        return found;
      }
    if (otherwise == nullptr)
      fail<InputError>(path_, ": the MetaImage header has no ", *keys.begin());
    return *otherwise;
  }

  template<class T>
  T number(const char* key, T otherwise) const {
    if (!has(key))
      return otherwise;
    T found{};
    if (!TextScanner::parse(value_.at(key), found))
      fail<InputError>(path_, ": ", key, " = ", value_.at(key), ": a number is expected");
    return found;
  }

  bool flag(const char* key, bool otherwise) const {
    if (!has(key))
      return otherwise;
    const std::string& value = value_.at(key);
    const char first = value.empty() ? '?' : value[0];
    if (first == 'T' || first == 't' || first == '1')
      return true;
    if (first == 'F' || first == 'f' || first == '0')
      return false;
    fail<InputError>(path_, ": ", key, " = ", value, ": True or False is expected");
  }

private:
  std::string path_;
  std::map<std::string, std::string> value_;
  std::size_t size_ = 0;
};

SampleType element_type(const std::string& path, const MetaHeader& header) {
  const std::string name = header.text("ElementType", "");
  static const std::map<std::string, SampleType> known{
      {"MET_UCHAR", SampleType::u8},       {"MET_CHAR", SampleType::i8},
      {"MET_USHORT", SampleType::u16},     {"MET_SHORT", SampleType::i16},
      {"MET_UINT", SampleType::u32},       {"MET_INT", SampleType::i32},
      {"MET_ULONG", SampleType::u32},      {"MET_LONG", SampleType::i32}, // 4 bytes by definition
      {"MET_ULONG_LONG", SampleType::u64}, {"MET_LONG_LONG", SampleType::i64},
      {"MET_FLOAT", SampleType::f32},      {"MET_DOUBLE", SampleType::f64}};
  const auto found = known.find(name);
  if (found == known.end())
    fail<InputError>(path, ": ElementType = ", name,
                     ": scalar images of MET_CHAR to MET_DOUBLE are read");
  return found->second;
}

/// The axes of the image: nine numbers, those of the first axis first, as ITK reads them.
ImageDirection read_direction(const std::string& path, const MetaHeader& header) {
  for (const char* key : {"TransformMatrix", "Rotation", "Orientation"})
    if (header.has(key)) {
      const std::string value = header.text(key, "");
      TextScanner scan(value);
      scan.next_line();
      std::array<std::array<double, 3>, 3> axis{};
      for (auto& vector : axis)
        for (double& entry : vector)
          if (!scan.number(entry))
            fail<InputError>(path, ": ", key, " = ", value, ": nine numbers are expected");
      const std::optional<ImageDirection> direction = make_direction(axis, {1, 1, 1});
      if (!direction)
        fail<InputError>(path, ": ", key, " = ", value,
                         ": is no rotation, so voxels are not cubes; resample the image");
      return *direction;
    }
  return identity_direction;
}

/// mm of DistanceUnits, which images have in mm where they do not say.
double metaimage_unit(const std::string& path, const MetaHeader& header) {
  const std::string unit = header.text("DistanceUnits", "mm");
  for (const auto& [name, length] :
       {std::pair("mm", 1.0), std::pair("cm", 10.0), std::pair("um", 1e-3), std::pair("?", 1.0)})
    if (unit == name)
      return length;
  fail<InputError>(path, ": DistanceUnits = ", unit, ": mm, cm or um are read");
}

/// Refuses values that mean others (intensity = slope value + offset).
void require_plain_values(const std::string& path, const MetaHeader& header) {
  for (const auto& [key, plain] : {std::pair("ElementToIntensityFunctionSlope", 1.0),
                                   std::pair("ElementToIntensityFunctionOffset", 0.0)})
    if (const double value = header.number(key, plain); value != plain)
      fail<InputError>(path, ": ", key, " = ", value,
                       ": values that mean others are not read; write the image with those");
}

std::string beside(const std::string& path, const std::string& name) {
  const std::size_t slash = path.rfind('/');
  return name[0] == '/' || slash == std::string::npos ? name : path.substr(0, slash + 1) + name;
}

/// Whether the data lies behind the header.
bool is_local(const std::string& name) {
  return name == "LOCAL" || name == "Local" || name == "local";
}

} // namespace

std::string metaimage_data_file(const std::string& path) {
  require_input_file(path);
  const std::string name = MetaHeader(path).text("ElementDataFile", "");
  return name.empty() || is_local(name) ? path : beside(path, name);
}

VoxelImage read_metaimage(const std::string& path, const ChoosePlanes& planes, VoxelTarget* target,
                          VoxelShape voxels) {
  require_input_file(path);
  const MetaHeader header(path);
  const std::string kind = header.text("ObjectType", "Image");
  if (kind != "Image")
    fail<InputError>(path, ": ObjectType = ", kind, ": an Image is expected");
  const int rank = header.number("NDims", 0);
  if (rank != 3)
    fail<InputError>(path, ": NDims = ", rank, ": a 3-D image is expected");
  if (const int channels = header.number("ElementNumberOfChannels", 1); channels != 1)
    fail<InputError>(path, ": ", channels, " channels per voxel; write one grey value or label");
  if (!header.flag("BinaryData", true))
    fail<InputError>(path, ": ASCII data is not read; write it with BinaryData = True");

  VoxelImage image;
  const auto extent = header.three<std::uint64_t>({"DimSize"}, nullptr);
  image.shape = require_voxel_shape(path + ": DimSize", extent[0], extent[1], extent[2]);
  const std::array<double, 3> unit{1, 1, 1};
  require_plain_values(path, header);
  const double length = metaimage_unit(path, header);
  auto spacing = header.three<double>({"ElementSpacing", "ElementSize"}, &unit);
  for (double& edge : spacing)
    edge *= length;
  image.direction = read_direction(path, header);
  set_edges(path + ": ElementSpacing", turn_axes(spacing, image.direction), voxels, image);
  image.says_spacing = header.has("ElementSpacing") || header.has("ElementSize");
  const std::array<double, 3> zero{0, 0, 0};
  auto centre = header.three<double>({"Offset", "Position", "Origin"}, &zero);
  for (double& x : centre)
    if (!std::isfinite(x *= length))
      fail<InputError>(path, ": the offset of the image is not finite");
  image.origin = lower_corner(centre, image.edges(), image.direction);
  image.world = "LPS";
  image.says_place = header.has("Offset") || header.has("Position") || header.has("Origin");

  const SampleType type = element_type(path, header);
  const bool big = header.flag("BinaryDataByteOrderMSB", header.flag("ElementByteOrderMSB", false));
  const bool compressed = header.flag("CompressedData", false);
  const std::string name = header.text("ElementDataFile", "");
  if (name.empty() || name.substr(0, 4) == "LIST" || name.find('%') != std::string::npos)
    fail<InputError>(path, ": ElementDataFile = ", name,
                     ": slices in many files are not read; write one data file, or .mha");
  const bool local = is_local(name);
  const std::string data_path = local ? path : beside(path, name);
  const std::uint64_t data_size = require_input_file(data_path);
  const std::int64_t header_size = header.number<std::int64_t>("HeaderSize", 0);
  const std::uint64_t bytes = std::uint64_t(image.num_voxels()) * size_of(type);
  std::uint64_t begin =
      local ? header.size() : std::uint64_t(std::max<std::int64_t>(0, header_size));
  if (!local && header_size == -1 && !compressed) { // "the data is at the end of the file"
    if (data_size < bytes)
      fail<InputError>(data_path, ": is truncated: ", data_size, " bytes for ", bytes,
                       " bytes of voxels");
    begin = data_size - bytes;
  } else if (header_size < 0) {
    fail<InputError>(path, ": HeaderSize = ", header_size, " is not a number of bytes");
  }
  ByteStream stream(data_path, begin,
                    compressed ? ByteStream::Coding::deflate : ByteStream::Coding::plain);
  read_samples(data_path, stream, type, big ? ByteOrder::big : ByteOrder::little, planes, target,
               image);
  return image;
}

} // namespace ossatura
