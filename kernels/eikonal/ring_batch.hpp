// SPDX-License-Identifier: Apache-2.0
// A team updates a batch of points in three steps: it reads the times around each point, once; it
// lists the tetrahedra that can lower a time, about two in five; and it solves these, all threads
// busy. On cores a team is one thread, which solves them in lanes (batches/ring_arrivals.hpp).
#pragma once

#include <ossatura/core/parallel/aggregated_append.hpp>
#include <ossatura/kernels/algebra/sorting/ordered_bits.hpp>
#include <ossatura/kernels/eikonal/ring_update.hpp>

namespace ossatura {

/// Sizes of a team and its batch, of at most 256 points.
template<class Exec, int device_points, int device_threads, int host_points>
struct BatchTeams {
  static constexpr bool device = BackendTraits<Exec>::is_device;
  static constexpr int size = device ? device_points : host_points; ///< points of a batch
  static constexpr int lanes = device ? 8 : 1;                      ///< threads for a point
  static constexpr int threads = device ? device_threads : 1;
  static constexpr int list_size = 16 * size; ///< tetrahedra; more are solved alone
  static constexpr int max_neighbours = 32;   ///< of a point; more are read again and again

  KOKKOS_FORCEINLINE_FUNCTION static int append(int* counter) {
    if constexpr (threads > 1)
      return aggregated_append(counter);
    else
      return (*counter)++;
  }
};

/// The data of a batch that a team keeps in scratch memory.
template<class Teams, class Real, bool device = Teams::device>
struct RingBatch {
  BatchPoint<Real> point[Teams::size];
  Real time[Teams::size][Teams::max_neighbours + 1]; ///< an odd stride, for the banks of a GPU
  int entry[Teams::list_size];                       ///< place in the rings, to be solved
  std::uint8_t place[Teams::list_size];              ///< in the batch
  int num_entries;                                   ///< 0 before
};
/// On cores, where times and tetrahedra are the batch function's own.
template<class Teams, class Real>
struct RingBatch<Teams, Real, false> {
  BatchPoint<Real> point[Teams::size];
  int num_entries;
};

namespace detail {

/// The steps of devices.
template<class Teams, class Exec, class Metric, class Real>
struct BatchUpdate {
  const RingUpdate<Exec, Metric>& update;
  const Real* time;
  RingBatch<Teams, Real>& batch;

  KOKKOS_FORCEINLINE_FUNCTION static void lower(Real* least, Real time) {
    if (time < *least)
      atomic_min_time(least, time);
  }

  KOKKOS_FORCEINLINE_FUNCTION void load(int place, std::uint32_t item, int num_points) const {
    auto& p = batch.point[place];
    p.item = item;
    p.index = int(item & ~changed_bit);
    p.base = first_of_set(p.index, num_points);
    const int point = p.index - p.base;
    p.ring_begin = update.begin(point);
    p.ring_end = update.end(point);
    p.star_begin = update.stars.begin(point);
    const int count = update.stars.begin(point + 1) - p.star_begin;
    p.num_neighbours = count <= int(Teams::max_neighbours) ? count : 0;
    p.current = p.best = time[p.index];
  }

  KOKKOS_FORCEINLINE_FUNCTION void gather(int place, int lane) const {
    const auto& p = batch.point[place];
    for (int j = lane; j < p.num_neighbours; j += Teams::lanes)
      batch.time[place][j] = time[p.base + update.stars.neighbour(p.star_begin + j)];
  }

  /// Solves one tetrahedron from the times in memory.
  KOKKOS_FORCEINLINE_FUNCTION void solve_alone(int place, int e) const {
    auto& p = batch.point[place];
    lower(&p.best, update.through(update.ring.member(e), time + p.base));
  }

