// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/image/nrrd.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/image/place.hpp>
#include <ossatura/core/io/image/samples.hpp>
#include <ossatura/core/io/image/voxel_limits.hpp>
#include <ossatura/core/io/text/input_file.hpp>
#include <ossatura/core/io/text/scanner.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace ossatura {
namespace {

constexpr std::size_t max_nrrd_header = std::size_t(1) << 20; // key/value pairs may be long

std::string_view strip(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::string small_letters(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](unsigned char c) { return char(std::tolower(c)); });
  return small;
}

using Vector3 = std::array<double, 3>;

/// The `field: value` lines up to the blank one, or of the whole of a detached header.
class NrrdHeader {
public:
  explicit NrrdHeader(const std::string& path)
      : path_(path) {
    const std::vector<unsigned char> bytes = read_head(path, max_nrrd_header);
    const std::string_view head = text_of(bytes);
    if (head.substr(0, 7) != "NRRD000")
      fail<InputError>(path, ": does not begin with NRRD000: this is not an NRRD image");
    std::size_t begin = 0;
    for (long number = 1; begin < head.size(); ++number) {
      const std::size_t end = head.find('\n', begin);
      const bool is_last = end == std::string_view::npos;
      const std::string_view line =
          strip(head.substr(begin, is_last ? std::string_view::npos : end - begin));
      begin = is_last ? head.size() : end + 1;
      size_ = begin;
      if (line.empty())
        break;
      if (number > 1 && line[0] != '#')
        add(line, number);
      if (is_last && begin == max_nrrd_header)
        fail<InputError>(path, ": the NRRD header does not end in its first ", begin, " bytes");
    }
  }

  /// Bytes up to the data.
  std::size_t size() const { return size_; }
  bool has(const std::string& field) const { return value_.count(field) != 0; }

  std::string text(const std::string& field, const std::string& otherwise) const {
    const auto found = value_.find(field);
    return found == value_.end() ? otherwise : found->second;
  }
  /// That of a field which may be written with a space or without.
  std::string either(const std::string& spaced, const std::string& joined) const {
    return text(spaced, text(joined, ""));
  }

  std::string required(const std::string& field) const {
    if (!has(field))
      fail<InputError>(path_, ": the NRRD header has no '", field, "'");
    return value_.at(field);
  }

  template<class T>
  T number(const std::string& field, T otherwise) const {
    if (!has(field))
      return otherwise;
    T found{};
    if (!TextScanner::parse(value_.at(field), found))
      fail<InputError>(path_, ": ", field, ": ", value_.at(field), ": a number is expected");
    return found;
  }

  template<class T>
  std::array<T, 3> three(const std::string& field) const {
    std::array<T, 3> found{};
    const std::string value = required(field);
    TextScanner scan(value);
    scan.next_line();
    bool good = true;
    for (T& entry : found)
      good = good && scan.number(entry);
    if (!good || !scan.word().empty())
      fail<InputError>(path_, ": ", field, ": ", value, ": three numbers are expected");
    return found;
  }

  /// `count` vectors, each "(x,y,z)".
  std::vector<Vector3> vectors(const std::string& field, std::size_t count) const {
    std::vector<Vector3> found;
    const std::string value = required(field);
    std::string_view rest = strip(value);
    while (!rest.empty()) {
      const std::size_t end = rest.find(')');
      std::string numbers(rest.substr(0, end));
      const bool is_vector = !numbers.empty() && numbers[0] == '(' && end != std::string_view::npos;
      if (is_vector)
        numbers[0] = ' ';
      const auto commas = std::count(numbers.begin(), numbers.end(), ',');
      std::replace(numbers.begin(), numbers.end(), ',', ' ');
      TextScanner scan(numbers);
      scan.next_line();
      Vector3 vector{};
      bool good = is_vector && commas == 2;
      for (double& entry : vector)
        good = good && scan.number(entry) && std::isfinite(entry);
      if (!good || !scan.word().empty())
        fail<InputError>(path_, ": ", field, ": ", value, ": ", count,
                         " vectors are expected, as (1,0,0)");
      found.push_back(vector);
      rest = strip(rest.substr(end + 1));
    }
    if (found.size() != count)
      fail<InputError>(path_, ": ", field, ": ", value, ": ", count, " vectors are expected");
    return found;
  }

private:
  std::string path_;
  std::map<std::string, std::string> value_;
  std::size_t size_ = 0;

  void add(std::string_view line, long number) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos && either("data file", "datafile").substr(0, 4) == "LIST")
      return; // its files, and no fields behind them
    if (colon == std::string_view::npos)
      fail<InputError>(path_, ": line ", number, " is not 'field: value'");
    if (line.substr(colon, 2) == ":=") // a key of whoever wrote it
      return;
    const std::string field = small_letters(strip(line.substr(0, colon)));
    if (!value_.try_emplace(field, strip(line.substr(colon + 1))).second)
      fail<InputError>(path_, ": line ", number, ": '", field, "' is there twice");
  }
};

