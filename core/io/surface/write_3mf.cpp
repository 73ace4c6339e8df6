// SPDX-License-Identifier: Apache-2.0
// A 3MF file is a zip archive of three files of XML. lib3mf would write them, too, but is one more
// library to build against for one object without colours, and its C interface takes the mesh
// vertex by vertex; the archive is a hundred lines with zlib, which is there. Zip: PKWARE APPNOTE
// 6.3.3, without extensions, so that all is below 4 GB.
#include <ossatura/core/io/surface/write_3mf.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/text/atomic_file.hpp>
#include <ossatura/core/machine/part_loop.hpp>

#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace ossatura {

namespace {

constexpr std::uint64_t most_bytes = std::numeric_limits<std::uint32_t>::max();

constexpr std::size_t block_rows = 1 << 14; // vertices or triangles that are compressed together

struct DeflatedText {
  std::string bytes;
  uLong checksum = crc32(0, nullptr, 0);
  std::uint64_t size = 0; ///< of the text

  void add(const DeflatedText& next) {
    bytes += next.bytes;
    checksum = crc32_combine(checksum, next.checksum, z_off_t(next.size));
    size += next.size;
  }
};

/// Of less than 2 GB. One that is not the last ends at a byte, so that another may follow.
DeflatedText deflate_text(std::string text, bool is_last) {
  z_stream stream{};
  OSSATURA_REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK,
                   "zlib cannot begin");
  DeflatedText deflated;
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = uInt(text.size());
  deflated.checksum = crc32(deflated.checksum, stream.next_in, stream.avail_in);
  deflated.size = text.size();
  deflated.bytes.resize(deflateBound(&stream, uLong(text.size())) + 16); // and the end at a byte
  stream.next_out = reinterpret_cast<Bytef*>(deflated.bytes.data());
  stream.avail_out = uInt(deflated.bytes.size());
  const int result = deflate(&stream, is_last ? Z_FINISH : Z_SYNC_FLUSH);
  const bool all = result == (is_last ? Z_STREAM_END : Z_OK) && stream.avail_in == 0 &&
                   stream.avail_out > 0; // else some may be left
  deflated.bytes.resize(deflated.bytes.size() - stream.avail_out);
  deflateEnd(&stream);
  OSSATURA_REQUIRE(all, "zlib ended with " << result);
  return deflated;
}

template<class Number>
void append_number(std::string& text, Number number) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number);
  text.append(digits, std::size_t(end.ptr - digits));
}

void append(std::string& to, std::uint64_t value, int bytes) {
  for (int k = 0; k < bytes; ++k)
    to.push_back(char(value >> 8 * k & 0xff));
}

class ZipArchive {
public:
  void add(const std::string& name, const DeflatedText& content) {
    std::string entry; // what the file's own header and the directory share
    append(entry, 20, 2);
    append(entry, 0, 2);
    append(entry, 8, 2);          // deflate
    append(entry, 0, 2);          // midnight
    append(entry, 1 << 5 | 1, 2); // 1 January 1980: the same file for the same surface
    append(entry, content.checksum, 4);
    append(entry, content.bytes.size(), 4);
    append(entry, content.size, 4);
    append(entry, name.size(), 2);
    append(entry, 0, 2);
    append(directory_, 0x02014b50, 4);
    append(directory_, 20, 2);
    directory_ += entry;
    append(directory_, 0, 10); // comment, disk, attributes
    append(directory_, bytes_.size(), 4);
    directory_ += name;
    append(bytes_, 0x04034b50, 4);
    bytes_ += entry + name + content.bytes;
    ++count_;
    largest_ = std::max(largest_, content.size);
  }

  std::string finish(const std::string& path) {
    if (std::max(largest_, std::uint64_t(bytes_.size() + directory_.size())) >= most_bytes)
      fail<InputError>(path, ": the surface is too large for 3MF, whose files are below 4 GB: take "
                             "STL");
    const std::size_t begin = bytes_.size();
    bytes_ += directory_;
    append(bytes_, 0x06054b50, 4);
    append(bytes_, 0, 4); // disks
    append(bytes_, count_, 2);
    append(bytes_, count_, 2);
    append(bytes_, directory_.size(), 4);
    append(bytes_, begin, 4);
    append(bytes_, 0, 2);
    return std::move(bytes_);
  }

private:
  std::string bytes_, directory_;
  std::uint64_t count_ = 0, largest_ = 0;
};

