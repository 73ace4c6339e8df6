// SPDX-License-Identifier: Apache-2.0
#include "tests/backend_test.hpp"
#include <ossatura/core/comm/device_comm.hpp>

#include <optional>
#include <vector>

namespace ossatura {

namespace {

template<class Exec, class T>
Array<T, Exec> on_backend(const std::vector<T>& values) {
  const Array<T, Exec> array("values", values.size());
  Kokkos::deep_copy(array, Kokkos::View<const T*, Kokkos::HostSpace>(values.data(), values.size()));
  return array;
}

template<class View>
auto on_host(const View& array) {
  const auto copy = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), array);
  return std::vector<typename View::value_type>(copy.data(), copy.data() + copy.extent(0));
}

/// By default, and the slower way of devices.
template<class Exec>
std::vector<DeviceComm<Exec>> ways(const Communicator& world) {
  std::vector<DeviceComm<Exec>> all = {DeviceComm<Exec>(world)};
  if (BackendTraits<Exec>::is_device && world.size() > 1)
    all.emplace_back(world, Transport::staged);
  return all;
}

} // namespace

OSSATURA_RANKS_TEST("Arrays of a backend are gathered by all ranks", "[comm]") {
  using Exec = TestType;
  const Exec exec;
  const Communicator world = Communicator::world();
  for (const DeviceComm<Exec>& comm : ways<Exec>(world)) {
    CHECK((comm.transport() == Transport::none) == (world.size() == 1));
    for (const int count : {0, 3, 1000}) {
      std::vector<float> mine;
      for (int i = 0; i < count; ++i)
        mine.push_back(float(world.rank() * count + i));
      const Array<float, Exec> all("all", std::size_t(count * world.size()));
      comm.all_gather(exec, on_backend<Exec>(mine), all);
      fence(exec, "test");
      const std::vector<float> found = on_host(all);
      bool right = true;
      for (std::size_t i = 0; i < found.size(); ++i)
        right = right && found[i] == float(i);
      CHECK(right);
      // From its own place.
      const Array<float, Exec> again("again", all.extent(0));
      const Array<float, Exec> part(again.data() + world.rank() * count, std::size_t(count));
      Kokkos::deep_copy(part, on_backend<Exec>(mine));
      comm.all_gather(exec, part, again);
      fence(exec, "test");
      CHECK(on_host(again) == found);
    }
  }
}

OSSATURA_RANKS_TEST("Parts of arrays go to their ranks, again and again", "[comm]") {
  using Exec = TestType;
  const Exec exec;
  const Communicator world = Communicator::world();
  const int n = world.size(), me = world.rank();
  // From rank a to rank b go a + b entries, from the end of what a has for the ranks after b.
  std::vector<RankMessage> sends, receives;
  std::vector<double> sent, expected;
  for (int pass = 0; pass < 2; ++pass)
    for (int i = 0; i < n; ++i) {
      const int other = pass == 0 ? n - 1 - i : i;
      if (other == me || (me + other) % 3 == 0)
        continue; // no message at all
      auto& messages = pass == 0 ? sends : receives;
      auto& values = pass == 0 ? sent : expected;
      messages.push_back({other, std::int64_t(values.size()), me + other});
      for (int k = 0; k < me + other; ++k)
        values.push_back(pass == 0 ? 100 * me + 10 * other + k : 100 * other + 10 * me + k);
    }
  for (const DeviceComm<Exec>& comm : ways<Exec>(world)) {
    for (int round = 0; round < 3; ++round) {
      std::vector<double> values = sent;
      for (double& value : values)
        value += 1000 * round;
      const Array<double, Exec> received("received", expected.size());
      comm.exchange(exec, on_backend<Exec>(values), sends, received, receives);
      fence(exec, "test");
      const std::vector<double> found = on_host(received);
      REQUIRE(found.size() == expected.size());
      bool right = true;
      for (std::size_t i = 0; i < found.size(); ++i)
        right = right && found[i] == expected[i] + 1000 * round;
      CHECK(right);
    }
  }
}

OSSATURA_RANKS_TEST("A transport that a backend has not is refused by all ranks", "[comm]") {
  using Exec = TestType;
  const Communicator world = Communicator::world();
  constexpr Transport wrong = BackendTraits<Exec>::is_device ? Transport::mpi : Transport::nccl;
  if (world.size() > 1)
    CHECK_THROWS_AS(DeviceComm<Exec>(world, wrong), BackendError);
  else
    CHECK(DeviceComm<Exec>(world, wrong).transport() == Transport::none);
}

} // namespace ossatura
