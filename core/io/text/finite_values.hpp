// SPDX-License-Identifier: Apache-2.0
// Writers of fields look for values that are not finite: these are no results, and nobody looks at
// every value of a field.
#pragma once

#include <ossatura/core/base/log.hpp>
#include <ossatura/core/io/text/const_span.hpp>
#include <ossatura/core/machine/part_loop.hpp>

#include <atomic>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

namespace ossatura {

/// The status that files have whose fields are not finite, whatever that of the run was before.
inline const char* const status_not_finite = "not finite";

/// Whether no value is infinite, nor NaN unless that marks places without a value. By the calling
/// thread.
template<class T>
bool is_every_finite(ConstSpan<T> values, bool nan_is_mark) {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr T most = std::numeric_limits<T>::max();
    std::size_t bad = 0; // no early end, so that the loop is a plain sum
    if (nan_is_mark)
      for (std::size_t i = 0; i < values.size; ++i)
        bad += std::fabs(values.data[i]) > most;
    else
      for (std::size_t i = 0; i < values.size; ++i)
        bad += !(std::fabs(values.data[i]) <= most);
    return bad == 0;
  } else {
    return true;
  }
}

/// The same by all threads.
template<class T>
bool are_finite(ConstSpan<T> values, bool nan_is_mark = false) {
  if constexpr (!std::is_floating_point_v<T>)
    return true;
  std::atomic<bool> finite = true;
  for_parts(values.size, std::size_t(1) << 18, [&](std::size_t first, std::size_t end) {
    if (!is_every_finite(ConstSpan<T>(values.data + first, end - first), nan_is_mark))
      finite = false;
  });
  return finite;
}

/// Warns that the field at `place` (file and name) is not finite.
inline void warn_not_finite(const std::string& place) {
  log_warning("not-finite", place, " has values that are not finite: no result can be relied on");
}

} // namespace ossatura
