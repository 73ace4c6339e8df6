// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/ranks.hpp"

#include "apps/driver/exit_code.hpp"
#include <ossatura/core/machine/processors.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

namespace ossatura {

namespace {

/// Bits of the processors that the kernel lets this thread run on, of the first 4096.
std::array<std::uint64_t, 64> processor_set() {
  std::array<std::uint64_t, 64> bits{};
  (void)::sched_getaffinity(0, sizeof bits, reinterpret_cast<cpu_set_t*>(bits.data()));
  return bits;
}

} // namespace

Communicator join_ranks() {
  const Communicator world = Communicator::world();
  set_reporting_rank(world.rank(), world.size());
  if (!world.is_first())
    if (const int nowhere = ::open("/dev/null", O_WRONLY); nowhere >= 0) {
      ::dup2(nowhere, STDOUT_FILENO);
      ::close(nowhere);
    }
  return world;
}

std::optional<int> threads_of_rank(const Communicator& world) {
  if (world.size() == 1)
    return {};
  const auto mine = processor_set();
  const auto sets = world.on_node().gather(mine);
  if (std::getenv("OMP_NUM_THREADS") != nullptr || std::getenv("KOKKOS_NUM_THREADS") != nullptr)
    return {};
  const auto sharing = int(std::count(sets.begin(), sets.end(), mine));
  return std::max(1, available_processors() / sharing);
}

void end_other_ranks(const Communicator& world, int exit_code) {
  if (world.size() > 1 && !failed_together())
    world.abort(exit_code);
}

} // namespace ossatura
