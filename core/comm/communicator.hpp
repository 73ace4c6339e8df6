// SPDX-License-Identifier: Apache-2.0
// A communicator joins the processes that a launcher (mpirun, srun) started for one run. Data are
// the host's; arrays of a backend go by device_comm.hpp.
#pragma once

#include <ossatura/core/base/require.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace ossatura {

/// A group of processes, its ranks; by default this process alone, for which nothing is sent and
/// MPI is not started. Copies are the same group. Every function but the getters and abort() is to
/// be called by all ranks of the group, in the same order, by one thread; values are trivially
/// copyable. Results are made in the order of ranks, so that they have the same bits on all.
/// Where MPI fails, it ends all processes.
class Communicator {
public:
  Communicator();

  /// All processes of the launcher; this one alone where there is none. The first call starts MPI,
  /// which ends when the process exits. Throws BackendError where a launcher started several
  /// processes and this build is without MPI, or its MPI does not join them.
  static Communicator world();

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_first() const { return rank_ == 0; }
  /// Among the ranks that share this machine's memory, and how many they are.
  int rank_on_node() const { return rank_on_node_; }
  int ranks_on_node() const { return ranks_on_node_; }

  /// Sums from rank 0 on: of floating-point numbers, too, the same bits on every rank.
  template<class T>
  T sum(const T& value) const;
  template<class T>
  T max(const T& value) const;
  template<class T>
  T min(const T& value) const;
  /// The sum of the values of the ranks before this one; T() on rank 0.
  template<class T>
  T scan_before(const T& value) const;
  /// Whether the condition holds on every rank, on any.
  bool all(bool condition) const;
  bool any(bool condition) const { return !all(!condition); }

  /// One value of each rank.
  template<class T>
  std::vector<T> gather(const T& value) const;
  /// What all ranks have, one behind the other: fewer than 2^31 entries.
  template<class T>
  std::vector<T> gather(const std::vector<T>& values) const;
  /// to[rank] goes to that rank; returns what comes from each. Ranks with nothing to say to each
  /// other exchange no message.
  template<class T>
  std::vector<std::vector<T>> exchange(const std::vector<std::vector<T>>& to) const;
  /// The value of `root`, in place.
  template<class T>
  void broadcast(T& value, int root = 0) const;
  template<class T>
  void broadcast(std::vector<T>& values, int root = 0) const;
  void broadcast(std::string& text, int root = 0) const;

  /// Sends to one rank, and receives what the other sends: calls of the two ranks alone, in the
  /// same order. Wait for each other.
  template<class T>
  void send(const std::vector<T>& values, int to) const;
  template<class T>
  std::vector<T> receive(int from) const;

  /// Returns when all ranks have called it.
  void wait_for_all() const;

  /// The ranks with the same colour (0 or more), in the order of their ranks here.
  Communicator split(int colour) const;
  /// The ranks that share this machine's memory.
  Communicator on_node() const;

  /// Ends all processes of the launcher with this exit code, at once: where one fails alone.
  [[noreturn]] void abort(int exit_code) const;

  /// `bytes` of each rank, as many on all, one behind the other in `all` on every rank. `mine`
  /// null: they are in their place already. Nothing on one rank.
  void gather_raw(const void* mine, std::size_t bytes, void* all) const;
  /// to_bytes[rank] at to[rank] go to that rank, from_bytes[rank] at from[rank] come from it; the
  /// sizes of the two agree. No message for 0 bytes. Nothing on one rank.
  void exchange_raw(const std::vector<const void*>& to, const std::vector<std::size_t>& to_bytes,
                    const std::vector<void*>& from,
                    const std::vector<std::size_t>& from_bytes) const;

  /// The handle of MPI (an MPI_Comm*), for code that calls it itself; null for one process.
  void* native() const;

private:
  struct Group;
  explicit Communicator(std::shared_ptr<Group> group);

  void gather_items(const void* mine, std::int64_t count, const std::vector<std::int64_t>& counts,
                    std::size_t item, void* all) const;
  void broadcast_bytes(void* data, std::size_t bytes, int root) const;
  void send_bytes(const void* data, std::size_t bytes, int to) const;
  void receive_bytes(void* data, std::size_t bytes, int from) const;

  std::shared_ptr<Group> group_; ///< null: one process
  int rank_ = 0, size_ = 1, rank_on_node_ = 0, ranks_on_node_ = 1;
};

