// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/vtk/vtu_array.hpp>

#include <ossatura/core/io/text/parallel_reader.hpp>
#include <ossatura/core/io/vtk/base64.hpp>

#include <cstring>

#include <zlib.h>

namespace ossatura {
namespace {

/// The bytes of an array, stored as they are or as base64.
class Source {
public:
  Source(const std::string& place, std::string_view content, bool base64)
      : place_(place)
      , plain_(content)
      , base64_(base64 ? content : std::string_view())
      , is_base64_(base64) {}

  void read(unsigned char* bytes, std::size_t count) {
    if (count == 0)
      return; // there may be no address to write to
    const bool good = is_base64_ ? base64_.read(bytes, count) : count <= plain_.size();
    if (!good)
      fail<InputError>(place_,
                       is_base64_ ? ": its base64 text ends early or has other characters"
                                  : ": the file ends within its bytes",
                       ": the file is truncated or damaged");
    if (is_base64_)
      return;
    std::memcpy(bytes, plain_.data(), count);
    plain_.remove_prefix(count);
  }
  /// The most bytes that may follow.
  std::size_t num_left() const { return is_base64_ ? base64_.num_left() : plain_.size(); }

  std::uint64_t read_count(std::size_t bytes, ByteOrder order) {
    unsigned char raw[8] = {};
    read(raw, bytes);
    to_native(raw, 1, bytes, order);
    std::uint32_t narrow;
    std::uint64_t wide;
    std::memcpy(&narrow, raw, 4);
    std::memcpy(&wide, raw, 8);
    return bytes == 4 ? narrow : wide;
  }

private:
  std::string place_;
  std::string_view plain_;
  Base64Reader base64_;
  bool is_base64_;
};

[[noreturn]] void refuse_count(const std::string& place, std::uint64_t bytes, std::size_t left) {
  fail<InputError>(place, ": its ", bytes, " bytes cannot be in the ", left,
                   " that follow: the file is truncated or damaged");
}

std::vector<unsigned char> read_plain(const std::string& place, Source& source,
                                      const VtuCoding& coding) {
  const std::uint64_t size = source.read_count(coding.header_bytes, coding.order);
  if (size > source.num_left())
    refuse_count(place, size, source.num_left());
  std::vector<unsigned char> bytes(size);
  source.read(bytes.data(), bytes.size());
  return bytes;
}

std::vector<unsigned char> read_zlib(const std::string& place, Source& source,
                                     const VtuCoding& coding) {
  const auto number = [&] { return source.read_count(coding.header_bytes, coding.order); };
  const std::uint64_t num_blocks = number();
  const std::uint64_t block = number();
  const std::uint64_t last = number();
  if (num_blocks > source.num_left() / coding.header_bytes)
    refuse_count(place, num_blocks, source.num_left());
  std::vector<std::uint64_t> compressed(num_blocks);
  std::uint64_t num_compressed = 0;
  for (std::uint64_t& size : compressed) {
    size = number();
    if (size > source.num_left() || num_compressed > source.num_left() - size)
      refuse_count(place, size, source.num_left());
    num_compressed += size;
  }
  if (num_blocks == 0)
    return {};
  // Deflate makes at most 258 bytes of 2 bits. Where there is one block, some programs give a size
  // of blocks that it does not fill.
  const std::uint64_t most = 1032 * num_compressed + 64;
  const std::uint64_t num_last = last > 0 ? last : block;
  if (num_last > most || (num_blocks > 1 && block > (most - num_last) / (num_blocks - 1)))
    fail<InputError>(place, ": ", num_blocks, " blocks of ", block,
                     " bytes cannot come out of its ", num_compressed,
                     " compressed bytes: the file is damaged");
  std::vector<unsigned char> bytes((num_blocks - 1) * block + num_last);
  std::vector<unsigned char> input;
  std::size_t at = 0;
  for (std::size_t i = 0; i < num_blocks; ++i) {
    input.resize(compressed[i]);
    source.read(input.data(), input.size());
    const std::size_t size = i + 1 == num_blocks ? num_last : block;
    uLongf made = uLongf(size);
    unsigned char none = 0; // zlib wants a place to write to
    if (::uncompress(size > 0 ? bytes.data() + at : &none, &made, input.data(),
                     uLong(input.size())) != Z_OK ||
        made != size)
      fail<InputError>(place, ": its compressed block ", i, " is damaged");
    at += size;
  }
  return bytes;
}

std::string place_of(const VtuCoding& coding, const VtuArray& array) {
  return coding.path + ": DataArray '" + array.name.substr(0, 64) + "'";
}

SampleType parse_type(const std::string& place, const std::string& name) {
  struct Type {
    const char* name;
    SampleType type;
  };
  static constexpr Type types[] = {
      {"Int8", SampleType::i8},     {"UInt8", SampleType::u8},   {"Int16", SampleType::i16},
      {"UInt16", SampleType::u16},  {"Int32", SampleType::i32},  {"UInt32", SampleType::u32},
      {"Int64", SampleType::i64},   {"UInt64", SampleType::u64}, {"Float32", SampleType::f32},
      {"Float64", SampleType::f64},
  };
  for (const Type& type : types)
    if (name == type.name)
      return type.type;
  fail<InputError>(place, ": numbers of type '", printable_word(name), "' are not read");
}

} // namespace

VtuArray make_vtu_array(const VtuCoding& coding, const XmlTag& tag) {
  VtuArray array;
  array.name = tag.get("Name");
  const std::string place = place_of(coding, array);
  array.type = parse_type(place, tag.get("type"));
  const std::string format = tag.get("format", "ascii");
  if (format == "ascii")
    array.format = VtuArray::Format::ascii;
  else if (format == "binary")
    array.format = VtuArray::Format::binary;
  else if (format == "appended")
    array.format = VtuArray::Format::appended;
  else
    fail<InputError>(place, ": format '", printable_word(format),
                     "' is none of ascii, binary, appended");
  const auto parse = [&](const char* key, const char* otherwise, auto& value) {
    const std::string text = tag.get(key, otherwise);
    TextCursor number(place, text);
    if (!number.number(value) || !number.at_end())
      fail<InputError>(place, ": ", key, "=\"", printable_word(text), "\" is no number of such");
  };
  parse("NumberOfComponents", "1", array.num_components);
  if (array.num_components > 1024)
    fail<InputError>(place, ": ", array.num_components, " components: the file is damaged");
  if (array.num_components == 0)
    array.num_components = 1; // some programs write it for scalars
  if (array.format == VtuArray::Format::appended)
    parse("offset", "", array.offset);
  return array;
}

TextCursor vtu_array_text(const VtuCoding& coding, const VtuArray& array) {
  TextCursor text(coding.path, coding.content.substr(0, array.text_end));
  text.seek(array.text_begin);
  return text;
}

VtkNumbers decode_vtu_array(const VtuCoding& coding, const VtuArray& array,
                            std::optional<std::uint64_t> count) {
  VtkNumbers numbers;
  numbers.place = place_of(coding, array);
  numbers.type = array.type;
  numbers.order = coding.order;
  if (array.format == VtuArray::Format::ascii) {
    numbers.text = vtu_array_text(coding, array);
    numbers.count = count_words(numbers.text->rest());
  } else {
    const bool appended = array.format == VtuArray::Format::appended;
    if (appended && array.offset > coding.appended.size())
      fail<InputError>(numbers.place, ": begins at byte ", array.offset, " of the ",
                       coding.appended.size(), " appended ones: the file is truncated or damaged");
    const std::string_view text =
        coding.content.substr(array.text_begin, array.text_end - array.text_begin);
    Source source(numbers.place, appended ? coding.appended.substr(array.offset) : text,
                  !appended || coding.appended_base64);
    numbers.decoded = (coding.zlib ? read_zlib : read_plain)(numbers.place, source, coding);
    const std::size_t size = size_of(array.type);
    if (numbers.decoded.size() % size != 0)
      fail<InputError>(numbers.place, ": its ", numbers.decoded.size(),
                       " bytes are no whole numbers of ", size, ": the file is damaged");
    numbers.count = numbers.decoded.size() / size;
    numbers.bytes = numbers.decoded.data();
  }
  if (count && *count != numbers.count)
    fail<InputError>(numbers.place, ": has ", numbers.count, " numbers where ", *count,
                     " are expected: the file is truncated or damaged");
  return numbers;
}

} // namespace ossatura
