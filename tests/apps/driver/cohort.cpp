// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/cohort.hpp"
#include "tests/catch.hpp"

#include <ossatura/core/base/require.hpp>

using namespace ossatura;

TEST_CASE("members are named after their files, and after the folders where those are alike",
          "[cohort]") {
  using Names = std::vector<std::string>;
  CHECK(name_members({"a/x.h5", "b/y.nii.gz"}) == Names{"x", "y"});
  CHECK(name_members({"a/x.h5", "b/./x.mha", "c/z.h5"}) == Names{"a-x", "b-x", "z"});
  CHECK(name_members({"p/a/x.h5", "q/a/x.h5", "z.h5"}) == Names{"p-a-x", "q-a-x", "z"});
  CHECK(name_members({"p/a/x.h5", "q/a/x.h5", "q/b/x.h5"}) == Names{"p-a-x", "q-a-x", "q-b-x"});
  CHECK(name_members({"/p/a/x.h5", "/a/x.h5"}) == Names{"p-a-x", "a-x"});
  CHECK_THROWS_AS(name_members({"p/a/x.h5", "p/a/x.mha"}), UsageError);
  CHECK_THROWS_AS(name_members({"a/x.h5", "a/x.mha"}), UsageError);
  CHECK_THROWS_AS(name_members({"a/x.h5", "b/x.h5", "a-x.h5"}), UsageError);
}

TEST_CASE("each input goes to the rank with the fewest bytes, the largest first", "[cohort]") {
  using Ranks = std::vector<int>;
  CHECK(divide_inputs({5, 9, 4, 2}, 2) == Ranks{1, 0, 1, 0});
  CHECK(divide_inputs({1, 1, 1}, 1) == Ranks{0, 0, 0});
  CHECK(divide_inputs({3, 3}, 4) == Ranks{0, 1});
  CHECK(divide_inputs({0, 0, 0}, 3) == Ranks{0, 1, 2});
  CHECK(divide_inputs({}, 2).empty());
}
