// SPDX-License-Identifier: Apache-2.0
// A scratch directory that goes away with the test, and the text of an expected error.
#pragma once

#include <ossatura/core/base/require.hpp>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <unistd.h>

namespace ossatura_test {

class TestDirectory {
public:
  TestDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ossatura-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw std::runtime_error("the test cannot create " + pattern);
    path_ = pattern;
  }
  ~TestDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }
  /// Number of entries, hidden ones included.
  long count() const {
    const std::filesystem::directory_iterator begin(path_);
    return std::distance(begin, std::filesystem::directory_iterator());
  }

private:
  std::filesystem::path path_;
};

/// The message of the error of type E that `action` throws; "no error" if it throws none. Errors of
/// other types pass through.
template<class E = ossatura::InputError, class Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}

/// Whether `text` has every one of `parts`.
template<class... Parts>
bool says(const std::string& text, const Parts&... parts) {
  return (... && (text.find(parts) != std::string::npos));
}

} // namespace ossatura_test

/// CHECK that the text has every part, showing the text where it does not.
#define CHECK_SAYS(text, ...)                                                                      \
  do {                                                                                             \
    const std::string ossatura_text_ = (text);                                                     \
    INFO("message: " << ossatura_text_);                                                           \
    CHECK(ossatura_test::says(ossatura_text_, __VA_ARGS__));                                       \
  } while (false)
