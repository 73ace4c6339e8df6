// SPDX-License-Identifier: Apache-2.0
// A 3MF file is a zip archive of three files of XML. lib3mf would write them, too, but is one more
// library to build against for one object without colours, and its C interface takes the mesh
// vertex by vertex; the archive is a hundred lines with zlib, which is there. Zip: PKWARE APPNOTE
// 6.3.3, without extensions, so that all is below 4 GB.
#include <ossatura/core/io/surface/write_3mf.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/text/atomic_file.hpp>

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace ossatura {

namespace {

constexpr std::uint64_t most_bytes = std::numeric_limits<std::uint32_t>::max();

/// Compresses text as it comes, without keeping it.
class DeflatedText {
public:
  DeflatedText() {
    OSSATURA_REQUIRE(deflateInit2(&stream_, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK,
                     "zlib cannot begin");
  }
  ~DeflatedText() { deflateEnd(&stream_); }
  DeflatedText(const DeflatedText&) = delete;
  DeflatedText& operator=(const DeflatedText&) = delete;

  void add(const char* text, std::size_t count) {
    text_.append(text, count);
    if (text_.size() > 1u << 20)
      flush(Z_NO_FLUSH);
  }
  void add(const std::string& text) { add(text.data(), text.size()); }
  template<class Number>
  void add_number(Number number) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, number);
    add(digits, std::size_t(end.ptr - digits));
  }
  void finish() { flush(Z_FINISH); }

  const std::string& bytes() const { return bytes_; } ///< after finish()
  std::uint32_t checksum() const { return std::uint32_t(checksum_); }
  std::uint64_t size() const { return size_; } ///< of the text

private:
  void flush(int how) {
    stream_.next_in = reinterpret_cast<Bytef*>(text_.data());
    stream_.avail_in = uInt(text_.size());
    checksum_ = crc32(checksum_, stream_.next_in, stream_.avail_in);
    size_ += text_.size();
    do {
      Bytef room[1 << 15];
      stream_.next_out = room;
      stream_.avail_out = sizeof room;
      deflate(&stream_, how);
      bytes_.append(reinterpret_cast<const char*>(room), sizeof room - stream_.avail_out);
    } while (stream_.avail_out == 0);
    text_.clear();
  }

  z_stream stream_{};
  std::string text_, bytes_;
  uLong checksum_ = crc32(0, nullptr, 0);
  std::uint64_t size_ = 0;
};

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
    append(entry, content.checksum(), 4);
    append(entry, content.bytes().size(), 4);
    append(entry, content.size(), 4);
    append(entry, name.size(), 2);
    append(entry, 0, 2);
    append(directory_, 0x02014b50, 4);
    append(directory_, 20, 2);
    directory_ += entry;
    append(directory_, 0, 10); // comment, disk, attributes
    append(directory_, bytes_.size(), 4);
    directory_ += name;
    append(bytes_, 0x04034b50, 4);
    bytes_ += entry + name + content.bytes();
    ++count_;
    largest_ = std::max(largest_, content.size());
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

void add_text(ZipArchive& archive, const std::string& name, const std::string& text) {
  DeflatedText content;
  content.add(text);
  content.finish();
  archive.add(name, content);
}

void add_model(const TriangleSurface& surface, double millimetres, const std::string& application,
               DeflatedText& model) {
  model.add(xml);
  model.add("<model unit=\"millimeter\" xml:lang=\"en-US\" "
            "xmlns=\"http://schemas.microsoft.com/3dmanufacturing/core/2015/02\">\n"
            "<metadata name=\"Application\">" +
            application +
            "</metadata>\n<resources>\n<object id=\"1\" type=\"model\">\n<mesh>\n<vertices>\n");
  for (const auto& vertex : surface.vertex) {
    const char* name[] = {"<vertex x=\"", "\" y=\"", "\" z=\""};
    for (std::size_t d = 0; d < 3; ++d) {
      const double x = millimetres * vertex[d];
      OSSATURA_REQUIRE(std::isfinite(x), "a coordinate of " << x << " mm");
      model.add(name[d]);
      model.add_number(x);
    }
    model.add("\"/>\n");
  }
  model.add("</vertices>\n<triangles>\n");
  for (const auto& triangle : surface.triangle) {
    const char* name[] = {"<triangle v1=\"", "\" v2=\"", "\" v3=\""};
    for (std::size_t k = 0; k < 3; ++k) {
      OSSATURA_REQUIRE(triangle[k] >= 0 && std::size_t(triangle[k]) < surface.vertex.size(),
                       "a triangle has vertex " << triangle[k] << " of " << surface.vertex.size());
      model.add(name[k]);
      model.add_number(triangle[k]);
    }
    model.add("\"/>\n");
  }
  model.add("</triangles>\n</mesh>\n</object>\n</resources>\n"
            "<build>\n<item objectid=\"1\"/>\n</build>\n</model>\n");
  model.finish();
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
  add_text(archive, "[Content_Types].xml",
           std::string(xml) +
               "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\n"
               "<Default Extension=\"rels\" "
               "ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\n"
               "<Default Extension=\"model\" "
               "ContentType=\"application/vnd.ms-package.3dmanufacturing-3dmodel+xml\"/>\n"
               "</Types>\n");
  add_text(archive, "_rels/.rels",
           std::string(xml) +
               "<Relationships "
               "xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\n"
               "<Relationship Target=\"/3D/3dmodel.model\" Id=\"rel0\" "
               "Type=\"http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel\"/>\n"
               "</Relationships>\n");
  {
    DeflatedText model;
    add_model(surface, millimetres, application, model);
    archive.add("3D/3dmodel.model", model);
  }
  write_file(path, archive.finish(path));
}

} // namespace ossatura
