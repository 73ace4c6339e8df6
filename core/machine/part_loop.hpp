// SPDX-License-Identifier: Apache-2.0
// A part loop works on host arrays by all threads where no backend of Kokkos does: while files are
// read and written and meshes are made, also in builds whose host backend is serial.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace ossatura {

/// Calls body(first, end) for parts that make up [0, count), each of `least` or more but for the
/// last, by io_threads() threads, of which the caller is one; which part is whose is open. Throws
/// what a part threw, after all threads have ended.
void for_parts(std::size_t count, std::size_t least,
               const std::function<void(std::size_t first, std::size_t end)>& body);

/// The first i in [0, count) of which problem(i) is not empty, with what it says; for_parts() calls
/// it of all before, and of some behind. Empty: there is none.
std::optional<std::pair<std::size_t, std::string>>
first_problem(std::size_t count, std::size_t least,
              const std::function<std::string(std::size_t)>& problem);

} // namespace ossatura