/// The parts [begin, end) of `count` loads, sets of sites or inputs that a rank does: in order, and
/// no rank has two more than another.
struct RankPart {
  std::int64_t begin, end;
};
inline RankPart part_of_rank(const Communicator& comm, std::int64_t count) {
  return {count * comm.rank() / comm.size(), count * (comm.rank() + 1) / comm.size()};
}

/// How many processes a launcher started along with this one, as its environment says; 1 without.
int launched_processes();

template<class T>
std::vector<T> Communicator::gather(const T& value) const {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all(std::size_t(size()), value);
  if (size() > 1)
    gather_raw(&value, sizeof(T), all.data());
  return all;
}

template<class T>
std::vector<T> Communicator::gather(const std::vector<T>& values) const {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
  if (size() == 1)
    return values;
  const std::vector<std::int64_t> counts = gather(std::int64_t(values.size()));
  std::int64_t total = 0;
  for (const std::int64_t count : counts)
    total += count;
  OSSATURA_REQUIRE(total <= INT32_MAX, total << " entries gathered by every rank");
  std::vector<T> all(static_cast<std::size_t>(total));
  gather_items(values.data(), std::int64_t(values.size()), counts, sizeof(T), all.data());
  return all;
}

template<class T>
T Communicator::sum(const T& value) const {
  T total{};
  for (const T& part : gather(value))
    total += part;
  return total;
}

template<class T>
T Communicator::max(const T& value) const {
  T most = value;
  for (const T& other : gather(value))
    most = most < other ? other : most;
  return most;
}

template<class T>
T Communicator::min(const T& value) const {
  T least = value;
  for (const T& other : gather(value))
    least = other < least ? other : least;
  return least;
}

template<class T>
T Communicator::scan_before(const T& value) const {
  const std::vector<T> parts = gather(value);
  T total{};
  for (int other = 0; other < rank(); ++other)
    total += parts[std::size_t(other)];
  return total;
}

template<class T>
std::vector<std::vector<T>> Communicator::exchange(const std::vector<std::vector<T>>& to) const {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
  OSSATURA_REQUIRE(int(to.size()) == size(), to.size() << " lists for " << size() << " ranks");
  if (size() == 1)
    return to;
  const auto ranks = std::size_t(size());
  std::vector<const void*> sent(ranks);
  std::vector<std::size_t> sent_bytes(ranks), bytes(ranks);
  std::vector<std::int64_t> counts(ranks), expected(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    sent[rank] = to[rank].data();
    sent_bytes[rank] = to[rank].size() * sizeof(T);
    counts[rank] = std::int64_t(to[rank].size());
  }
  // Everybody's counts: one small message a rank, where lists of the longest run would be many.
  std::vector<const void*> count_of(ranks);
  std::vector<void*> count_from(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    count_of[rank] = &counts[rank];
    count_from[rank] = &expected[rank];
  }
  const std::vector<std::size_t> one(ranks, sizeof(std::int64_t));
  exchange_raw(count_of, one, count_from, one);
  std::vector<std::vector<T>> received(ranks);
  std::vector<void*> places(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    received[rank].resize(static_cast<std::size_t>(expected[rank]));
    places[rank] = received[rank].data();
    bytes[rank] = received[rank].size() * sizeof(T);
  }
  exchange_raw(sent, sent_bytes, places, bytes);
  return received;
}

template<class T>
void Communicator::broadcast(T& value, int root) const {
  static_assert(std::is_trivially_copyable_v<T>);
  if (size() > 1)
    broadcast_bytes(&value, sizeof(T), root);
}

template<class T>
void Communicator::broadcast(std::vector<T>& values, int root) const {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
  auto count = std::int64_t(values.size());
  broadcast(count, root);
  values.resize(static_cast<std::size_t>(count));
  if (size() > 1)
    broadcast_bytes(values.data(), values.size() * sizeof(T), root);
}

template<class T>
void Communicator::send(const std::vector<T>& values, int to) const {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
  const auto count = std::int64_t(values.size());
  send_bytes(&count, sizeof count, to);
  send_bytes(values.data(), values.size() * sizeof(T), to);
}

template<class T>
std::vector<T> Communicator::receive(int from) const {
  std::int64_t count = 0;
  receive_bytes(&count, sizeof count, from);
  std::vector<T> values(static_cast<std::size_t>(count));
  receive_bytes(values.data(), values.size() * sizeof(T), from);
  return values;
}

} // namespace ossatura
