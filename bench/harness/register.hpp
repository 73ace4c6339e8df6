// SPDX-License-Identifier: Apache-2.0
// A group adds its rows with these functions.
#pragma once

#include "bench/harness/options.hpp"
#include <ossatura/core/base/backend.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ossatura::bench {

template<class Backend>
struct BackendTag {
  using type = Backend;
};
template<class Tag>
using BackendOf = typename Tag::type;

/// Whether rows are compiled for a backend of the build: OSSATURA_TEST_BACKENDS says which, empty
/// for all.
constexpr bool has_rows_on([[maybe_unused]] std::string_view backend) {
#if defined(OSSATURA_BENCH_BACKENDS)
  return std::string_view(OSSATURA_BENCH_BACKENDS).find(backend) != std::string_view::npos;
#else
  return true;
#endif
}

/// Names of the backends that rows are compiled for, the preferred one last.
inline std::vector<std::string> backends_with_rows() {
  std::vector<std::string> names = backend_names();
  names.erase(std::remove_if(names.begin(), names.end(),
                             [](const std::string& name) { return !has_rows_on(name); }),
              names.end());
  return names;
}

/// visit(BackendTag<Exec>()) for the backends of the options. Kokkos need not be initialized.
template<class Visit>
void for_each_backend([[maybe_unused]] const Options& options,
                      [[maybe_unused]] const Visit& visit) {
#define OSSATURA_VISIT(Exec)                                                                       \
  if constexpr (has_rows_on(BackendTraits<Exec>::name))                                            \
    if (options.has(BackendTraits<Exec>::name))                                                    \
      visit(BackendTag<Exec>());
  OSSATURA_FOR_EACH_BACKEND(OSSATURA_VISIT)
#undef OSSATURA_VISIT
}

struct RowTiming {
  benchmark::TimeUnit unit = benchmark::kMicrosecond;
  int iterations = 1; ///< that the row's loop takes; with 1, time_calls makes more calls within it
};

/// Adds a row, unless the options leave it out. Where `run` throws the row fails, and is skipped
/// where there was not enough memory.
void add_row(const Options& options, const std::string& name,
             const std::function<void(benchmark::State&)>& run, const RowTiming& timing = {});

/// The rows added so far.
const std::vector<std::string>& row_names();

/// "f64" or "f32".
template<class Scalar>
constexpr const char* precision_name = sizeof(Scalar) == 8 ? "f64" : "f32";

/// "<group>/<backend>/<precision>/<model>:<n>".
template<class Exec, class Scalar>
std::string row_name(const std::string& group, const std::string& model, int n) {
  return group + '/' + BackendTraits<Exec>::name + '/' + precision_name<Scalar> + '/' + model +
         ':' + std::to_string(n);
}

} // namespace ossatura::bench
