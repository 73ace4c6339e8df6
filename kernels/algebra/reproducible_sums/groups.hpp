// SPDX-License-Identifier: Apache-2.0
// Group sums are dot products, as an iteration has, with the same bits for any number of processes
// and threads: a group belongs to one process, its entries are summed in chunks of fixed length,
// and every process adds the groups in their order. shared.hpp sums what is no dot product.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/comm/device_comm.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <vector>

namespace ossatura {

namespace detail {

/// A team sums a chunk: its threads take entries in turn, and their sums are added in order.
template<class Exec, class S, class T>
struct SumChunks {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Scratch = Kokkos::View<double*, typename Exec::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr int threads = BackendTraits<Exec>::is_device ? 128 : 1;
  Array<std::int64_t, Exec> chunk_begin, chunk_end; ///< [chunks] entries
  Array<S, Exec> x;
  Array<T, Exec> y;
  Array<double, Exec> sum; ///< [chunks]

  static std::size_t scratch_bytes() { return Scratch::shmem_size(threads); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const Scratch partial(team.team_scratch(0), int(threads));
    const std::int64_t chunk = team.league_rank();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, int(threads)), [&](int t) {
      double own = 0;
      for (std::int64_t i = chunk_begin(chunk) + t; i < chunk_end(chunk); i += int(threads))
        own += double(x(i)) * double(y(i));
      partial(t) = own;
    });
    team.team_barrier();
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      double total = 0;
      for (int t = 0; t < int(threads); ++t)
        total += partial(t);
      sum(chunk) = total;
    });
  }
};

template<class Exec>
struct AddChunksOfGroup {
  Array<int, Exec> first_chunk; ///< [groups + 1]
  Array<double, Exec> chunk_sum, group_sum;

  KOKKOS_FUNCTION void operator()(std::int64_t g) const {
    double total = 0;
    for (int c = first_chunk(g); c < first_chunk(g + 1); ++c)
      total += chunk_sum(c);
    group_sum(g) = total;
  }
};

} // namespace detail

namespace detail {
/// One thread: the order is that of ranks and groups. What ranks with fewer groups have behind them
/// is zero, which changes no bit.
template<class Exec>
struct AddGroupsInOrder {
  Array<double, Exec> group_sum, to;
  KOKKOS_FUNCTION void operator()(std::int64_t) const {
    double total = 0;
    for (std::int64_t g = 0; g < std::int64_t(group_sum.extent(0)); ++g)
      total += group_sum(g);
    to(0) = total;
  }
};
} // namespace detail

/// Dot products of vectors over nodes. Copies share their partial sums.
template<class Exec>
class GroupSums {
  static constexpr std::int64_t chunk_nodes = 1024;

public:
  GroupSums() = default;
  /// `group_begin` [groups of this process + 1] are the nodes with which groups begin in vectors of
  /// 3 numbers a node; groups may be empty. By all processes of `comm`. Fences.
  GroupSums(const Exec& exec, const DeviceComm<Exec>& comm, const std::vector<int>& group_begin)
      : comm_(comm) {
    std::vector<std::int64_t> begin, end;
    std::vector<int> first_chunk{0};
    for (std::size_t g = 0; g + 1 < group_begin.size(); ++g) {
      const std::int64_t last = group_begin[g + 1];
      for (std::int64_t n = group_begin[g]; n < last; n += chunk_nodes) {
        begin.push_back(3 * n);
        end.push_back(3 * (last < n + chunk_nodes ? last : n + chunk_nodes));
      }
      first_chunk.push_back(int(begin.size()));
    }
    chunk_begin_ = upload(exec, "ossatura::group_sums::begin", begin);
    chunk_end_ = upload(exec, "ossatura::group_sums::end", end);
    first_chunk_ = upload(exec, "ossatura::group_sums::first_chunk", first_chunk);
    chunk_sum_ =
        make_zeros<double>(exec, std::int64_t(begin.size()), "ossatura::group_sums::chunks");
    num_groups_ = std::int64_t(first_chunk.size()) - 1;
    const std::int64_t most = comm.communicator().max(num_groups_);
    group_sum_ = make_zeros<double>(exec, most, "ossatura::group_sums::groups");
    all_sums_ =
        make_zeros<double>(exec, most * comm.communicator().size(), "ossatura::group_sums::all");
    total_ = make_zeros<double>(exec, 1, "ossatura::group_sums::total");
  }

  /// to(0) = the sum of x(i) y(i) over the nodes of all groups of all processes, in double. By all
  /// processes. Fences as DeviceComm::all_gather.
  template<class S, class T>
  void dot(const Exec& exec, const Array<S, Exec>& x, const Array<T, Exec>& y,
           const Array<double, Exec>& to) const {
    using Kernel = detail::SumChunks<Exec, S, T>;
    Kokkos::parallel_for(
        "ossatura::GroupSums::chunks",
        Kokkos::TeamPolicy<Exec>(exec, int(chunk_sum_.extent(0)), int(Kernel::threads))
            .set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes())),
        Kernel{chunk_begin_, chunk_end_, x, y, chunk_sum_});
    Kokkos::parallel_for("ossatura::GroupSums::groups", range(exec, num_groups_),
                         detail::AddChunksOfGroup<Exec>{first_chunk_, chunk_sum_, group_sum_});
    comm_.all_gather(exec, group_sum_, all_sums_);
    Kokkos::parallel_for("ossatura::GroupSums::add", range(exec, 1),
                         detail::AddGroupsInOrder<Exec>{all_sums_, to});
  }
  /// The same on the host. Fences.
  template<class S, class T>
  double dot(const Exec& exec, const Array<S, Exec>& x, const Array<T, Exec>& y) const {
    dot(exec, x, y, total_);
    return download(exec, total_).front();
  }

private:
  DeviceComm<Exec> comm_;
  Array<std::int64_t, Exec> chunk_begin_, chunk_end_; ///< entries
  Array<int, Exec> first_chunk_;
  std::int64_t num_groups_ = 0;
  Array<double, Exec> chunk_sum_;
  Array<double, Exec> group_sum_; ///< padded to the most groups of a process
  Array<double, Exec> all_sums_, total_;
};

} // namespace ossatura
