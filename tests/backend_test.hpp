// SPDX-License-Identifier: Apache-2.0
// Tests that run on every backend of the build, or on those of OSSATURA_TEST_BACKENDS.
#pragma once

#include "tests/catch.hpp"
#include <ossatura/core/base/backend.hpp>

#include <string>
#include <string_view>

namespace ossatura::detail {

/// Whether tests are compiled for the backend.
constexpr bool is_tested(std::string_view backend) {
  return std::string_view(OSSATURA_TEST_BACKENDS).find(backend) != std::string_view::npos;
}

/// Registers Test::run<Exec> for every backend as "name (backend)" with the tag [backend]. `Test`
/// is a class and not a class template, because g++ 12 gives functions of a template argument
/// external linkage even if that is local to a file: tests on equal lines of two files became one.
template<class Test>
bool register_on_each_backend(const Catch::SourceLineInfo& where, const std::string& name,
                              const std::string& tags) {
#define OSSATURA_REGISTER(Exec)                                                                    \
  if constexpr (is_tested(BackendTraits<Exec>::name)) {                                            \
    const std::string backend = BackendTraits<Exec>::name;                                         \
    const std::string full_name = name + " (" + backend + ")";                                     \
    const std::string all_tags = tags + "[" + backend + "]";                                       \
    Catch::AutoReg(Catch::makeTestInvoker(&Test::template run<Exec>), where, Catch::StringRef(),   \
                   Catch::NameAndTags{full_name, all_tags});                                       \
  }
  OSSATURA_FOR_EACH_BACKEND(OSSATURA_REGISTER)
#undef OSSATURA_REGISTER
  return true;
}

} // namespace ossatura::detail

#define OSSATURA_BACKEND_TEST_(id, name, tags)                                                     \
  namespace {                                                                                      \
  struct id {                                                                                      \
    template<class TestType>                                                                       \
    static void run();                                                                             \
  };                                                                                               \
  [[maybe_unused]] const bool id##_registered =                                                    \
      ::ossatura::detail::register_on_each_backend<id>(CATCH_INTERNAL_LINEINFO, name, tags);       \
  }                                                                                                \
  template<class TestType>                                                                         \
  void id::run()
#define OSSATURA_BACKEND_TEST_ID_(name, tags, number) OSSATURA_BACKEND_TEST__(name, tags, number)
#define OSSATURA_BACKEND_TEST__(name, tags, number)                                                \
  OSSATURA_BACKEND_TEST_(OssaturaBackendTest##number, name, tags)

/// `OSSATURA_BACKEND_TEST("a sentence", "[subject]") { ... TestType() ... }`: one test per backend,
/// `TestType` the execution space. Functors and device lambdas belong to namespace-scope templates
/// called from the body (nvcc).
#define OSSATURA_BACKEND_TEST(name, tags) OSSATURA_BACKEND_TEST_ID_(name, tags, __COUNTER__)

/// The same for tests that all ranks of a launcher run together (ossatura_ranks_tests): each on 1
/// to 4 ranks. A rank that fails an assertion ends all of them.
#define OSSATURA_RANKS_TEST(name, tags) OSSATURA_BACKEND_TEST(name, tags)
