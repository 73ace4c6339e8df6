// SPDX-License-Identifier: Apache-2.0
#include "tests/backend_test.hpp"
#include <ossatura/core/comm/communicator.hpp>
#include <ossatura/core/comm/together.hpp>

#include <new>
#include <string>
#include <vector>

namespace ossatura {

OSSATURA_RANKS_TEST("Values of ranks are summed and gathered in their order", "[comm]") {
  const Communicator world = Communicator::world();
  const int n = world.size(), me = world.rank();
  CHECK(world.rank_on_node() < world.ranks_on_node());
  CHECK(world.sum(me + 1) == n * (n + 1) / 2);
  CHECK(world.sum(std::int64_t(1) << 40) == std::int64_t(n) << 40);
  CHECK(world.max(double(me)) == n - 1);
  CHECK(world.min(-me) == 1 - n);
  CHECK(world.scan_before(me + 1) == me * (me + 1) / 2);
  CHECK(world.all(true));
  CHECK(world.all(me != n - 1) == false);
  CHECK(world.any(me == n - 1));
  CHECK_FALSE(world.any(false));

  // 1e16 + 1 is 1e16: from rank 0 on, and no other order.
  double expected = 0;
  for (int rank = 0; rank < n; ++rank)
    expected += rank == 0 ? 1e16 : 1.0;
  CHECK(world.sum(me == 0 ? 1e16 : 1.0) == expected);

  const std::vector<int> ranks = world.gather(me);
  REQUIRE(int(ranks.size()) == n);
  for (int rank = 0; rank < n; ++rank)
    CHECK(ranks[std::size_t(rank)] == rank);
}

OSSATURA_RANKS_TEST("Lists of ranks are gathered one behind the other, empty ones too", "[comm]") {
  const Communicator world = Communicator::world();
  struct Pair {
    double value;
    int rank;
  };
  // Rank r has r of them: rank 0 none.
  std::vector<Pair> mine;
  for (int i = 0; i < world.rank(); ++i)
    mine.push_back({i + 0.5, world.rank()});
  const std::vector<Pair> all = world.gather(mine);
  std::size_t at = 0;
  for (int rank = 0; rank < world.size(); ++rank)
    for (int i = 0; i < rank; ++i, ++at) {
      REQUIRE(at < all.size());
      CHECK(all[at].rank == rank);
      CHECK(all[at].value == i + 0.5);
    }
  CHECK(at == all.size());
  CHECK(world.gather(std::vector<int>()).empty());
}

OSSATURA_RANKS_TEST("Every rank gets what the others have for it", "[comm]") {
  const Communicator world = Communicator::world();
  const int n = world.size(), me = world.rank();
  const auto item = [](int from, int to, int i) { return 10000 * from + 100 * to + i; };
  const auto count = [](int from, int to) { return (3 * from + 5 * to) % 4 == 0 ? 0 : from + to; };
  std::vector<std::vector<int>> lists{std::size_t(n)};
  for (int to = 0; to < n; ++to)
    for (int i = 0; i < count(me, to); ++i)
      lists[std::size_t(to)].push_back(item(me, to, i));
  const std::vector<std::vector<int>> received = world.exchange(lists);
  REQUIRE(int(received.size()) == n);
  for (int from = 0; from < n; ++from) {
    REQUIRE(int(received[std::size_t(from)].size()) == count(from, me));
    for (int i = 0; i < count(from, me); ++i)
      CHECK(received[std::size_t(from)][std::size_t(i)] == item(from, me, i));
  }
}

OSSATURA_RANKS_TEST("A value, a list and a text of the last rank reach all", "[comm]") {
  const Communicator world = Communicator::world();
  const int root = world.size() - 1;
  const bool mine = world.rank() == root;
  double value = mine ? 2.5 : 0;
  world.broadcast(value, root);
  CHECK(value == 2.5);
  std::vector<int> list = mine ? std::vector<int>{1, 2, 3} : std::vector<int>{9};
  world.broadcast(list, root);
  CHECK(list == std::vector<int>{1, 2, 3});
  std::string text = mine ? "tibia" : "";
  world.broadcast(text, root);
  CHECK(text == "tibia");
  std::vector<char> none(std::size_t(mine ? 0 : 4));
  world.broadcast(none, root);
  CHECK(none.empty());
}

OSSATURA_RANKS_TEST("A list goes round all ranks", "[comm]") {
  const Communicator world = Communicator::world();
  std::vector<int> list = {0};
  if (world.size() > 1) {
    const int next = (world.rank() + 1) % world.size();
    const int previous = (world.rank() + world.size() - 1) % world.size();
    if (world.rank() > 0) {
      list = world.template receive<int>(previous);
      list.push_back(world.rank());
    }
    world.send(list, next);
    if (world.rank() == 0)
      list = world.template receive<int>(previous);
  }
  if (world.rank() == 0)
    REQUIRE(int(list.size()) == world.size());
  world.wait_for_all();
  for (std::size_t i = 0; i < list.size(); ++i)
    CHECK(list[i] == int(i));
}

OSSATURA_RANKS_TEST("Parts of the ranks are groups of their own", "[comm]") {
  const Communicator world = Communicator::world();
  const int colour = world.rank() % 2;
  const Communicator part = world.split(colour);
  CHECK(part.size() == (world.size() + 1 - colour) / 2);
  CHECK(part.rank() == world.rank() / 2);
  const std::vector<int> members = part.gather(world.rank());
  for (std::size_t i = 0; i < members.size(); ++i)
    CHECK(members[i] == 2 * int(i) + colour);
  CHECK(world.split(0).size() == world.size());
  CHECK(world.on_node().size() == world.ranks_on_node());
  CHECK(world.on_node().rank() == world.rank_on_node());
}

OSSATURA_RANKS_TEST("What one rank throws, all throw", "[comm]") {
  const Communicator world = Communicator::world();
  const int last = world.size() - 1;
  CHECK(together(world, [&] { return world.rank(); }) == world.rank());
  CHECK_FALSE(failed_together());

  const auto throws_on = [&](int rank, auto error) {
    together(world, [&] {
      if (world.rank() >= rank)
        throw error;
    });
  };
  const auto message_of = [&](int rank, auto error) -> std::string {
    try {
      throws_on(rank, error);
    } catch (const decltype(error)& caught) {
      return caught.what();
    }
    return "nothing was thrown";
  };
  const std::string where =
      last == 0 ? ""
                : "on rank " + std::to_string(last) + " of " + std::to_string(world.size()) + ": ";
  CHECK(message_of(last, UsageError("--axis")) == where + "--axis");
  CHECK(message_of(last, InputError("a.h5")) == where + "a.h5");
  CHECK(message_of(last, BackendError("no GPU")) == where + "no GPU");
  CHECK(message_of(last, std::invalid_argument("n = 0")) == where + "n = 0");
  CHECK(message_of(last, std::runtime_error("odd")) == where + "odd");
  CHECK_THROWS_AS(throws_on(last, std::bad_alloc()), std::bad_alloc);
  CHECK(message_of(0, InputError("b.h5")) == "b.h5"); // all of them: that of the first
  CHECK_THROWS(throws_on(last, 7));                   // of no type that is known

  try {
    throws_on(0, UsageError("--axis"));
  } catch (const UsageError&) {
    CHECK(failed_together() == (world.size() > 1));
    try {
      throw UsageError("--axis"); // of this rank alone
    } catch (const UsageError&) {
      CHECK_FALSE(failed_together());
    }
  }
  CHECK_FALSE(failed_together());
  // The group is as good as before.
  CHECK(world.sum(1) == world.size());
}

} // namespace ossatura
