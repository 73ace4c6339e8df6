// SPDX-License-Identifier: Apache-2.0
// The kernel of a resident front: all iterations, by blocks that stay.
#pragma once

#include <ossatura/kernels/eikonal/resident/front_state.hpp>
#include <ossatura/kernels/eikonal/resident/parted_queue.hpp>
#include <ossatura/kernels/eikonal/resident/ring_loads.hpp>

namespace ossatura {

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
namespace detail {

template<class Real>
struct ResidentFrontStep {
  using Front = ResidentFront<Cuda, Real>;
  /// More threads hide more of the memory's latency than the few registers that they spill cost.
  static constexpr int threads = sizeof(Real) == 8 ? 768 : 1024;
  static constexpr int resident_blocks = 1;
  static constexpr int warps = threads / 32;
  static constexpr int most_points = 8;     ///< of a warp at once
  static constexpr int max_neighbours = 32; ///< of a point; others go to the tetrahedra
  static constexpr int row = max_neighbours + 1;
  static constexpr int ring_round = 32; ///< tetrahedra around a point that are marked at once
  static constexpr unsigned all = 0xffffffffu;
  /// Faces that a lane asks for together with its neighbours.
  template<int lanes>
  static constexpr int early = ring_round / lanes < 4 ? ring_round / lanes : 4;

  struct {
    ArrayPointer<const RingEntry<Real>> entry;
    ArrayPointer<const StarHead> point;
    ArrayPointer<const int> neighbour, member;
    ArrayPointer<std::uint32_t> face;
    ArrayPointer<const TetraPoints> tetra;
  } mesh; ///< RingMetric, PointStars and TetraTopology
  struct {
    std::uint32_t* queue[2];
    int* length;
    int* stamp;
    std::uint64_t* state;
    int part_size;
  } front;       ///< ResidentFront
  Real* time[2]; ///< [sets * num_points] of even and odd iterations
  Real keep;     ///< times below keep * old are changes
  int num_points;
  int first, last; ///< iterations

  /// What the block keeps in scratch memory.
  struct Scratch {
    unsigned long long* evaluations;
    Real* times;        ///< a row for each point of a warp
    std::uint8_t* list; ///< of tetrahedra to be solved: ring_round for each point of a warp
    int* begin;         ///< of the parts of the queue
    int* num_appended;
    unsigned* next_batch;
  };
  /// Of one iteration.
  struct Queues {
    int k, num_blocks;
    const std::uint32_t* from;
    std::uint32_t* to; ///< the block's part
    std::uint32_t* to_last;
    int* last_length;
  };
  /// A point and what its lanes read together.
  struct Point {
    int index, base; ///< of its time, and of the first of its set
    bool there, was_changed;
    bool is_wide;         ///< goes to the tetrahedra: the next two are as without neighbours
    int degree, ring_end; ///< number of neighbours; the end of the ring
    const StarHead* head; ///< of some point where there is none
    RingAndStar range;
    Real current;
  };

  static std::size_t scratch_bytes(int num_blocks) {
    return 16 + warps * most_points * (row * sizeof(Real) + ring_round) +
           std::size_t(num_blocks + 4) * sizeof(int);
  }
  __device__ __forceinline__ static Scratch scratch_of(const ResidentBlock& block) {
    Scratch scratch;
    scratch.evaluations = reinterpret_cast<unsigned long long*>(block.scratch);
    scratch.times = reinterpret_cast<Real*>(block.scratch + 16);
    scratch.list = reinterpret_cast<std::uint8_t*>(scratch.times + warps * most_points * row);
    scratch.begin = reinterpret_cast<int*>(scratch.list + warps * most_points * ring_round);
    scratch.num_appended = scratch.begin + block.num_blocks + 2;
    scratch.next_batch = reinterpret_cast<unsigned*>(scratch.num_appended + 1);
    return scratch;
  }

