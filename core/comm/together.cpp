// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/comm/together.hpp>

#include <new>
#include <stdexcept>

namespace ossatura {

namespace {

enum class Kind : int { none, usage, backend, input, memory, argument, other };

struct Failure {
  Kind kind = Kind::none;
  std::string message;
};

Failure describe(const std::exception_ptr& thrown) {
  if (!thrown)
    return {};
  try {
    std::rethrow_exception(thrown);
  } catch (const UsageError& error) {
    return {Kind::usage, error.what()};
  } catch (const BackendError& error) {
    return {Kind::backend, error.what()};
  } catch (const InputError& error) {
    return {Kind::input, error.what()};
  } catch (const std::bad_alloc& error) {
    return {Kind::memory, error.what()};
  } catch (const std::invalid_argument& error) {
    return {Kind::argument, error.what()};
  } catch (const std::exception& error) {
    return {Kind::other, error.what()};
  } catch (...) {
    return {Kind::other, "an exception of unknown type"};
  }
}

std::exception_ptr make_exception(const Failure& failure) {
  switch (failure.kind) {
  case Kind::usage:
    return std::make_exception_ptr(UsageError(failure.message));
  case Kind::backend:
    return std::make_exception_ptr(BackendError(failure.message));
  case Kind::input:
    return std::make_exception_ptr(InputError(failure.message));
  case Kind::memory:
    return std::make_exception_ptr(std::bad_alloc());
  case Kind::argument:
    return std::make_exception_ptr(std::invalid_argument(failure.message));
  default:
    return std::make_exception_ptr(std::runtime_error(failure.message));
  }
}

/// What together() has thrown last in this thread on all ranks of the world.
thread_local std::exception_ptr last_thrown;

} // namespace

bool failed_together() {
  const std::exception_ptr handled = std::current_exception();
  return handled && handled == last_thrown;
}

void detail::throw_together(const Communicator& comm, const std::exception_ptr& mine) {
  Failure failure = describe(mine);
  const std::vector<Kind> kinds = comm.gather(failure.kind);
  int first = 0;
  while (first < comm.size() && kinds[std::size_t(first)] == Kind::none)
    ++first;
  if (first == comm.size())
    return;
  comm.broadcast(failure.message, first);
  failure.kind = kinds[std::size_t(first)];
  if (first > 0)
    failure.message = "on rank " + std::to_string(first) + " of " + std::to_string(comm.size()) +
                      ": " + failure.message;
  const bool is_own = comm.rank() == first && first == 0;
  const std::exception_ptr thrown = is_own ? mine : make_exception(failure);
  // A part of the ranks leaves others behind: those of the world have not failed together.
  last_thrown = comm.size() == Communicator::world().size() ? thrown : nullptr;
  std::rethrow_exception(thrown);
}

} // namespace ossatura
