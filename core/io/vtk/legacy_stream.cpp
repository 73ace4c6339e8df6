// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/text/parallel_reader.hpp>
#include <ossatura/core/io/vtk/legacy_stream.hpp>

#include <cctype>
#include <charconv>

namespace ossatura {
namespace {

/// Names with blanks and other characters are written with %20 and so on.
std::string decode_name(std::string_view name) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    unsigned code = 0;
    if (name[i] == '%' && i + 2 < name.size() &&
        std::from_chars(name.data() + i + 1, name.data() + i + 3, code, 16).ptr ==
            name.data() + i + 3) {
      text += char(code);
      i += 2;
    } else {
      text += name[i];
    }
  }
  return text;
}

/// A first look, which tells the next keyword from a number.
bool may_be_number(std::string_view word) {
  if (word.empty())
    return false;
  const char c = word.front();
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'n' || c == 'i';
}

struct Type {
  const char* name;
  SampleType type;
};
// VTK writes its vtkIdType as 32 bits ([1] of grid.hpp).
constexpr Type types[] = {
    {"UNSIGNED_CHAR", SampleType::u8},
    {"CHAR", SampleType::i8},
    {"SIGNED_CHAR", SampleType::i8},
    {"UNSIGNED_SHORT", SampleType::u16},
    {"SHORT", SampleType::i16},
    {"UNSIGNED_INT", SampleType::u32},
    {"INT", SampleType::i32},
    {"UNSIGNED_LONG", SampleType::u64},
    {"LONG", SampleType::i64},
    {"FLOAT", SampleType::f32},
    {"DOUBLE", SampleType::f64},
    {"VTKIDTYPE", SampleType::i32},
    {"VTKTYPEINT8", SampleType::i8},
    {"VTKTYPEUINT8", SampleType::u8},
    {"VTKTYPEINT16", SampleType::i16},
    {"VTKTYPEUINT16", SampleType::u16},
    {"VTKTYPEINT32", SampleType::i32},
    {"VTKTYPEUINT32", SampleType::u32},
    {"VTKTYPEINT64", SampleType::i64},
    {"VTKTYPEUINT64", SampleType::u64},
    {"UNSIGNED_LONG_LONG", SampleType::u64},
    {"LONG_LONG", SampleType::i64},
};

} // namespace

std::string upper_case(std::string_view word) {
  std::string upper(word.substr(0, 64));
  for (char& c : upper)
    c = char(std::toupper(static_cast<unsigned char>(c)));
  return upper;
}

std::string VtkLegacyStream::word(const char* what) {
  const std::string_view found = text.word();
  if (found.empty())
    bad("the line ends where ", what, " is expected");
  return std::string(found);
}

std::string VtkLegacyStream::name(const char* what) {
  return decode_name(word(what));
}

std::uint64_t VtkLegacyStream::count(const char* what) {
  std::uint64_t number = 0;
  if (!text.number(number))
    bad(what, " is expected: the file is damaged");
  return number;
}

SampleType VtkLegacyStream::type(const std::string& what) {
  const std::string name = upper_case(word("the type of numbers"));
  for (const Type& type : types)
    if (name == type.name)
      return type.type;
  bad("the numbers of '", what, "' are of type '", printable_word(name),
      "', which is not read; save the file without them");
}

VtkNumbers VtkLegacyStream::numbers(SampleType type, std::uint64_t rows, std::uint64_t components,
                                    const std::string& what) {
  if (components > 1024 || rows > (std::uint64_t(1) << 48))
    bad(rows, " x ", components, " numbers of '", what, "': the file is damaged");
  const std::uint64_t count = rows * components;
  VtkNumbers numbers;
  numbers.place = text.path() + ": '" + what + "'";
  numbers.type = type;
  numbers.order = ByteOrder::big;
  if (binary)
    text.take_line();
  // The last number of a text needs no blank after it.
  const std::size_t most = binary ? text.num_left() / size_of(type) : (text.num_left() + 1) / 2;
  if (count > most)
    bad(count, " numbers of '", what, "' are more than the ", text.num_left(),
        " bytes that follow can hold: the file is truncated or the number wrong");
  numbers.count = count;
  if (binary) {
    numbers.bytes = text.bytes(count * size_of(type));
  } else {
    numbers.text = text;
    pass_text(count, what);
  }
  return numbers;
}

bool VtkLegacyStream::is_of_texts() {
  TextCursor ahead(text);
  if (upper_case(ahead.word()) != "STRING")
    return false;
  text = ahead;
  return true;
}

/// A text is a line, or in binary files its length in 1, 2, 4 or 8 bytes, of which the two upper
/// bits say how many (3 is 1), and then the text.
void VtkLegacyStream::skip_texts(std::uint64_t rows, std::uint64_t components,
                                 const std::string& what) {
  const auto truncated = [&](std::uint64_t i) {
    bad("the file ends after ", i, " of ", rows * components, " texts of '", what,
        "': it is truncated or their number wrong");
  };
  text.take_line();
  if (components > 1024 || rows > text.num_left())
    bad(rows, " x ", components, " texts of '", what, "': the file is damaged");
  for (std::uint64_t i = 0; i < rows * components; ++i) {
    if (text.num_left() == 0)
      truncated(i);
    if (!binary) {
      text.take_line();
      continue;
    }
    const std::size_t num_bytes = std::size_t(8) >> (*text.bytes(1) >> 6);
    text.seek(text.position() - 1);
    const unsigned char* bytes = text.bytes(num_bytes);
    if (bytes == nullptr)
      truncated(i);
    std::uint64_t length = num_bytes == 8 ? bytes[0] : bytes[0] & 0x3f;
    for (std::size_t k = 1; k < num_bytes; ++k)
      length = length << 8 | bytes[k];
    if (length > text.num_left())
      truncated(i);
    text.bytes(length);
  }
}

void VtkLegacyStream::pass_text(std::uint64_t count, const std::string& what) {
  const auto refuse = [&](TextCursor& cursor, std::uint64_t i) {
    cursor.bad_word("number " + std::to_string(i) + " of the " + std::to_string(count) + " of '" +
                    what + "' is expected");
  };
  const auto pass = [&](TextCursor& cursor, std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t i = first; i < end; ++i) {
      cursor.at_end();
      const std::size_t here = cursor.position();
      if (!may_be_number(cursor.next_word())) {
        cursor.seek(here);
        refuse(cursor, i);
      }
    }
  };
  const std::uint64_t num_there = read_words(text, count, pass);
  if (num_there < count)
    refuse(text, num_there);
}

} // namespace ossatura
