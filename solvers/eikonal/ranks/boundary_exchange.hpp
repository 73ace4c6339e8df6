// SPDX-License-Identifier: Apache-2.0
// A boundary exchange carries the times of boundary points from their owners to where they are
// ghosts.
#pragma once

#include <ossatura/core/comm/device_comm.hpp>
#include <ossatura/kernels/eikonal/boundary_times.hpp>
#include <ossatura/solvers/eikonal/ranks/mesh_share.hpp>

namespace ossatura::detail {

template<class Exec, class Real>
class BoundaryExchange {
public:
  BoundaryPoints<Exec> points;
  Array<Real, Exec> outgoing; ///< [points.sent]
  Array<Real, Exec> incoming; ///< [points.received]

  /// For times [num_sets, share.num_points()], which number fewer than 2^31. Each neighbour gets
  /// one message, and in it set after set. Fences.
  BoundaryExchange(const Exec& exec, const DeviceComm<Exec>& comm, const MeshShare& share,
                   std::int64_t num_sets)
      : comm_(comm) {
    std::vector<int> sent, received;
    int ghost = 0;
    for (std::size_t rank = 0; rank < share.sends.size(); ++rank) {
      const std::vector<int>& own = share.sends[rank];
      const std::int64_t num_ghosts = share.num_received[rank];
      if (ghost == share.own_begin)
        ghost = share.own_end;
      if (!own.empty())
        sends_.push_back(
            {int(rank), std::int64_t(sent.size()), num_sets * std::int64_t(own.size())});
      if (num_ghosts > 0)
        receives_.push_back({int(rank), std::int64_t(received.size()), num_sets * num_ghosts});
      for (std::int64_t set = 0; set < num_sets; ++set) {
        const int base = int(set * share.num_points());
        for (const int point : own)
          sent.push_back(base + point);
        for (std::int64_t k = 0; k < num_ghosts; ++k)
          received.push_back(base + ghost + int(k));
      }
      ghost += int(num_ghosts);
    }
    points = {upload(exec, "ossatura::eikonal::sent_points", sent),
              upload(exec, "ossatura::eikonal::received_points", received)};
    outgoing = make_uninitialized<Real>(exec, std::int64_t(sent.size()), "ossatura::eikonal::sent");
    incoming = make_uninitialized<Real>(exec, std::int64_t(received.size()),
                                        "ossatura::eikonal::received");
  }

  /// `outgoing` of the owners becomes `incoming`. By all ranks. In order with the work of `exec`;
  /// fences, but for devices that send to each other.
  void run(const Exec& exec) const { comm_.exchange(exec, outgoing, sends_, incoming, receives_); }

private:
  DeviceComm<Exec> comm_;
  std::vector<RankMessage> sends_, receives_;
};

} // namespace ossatura::detail
