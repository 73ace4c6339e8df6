// SPDX-License-Identifier: Apache-2.0
// A share gather makes a vector of which every process has a part known to all as a whole.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/comm/device_comm.hpp>
#include <ossatura/kernels/algebra/ranks/owned_nodes.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <algorithm>
#include <vector>

namespace ossatura {

namespace detail {
template<class Exec, class Scalar>
struct PackShare {
  Array<Scalar, Exec> x, packed;
  std::int64_t first;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { packed(i) = x(first + i); }
};

/// x(i) from the padded parts of all processes; process r has the entries [begin(r), begin(r + 1)).
template<class Exec, class Scalar>
struct UnpackShares {
  Array<std::int64_t, Exec> begin;
  std::int64_t padded;
  Array<Scalar, Exec> all, x;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t rank = 0, end = std::int64_t(begin.extent(0)) - 1;
    while (end - rank > 1) {
      const std::int64_t middle = (rank + end) / 2;
      (begin(middle) <= i ? rank : end) = middle;
    }
    x(i) = all(rank * padded + i - begin(rank));
  }
};
} // namespace detail

/// Gathers vectors of 3 numbers a node. Copies share the buffers.
template<class Exec, class Scalar>
class ShareGather {
public:
  /// For one process, which has all: does nothing.
  ShareGather() = default;
  /// `share` are consecutive nodes by the order of ranks, together all. By all processes. Fences.
  ShareGather(const Exec& exec, const DeviceComm<Exec>& comm, const OwnedNodes& share)
      : comm_(comm)
      , first_(3 * std::int64_t(share.begin))
      , count_(3 * std::int64_t(share.count())) {
    std::vector<std::int64_t> begin{0};
    std::int64_t padded = 0;
    for (const std::int64_t count : comm.communicator().gather(count_)) {
      begin.push_back(begin.back() + count);
      padded = std::max(padded, count);
    }
    begin_ = upload(exec, "ossatura::share_gather::begin", begin);
    num_entries_ = begin.back();
    mine_ = make_zeros<Scalar>(exec, padded, "ossatura::share_gather::mine");
    all_ = make_zeros<Scalar>(exec, padded * comm.communicator().size(),
                              "ossatura::share_gather::all");
  }

  /// x of all nodes from the shares of x. By all processes. In order with the work of `exec`;
  /// fences as DeviceComm::all_gather.
  void gather(const Exec& exec, const Array<Scalar, Exec>& x) const {
    if (comm_.communicator().size() == 1)
      return;
    Kokkos::parallel_for("ossatura::ShareGather::pack", range(exec, count_),
                         detail::PackShare<Exec, Scalar>{x, mine_, first_});
    comm_.all_gather(exec, mine_, all_);
    Kokkos::parallel_for(
        "ossatura::ShareGather::unpack", range(exec, num_entries_),
        detail::UnpackShares<Exec, Scalar>{begin_, std::int64_t(mine_.extent(0)), all_, x});
  }

private:
  DeviceComm<Exec> comm_;
  std::int64_t first_ = 0, count_ = 0, num_entries_ = 0; ///< of this process, of all
  Array<std::int64_t, Exec> begin_;                      ///< [ranks + 1] entries
  Array<Scalar, Exec> mine_, all_;                       ///< padded to the most of a process
};

} // namespace ossatura
