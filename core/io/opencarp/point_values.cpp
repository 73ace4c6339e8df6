// SPDX-License-Identifier: Apache-2.0
// The writer stores a value per point in the formats of openCARP: .dat and .igb.
//
// [1] openCARP user manual, "Output file formats": IGB, a header of 1024 bytes of KEY:VALUE that
//     ends in a form feed, then the values, x fastest. Of unstructured meshes, x is the number of
//     points.
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/mesh/tetra_file.hpp>
#include <ossatura/core/io/text/atomic_file.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>

namespace ossatura {
namespace {

/// Appends to a file under construction.
class Output {
public:
  explicit Output(const AtomicFile& target)
      : path_(target.path())
      , file_(std::fopen(target.temporary_path().c_str(), "wb"), &std::fclose) {
    if (!file_)
      fail<InputError>(path_, ": cannot be written");
  }
  void write(const void* data, std::size_t bytes) {
    if (std::fwrite(data, 1, bytes, file_.get()) != bytes)
      fail<InputError>(path_, ": cannot be written to the end: is the disk full?");
  }
  void close() {
    if (std::fclose(file_.release()) != 0)
      fail<InputError>(path_, ": cannot be written to the end: is the disk full?");
  }

private:
  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

constexpr std::size_t block = std::size_t(1) << 16; ///< values written at once

} // namespace

void write_dat(const std::string& path, ConstSpan<float> values) {
  constexpr std::size_t longest = 16; // "-1.23456789e-38\n"
  AtomicFile target(path);
  Output output(target);
  std::vector<char> text(longest * std::min(block, values.size));
  for (std::size_t first = 0; first < values.size; first += block) {
    char* at = text.data();
    const std::size_t end = std::min(first + block, values.size);
    for (std::size_t i = first; i < end; ++i) {
      at = std::to_chars(at, text.data() + text.size(), values.data[i]).ptr;
      *at++ = '\n';
    }
    output.write(text.data(), std::size_t(at - text.data()));
  }
  output.close();
  target.commit();
}

void write_igb(const std::string& path, ConstSpan<float> values, const std::string& unit) {
  OSSATURA_REQUIRE(values.size > 0 && values.size <= std::size_t(std::numeric_limits<int>::max()),
                   values.size << " values");
  OSSATURA_REQUIRE(unit.size() < 32 && unit.find_first_of(" \t\r\n\f:") == std::string::npos,
                   "unit '" << unit << "'");
  std::string header = "x:" + std::to_string(values.size) +
                       " y:1 z:1 t:1 type:float systeme:little_endian\r\n"
                       "org_t:0 inc_t:1 dim_t:1 unites_x:um unites_y:um unites_z:um unites_t:ms\r\n"
                       "facteur:1 zero:0";
  if (!unit.empty())
    header += " unites:" + unit;
  header += "\r\n";
  // Lines of blanks: programs that show the header do so by lines.
  while (header.size() + 80 < 1024)
    header += std::string(78, ' ') + "\r\n";
  header.resize(1023, ' ');
  header += '\f';

  AtomicFile target(path);
  Output output(target);
  output.write(header.data(), header.size());
  std::vector<unsigned char> bytes(4 * std::min(block, values.size));
  for (std::size_t first = 0; first < values.size; first += block) {
    const std::size_t count = std::min(block, values.size - first);
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t bits;
      std::memcpy(&bits, values.data + first + i, 4);
      for (std::size_t k = 0; k < 4; ++k)
        bytes[4 * i + k] = static_cast<unsigned char>(bits >> (8 * k));
    }
    output.write(bytes.data(), 4 * count);
  }
  output.close();
  target.commit();
}

} // namespace ossatura