  KOKKOS_FORCEINLINE_FUNCTION void list(int place, int lane) const {
    const auto& p = batch.point[place];
    const Real* t = batch.time[place];
    constexpr int lanes = Teams::lanes, rounds = 32;
    if (p.num_neighbours == 0) {
      for (int e = p.ring_begin + lane; e < p.ring_end; e += lanes)
        solve_alone(place, e);
      return;
    }
    for (int begin = p.ring_begin + lane; begin < p.ring_end; begin += rounds * lanes) {
      // Marked first, listed then: one atomic operation for all of this thread.
      const int end = p.ring_end - begin < rounds * lanes ? p.ring_end : begin + rounds * lanes;
      std::uint32_t marked = 0, bit = 1;
      for (int e = begin; e < end; e += lanes, bit <<= 1) {
        const std::uint32_t face = update.stars.face(e);
        const Real ta = t[face_place(face, 0)], tb = t[face_place(face, 1)],
                   tc = t[face_place(face, 2)];
        const Real tab = Kokkos::min(tb, ta);
        if (update.may_lower(face, Kokkos::min(tc, tab), p.current))
          marked |= bit;
      }
      if (marked == 0)
        continue;
      int i = Kokkos::atomic_fetch_add(&batch.num_entries, count_ones(marked));
      for (; marked != 0; marked &= marked - 1, ++i) {
        const int e = begin + lowest_one(marked) * lanes;
        if (i < int(Teams::list_size)) {
          batch.entry[i] = e;
          batch.place[i] = std::uint8_t(place);
        } else { // more tetrahedra than is usual
          solve_alone(place, e);
        }
      }
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void solve(int i) const {
    const int e = batch.entry[i], place = batch.place[i];
    const std::uint32_t face = update.stars.face(e);
    const Real* t = batch.time[place];
    lower(&batch.point[place].best, update.arrival(update.ring.member(e), t[face_place(face, 0)],
                                                   t[face_place(face, 1)], t[face_place(face, 2)]));
  }
};

} // namespace detail

/// Leaves the earliest of the current time and the arrivals in batch.point[].best, for the points
/// items[0] .. items[size - 1], and the number of tetrahedra listed in batch.num_entries. By all
/// threads of a team; ends with a barrier.
template<class Teams, class Exec, class Metric, class Real, class Member>
KOKKOS_FUNCTION void update_batch(const Member& member, const RingUpdate<Exec, Metric>& update,
                                  const Real* time, int num_points, const std::uint32_t* items,
                                  int size, RingBatch<Teams, Real>& batch) {
  if constexpr (!Teams::device) {
    batch.num_entries =
        update.lower_times(update.arrays(time, num_points), items, size, batch.point);
  } else {
    constexpr int lanes = Teams::lanes;
    const detail::BatchUpdate<Teams, Exec, Metric, Real> step{update, time, batch};
    // By hand: after ranges of vector lanes Kokkos computes masks, which took a quarter of the
    // time.
    const int rank = member.team_rank(), num_threads = member.team_size();
    for (int i = rank; i < size; i += num_threads)
      step.load(i, items[i], num_points);
    member.team_barrier();
    for (int i = rank; i < size * lanes; i += num_threads)
      step.gather(i / lanes, i % lanes);
    member.team_barrier();
    for (int i = rank; i < size * lanes; i += num_threads)
      step.list(i / lanes, i % lanes);
    member.team_barrier();
    const int listed =
        batch.num_entries < int(Teams::list_size) ? batch.num_entries : int(Teams::list_size);
    for (int i = rank; i < listed; i += num_threads)
      step.solve(i);
    member.team_barrier();
  }
}

/// Calls visit(index) for the neighbours of a point of a batch that fall to `lane`; some of them,
/// and the point itself, several times where they are many.
template<class Exec, class Metric, class Point, class Visit>
KOKKOS_FORCEINLINE_FUNCTION void for_neighbours(const RingUpdate<Exec, Metric>& update,
                                                const Point& p, int lane, int lanes,
                                                const Visit& visit) {
  for (int j = lane; j < p.num_neighbours; j += lanes)
    visit(p.base + update.stars.neighbour(p.star_begin + j));
  if (p.num_neighbours > 0)
    return;
  for (int e = p.ring_begin + lane; e < p.ring_end; e += lanes) {
    const TetraPoints points = update.tetra(update.ring.member(e) >> 2);
    for (int j = 0; j < 4; ++j)
      visit(p.base + points.point[j]);
  }
}

} // namespace ossatura
