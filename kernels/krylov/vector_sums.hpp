// SPDX-License-Identifier: Apache-2.0
// Vector sums are the dot products of an iteration: in an order of the backend's own, or, where
// vectors are cut among processes, by groups, or as integers while products and steps make their
// terms. The quanta of integers come from the iteration before: where there is none, and where the
// residual was replaced, groups are summed.
#pragma once

#include <ossatura/kernels/algebra/reproducible_sums/groups.hpp>
#include <ossatura/kernels/algebra/reproducible_sums/integers.hpp>
#include <ossatura/kernels/krylov/cg_steps.hpp>

#include <array>
#include <memory>

namespace ossatura {

/// The sums of vectors of one process; with groups, those of cut vectors. Copies are the same sums.
template<class Exec>
class VectorSums {
public:
  /// Places of the scalars of an iteration: those of CgScalars.
  enum Place { angle = 1, curvature = 2, norm2 = 3 };

  VectorSums() = default;
  explicit VectorSums(const GroupSums<Exec>& groups)
      : groups_(groups)
      , by_groups_(true) {}
  /// The same, where products and steps may add integers; entries [begin, end) are this process'.
  VectorSums(const GroupSums<Exec>& groups, const IntegerSums<Exec>& integers, std::int64_t begin,
             std::int64_t end)
      : groups_(groups)
      , by_groups_(true)
      , integers_(std::make_shared<Integers>(Integers{integers, begin, end, {}})) {}

  bool by_groups() const { return by_groups_; }

  /// Of the sum that goes to `place`; not set where groups are to be summed.
  IntegerScale scale(Place place) const {
    return integers_ ? integers_->scale[place] : IntegerScale();
  }
  /// The next sums will be about as large as these.
  void expect(const CgScalars& like) const {
    if (integers_)
      integers_->scale = {IntegerScale(), IntegerScale(like.next_rz), IntegerScale(like.pq),
                          IntegerScale(like.norm2)};
  }
  /// Nothing is known of the next sums.
  void expect_nothing() const {
    if (integers_)
      integers_->scale = {};
  }

  /// Where a kernel leaves the integer sums of its parts.
  IntegerSum* parts() const { return integers_->sums.parts(); }
  /// scalars(place) = the sum of `count` parts on all processes. Fences as IntegerSums::add_ranks.
  void add_parts_to(const Exec& exec, std::int64_t count, const CgScalarArray<Exec>& scalars,
                    Place place) const {
    integers_->sums.add_parts(exec, count);
    add_ranks_to(exec, scalars, place);
  }

  /// cg_step of kernels/krylov/cg_steps.hpp, with norm2 of all processes. Fences as dot_to.
  template<class U, class T, class B>
  void step(const Exec& exec, double unscale, const Array<T, Exec>& p, const Array<T, Exec>& q,
            const Array<U, Exec>& x, const Array<T, Exec>& r, const Array<B, Exec>& b,
            const CgScalarArray<Exec>& scalars) const {
    if (!scale(norm2).is_set()) {
      cg_step(exec, unscale, p, q, x, r, b, scalars);
      if (by_groups_)
        dot_to(exec, r, r, scalars, norm2);
      return;
    }
    cg_step(exec, unscale, p, q, x, r, b, scalars, integers_->sums, scale(norm2), integers_->begin,
            integers_->end);
    add_ranks_to(exec, scalars, norm2);
  }

  /// Sum of x(i) y(i), in double; of cut vectors by all processes. Fences.
  template<class T>
  double dot(const Exec& exec, const Array<T, Exec>& x, const Array<T, Exec>& y) const {
    return by_groups_ ? groups_.dot(exec, x, y) : ossatura::dot(exec, x, y);
  }
  /// The same, left at `place` of `scalars`; by groups only. Fences as GroupSums.
  template<class S, class T>
  void dot_to(const Exec& exec, const Array<S, Exec>& x, const Array<T, Exec>& y,
              const CgScalarArray<Exec>& scalars, Place place) const {
    groups_.dot(exec, x, y, entry(scalars, place));
  }

private:
  struct Integers {
    IntegerSums<Exec> sums;
    std::int64_t begin, end; ///< entries of this process
    std::array<IntegerScale, 4> scale;
  };

  static Array<double, Exec> entry(const CgScalarArray<Exec>& scalars, Place place) {
    return Array<double, Exec>(scalars.data() + place, 1);
  }
  void add_ranks_to(const Exec& exec, const CgScalarArray<Exec>& scalars, Place place) const {
    integers_->sums.add_ranks(exec, scale(place), entry(scalars, place));
  }

  GroupSums<Exec> groups_;
  bool by_groups_ = false;
  std::shared_ptr<Integers> integers_; ///< null: groups alone
};

} // namespace ossatura
