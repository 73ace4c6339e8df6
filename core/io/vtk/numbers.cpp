// SPDX-License-Identifier: Apache-2.0
// These functions convert arrays of VTK files, of any of VTK's types, to the types of a mesh.
#include <ossatura/core/io/text/parallel_reader.hpp>
#include <ossatura/core/io/vtk/grid.hpp>
#include <ossatura/core/machine/part_loop.hpp>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace ossatura {
namespace {

/// Whether `from` is a value of To, which is set to it.
template<class To, class From>
bool convert(From from, bool may_be_nan, To& to) {
  if constexpr (std::is_floating_point_v<To>) {
    to = To(from);
    return std::isfinite(to) || (may_be_nan && std::isnan(to));
  } else if constexpr (std::is_floating_point_v<From>) {
    // The limits of To as From round up to a power of two, so the upper one is out of range.
    if (!(from >= From(std::numeric_limits<To>::min()) &&
          from < -From(std::numeric_limits<To>::min())) ||
        from != std::floor(from))
      return false;
    to = To(from);
    return true;
  } else {
    if constexpr (std::is_unsigned_v<From>) {
      if (std::uint64_t(from) > std::uint64_t(std::numeric_limits<To>::max()))
        return false;
    } else if (std::int64_t(from) < std::int64_t(std::numeric_limits<To>::min()) ||
               std::int64_t(from) > std::int64_t(std::numeric_limits<To>::max())) {
      return false;
    }
    to = To(from);
    return true;
  }
}

template<class T>
const char* needed() {
  if (std::is_floating_point_v<T>)
    return "a finite number";
  return sizeof(T) == 4 ? "a whole number of 32 bits" : "a whole number";
}

template<class From>
From number_at(const VtkNumbers& numbers, std::size_t i) {
  unsigned char native[sizeof(From)];
  std::memcpy(native, numbers.bytes + i * sizeof(From), sizeof(From));
  to_native(native, 1, sizeof(From), numbers.order);
  From from;
  std::memcpy(&from, native, sizeof(From));
  return from;
}

template<class To, class From>
void convert_bytes(const VtkNumbers& numbers, To* to) {
  std::atomic<std::size_t> first_bad = numbers.count;
  for_parts(numbers.count, std::size_t(1) << 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      if (!convert(number_at<From>(numbers, i), numbers.may_be_nan, to[i])) {
        std::size_t before = first_bad;
        while (i < before && !first_bad.compare_exchange_weak(before, i)) {
        }
        return;
      }
  });
  if (first_bad < numbers.count)
    fail<InputError>(numbers.place, ": number ", first_bad, " is ",
                     +number_at<From>(numbers, first_bad), "; ", needed<To>(), " is needed");
}

template<class To>
void convert_text(const VtkNumbers& numbers, To* to) {
  TextCursor all = *numbers.text;
  const bool whole = numbers.type != SampleType::f32 && numbers.type != SampleType::f64;
  const auto refuse = [](TextCursor& text) {
    text.bad_word(std::string(needed<To>()) + " is expected");
  };
  const auto take = [&](TextCursor& text, std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t i = first; i < end; ++i) {
      bool good = false;
      text.at_end();
      const std::size_t here = text.position();
      if (std::is_integral_v<To> && whole) {
        std::int64_t from;
        good = text.next_number(from) && convert(from, numbers.may_be_nan, to[i]);
      } else {
        double from;
        good = text.next_number(from) && convert(from, numbers.may_be_nan, to[i]);
      }
      if (!good) {
        text.seek(here);
        refuse(text);
      }
    }
  };
  if (read_words(all, numbers.count, take) < numbers.count)
    refuse(all);
}

template<class To>
void convert_all(const VtkNumbers& numbers, To* to) {
  if (numbers.text)
    return convert_text(numbers, to);
  switch (numbers.type) {
  case SampleType::u8:
    return convert_bytes<To, std::uint8_t>(numbers, to);
  case SampleType::i8:
    return convert_bytes<To, std::int8_t>(numbers, to);
  case SampleType::u16:
    return convert_bytes<To, std::uint16_t>(numbers, to);
  case SampleType::i16:
    return convert_bytes<To, std::int16_t>(numbers, to);
  case SampleType::u32:
    return convert_bytes<To, std::uint32_t>(numbers, to);
  case SampleType::i32:
    return convert_bytes<To, std::int32_t>(numbers, to);
  case SampleType::u64:
    return convert_bytes<To, std::uint64_t>(numbers, to);
  case SampleType::i64:
    return convert_bytes<To, std::int64_t>(numbers, to);
  case SampleType::f32:
    return convert_bytes<To, float>(numbers, to);
  case SampleType::f64:
    return convert_bytes<To, double>(numbers, to);
  }
}

} // namespace

template<class T>
std::vector<T> read_vtk_numbers(const VtkNumbers& numbers) {
  std::vector<T> value(numbers.count);
  convert_all(numbers, value.data());
  return value;
}

template std::vector<float> read_vtk_numbers(const VtkNumbers&);
template std::vector<double> read_vtk_numbers(const VtkNumbers&);
template std::vector<std::int32_t> read_vtk_numbers(const VtkNumbers&);
template std::vector<std::int64_t> read_vtk_numbers(const VtkNumbers&);

} // namespace ossatura
