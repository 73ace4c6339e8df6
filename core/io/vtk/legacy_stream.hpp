// SPDX-License-Identifier: Apache-2.0
// A legacy stream reads the words and numbers of a VTK legacy file, text or binary.
#pragma once

#include <ossatura/core/io/vtk/grid.hpp>

#include <string>
#include <string_view>

namespace ossatura {

/// Case does not matter in keywords.
std::string upper_case(std::string_view word);

class VtkLegacyStream {
public:
  VtkLegacyStream(std::string path, std::string_view content)
      : text(std::move(path), content) {}

  TextCursor text;
  bool binary = false;

  /// Throws InputError with the line, or the byte in binary files.
  template<class... Parts>
  [[noreturn]] void bad(const Parts&... parts) const {
    if (!binary)
      text.bad(parts...);
    fail<InputError>(text.path(), ": byte ", text.position(), ": ", parts...);
  }

  /// The next word of the line, `what` it says; a name, with %20 and so on decoded; a number.
  std::string word(const char* what);
  std::string name(const char* what);
  std::uint64_t count(const char* what);
  /// The type of the numbers of `what`.
  SampleType type(const std::string& what);
  /// Passes `rows` times `components` numbers after the end of the line, and returns how to read
  /// them.
  VtkNumbers numbers(SampleType type, std::uint64_t rows, std::uint64_t components,
                     const std::string& what);
  /// Passes the word STRING; false, and nothing passed, where the type of what follows is another.
  bool is_of_texts();
  /// Passes `rows` times `components` texts after the end of the line.
  void skip_texts(std::uint64_t rows, std::uint64_t components, const std::string& what);

private:
  void pass_text(std::uint64_t count, const std::string& what);
};

} // namespace ossatura