SampleType nrrd_type(const std::string& path, const NrrdHeader& header) {
  static const std::map<std::string, SampleType> known{{"signed char", SampleType::i8},
                                                       {"int8", SampleType::i8},
                                                       {"int8_t", SampleType::i8},
                                                       {"uchar", SampleType::u8},
                                                       {"unsigned char", SampleType::u8},
                                                       {"uint8", SampleType::u8},
                                                       {"uint8_t", SampleType::u8},
                                                       {"short", SampleType::i16},
                                                       {"short int", SampleType::i16},
                                                       {"signed short", SampleType::i16},
                                                       {"signed short int", SampleType::i16},
                                                       {"int16", SampleType::i16},
                                                       {"int16_t", SampleType::i16},
                                                       {"ushort", SampleType::u16},
                                                       {"unsigned short", SampleType::u16},
                                                       {"unsigned short int", SampleType::u16},
                                                       {"uint16", SampleType::u16},
                                                       {"uint16_t", SampleType::u16},
                                                       {"int", SampleType::i32},
                                                       {"signed int", SampleType::i32},
                                                       {"int32", SampleType::i32},
                                                       {"int32_t", SampleType::i32},
                                                       {"uint", SampleType::u32},
                                                       {"unsigned int", SampleType::u32},
                                                       {"uint32", SampleType::u32},
                                                       {"uint32_t", SampleType::u32},
                                                       {"longlong", SampleType::i64},
                                                       {"long long", SampleType::i64},
                                                       {"long long int", SampleType::i64},
                                                       {"signed long long", SampleType::i64},
                                                       {"signed long long int", SampleType::i64},
                                                       {"int64", SampleType::i64},
                                                       {"int64_t", SampleType::i64},
                                                       {"ulonglong", SampleType::u64},
                                                       {"unsigned long long", SampleType::u64},
                                                       {"unsigned long long int", SampleType::u64},
                                                       {"uint64", SampleType::u64},
                                                       {"uint64_t", SampleType::u64},
                                                       {"float", SampleType::f32},
                                                       {"double", SampleType::f64}};
  const std::string name = small_letters(header.required("type"));
  const auto found = known.find(name);
  if (found == known.end())
    fail<InputError>(path, ": type: ", name, ": integers, float and double are read");
  return found->second;
}

/// mm of the unit of lengths: of the space, or of each axis beside spacings.
double nrrd_unit(const std::string& path, const NrrdHeader& header) {
  const std::string field = header.has("space units") ? "space units" : "units";
  const std::string units = header.text(field, "\"mm\"");
  std::vector<std::string> unit; // of each axis
  for (std::size_t begin = units.find('"'); begin != std::string::npos;
       begin = units.find('"', begin)) {
    const std::size_t end = std::min(units.find('"', begin + 1), units.size());
    unit.push_back(units.substr(begin + 1, end - begin - 1));
    begin = std::min(end + 1, units.size());
  }
  if (!unit.empty() && std::count(unit.begin(), unit.end(), unit.front()) == int(unit.size()))
    for (const auto& [name, length] : {std::pair("mm", 1.0), std::pair("m", 1e3),
                                       std::pair("um", 1e-3), std::pair("\xc2\xb5m", 1e-3)})
      if (unit.front() == name)
        return length;
  fail<InputError>(path, ": ", field, ": ", units, ": mm, m or um, of all axes, are read");
}

/// Refuses axes that are no lengths: of lists, vectors, colours, or times.
void require_lengths(const std::string& path, const NrrdHeader& header) {
  const std::string kinds = small_letters(header.text("kinds", ""));
  TextScanner scan(kinds);
  scan.next_line();
  for (std::string_view kind = scan.word(); !kind.empty(); kind = scan.word())
    if (kind != "space" && kind != "domain" && kind != "none" && kind != "???")
      fail<InputError>(path, ": kinds: ", kinds,
                       ": three axes of space (or domain) with one value a ", "voxel are expected");
}

/// Where `axis mins` put the centre of the first voxel, in units of the file: that is its lower end
/// along an axis of cells, which those of voxels are unless `centers` say nodes. Empty: nowhere.
std::optional<Vector3> centre_by_axes(const NrrdHeader& header, const Vector3& edges) {
  const std::string field = header.has("axis mins") ? "axis mins" : "axismins";
  if (!header.has(field))
    return {};
  const std::string centers = small_letters(header.either("centers", "centerings"));
  TextScanner scan(centers);
  scan.next_line();
  Vector3 centre = header.three<double>(field);
  for (std::size_t d = 0; d < 3; ++d) {
    centre[d] += scan.word() == "node" ? 0 : edges[d] / 2;
    if (!std::isfinite(centre[d])) // how teem writes that it does not know
      return {};
  }
  return centre;
}

