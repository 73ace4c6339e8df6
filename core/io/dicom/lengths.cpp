// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/dicom/lengths.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/text/input_file.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

namespace ossatura {
namespace {

constexpr std::uint32_t undefined = 0xffffffff;
constexpr std::uint32_t item = 0xfffee000, end_of_item = 0xfffee00d, end_of_sequence = 0xfffee0dd;
constexpr std::uint32_t pixels = 0x7fe00010, transfer_syntax = 0x00020010;
constexpr int most_levels = 32;

/// How elements are written.
struct Encoding {
  bool has_kind = true; ///< two letters for the kind of value (explicit VR)
  bool big_endian = false;
};

/// Head of an element: tag, kind of value and length of value.
struct Element {
  std::uint32_t tag = 0;
  std::string kind;
  std::uint32_t length = 0;
};

class DicomWalk {
public:
  explicit DicomWalk(const std::string& path)
      : path_(path)
      , size_(require_input_file(path))
      , file_(std::fopen(path.c_str(), "rb"), &std::fclose) {
    if (!file_)
      fail<InputError>(path, ": cannot be opened: ", std::strerror(errno));
  }

  void run() {
    skip(132); // preamble and signature
    const std::string syntax = walk_meta();
    if (syntax == "1.2.840.10008.1.2.1.99")
      fail<InputError>(path_, ": is deflated as a whole (transfer syntax ", syntax,
                       "); write it uncompressed, with dcmconv of dcmtk");
    Encoding encoding;
    encoding.has_kind = syntax != "1.2.840.10008.1.2";
    encoding.big_endian = syntax == "1.2.840.10008.1.2.2";
    while (left() >= 8) {
      const std::uint64_t begin = at_;
      const Element element = read_element(encoding);
      if (element.tag == 0 && element.length == 0 && begin > 0)
        return; // zeros up to the end of a block
      pass_value(element, encoding, 0);
    }
  }

private:
  const std::string& path_;
  std::uint64_t size_, at_ = 0;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;

  std::uint64_t left() const { return size_ - at_; }

  [[noreturn]] void fail_at(const std::string& what) const {
    fail<InputError>(path_, ": ", what, " at byte ", at_,
                     ": the file is truncated or damaged, or no DICOM slice");
  }

  template<std::size_t N>
  std::array<unsigned char, N> take() {
    std::array<unsigned char, N> bytes;
    if (left() < N || std::fread(bytes.data(), 1, N, file_.get()) != N)
      fail_at("it ends within an element");
    at_ += N;
    return bytes;
  }

  void skip(std::uint64_t count) {
    if (count > left())
      fail_at("a value of " + std::to_string(count) + " bytes, of which " + std::to_string(left()) +
              " are there, begins");
    at_ += count;
    if (::fseeko(file_.get(), off_t(at_), SEEK_SET) != 0)
      fail<InputError>(path_, ": cannot be read");
  }

  std::uint32_t number(const unsigned char* bytes, std::size_t size, Encoding encoding) const {
    std::uint32_t value = 0;
    for (std::size_t b = 0; b < size; ++b)
      value = value << 8 | bytes[encoding.big_endian ? b : size - 1 - b];
    return value;
  }

  Element read_element(Encoding encoding) {
    const auto head = take<8>();
    Element element;
    element.tag = number(head.data(), 2, encoding) << 16 | number(head.data() + 2, 2, encoding);
    if (!encoding.has_kind || element.tag >> 16 == 0xfffe) { // items have none
      element.length = number(head.data() + 4, 4, encoding);
      return element;
    }
    element.kind = {char(head[4]), char(head[5])};
    if (element.tag == 0 && head[4] == 0 && head[5] == 0)
      return element; // of the zeros at the end
    if (!std::isupper(head[4]) || !std::isupper(head[5]))
      fail_at("an element without a kind of value ends");
    constexpr const char* of_long[] = {"OB", "OD", "OF", "OL", "OV", "OW", "SQ",
                                       "SV", "UC", "UN", "UR", "UT", "UV"};
    const bool is_long = std::any_of(std::begin(of_long), std::end(of_long),
                                     [&](const char* kind) { return element.kind == kind; });
    element.length =
        is_long ? number(take<4>().data(), 4, encoding) : number(head.data() + 6, 2, encoding);
    return element;
  }

  /// The file's own elements, always explicit and little endian; returns the transfer syntax.
  std::string walk_meta() {
    std::string syntax;
    while (left() >= 8) {
      const auto head = take<2>();
      at_ -= 2;
      skip(0);
      if (number(head.data(), 2, {}) != 2)
        break;
      const Element element = read_element({});
      if (element.length == undefined)
        fail_at("a value without a length begins");
      const std::uint64_t end = at_ + element.length;
      if (element.tag == transfer_syntax && element.length <= 64 && element.length <= left()) {
        syntax.resize(element.length);
        if (std::fread(syntax.data(), 1, syntax.size(), file_.get()) != syntax.size())
          fail_at("it ends within an element");
        syntax = syntax.substr(0, syntax.find_first_of(std::string(" \0", 2)));
      }
      skip(end - at_);
    }
    if (syntax.empty())
      fail_at("the transfer syntax is not said");
    return syntax;
  }

  void pass_value(const Element& element, Encoding encoding, int level) {
    if (element.length != undefined)
      return skip(element.length);
    if (level >= most_levels)
      fail_at("sequences in sequences go on");
    const bool is_pixels = element.tag == pixels;
    if (element.kind == "UN")
      encoding = {false, false}; // PS3.5, 6.2.2
    for (;;) {
      const Element part = read_element(encoding);
      if (part.tag == end_of_sequence)
        return;
      if (part.tag != item)
        fail_at("no item of a sequence ends");
      if (part.length != undefined || is_pixels)
        skip(part.length);
      else
        for (Element inner = read_element(encoding); inner.tag != end_of_item;
             inner = read_element(encoding))
          pass_value(inner, encoding, level + 1);
    }
  }
};

} // namespace

void require_dicom_lengths(const std::string& path) {
  DicomWalk(path).run();
}

} // namespace ossatura
