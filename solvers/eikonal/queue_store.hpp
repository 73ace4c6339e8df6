// SPDX-License-Identifier: Apache-2.0
// What EikonalMethod::queue keeps from solve to solve where the backend has resident grids.
#pragma once

#include <ossatura/kernels/eikonal/resident_front.hpp>
#include <ossatura/kernels/eikonal/set_front.hpp>

namespace ossatura::detail {

/// Empty where iterations are launched one by one.
template<class Exec, class Real>
struct QueueStore {
  RingMetric<Exec, Real> ring;
  // One of the two: the second where the last solve had sets that share most of their sites.
  ResidentFront<Exec, Real> front;
  SetFront<Exec, Real> sets;

  bool is_empty() const { return ring.entry.extent(0) == 0; }
};

/// Fills `store` from the metric and the heights of `update`, also for a metric that changed;
/// leaves it empty where the backend or its device has no resident grids, and where it would take
/// more than half of the memory that is left. Does not fence.
template<class Exec, class Metric, class Real>
void prepare_queue(const Exec& exec, const RingUpdate<Exec, Metric>& update,
                   std::int64_t num_points, std::int64_t num_tetra, QueueStore<Exec, Real>& store);

} // namespace ossatura::detail