const char* const xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

void append_vertex(std::string& text, const std::array<double, 3>& vertex, double millimetres) {
  const char* name[] = {"<vertex x=\"", "\" y=\"", "\" z=\""};
  for (std::size_t d = 0; d < 3; ++d) {
    const double x = millimetres * vertex[d];
    OSSATURA_REQUIRE(std::isfinite(x), "a coordinate of " << x << " mm");
    text += name[d];
    append_number(text, x);
  }
  text += "\"/>\n";
}

void append_triangle(std::string& text, const std::array<int, 3>& triangle,
                     std::size_t num_vertices) {
  const char* name[] = {"<triangle v1=\"", "\" v2=\"", "\" v3=\""};
  for (std::size_t k = 0; k < 3; ++k) {
    OSSATURA_REQUIRE(triangle[k] >= 0 && std::size_t(triangle[k]) < num_vertices,
                     "a triangle has vertex " << triangle[k] << " of " << num_vertices);
    text += name[k];
    append_number(text, triangle[k]);
  }
  text += "\"/>\n";
}

/// By all threads, a block of vertices or triangles each.
DeflatedText deflate_model(const TriangleSurface& surface, double millimetres,
                           const std::string& application) {
  const std::size_t num_vertices = surface.vertex.size(), num_triangles = surface.triangle.size();
  const std::size_t vertex_blocks = (num_vertices + block_rows - 1) / block_rows;
  std::vector<DeflatedText> block(vertex_blocks + (num_triangles + block_rows - 1) / block_rows);
  const auto text_of = [&](std::size_t i) {
    std::string text;
    if (i == 0)
      text = xml +
             ("<model unit=\"millimeter\" xml:lang=\"en-US\" "
              "xmlns=\"http://schemas.microsoft.com/3dmanufacturing/core/2015/02\">\n"
              "<metadata name=\"Application\">" +
              application +
              "</metadata>\n<resources>\n<object id=\"1\" type=\"model\">\n<mesh>\n<vertices>\n");
    if (i == vertex_blocks)
      text += "</vertices>\n<triangles>\n";
    if (i < vertex_blocks)
      for (std::size_t v = block_rows * i; v < std::min(num_vertices, block_rows * (i + 1)); ++v)
        append_vertex(text, surface.vertex[v], millimetres);
    else
      for (std::size_t t = block_rows * (i - vertex_blocks);
           t < std::min(num_triangles, block_rows * (i - vertex_blocks + 1)); ++t)
        append_triangle(text, surface.triangle[t], num_vertices);
    if (i + 1 == block.size())
      text += "</triangles>\n</mesh>\n</object>\n</resources>\n"
              "<build>\n<item objectid=\"1\"/>\n</build>\n</model>\n";
    return text;
  };
  for_parts(block.size(), 1, [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i)
      block[i] = deflate_text(text_of(i), i + 1 == block.size());
  });
  DeflatedText model;
  for (const DeflatedText& one : block)
    model.add(one);
  return model;
}

} // namespace

void write_3mf(const std::string& path, const TriangleSurface& surface, double millimetres,
               const std::string& application) {
  OSSATURA_REQUIRE(!surface.triangle.empty(), "a surface without triangles");
  OSSATURA_REQUIRE(millimetres > 0 && std::isfinite(millimetres),
                   "a unit of " << millimetres << " mm");
  OSSATURA_REQUIRE(application.find_first_of("<>&\"'") == std::string::npos,
                   "'" << application << "' in XML");
  ZipArchive archive;
  archive.add(
      "[Content_Types].xml",
      deflate_text(
          std::string(xml) +
              "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\n"
              "<Default Extension=\"rels\" "
              "ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\n"
              "<Default Extension=\"model\" "
              "ContentType=\"application/vnd.ms-package.3dmanufacturing-3dmodel+xml\"/>\n"
              "</Types>\n",
          true));
  archive.add(
      "_rels/.rels",
      deflate_text(std::string(xml) +
                       "<Relationships "
                       "xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\n"
                       "<Relationship Target=\"/3D/3dmodel.model\" Id=\"rel0\" "
                       "Type=\"http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel\"/>\n"
                       "</Relationships>\n",
                   true));
  archive.add("3D/3dmodel.model", deflate_model(surface, millimetres, application));
  write_file(path, archive.finish(path));
}

} // namespace ossatura
