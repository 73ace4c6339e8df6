// SPDX-License-Identifier: Apache-2.0
// A device communicator sends arrays of a backend between ranks, in order with the backend's work.
#pragma once

#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/base/names.hpp>
#include <ossatura/core/comm/communicator.hpp>

#include <memory>
#include <type_traits>
#include <vector>

namespace ossatura {

/// How arrays go from rank to rank.
enum class Transport {
  none,   ///< one process: nothing does
  mpi,    ///< arrays of the host, by MPI
  staged, ///< arrays of a device, by way of pinned memory of the host and MPI
  nccl    ///< arrays of a device, from device to device
};

constexpr Names<Transport> names_of(Transport) {
  return {{Transport::none, "none"},
          {Transport::mpi, "mpi"},
          {Transport::staged, "staged"},
          {Transport::nccl, "nccl"}};
}

/// Entries [begin, begin + count) of an array, which go to a rank or come from it.
struct RankMessage {
  int rank;
  std::int64_t begin, count;
};

/// Sends arrays between the ranks of a communicator. All functions are to be called by all ranks,
/// in the same order; copies are the same group. Lives no longer than Kokkos.
template<class Exec>
class DeviceComm {
public:
  /// One process.
  DeviceComm() = default;
  /// On a device: nccl where it is found and every rank has a device of its own, else staged. NCCL
  /// joins the ranks beside what follows, until the first array is sent, which throws
  /// std::runtime_error where it failed; all ranks call it.
  explicit DeviceComm(const Communicator& comm);
  /// The same by a transport that the backend has; throws BackendError on all ranks where this
  /// build or machine has it not.
  DeviceComm(const Communicator& comm, Transport transport);

  const Communicator& communicator() const { return comm_; }
  Transport transport() const { return transport_; }
  /// Whether the calls can be a part of a graph of launches, after one that was not.
  bool can_be_recorded() const {
    return transport_ == Transport::none || transport_ == Transport::nccl;
  }

  /// all [size * mine.extent(0)] becomes the arrays of the ranks, which have one length, one behind
  /// the other. `mine` may be its part of `all`. In order with the work of `exec`; fences, but for
  /// nccl and on one rank.
  template<class T>
  void all_gather(const Exec& exec, const Array<T, Exec>& mine, const Array<T, Exec>& all) const {
    static_assert(std::is_trivially_copyable_v<T>);
    OSSATURA_REQUIRE(all.extent(0) == mine.extent(0) * std::size_t(comm_.size()),
                     all.extent(0)
                         << " entries for " << comm_.size() << " times " << mine.extent(0));
    gather_bytes(exec, mine.data(), mine.extent(0) * sizeof(T), all.data());
  }

  /// Sends parts of `from`, and receives parts of `to`: one message at most from one rank to
  /// another, none to itself, for which the sizes agree. The parts that are received overlap
  /// nothing that is sent. In order with the work of `exec`; fences, but for nccl.
  template<class T>
  void exchange(const Exec& exec, const Array<T, Exec>& from, const std::vector<RankMessage>& sends,
                const Array<T, Exec>& to, const std::vector<RankMessage>& receives) const {
    static_assert(std::is_trivially_copyable_v<std::remove_const_t<T>>);
    exchange_bytes(exec, reinterpret_cast<const char*>(from.data()), sends,
                   reinterpret_cast<char*>(to.data()), receives, sizeof(T));
  }

private:
  struct Engine;

  void gather_bytes(const Exec& exec, const void* mine, std::size_t bytes, void* all) const;
  void exchange_bytes(const Exec& exec, const char* from, const std::vector<RankMessage>& sends,
                      char* to, const std::vector<RankMessage>& receives, std::size_t item) const;

  Communicator comm_;
  Transport transport_ = Transport::none;
  std::shared_ptr<Engine> engine_; ///< staging memory, NCCL's group
};

} // namespace ossatura
