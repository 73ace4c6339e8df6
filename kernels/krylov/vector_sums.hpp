// SPDX-License-Identifier: Apache-2.0
// Vector sums are the dot products of an iteration: in an order of the backend's own, or by groups
// where vectors are cut among processes.
#pragma once

#include <ossatura/kernels/algebra/group_sums.hpp>

namespace ossatura {

/// The sums of vectors of one process; with groups, those of cut vectors.
template<class Exec>
class VectorSums {
public:
  VectorSums() = default;
  explicit VectorSums(const GroupSums<Exec>& groups)
      : groups_(groups)
      , by_groups_(true) {}

  bool by_groups() const { return by_groups_; }

  /// Sum of x(i) y(i), in double; of cut vectors by all processes. Fences.
  template<class T>
  double dot(const Exec& exec, const Array<T, Exec>& x, const Array<T, Exec>& y) const {
    return by_groups_ ? groups_.dot(exec, x, y) : ossatura::dot(exec, x, y);
  }
  /// The same, left in entry k of `scalars`; by groups only. Fences as GroupSums.
  template<class S, class T>
  void dot_to(const Exec& exec, const Array<S, Exec>& x, const Array<T, Exec>& y,
              const Array<double, Exec>& scalars, int k) const {
    groups_.dot(exec, x, y, Array<double, Exec>(scalars.data() + k, 1));
  }

private:
  GroupSums<Exec> groups_;
  bool by_groups_ = false;
};

} // namespace ossatura