/// Edges, axes and place of the image.
void place_nrrd(const std::string& path, const NrrdHeader& header, VoxelShape voxels,
                VoxelImage& image) {
  const double unit = nrrd_unit(path, header);
  const std::string space = small_letters(header.text("space", ""));
  const bool is_lps = space == "left-posterior-superior" || space == "lps",
             is_ras = space == "right-anterior-superior" || space == "ras",
             is_las = space == "left-anterior-superior" || space == "las";
  if (header.has("space directions")) {
    std::vector<Vector3> axes = header.vectors("space directions", 3);
    std::array<Vector3, 3> axis{};
    Vector3 edges{};
    for (std::size_t d = 0; d < 3; ++d) {
      for (std::size_t i = 0; i < 3; ++i)
        axis[d][i] = unit * axes[d][i] * (is_las && i == 0 ? -1 : 1);
      edges[d] = std::hypot(axis[d][0], axis[d][1], axis[d][2]);
    }
    set_edges(path + ": space directions", edges, voxels, image);
    const std::optional<ImageDirection> direction = make_direction(axis, image.edges());
    if (!direction)
      fail<InputError>(path, ": space directions: ", header.text("space directions", ""),
                       ": are not orthogonal, so voxels are no boxes; resample the image");
    image.direction = *direction;
  } else if (header.has("spacings")) {
    Vector3 edges = header.three<double>("spacings");
    for (double& edge : edges)
      edge *= unit;
    set_edges(path + ": spacings", turn_axes(edges, image.direction), voxels, image);
  } else {
    fail<InputError>(path, ": the NRRD header has neither space directions nor spacings: the edge "
                           "of a voxel is not known");
  }
  std::optional<Vector3> said;
  if (header.has("space origin"))
    said = header.vectors("space origin", 1).front();
  else if (header.has("spacings"))
    said = centre_by_axes(header, header.three<double>("spacings"));
  image.says_place = said.has_value();
  Vector3 centre = said.value_or(Vector3{0, 0, 0});
  for (std::size_t i = 0; i < 3; ++i) {
    centre[i] *= unit * (is_las && i == 0 ? -1 : 1);
    if (!std::isfinite(centre[i]))
      fail<InputError>(path, ": the space origin is not finite: correct the header");
  }
  image.origin = lower_corner(centre, image.edges(), image.direction);
  image.world = is_lps ? "LPS" : is_ras || is_las ? "RAS" : "";
}

std::string data_file(const std::string& path, const NrrdHeader& header) {
  const std::string name = header.either("data file", "datafile");
  const std::size_t slash = path.rfind('/');
  return name.empty()                                   ? path
         : name[0] == '/' || slash == std::string::npos ? name
                                                        : path.substr(0, slash + 1) + name;
}

} // namespace

std::string nrrd_data_file(const std::string& path) {
  require_input_file(path);
  return data_file(path, NrrdHeader(path));
}

VoxelImage read_nrrd(const std::string& path, const ChoosePlanes& planes, VoxelTarget* target,
                     VoxelShape voxels) {
  require_input_file(path);
  const NrrdHeader header(path);
  if (const int rank = header.number("dimension", 0); rank != 3)
    fail<InputError>(path, ": dimension: ", rank, ": a 3-D image of one value a voxel is expected");
  VoxelImage image;
  const auto extent = header.three<std::uint64_t>("sizes");
  image.shape = require_voxel_shape(path + ": sizes", extent[0], extent[1], extent[2]);
  require_lengths(path, header);
  place_nrrd(path, header, voxels, image);

  const SampleType type = nrrd_type(path, header);
  const std::string encoding = small_letters(header.required("encoding"));
  const bool compressed = encoding == "gzip" || encoding == "gz";
  if (!compressed && encoding != "raw")
    fail<InputError>(path, ": encoding: ", encoding, ": raw and gzip are read");
  const std::string endian = small_letters(header.text("endian", ""));
  if (endian != "little" && endian != "big" && !(endian.empty() && size_of(type) == 1))
    fail<InputError>(path, ": endian: ", endian.empty() ? "is missing" : endian,
                     ": little or big is expected");
  const std::string name = header.either("data file", "datafile");
  if (name.substr(0, 4) == "LIST" || name.find('%') != std::string::npos)
    fail<InputError>(path, ": data file: ", name,
                     ": slices in many files are not read; write one .nrrd");
  const std::string skipped = header.either("line skip", "lineskip");
  if (!skipped.empty() && skipped != "0")
    fail<InputError>(path, ": line skip: ", skipped, ": lines before the data are not read");

  const std::string data_path = data_file(path, header);
  const std::uint64_t data_size = require_input_file(data_path);
  const std::uint64_t bytes = std::uint64_t(image.num_voxels()) * size_of(type);
  const std::int64_t skip =
      header.number<std::int64_t>(header.has("byteskip") ? "byteskip" : "byte skip", 0);
  std::uint64_t begin = name.empty() ? header.size() : 0;
  if (skip == -1 && !compressed) { // "the data is at the end of the file"
    if (data_size < begin + bytes)
      fail<InputError>(data_path, ": is truncated: ", data_size, " bytes for ", bytes,
                       " bytes of voxels");
    begin = data_size - bytes;
  } else if (skip != 0) {
    fail<InputError>(path, ": byte skip: ", skip, ": only -1 is read, of raw data");
  }
  ByteStream stream(data_path, begin,
                    compressed ? ByteStream::Coding::deflate : ByteStream::Coding::plain);
  read_samples(data_path, stream, type, endian == "big" ? ByteOrder::big : ByteOrder::little,
               planes, target, image);
  return image;
}

} // namespace ossatura
