// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/image/samples.hpp>
#include <ossatura/core/io/mesh/tetra_check.hpp>
#include <ossatura/core/io/opencarp/element_types.hpp>
#include <ossatura/core/io/opencarp/text_mesh.hpp>
#include <ossatura/core/io/text/cursor.hpp>
#include <ossatura/core/io/text/input_file.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <vector>

namespace ossatura {
namespace {

constexpr std::size_t padded_header = 1024;

struct Header {
  std::vector<std::uint64_t> number; ///< of the first line
  std::size_t line_size = 0;         ///< with its end
};

Header read_header(const std::string& path) {
  const std::vector<unsigned char> bytes = read_head(path, padded_header);
  const std::string_view head = text_of(bytes);
  TextCursor text(path, head.substr(0, head.find('\0')));
  Header header;
  // The comment ends the numbers; so may the checksum, which need not be a whole number.
  for (std::uint64_t number; header.number.size() < 3 && text.number(number);)
    header.number.push_back(number);
  text.take_line();
  header.line_size = text.position();
  if (header.number.empty())
    fail<InputError>(path, ": is no binary openCARP file: its header does not begin with a number");
  return header;
}

/// Where `count` items of `bytes` bytes each begin; 0 where the file is not of that size.
std::size_t find_data(const Header& header, std::uint64_t size, std::uint64_t count,
                      std::size_t bytes) {
  if (count > size / bytes)
    return 0;
  if (size == padded_header + count * bytes)
    return padded_header;
  return size == header.line_size + count * bytes ? header.line_size : 0;
}

ByteOrder order_of(const std::string& path, std::uint64_t is_big_endian) {
  if (is_big_endian > 1)
    fail<InputError>(path, ": the byte order in its header is ", is_big_endian,
                     "; it is 0 (little endian) or 1 (big endian)");
  return is_big_endian == 1 ? ByteOrder::big : ByteOrder::little;
}

template<class T>
void read_numbers(const std::string& path, std::size_t begin, ByteOrder order,
                  std::vector<T>& value) {
  if (value.empty())
    return;
  ByteStream stream(path, begin, ByteStream::Coding::plain);
  auto* bytes = reinterpret_cast<unsigned char*>(value.data());
  stream.read(bytes, value.size() * sizeof(T));
  to_native(bytes, value.size(), sizeof(T), order);
}

std::vector<double> read_points(const std::string& path, double unit) {
  const std::uint64_t size = require_input_file(path);
  const Header header = read_header(path);
  const std::uint64_t count = header.number[0];
  const std::size_t begin = find_data(header, size, count, 3 * sizeof(float));
  if (begin == 0 || header.number.size() < 2)
    fail<InputError>(path, ": ", count,
                     " points of 12 bytes after a header of 1024 do not make the ", size,
                     " bytes of the file: it is truncated or no binary openCARP file");
  require_few_points(path, count);
  std::vector<float> value(3 * count);
  read_numbers(path, begin, order_of(path, header.number[1]), value);
  std::vector<double> point(value.size());
  for (std::size_t i = 0; i < point.size(); ++i) {
    point[i] = double(value[i]) * unit;
    if (!std::isfinite(point[i]))
      fail<InputError>(path, ": point ", i / 3, " is not finite");
  }
  return point;
}

/// Refuses the first element that is no tetrahedron.
void refuse_other_types(const std::string& path, std::size_t begin, ByteOrder order,
                        std::uint64_t count) {
  constexpr std::uint64_t row = 4 * 6;
  const std::uint64_t size = require_input_file(path);
  ByteStream stream(path, begin, ByteStream::Coding::plain);
  for (std::uint64_t i = 0; i < count && begin + i * row + 4 <= size; ++i) {
    std::int32_t type = 0;
    stream.read(&type, sizeof type);
    to_native(reinterpret_cast<unsigned char*>(&type), 1, sizeof type, order);
    if (type < 0 || std::size_t(type) >= std::size(opencarp_types))
      fail<InputError>(path, ": element ", i, " has type ", type, "; 0 (Tt) to 7 (Ln) are known");
    if (type != 0)
      fail<InputError>(path, ": element ", i, ": ", refusal_of(opencarp_types[type]));
    stream.skip(std::min(row - 4, size - (begin + i * row + 4)));
  }
}

void read_elements(const std::string& path, TetraMesh& mesh) {
  const std::uint64_t size = require_input_file(path);
  const Header header = read_header(path);
  const std::uint64_t count = header.number[0];
  constexpr std::size_t row = 6; // type, vertices, tag
  if (header.number.size() < 2)
    fail<InputError>(path, ": its header lacks the byte order after the number of elements");
  const ByteOrder order = order_of(path, header.number[1]);
  const std::size_t begin = find_data(header, size, count, 4 * row);
  if (begin == 0) {
    if (size > padded_header)
      refuse_other_types(path, padded_header, order, std::min(count, size));
    fail<InputError>(path, ": ", count,
                     " tetrahedra of 24 bytes after a header of 1024 do not make the ", size,
                     " bytes of the file: it is truncated or no binary openCARP file");
  }
  const std::int64_t num_points = std::int64_t(mesh.num_points());
  mesh.tetra.resize(4 * count);
  mesh.tag.resize(count);
  ByteStream stream(path, begin, ByteStream::Coding::plain);
  constexpr std::size_t block = std::size_t(1) << 16;
  std::vector<std::int32_t> value(row * std::min<std::uint64_t>(block, count));
  for (std::size_t first = 0; first < count; first += block) {
    const std::size_t part = std::min<std::uint64_t>(block, count - first);
    stream.read(value.data(), 4 * row * part);
    to_native(reinterpret_cast<unsigned char*>(value.data()), row * part, 4, order);
    for (std::size_t i = 0; i < part; ++i) {
      const std::int32_t* element = value.data() + row * i;
      const std::int64_t v[4] = {element[1], element[2], element[3], element[4]};
      if (element[0] != 0)
        refuse_other_types(path, begin, order, count);
      if (!is_tetra(v, num_points))
        fail<InputError>(path, ": element ", first + i, ": ", describe_bad_tetra(v, num_points));
      std::copy(element + 1, element + 5, mesh.tetra.begin() + std::ptrdiff_t(4 * (first + i)));
      mesh.tag[first + i] = element[5];
    }
  }
}

} // namespace

TetraMesh read_opencarp_binary(const std::string& points, const std::string& elements,
                               double unit) {
  TetraMesh mesh;
  mesh.point = read_points(points, unit);
  read_elements(elements, mesh);
  finish_tetra_mesh(elements, mesh, {}, [&](std::size_t) { return points; });
  return mesh;
}

void read_binary_directions(const std::string& path, TetraMesh& mesh) {
  const std::uint64_t size = require_input_file(path);
  const Header header = read_header(path);
  const std::uint64_t axes = header.number[0];
  const std::size_t count = mesh.num_tetra();
  if (axes != 1 && axes != 2)
    fail<InputError>(path, ": ", axes,
                     " directions in its header; 1 (fibres) or 2 (fibres and sheets) are read");
  if (header.number.size() < 3)
    fail<InputError>(path, ": its header should give the number of directions, the number of "
                           "elements and the byte order");
  if (header.number[1] != count)
    fail<InputError>(path, ": has directions of ", header.number[1], " elements, but the mesh has ",
                     count);
  const std::size_t row = 3 * std::size_t(axes);
  const std::size_t begin = find_data(header, size, count, row * sizeof(float));
  if (begin == 0)
    fail<InputError>(path, ": ", count, " elements of ", row * sizeof(float),
                     " bytes after a header of 1024 do not make the ", size,
                     " bytes of the file: it is truncated or lacks elements");
  std::vector<float> value(row * count);
  read_numbers(path, begin, order_of(path, header.number[2]), value);
  for (std::size_t i = 0; i < value.size(); ++i)
    if (!std::isfinite(value[i]))
      fail<InputError>(path, ": the direction of element ", i / row, " is not finite");
  if (axes == 1) {
    mesh.fibre = std::move(value);
    return;
  }
  mesh.fibre.resize(3 * count);
  mesh.sheet.resize(3 * count);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      mesh.fibre[3 * i + k] = value[row * i + k];
      mesh.sheet[3 * i + k] = value[row * i + 3 + k];
    }
}

} // namespace ossatura