  __device__ __forceinline__ Queues queues_of(const ResidentBlock& block, int k) const {
    const std::size_t parts = std::size_t(block.num_blocks) * front.part_size;
    std::uint32_t* const to = front.queue[1 - (k & 1)];
    return {k,
            block.num_blocks,
            front.queue[k & 1],
            to + std::size_t(block.rank) * front.part_size,
            to + parts,
            front.length + 2 * block.num_blocks + (k + 1) % 3};
  }

  /// Item i, where `part` is that of an item before.
  __device__ __forceinline__ std::uint32_t item(const Scratch& scratch, const Queues& queues,
                                                int part, int i) const {
    while (scratch.begin[part + 1] <= i)
      ++part;
    return __ldcg(queues.from + std::size_t(part) * front.part_size + (i - scratch.begin[part]));
  }

  /// `first`: the item of the warp's first lane.
  __device__ __forceinline__ Point load_point(const Scratch& scratch, const Queues& queues,
                                              int first, int i, bool there) const {
    Point p;
    const int part = part_of_item(scratch.begin, queues.num_blocks + 1, first);
    const std::uint32_t item = there ? this->item(scratch, queues, part, i) : 0;
    p.there = there;
    p.was_changed = (item & changed_bit) != 0;
    p.index = int(item & ~changed_bit);
    p.base = first_of_set(p.index, num_points);
    p.head = &mesh.point(p.index - p.base);
    p.range = {0, 0, 0, 0};
    p.current = 0;
    if (there) {
      p.range = load_ring_and_star(&p.head->range);
      p.current = __ldcg(time[queues.k & 1] + p.index);
    }
    p.degree = p.range.star_end - p.range.star_begin;
    p.is_wide =
        p.degree > max_neighbours || (p.degree == 0 && p.range.ring_begin < p.range.ring_end);
    p.degree = p.is_wide ? 0 : p.degree;
    p.ring_end = p.is_wide ? p.range.ring_begin : p.range.ring_end;
    return p;
  }

  /// Entry j of a point's star, and of its ring: from the head, which does not wait for the ends of
  /// both, as far as it goes; anything behind the ends.
  __device__ __forceinline__ int neighbour_of(const Point& p, int j) const {
    if (j < StarHead::num_neighbours)
      return __ldg(p.head->neighbour + j);
    return j < p.degree ? mesh.neighbour(p.range.star_begin + j) : -1;
  }
  __device__ __forceinline__ std::uint32_t face_of(const Point& p, int j) const {
    if (j < StarHead::num_faces)
      return __ldg(p.head->face + j);
    return p.range.ring_begin + j < p.ring_end ? mesh.face(p.range.ring_begin + j) : 0;
  }

  __device__ __forceinline__ bool may_lower(std::uint32_t face, const Real* near,
                                            Real current) const {
    const Real first =
        fmin(near[face_place(face, 0)], fmin(near[face_place(face, 1)], near[face_place(face, 2)]));
    return first + Real(unpack_height(face)) < current;
  }

  /// Which of the first tetrahedra of a point's ring can lower its time: bit r for number
  /// r * lanes + l. `face` has the first of them.
  template<int lanes>
  __device__ __forceinline__ std::uint32_t
  mark(const Point& p, const std::uint32_t (&face)[early<lanes>], const Real* near, int l) const {
    const int size = p.ring_end - p.range.ring_begin;
    std::uint32_t marked = 0;
#pragma unroll
    for (int r = 0; r < early<lanes>; ++r)
      if (r * lanes + l < size && may_lower(face[r], near, p.current))
        marked |= 1u << r;
#pragma unroll
    for (int r = early<lanes>; r < ring_round / lanes; ++r)
      if (r * lanes + l < size && may_lower(face_of(p, r * lanes + l), near, p.current))
        marked |= 1u << r;
    return marked;
  }

