// SPDX-License-Identifier: Apache-2.0
// A launcher starts several processes of the executable, its ranks. The first one reads the
// options' files, prints and writes for all; what one throws, all end with.
#pragma once

#include "apps/driver/interrupt.hpp"
#include <ossatura/core/comm/together.hpp>

#include <optional>
#include <string>

namespace ossatura {

/// Joins the ranks of the launcher; from here on only the first has a standard output, and messages
/// of a rank that fails alone say which. Throws BackendError in builds without MPI.
Communicator join_ranks();

/// Threads of the openmp backend for each rank, where neither the options nor the environment say
/// how many: the processors that affinity leaves to it, shared with the ranks of this machine that
/// have the same ones. Nothing for one rank. All ranks call it.
std::optional<int> threads_of_rank(const Communicator& world);

/// Ends all ranks with an exit code, after a rank has reported the exception that is handled: at
/// once where it failed alone. Returns where all have failed together.
void end_other_ranks(const Communicator& world, int exit_code);

/// together(), also for a signal that stops the work on some rank: all throw Interrupted.
template<class Body>
void run_phase(const Communicator& world, const Body& body) {
  std::optional<Interrupted> stopped;
  together(world, [&] {
    try {
      body();
    } catch (const Interrupted& by) {
      stopped = by;
    }
  });
  const int signal = world.max(stopped ? stopped->signal : 0);
  if (signal != 0)
    throw Interrupted{signal};
}

/// run_phase() of a body that takes this rank's part of the input. What is wrong with the input in
/// one part is said as one process would that takes all: that of the lowest rank, without its
/// number.
template<class Body>
void run_shared(const Communicator& world, const Body& body) {
  std::optional<InputError> wrong;
  run_phase(world, [&] {
    try {
      body();
    } catch (const InputError& error) {
      wrong = error;
    }
  });
  const int first = world.min(wrong ? world.rank() : world.size());
  if (first == world.size())
    return;
  std::string message = wrong ? wrong->what() : "";
  world.broadcast(message, first);
  throw InputError(message);
}

/// For a body that communicates: what it throws of the input or the options it throws on all ranks,
/// and together() says it once. Anything else is of one rank, and ends all of them.
template<class Body>
void run_communicating(const Communicator& world, const Body& body) {
  std::exception_ptr refused;
  try {
    body();
  } catch (const InputError&) {
    refused = std::current_exception();
  } catch (const UsageError&) {
    refused = std::current_exception();
  }
  together(world, [&] {
    if (refused)
      std::rethrow_exception(refused);
  });
}

} // namespace ossatura
