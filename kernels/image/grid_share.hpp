// SPDX-License-Identifier: Apache-2.0
// A grid share moves arrays between a grid that every process has as a whole and the part of the
// grid that a process sees of a cut (local_grid.hpp). The nodes that a process owns are a range of
// the whole grid's, for both are numbered along one curve, so that what processes find of their own
// nodes is joined by messages of ranges, without lists.
#pragma once

#include <ossatura/kernels/image/voxel_ranks.hpp>

#include <vector>

namespace ossatura {

namespace detail {

template<class Exec, class T>
struct TakeGridShare {
  VoxelGrid<Exec> whole, seen;
  Array<T, Exec> from, to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Site s = seen.site(int(i));
    to(i) = from(whole.find(s.x, s.y, s.z));
  }
};

template<class Exec>
struct FindInGridShare {
  VoxelGrid<Exec> whole, seen;
  Array<int, Exec> node, found;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Site s = whole.site(node(i));
    found(i) = seen.find(s.x, s.y, s.z);
  }
};

} // namespace detail

/// Copies share their lists. Functions are called by all processes unless said otherwise.
template<class Exec>
class GridShare {
public:
  GridShare() = default;
  /// `seen` is the local grid of this process, of the cut of `ranks`; `whole` has the nodes of all.
  GridShare(const VoxelRanks<Exec>& ranks, const VoxelGrid<Exec>& whole,
            const VoxelGrid<Exec>& seen)
      : comm_(ranks.comm)
      , whole_(whole)
      , seen_(seen) {
    const Communicator& comm = comm_.communicator();
    const OwnedNodes& mine = seen.owned;
    OSSATURA_REQUIRE(mine.global_count == whole.num_nodes,
                     mine.global_count << " nodes of all processes for " << whole.num_nodes);
    const std::vector<OwnedNodes> owned = comm.gather(mine);
    for (int rank = 0; rank < comm.size(); ++rank) {
      if (rank == comm.rank())
        continue;
      const OwnedNodes& other = owned[std::size_t(rank)];
      if (mine.count() > 0)
        sends_.push_back({rank, mine.begin, mine.count()});
      if (other.count() > 0)
        receives_.push_back({rank, other.global_begin, other.count()});
    }
  }

  /// to [nodes seen] = what `from` [nodes of the whole grid] has there, at ghosts, too. By this
  /// process alone. Does not fence.
  template<class T>
  void take(const Exec& exec, const Array<T, Exec>& from, const Array<T, Exec>& to) const {
    Kokkos::parallel_for("ossatura::GridShare::take", range(exec, seen_.num_nodes),
                         detail::TakeGridShare<Exec, T>{whole_, seen_, from, to});
  }

  /// to [nodes of the whole grid] = what the owners have in `from` [nodes seen]. In order with the
  /// work of `exec`; fences as DeviceComm::exchange.
  template<class T>
  void gather(const Exec& exec, const Array<T, Exec>& from, const Array<T, Exec>& to) const {
    const OwnedNodes& mine = seen_.owned;
    if (mine.count() > 0)
      Kokkos::deep_copy(exec,
                        Array<T, Exec>(to.data() + mine.global_begin, std::size_t(mine.count())),
                        Array<T, Exec>(from.data() + mine.begin, std::size_t(mine.count())));
    comm_.exchange(exec, from, sends_, to, receives_);
  }

  /// The numbers that nodes of the whole grid have among those seen; -1 where one is not seen. By
  /// this process alone. Does not fence.
  Array<int, Exec> find(const Exec& exec, const Array<int, Exec>& node) const {
    const auto found =
        make_uninitialized<int>(exec, std::int64_t(node.extent(0)), "ossatura::GridShare::found");
    Kokkos::parallel_for("ossatura::GridShare::find", range(exec, found.extent(0)),
                         detail::FindInGridShare<Exec>{whole_, seen_, node, found});
    return found;
  }

  const Communicator& communicator() const { return comm_.communicator(); }
  const VoxelGrid<Exec>& whole() const { return whole_; }
  const VoxelGrid<Exec>& seen() const { return seen_; }

private:
  DeviceComm<Exec> comm_;
  VoxelGrid<Exec> whole_, seen_;
  std::vector<RankMessage> sends_, receives_; ///< to and from each other process
};

} // namespace ossatura