  /// The earliest arrival at a point through its tetrahedra, and not after its time. `marked`: of
  /// mark(). What is marked is listed and dealt to the lanes of the point, which else would wait
  /// for those of them that have most.
  template<int lanes>
  __device__ __forceinline__ Real solve_marked(const Point& p, std::uint32_t marked,
                                               const Real* near, std::uint8_t* list,
                                               unsigned& solves) const {
    constexpr int rounds = ring_round / lanes;
    const int lane = int(threadIdx.x) % 32, l = lane % lanes;
    Real best = p.current;
    for (int begin = p.range.ring_begin;;) {
      int size = 0;
#pragma unroll
      for (int r = 0; r < rounds; ++r) {
        const bool mine = (marked >> r & 1) != 0;
        const unsigned ours = __ballot_sync(all, mine) >> (lane - l) & all >> (32 - lanes);
        if (mine)
          list[size + __popc(ours & ((1u << l) - 1))] = std::uint8_t(r * lanes + l);
        size += __popc(ours);
      }
      __syncwarp();
      for (int i = l; __any_sync(all, i < size); i += lanes)
        if (i < size) {
          const RingEntry<Real> e = load_ring_entry(&mesh.entry(begin + list[i]));
          const Real t = eikonal_update(e.products, near[face_place(e.face, 0)],
                                        near[face_place(e.face, 1)], near[face_place(e.face, 2)]);
          best = t < best ? t : best;
          ++solves;
        }
      begin += ring_round;
      if (!__any_sync(all, begin < p.ring_end))
        return best;
      __syncwarp(); // the list was read
      marked = 0;
      for (int r = 0; r < rounds && begin + r * lanes + l < p.ring_end; ++r)
        if (may_lower(mesh.face(begin + r * lanes + l), near, p.current))
          marked |= 1u << r;
    }
  }

  /// The same of a point with more neighbours than a row has room for.
  template<int lanes>
  __device__ Real solve_wide(const Point& p, const Real* now, int lane) const {
    Real best = p.current;
    for (int e = p.range.ring_begin + lane; e < p.range.ring_end; e += lanes) {
      const int entry = mesh.member(e);
      const TetraPoints& points = mesh.tetra(entry >> 2);
      Real t[3];
      for (int which = 0; which < 3; ++which)
        t[which] = __ldcg(now + p.base + points.point[face_vertex(entry & 3, which)]);
      if (fmin(t[0], fmin(t[1], t[2])) + Real(unpack_height(mesh.face(e))) < p.current)
        best = fmin(best, eikonal_update(mesh.entry(e).products, t[0], t[1], t[2]));
    }
    return best;
  }

  /// Appends an item at place `i` of the block's part of the next queue, which is its own.
  __device__ __forceinline__ void append(const Queues& queues, int i, std::uint32_t item) const {
    if (i < front.part_size)
      __stcg(queues.to + i, item);
    else
      __stcg(queues.to_last + atomicAdd(queues.last_length, 1), item);
  }

  /// Appends a point to the next queue, unless it is in this one or in that already.
  __device__ void notify(const Scratch& scratch, const Queues& queues, int index) const {
    int* const stamp = front.stamp + index;
    if (__ldcg(stamp) < queues.k && atomicExch(stamp, queues.k + 1) < queues.k)
      append(queues, atomicAdd(scratch.num_appended, 1), std::uint32_t(index));
  }

  /// The neighbours of a point whose numbers its lanes do not have.
  template<int lanes>
  __device__ __forceinline__ void notify_others(const Scratch& scratch, const Queues& queues,
                                                const Point& p, int first) const {
    for (int j = p.range.star_begin + first; j < p.range.star_end && !p.is_wide; j += lanes)
      notify(scratch, queues, p.base + mesh.neighbour(j));
    for (int e = p.range.ring_begin + first % lanes; e < p.range.ring_end && p.is_wide;
         e += lanes) {
      const TetraPoints& points = mesh.tetra(mesh.member(e) >> 2);
      for (int which = 0; which < 4; ++which)
        notify(scratch, queues, p.base + points.point[which]);
    }
  }

