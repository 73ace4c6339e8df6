// SPDX-License-Identifier: Apache-2.0
// Ring arrivals are the earliest times at which waves arrive at a few points, through the
// tetrahedra around them, computed with the vector instructions of a core: a tetrahedron is a lane.
//
// The tetrahedra around a point are marked, where they can lower its time, and those of all points
// are solved in the order in which they were marked, eight at a time. These functions are compiled
// once for each instruction set (core/machine/instruction_set.hpp) in sources without Kokkos. The
// local solver is that of local_solver.hpp, operation by operation, multiplications and additions
// are not fused, and the least of some times does not depend on their order: results are the same
// to the bit on every processor.
#pragma once

#include <ossatura/core/machine/instruction_set.hpp>
#include <ossatura/kernels/eikonal/batch_point.hpp>

#include <cstdint>

namespace ossatura {

namespace detail {

/// The arrays of a RingUpdate, and times. `size` numbers of `metric` are a tetrahedron's.
template<class Real>
struct RingArrays {
  const int* tetra; ///< [num_tetra][4]
  const Real* metric;
  const int *ring_begin, *ring_member;
  const int *star_begin, *neighbour;
  const std::uint32_t* face;
  const Real* time; ///< [sets * num_points]
  int num_points;
};

/// Fills point[0] .. point[size - 1] for the points items[i], with the earliest of the current time
/// and the arrivals in `best`. Returns the number of tetrahedra that may lower a time, without
/// those of points of more than 32 neighbours, all of whose tetrahedra are solved. Times are
/// finite, 0 or later.
template<class Real>
using LowerTimes = int(const RingArrays<Real>&, const std::uint32_t* items, int size,
                       BatchPoint<Real>* point);

/// By the metric: 6 squared lengths or 18 products.
template<class Real>
struct LowerTimesBy {
  LowerTimes<Real>*lengths, *products;
};

/// The functions of one instruction set.
struct RingArrivals {
  LowerTimesBy<float> in_float;
  LowerTimesBy<double> in_double;

  const LowerTimesBy<float>& of(float) const { return in_float; }
  const LowerTimesBy<double>& of(double) const { return in_double; }
};

/// Null where the program was compiled for processors that cannot have it.
const RingArrivals* baseline_ring_arrivals();
const RingArrivals* avx2_ring_arrivals();
const RingArrivals* avx512_ring_arrivals();

/// Those of instruction_set().
const RingArrivals& ring_arrivals();

} // namespace detail
} // namespace ossatura
