// SPDX-License-Identifier: Apache-2.0
// A halo brings the values of ghosts from the processes that own them: an index list, a pack kernel
// and a message for each neighbour. Ghosts of a neighbour are consecutive (owned_nodes.hpp), so
// that what comes is received in place. Ghosts may also copy nodes of the same process, where the
// model repeats itself (kernels/image/periodic_rim.hpp).
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/comm/device_comm.hpp>
#include <ossatura/kernels/algebra/ranks/owned_nodes.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

/// What a process sends and receives in an exchange of a level: messages of nodes of the send list,
/// to ghosts; or what its own ghosts copy.
template<class Exec>
struct HaloPlan {
  Array<int, Exec> send; ///< owned nodes, by neighbour
  std::vector<RankMessage> sends, receives;
  Array<int, Exec> ghost{}, original{}; ///< nodes of this process, and those that they copy
};

/// The plan that brings all ghosts of a level. `ghost_keys` are those of the nodes [0, owned.begin)
/// and [owned.end, ...), ascending, the same on all processes; `owner(key)` is the rank of a node,
/// and `find(keys)` gives the numbers of nodes of this process. Called by all processes. Throws
/// std::logic_error where an owner does not know a node. Fences.
template<class Exec, class Owner, class Find>
HaloPlan<Exec> make_halo_plan(const Exec& exec, const Communicator& comm, const OwnedNodes& owned,
                              const std::vector<std::uint64_t>& ghost_keys, const Owner& owner,
                              const Find& find) {
  HaloPlan<Exec> plan;
  const std::size_t size = std::size_t(comm.size());
  std::vector<std::vector<std::uint64_t>> wanted(size);
  for (const std::uint64_t key : ghost_keys)
    wanted[std::size_t(owner(key))].push_back(key);
  std::int64_t begin = 0;
  for (std::size_t q = 0; q < size; ++q) {
    const std::int64_t count = std::int64_t(wanted[q].size());
    if (begin == owned.begin)
      begin = owned.end;
    if (count > 0)
      plan.receives.push_back({int(q), begin, count});
    begin += count;
  }
  std::vector<std::uint64_t> asked;
  int rank = 0;
  for (const std::vector<std::uint64_t>& keys : comm.exchange(wanted)) {
    if (!keys.empty())
      plan.sends.push_back({rank, std::int64_t(asked.size()), std::int64_t(keys.size())});
    asked.insert(asked.end(), keys.begin(), keys.end());
    ++rank;
  }
  const std::vector<int> send = find(asked);
  std::int64_t unknown = 0;
  for (const int node : send)
    unknown += !owned.has(node);
  if (comm.sum(unknown) > 0)
    throw std::logic_error("a process sees nodes that their owner does not have");
  plan.send = upload(exec, "ossatura::halo::send", send);
  return plan;
}

namespace detail {
template<class Exec, class Scalar>
struct PackNodes {
  Array<int, Exec> node;
  int components;
  Array<Scalar, Exec> x, packed;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t first = std::int64_t(node(i)) * components;
    for (int c = 0; c < components; ++c)
      packed(i * components + c) = x(first + c);
  }
};
template<class Exec, class Scalar>
struct CopyToGhosts {
  Array<int, Exec> ghost, original;
  int components;
  Array<Scalar, Exec> x;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t to = std::int64_t(ghost(i)) * components,
                       from = std::int64_t(original(i)) * components;
    for (int c = 0; c < components; ++c)
      x(to + c) = x(from + c);
  }
};
} // namespace detail

/// Exchanges of arrays of `Scalar` with `components` numbers a node. Copies share the buffer.
template<class Exec, class Scalar>
class Halo {
public:
  /// Without ghosts: exchanges do nothing.
  Halo() = default;
  Halo(const Exec& exec, const DeviceComm<Exec>& comm, const HaloPlan<Exec>& plan,
       int components = 3)
      : comm_(comm)
      , ghost_(plan.ghost)
      , original_(plan.original)
      , send_(plan.send)
      , sends_(in_entries(plan.sends, components))
      , receives_(in_entries(plan.receives, components))
      , components_(components)
      , packed_(make_uninitialized<Scalar>(exec, std::int64_t(plan.send.extent(0)) * components,
                                           "ossatura::halo::packed")) {}

  /// x [components num_nodes] at ghosts becomes what the owners have. By all processes. In order
  /// with the work of `exec`; fences as DeviceComm::exchange.
  void exchange(const Exec& exec, const Array<Scalar, Exec>& x) const {
    if (ghost_.extent(0) > 0)
      Kokkos::parallel_for("ossatura::Halo::copy", range(exec, ghost_.extent(0)),
                           detail::CopyToGhosts<Exec, Scalar>{ghost_, original_, components_, x});
    if (comm_.communicator().size() == 1)
      return;
    Kokkos::parallel_for("ossatura::Halo::pack", range(exec, send_.extent(0)),
                         detail::PackNodes<Exec, Scalar>{send_, components_, x, packed_});
    comm_.exchange(exec, packed_, sends_, x, receives_);
  }

private:
  static std::vector<RankMessage> in_entries(std::vector<RankMessage> messages, int components) {
    for (RankMessage& m : messages) {
      m.begin *= components;
      m.count *= components;
    }
    return messages;
  }

  DeviceComm<Exec> comm_;
  Array<int, Exec> ghost_, original_;
  Array<int, Exec> send_;
  std::vector<RankMessage> sends_, receives_; ///< of entries
  int components_ = 0;
  Array<Scalar, Exec> packed_;
};

} // namespace ossatura