  /// Appends to the next queue what comes of a warp's points: those that changed, and neighbours,
  /// by their stamps, of those that were changed and are not any more. One addition a warp.
  template<int lanes, int rounds>
  __device__ __forceinline__ void
  append_all(const Scratch& scratch, const Queues& queues, const Point& p, int lane, bool changed,
             const int (&neighbour)[rounds], const int (&stamp)[rounds]) const {
    const int k = queues.k, lane_of_point = lane % lanes;
    const bool is_done = p.was_changed && !changed;
    int before[rounds]; // exchanges are under way together
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      before[r] = k;
      if (is_done && stamp[r] < k)
        before[r] = atomicExch(front.stamp + neighbour[r], k + 1);
    }
    const unsigned own = __ballot_sync(all, lane_of_point == 0 && changed);
    unsigned come[rounds];
    int size = __popc(own);
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      come[r] = __ballot_sync(all, before[r] < k);
      size += __popc(come[r]);
    }
    if (size > 0) {
      const unsigned below = (1u << lane) - 1;
      int place = 0;
      if (lane == 0)
        place = atomicAdd(scratch.num_appended, size);
      place = __shfl_sync(all, place, 0);
      if ((own >> lane & 1) != 0)
        append(queues, place + __popc(own & below), std::uint32_t(p.index) | changed_bit);
      place += __popc(own);
#pragma unroll
      for (int r = 0; r < rounds; ++r) {
        if (before[r] < k)
          append(queues, place + __popc(come[r] & below), std::uint32_t(neighbour[r]));
        place += __popc(come[r]);
      }
    }
    if (is_done)
      notify_others<lanes>(scratch, queues, p, rounds * lanes + lane_of_point);
  }

  /// Evaluates items i of a warp, of which `first` is the first lane's. By all its lanes, `lanes`
  /// for each.
  template<int lanes>
  __device__ __forceinline__ void evaluate(const Scratch& scratch, const Queues& queues, int first,
                                           int i, bool there, unsigned& solves) const {
    constexpr int rounds = lanes < 16 ? 16 / lanes : 1; // neighbours of a lane
    const int lane = int(threadIdx.x) % 32, l = lane % lanes;
    const Point p = load_point(scratch, queues, first, i, there);
    const Real* const now = time[queues.k & 1];
    const int place = int(threadIdx.x) / 32 * most_points + lane / lanes; // in the block
    Real* const near = scratch.times + place * row;

    int neighbour[rounds], stamp[rounds];
    std::uint32_t face[early<lanes>];
#pragma unroll
    for (int r = 0; r < rounds; ++r)
      neighbour[r] = neighbour_of(p, l + r * lanes);
#pragma unroll
    for (int r = 0; r < early<lanes>; ++r)
      face[r] = face_of(p, l + r * lanes);
#pragma unroll
    for (int r = 0; r < rounds; ++r)
      neighbour[r] = l + r * lanes < p.degree ? p.base + neighbour[r] : -1;
#pragma unroll
    for (int r = 0; r < rounds; ++r)
      if (neighbour[r] >= 0)
        near[l + r * lanes] = __ldcg(now + neighbour[r]);
#pragma unroll
    for (int r = 0; r < rounds; ++r)
      stamp[r] =
          p.was_changed && neighbour[r] >= 0 ? __ldcg(front.stamp + neighbour[r]) : 0x7fffffff;
    for (int j = l + rounds * lanes; j < p.degree; j += lanes)
      near[j] = __ldcg(now + p.base + mesh.neighbour(p.range.star_begin + j));
    __syncwarp();

    const std::uint32_t marked = mark<lanes>(p, face, near, l);
    Real best = solve_marked<lanes>(p, marked, near, scratch.list + place * ring_round, solves);
    if (p.is_wide)
      best = solve_wide<lanes>(p, now, l);
    __syncwarp();
#pragma unroll
    for (int offset = 1; offset < lanes; offset *= 2)
      best = fmin(best, __shfl_xor_sync(all, best, offset));

    const bool changed = p.there && best < p.current * keep;
    if (p.there && l == 0) {
      __stcg(time[1 - (queues.k & 1)] + p.index, changed ? best : p.current);
      if (changed)
        __stcg(front.stamp + p.index, queues.k + 1);
    }
    append_all<lanes, rounds>(scratch, queues, p, lane, changed, neighbour, stamp);
    __syncwarp();
  }

