// SPDX-License-Identifier: Apache-2.0
// What may fail on one rank is run together: an exception there becomes one on all, so that none
// waits for ranks that have left.
#pragma once

#include <ossatura/core/comm/communicator.hpp>

#include <exception>
#include <optional>
#include <type_traits>

namespace ossatura {

namespace detail {

/// Throws on all ranks where `mine` is an exception on any: of the type and with the message of the
/// lowest such rank, which rethrows its own.
void throw_together(const Communicator& comm, const std::exception_ptr& mine);

} // namespace detail

/// Whether the exception that is being handled was thrown by together(), on all ranks of the world:
/// one of them reports it, and all may end as usual.
bool failed_together();

/// Runs `body` and returns its result. If it throws on any rank, all throw: UsageError,
/// BackendError, InputError, std::bad_alloc or std::invalid_argument as that of the lowest rank,
/// else std::runtime_error; the message says which rank, unless it was rank 0. `body` communicates
/// either not at all or in ways that end on all ranks when it throws on one. Waits for all ranks.
template<class Body>
auto together(const Communicator& comm, const Body& body) {
  using Result = decltype(body());
  if (comm.size() == 1)
    return body();
  std::exception_ptr mine;
  if constexpr (std::is_void_v<Result>) {
    try {
      body();
    } catch (...) {
      mine = std::current_exception();
    }
    detail::throw_together(comm, mine);
  } else {
    std::optional<Result> result;
    try {
      result.emplace(body());
    } catch (...) {
      mine = std::current_exception();
    }
    detail::throw_together(comm, mine);
    return std::move(*result);
  }
}

} // namespace ossatura
