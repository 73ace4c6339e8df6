// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include <ossatura/core/base/backend.hpp>

namespace {

struct NeverRun {
  template<class Exec>
  int operator()(const Exec&) const {
    FAIL("a backend was chosen");
    return 0;
  }
};

} // namespace

TEST_CASE("an unknown backend is an error that lists those of the build", "[backend]") {
  std::string message;
  try {
    ossatura::with_backend("abacus", NeverRun());
  } catch (const ossatura::BackendError& error) {
    message = error.what();
  }
  CHECK_THAT(message, ContainsSubstring("'abacus'"));
  for (const std::string& name : ossatura::backend_names())
    CHECK_THAT(message, ContainsSubstring(name));
}

TEST_CASE("a backend name is matched whole and in lower case", "[backend]") {
  CHECK_THROWS_AS(ossatura::with_backend("", NeverRun()), ossatura::BackendError);
  CHECK_THROWS_AS(ossatura::with_backend("Serial", NeverRun()), ossatura::BackendError);
  CHECK_THROWS_AS(ossatura::with_backend("serial ", NeverRun()), ossatura::BackendError);
}