  /// Evaluates the queue: a warp has a batch of its own, and then takes the next of its block.
  template<int lanes>
  __device__ __forceinline__ void evaluate_all(const ResidentBlock& block, const Scratch& scratch,
                                               const Queues& queues, int n,
                                               unsigned& solves) const {
    constexpr unsigned points = 32 / lanes;
    const unsigned row_of_grid = unsigned(block.num_blocks) * warps;
    unsigned batch = threadIdx.x / 32;
    for (;;) {
      const unsigned i =
          (batch / warps * row_of_grid + unsigned(block.rank) * warps + batch % warps) * points;
      if (i >= unsigned(n))
        return;
      const unsigned mine = i + threadIdx.x % 32 / lanes;
      evaluate<lanes>(scratch, queues, int(i), int(mine), mine < unsigned(n), solves);
      if (threadIdx.x % 32 == 0)
        batch = atomicAdd(scratch.next_batch, 1u);
      batch = __shfl_sync(all, batch, 0);
    }
  }

  /// What the kernel says at its end: by all threads.
  __device__ __forceinline__ void report(const ResidentBlock& block, const Scratch& scratch, int k,
                                         int n, unsigned solves) const {
    using Count = unsigned long long;
    Count sum = solves;
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
      sum += __shfl_xor_sync(all, sum, offset);
    if (threadIdx.x % 32 == 0 && sum > 0)
      atomicAdd(reinterpret_cast<Count*>(front.state + int(Front::solves)), sum);
    if (block.rank == 0 && threadIdx.x == 0) {
      front.state[int(Front::iteration)] = std::uint64_t(k);
      front.state[int(Front::count)] = std::uint64_t(n);
      front.state[int(Front::evaluations)] += *scratch.evaluations;
    }
  }

  __device__ __forceinline__ void operator()(const ResidentBlock& block) const {
    const Scratch scratch = scratch_of(block);
    const int num_warps = block.num_blocks * warps;
    unsigned solves = 0;
    if (threadIdx.x == 0) {
      *scratch.num_appended = 0;
      *scratch.next_batch = warps;
      *scratch.evaluations = 0;
    }
    int k = first;
    for (;;) {
      const int n = find_parts(block, front.length + (k & 1) * block.num_blocks,
                               front.length + 2 * block.num_blocks + k % 3, scratch.begin);
      if (n == 0 || k == last)
        return report(block, scratch, k, n, solves);
      const Queues queues = queues_of(block, k);
      if (n <= num_warps)
        evaluate_all<32>(block, scratch, queues, n, solves);
      else if (n <= 2 * num_warps)
        evaluate_all<16>(block, scratch, queues, n, solves);
      else if (n > 4 * num_warps && n <= 8 * num_warps)
        evaluate_all<4>(block, scratch, queues, n, solves);
      else
        evaluate_all<8>(block, scratch, queues, n, solves);
      __syncthreads();
      if (threadIdx.x == 0) {
        const int appended = *scratch.num_appended;
        __stcg(front.length + (1 - (k & 1)) * block.num_blocks + block.rank,
               appended < front.part_size ? appended : front.part_size);
        *scratch.num_appended = 0;
        *scratch.next_batch = warps;
        *scratch.evaluations += unsigned(n);
        if (block.rank == 0) // whose readers of the iteration before are through
          __stcg(front.length + 2 * block.num_blocks + (k + 2) % 3, 0);
      }
      ++k;
      block.grid_barrier();
    }
  }
};

} // namespace detail
#endif

} // namespace ossatura
