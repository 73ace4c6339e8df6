// SPDX-License-Identifier: Apache-2.0
// The kernel of a front of sets: all iterations, by blocks that stay.
#pragma once

#include <ossatura/kernels/eikonal/resident/ring_loads.hpp>
#include <ossatura/kernels/eikonal/resident/set_front_queue.hpp>

namespace ossatura {

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
namespace detail {

/// Times as integers of the same order: none is below 0.
template<class Real>
struct OrderedTime;
template<>
struct OrderedTime<float> {
  using Bits = int;
  __device__ __forceinline__ static Bits bits(float t) { return __float_as_int(t); }
  __device__ __forceinline__ static float time(Bits t) { return __int_as_float(t); }
};
template<>
struct OrderedTime<double> {
  using Bits = long long;
  __device__ __forceinline__ static Bits bits(double t) { return __double_as_longlong(t); }
  __device__ __forceinline__ static double time(Bits t) { return __longlong_as_double(t); }
};

template<class Real>
struct SetFrontStep {
  using Front = SetFront<Cuda, Real>;
  using Ordered = OrderedTime<Real>;
  using Bits = typename Ordered::Bits;
  /// More would have fewer registers, and wait for those that they spill.
  static constexpr int threads = sizeof(Real) == 8 ? 640 : 768;
  static constexpr int resident_blocks = 1;
  static constexpr int warps = threads / 32;
  static constexpr int sets = Front::sets;
  static constexpr int lanes = 8, points = 4; ///< of a point, of a warp
  static constexpr int max_neighbours = 32;   ///< of a point; others go to the tetrahedra
  static constexpr int row = max_neighbours * sets;
  static constexpr int ring_round = 32; ///< tetrahedra around a point that are marked at once
  static constexpr int rounds = ring_round / lanes;
  static constexpr int list_size =
      sizeof(Real) == 8 ? 256 : 512; ///< of the 1024 that may be marked
  static constexpr int pieces =
      sets * int(sizeof(Real)) / 16; ///< of 16 bytes, of the times of a point
  static constexpr unsigned all = 0xffffffffu;

  struct {
    ArrayPointer<const RingEntry<Real>> entry;
    ArrayPointer<const StarHead> point;
    ArrayPointer<const int> neighbour, member;
    ArrayPointer<std::uint32_t> face;
    ArrayPointer<const TetraPoints> tetra;
  } mesh; ///< RingMetric, PointStars and TetraTopology
  SetFrontQueue front;
  std::uint64_t* state;
  Real* time[2];
  Real keep; ///< times below keep * old are changes
  int num_points;
  int first, last; ///< iterations

  /// What the block keeps in scratch memory; the first four of each warp.
  struct Scratch {
    Real* times;         ///< [points][max_neighbours][sets]
    Real* current;       ///< [points][sets]
    Bits* best;          ///< [points][sets]
    std::uint16_t* list; ///< of what is to be solved: point, set, and place in a round of the ring
    int* begin;          ///< of the parts of the queue
    int* num_appended;
    unsigned* next_batch;
  };
  /// Of one iteration.
  struct Queues : SetFrontQueue::Turn {
    const Real* now;
    Real* next;
  };
  struct Counts {
    unsigned evaluations, solves;
  };
  /// A point and what its lanes read together.
  struct Point {
    int index, base;              ///< the item, and the first of its group of sets
    unsigned active, was_changed; ///< sets
    bool is_wide;         ///< goes to the tetrahedra: the next two are as without neighbours
    int degree, ring_end; ///< number of neighbours; the end of the ring
    const StarHead* head; ///< of some point where there is none
    RingAndStar range;
    Real current; ///< of the lane's set
  };

  static constexpr std::size_t warp_bytes() {
    return points * (row + sets) * sizeof(Real) + points * sets * sizeof(Bits) +
           list_size * sizeof(std::uint16_t);
  }
  static std::size_t scratch_bytes(int num_blocks) {
    return warps * warp_bytes() + std::size_t(num_blocks + 4) * sizeof(int);
  }
  __device__ __forceinline__ static Scratch scratch_of(const ResidentBlock& block) {
    Scratch scratch;
    const int warp = int(threadIdx.x) / 32;
    Real* const times = reinterpret_cast<Real*>(block.scratch);
    Real* const current = times + warps * points * row;
    Bits* const best = reinterpret_cast<Bits*>(current + warps * points * sets);
    std::uint16_t* const list = reinterpret_cast<std::uint16_t*>(best + warps * points * sets);
    scratch.times = times + warp * points * row;
    scratch.current = current + warp * points * sets;
    scratch.best = best + warp * points * sets;
    scratch.list = list + warp * list_size;
    scratch.begin = reinterpret_cast<int*>(list + warps * list_size);
    scratch.num_appended = scratch.begin + block.num_blocks + 2;
    scratch.next_batch = reinterpret_cast<unsigned*>(scratch.num_appended + 1);
    return scratch;
  }

  __device__ __forceinline__ Point load_point(const Queues& queues, int item, int l,
                                              bool there) const {
    Point p;
    p.index = item;
    p.base = first_of_set(p.index, num_points);
    p.head = &mesh.point(p.index - p.base);
    p.range = {0, 0, 0, 0};
    p.active = p.was_changed = 0;
    p.current = 0;
    if (there) {
      p.range = load_ring_and_star(&p.head->range);
      const unsigned field = front.load_sets(p.index).field(queues.k);
      if (l < sets)
        p.current = __ldcg(queues.now + std::size_t(p.index) * sets + l);
      p.active = field & 0xff;
      p.was_changed = field >> 8;
    }
    p.degree = p.range.star_end - p.range.star_begin;
    p.is_wide =
        p.degree > max_neighbours || (p.degree == 0 && p.range.ring_begin < p.range.ring_end);
    p.degree = p.is_wide ? 0 : p.degree;
    p.ring_end = p.is_wide ? p.range.ring_begin : p.range.ring_end;
    return p;
  }

  /// Asks for the line of an address, so that it is near when it is read.
  __device__ __forceinline__ static void fetch(const void* address) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
  }

  /// Asks for the head of the point of the next item, a sector a lane.
  __device__ __forceinline__ void fetch_head(int item, int l) const {
    const StarHead* const head = &mesh.point(item - first_of_set(item, num_points));
    if (l * 32 < int(sizeof(StarHead)))
      fetch(reinterpret_cast<const char*>(head) + l * 32);
  }

  /// Asks for the lane's tetrahedra that can lower a time, of which `first` is the first entry in
  /// the rings: those that are solved last would else be waited for in turn.
  __device__ __forceinline__ void fetch_marked(std::uint32_t marked, int first) const {
#pragma unroll
    for (int r = 0; r < rounds; ++r)
      if ((marked >> 8 * r & 0xffu) != 0)
        fetch(&mesh.entry(first + r * lanes));
  }

  /// 16 bytes of the times of all sets at a neighbour of a point.
  __device__ __forceinline__ int4 times_of(const Queues& queues, const Point& p, int neighbour,
                                           int piece) const {
    const Real* const from = queues.now + std::size_t(p.base + neighbour) * sets;
    return __ldcg(reinterpret_cast<const int4*>(from) + piece);
  }

  /// Of all neighbours, into shared memory, four loads of a lane at a time. `neighbour`: numbers l
  /// and l + 8, or -1, in whose places are times that no tetrahedron asks for.
  __device__ __forceinline__ void gather(const Queues& queues, const Point& p,
                                         const int (&neighbour)[2], int l, Real* near) const {
    constexpr int at_once = lanes / pieces, together = 4; // neighbours of 8 lanes, loads of a lane
    const int own = l / pieces, piece = l % pieces, first = int(threadIdx.x) % 32 - l;
    int4* const to = reinterpret_cast<int4*>(near);
#pragma unroll
    for (int j = 0; j < int(StarHead::num_neighbours); j += together * at_once) {
      int4 time[together];
#pragma unroll
      for (int q = 0; q < together; ++q) {
        const int place = j + q * at_once;
        const int id = __shfl_sync(all, neighbour[place / lanes], first + place % lanes + own);
        time[q] = times_of(queues, p, id >= 0 ? id : p.index - p.base, piece);
      }
#pragma unroll
      for (int q = 0; q < together; ++q)
        to[(j + q * at_once + own) * pieces + piece] = time[q];
    }
    for (int j = int(StarHead::num_neighbours) + own; j < p.degree; j += at_once)
      to[j * pieces + piece] = times_of(queues, p, mesh.neighbour(p.range.star_begin + j), piece);
  }

  /// 16 bytes of times.
  struct alignas(16) Piece {
    Real time[sets / pieces];
  };
  __device__ __forceinline__ static Piece load_piece(const Real* times, int piece) {
    return reinterpret_cast<const Piece*>(times)[piece];
  }

  /// Which of a lane's tetrahedra can lower which times: bit 8 r + set for face[r]. `current`: of
  /// all sets of the point.
  __device__ __forceinline__ std::uint32_t mark(const std::uint32_t (&face)[rounds],
                                                const Real* near, const Real* current,
                                                bool is_long) const {
    std::uint32_t marked = 0;
#pragma unroll
    for (int piece = 0; piece < pieces; ++piece) {
      const Piece now = load_piece(current, piece);
#pragma unroll
      for (int r = 0; r < rounds; ++r) {
        if (r == rounds - 1 && !is_long)
          continue;
        const Piece a = load_piece(near + face_place(face[r], 0) * sets, piece),
                    b = load_piece(near + face_place(face[r], 1) * sets, piece),
                    c = load_piece(near + face_place(face[r], 2) * sets, piece);
        const Real height = Real(unpack_height(face[r]));
#pragma unroll
        for (int s = 0; s < sets / pieces; ++s)
          if (fmin(a.time[s], fmin(b.time[s], c.time[s])) + height < now.time[s])
            marked |= 1u << (8 * r + piece * (sets / pieces) + s);
      }
    }
    return marked;
  }

  /// Lists what the lanes of a warp have marked, and solves it. Neighbours in the list are sets of
  /// one tetrahedron, as a rule, whose numbers are read once. `begin`: of a lane's point, where the
  /// round of its ring begins.
  __device__ __forceinline__ void solve_marked(const Scratch& scratch, std::uint32_t marked,
                                               int begin, Counts& counts) const {
    const int lane = int(threadIdx.x) % 32;
    int size = __popc(marked), end = size;
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
      const int before = __shfl_up_sync(all, end, offset);
      end += lane >= offset ? before : 0;
    }
    size = end - size;
    const int total = __shfl_sync(all, end, 31);
    // More than the list has room for is listed in parts, which is rare.
    for (int from = 0; from < total; from += list_size) {
      for (; marked != 0 && size - from < list_size; ++size) {
        scratch.list[size - from] = std::uint16_t(lane << 5 | (__ffs(int(marked)) - 1));
        marked &= marked - 1;
      }
      __syncwarp();
      const int listed = total - from < list_size ? total - from : list_size;
      Listed next = load_listed(scratch, lane, listed, begin);
      for (int i = lane; __any_sync(all, i < listed); i += 32) {
        const Listed now = next;
        if (i < listed)
          solve_listed(scratch, now, counts);
        next = load_listed(scratch, i + 32, listed, begin);
      }
      __syncwarp();
    }
  }

  /// A tetrahedron of the list.
  struct Listed {
    RingEntry<Real> entry;
    int slot, set;
  };
  /// Number `i` of those listed. By all lanes.
  __device__ __forceinline__ Listed load_listed(const Scratch& scratch, int i, int listed,
                                                int begin) const {
    Listed one;
    const unsigned e = i < listed ? scratch.list[i] : 0;
    one.slot = int(e >> 8);
    one.set = int(e & 7);
    const int of_ring = __shfl_sync(all, begin, one.slot * lanes);
    if (i < listed)
      one.entry = load_ring_entry(&mesh.entry(of_ring + int((e & 0x18) | (e >> 5 & 7))));
    return one;
  }
  __device__ __forceinline__ void solve_listed(const Scratch& scratch, const Listed& one,
                                               Counts& counts) const {
    const RingEntry<Real>& entry = one.entry;
    const Real* const near = scratch.times + one.slot * row + one.set;
    const Real t = eikonal_update(entry.products, near[face_place(entry.face, 0) * sets],
                                  near[face_place(entry.face, 1) * sets],
                                  near[face_place(entry.face, 2) * sets]);
    Bits* const best = scratch.best + one.slot * sets + one.set;
    if (t < Ordered::time(*static_cast<volatile Bits*>(best)))
      atomicMin(best, Ordered::bits(t));
    ++counts.solves;
  }

  /// Lowers the best times of a warp's points through their tetrahedra, by all lanes. `face`: of
  /// the first tetrahedra of the lane's point.
  __device__ __forceinline__ void lower(const Scratch& scratch, const Point& p,
                                        std::uint32_t (&face)[rounds], int l,
                                        Counts& counts) const {
    const int g = int(threadIdx.x) % 32 / lanes;
    for (int begin = p.range.ring_begin;;) {
      const std::uint32_t marked =
          mark(face, scratch.times + g * row, scratch.current + g * sets,
               __any_sync(all, begin + (rounds - 1) * lanes < p.ring_end)) &
          p.active * 0x01010101u;
      fetch_marked(marked, begin + l);
      solve_marked(scratch, marked, begin, counts);
      begin += ring_round;
      if (!__any_sync(all, begin < p.ring_end))
        return;
#pragma unroll
      for (int r = 0; r < rounds; ++r)
        face[r] = begin + r * lanes + l < p.ring_end ? mesh.face(begin + r * lanes + l)
                                                     : pack_height(0, float(INFINITY));
    }
  }

  /// The earliest arrival in the lane's set at a point with more neighbours than there is room for,
  /// and not after its time.
  __device__ Real solve_wide(const Queues& queues, const Point& p, int l) const {
    Real best = p.current;
    if (l >= sets || (p.active >> l & 1) == 0)
      return best;
    for (int e = p.range.ring_begin; e < p.range.ring_end; ++e) {
      const int entry = mesh.member(e);
      const TetraPoints& points_of = mesh.tetra(entry >> 2);
      Real t[3];
      for (int which = 0; which < 3; ++which)
        t[which] =
            __ldcg(queues.now +
                   std::size_t(p.base + points_of.point[face_vertex(entry & 3, which)]) * sets + l);
      if (fmin(t[0], fmin(t[1], t[2])) + Real(unpack_height(mesh.face(e))) < p.current)
        best = fmin(best, eikonal_update(mesh.entry(e).products, t[0], t[1], t[2]));
    }
    return best;
  }

  /// The neighbours of a point whose numbers its lanes do not have.
  __device__ __forceinline__ void notify_others(const Scratch& scratch, const Queues& queues,
                                                const Point& p, int l, unsigned done) const {
    for (int j = p.range.star_begin + int(StarHead::num_neighbours) + l;
         j < p.range.star_end && !p.is_wide; j += lanes)
      front.notify(scratch.num_appended, queues, p.base + mesh.neighbour(j), done);
    for (int e = p.range.ring_begin + l; e < p.range.ring_end && p.is_wide; e += lanes) {
      const TetraPoints& points_of = mesh.tetra(mesh.member(e) >> 2);
      for (int which = 0; which < 4; ++which)
        front.notify(scratch.num_appended, queues, p.base + points_of.point[which], done);
    }
  }

  /// Appends to the next queue what comes of a warp's points: those that changed, and neighbours of
  /// those that were changed and are not any more. One addition a warp. `item`: of the lane's
  /// neighbours, as they were before.
  __device__ __forceinline__ void append_all(const Scratch& scratch, const Queues& queues,
                                             const Point& p, int l, unsigned changed,
                                             const int (&neighbour)[2],
                                             const SetsOfPoint (&item)[2]) const {
    const int lane = int(threadIdx.x) % 32;
    const unsigned done = p.was_changed & ~changed, below = (1u << lane) - 1;
    unsigned before[3] = {~0u, ~0u, ~0u}; // additions are under way together
    if (l == 0 && changed != 0)
      before[2] = front.enter(queues, p.index, changed * 0x101u);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const unsigned bits = l + r * lanes < p.degree
                                ? SetFrontQueue::missing(item[r], queues.k, done)
                                : 0; // none if not done
      if (bits != 0)
        before[r] = front.enter(queues, p.base + neighbour[r], bits);
    }
    unsigned who[3];
    int size = 0;
#pragma unroll
    for (int r = 0; r < 3; ++r) {
      who[r] = __ballot_sync(all, SetFrontQueue::is_first(queues, before[r]));
      size += __popc(who[r]);
    }
    if (size > 0) {
      int place = 0;
      if (lane == 0)
        place = atomicAdd(scratch.num_appended, size);
      place = __shfl_sync(all, place, 0);
#pragma unroll
      for (int r = 0; r < 3; ++r) {
        if (SetFrontQueue::is_first(queues, before[r]))
          front.append(queues, place + __popc(who[r] & below),
                       r == 2 ? p.index : p.base + neighbour[r % 2]);
        place += __popc(who[r]);
      }
    }
    if (done != 0)
      notify_others(scratch, queues, p, l, done);
  }

  /// Evaluates the items of a warp, by all its lanes; returns those from number `next` on, of which
  /// it has `next_size`.
  __device__ __forceinline__ int evaluate(const Scratch& scratch, const Queues& queues, int index,
                                          bool there, int next, int next_size,
                                          Counts& counts) const {
    const int lane = int(threadIdx.x) % 32, l = lane % lanes, g = lane / lanes;
    const Point p = load_point(queues, index, l, there);
    Real* const near = scratch.times + g * row;
    Bits* const best = scratch.best + g * sets;

    // Numbers from the head do not wait for the ends of ring and star.
    int neighbour[2];
    std::uint32_t face[rounds];
#pragma unroll
    for (int r = 0; r < 2; ++r)
      neighbour[r] = __ldg(p.head->neighbour + l + r * lanes);
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      const int j = r * lanes + l;
      face[r] = pack_height(0, float(INFINITY));
      if (j < int(StarHead::num_faces))
        face[r] = __ldg(p.head->face + j);
      else if (p.range.ring_begin + j < p.ring_end)
        face[r] = mesh.face(p.range.ring_begin + j);
      if (p.range.ring_begin + j >= p.ring_end)
        face[r] = pack_height(0, float(INFINITY));
    }
    const int next_item =
        next_size > 0 ? front.load_item(scratch.begin, queues, next, g, g < next_size) : 0;
    SetsOfPoint item[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      item[r] = {{0, 0}};
      if (p.was_changed != 0 && l + r * lanes < p.degree)
        item[r] = front.load_sets(p.base + neighbour[r]);
    }
    gather(queues, p, neighbour, l, near);
    if (l < sets) {
      scratch.current[g * sets + l] = p.current;
      best[l] = Ordered::bits(p.current);
    }
    __syncwarp();

    if (next_size > 0)
      fetch_head(next_item, l);
    lower(scratch, p, face, l, counts);
    Real lowest = l < sets ? Ordered::time(best[l]) : p.current;
    if (p.is_wide)
      lowest = solve_wide(queues, p, l);

    const bool is_mine = l < sets && (p.active >> l & 1) != 0;
    const bool is_changed = is_mine && lowest < p.current * keep;
    if (is_mine)
      __stcg(queues.next + std::size_t(p.index) * sets + l, is_changed ? lowest : p.current);
    counts.evaluations += is_mine ? 1 : 0;
    const unsigned changed = __ballot_sync(all, is_changed) >> (lane - l) & 0xffu;
    append_all(scratch, queues, p, l, changed, neighbour, item);
    __syncwarp();
    return next_item;
  }

  /// Evaluates the queue: a warp has a batch of its own, and then takes the next of its block.
  __device__ __forceinline__ void evaluate_all(const ResidentBlock& block, const Scratch& scratch,
                                               const Queues& queues, int n, int batch_points,
                                               Counts& counts) const {
    const unsigned row_of_grid = unsigned(block.num_blocks) * warps;
    const int g = int(threadIdx.x) % 32 / lanes;
    // The first item of a batch, at most n, and how many it has.
    const auto first_of = [&](unsigned batch) {
      const unsigned i =
          (batch / warps * row_of_grid + unsigned(block.rank) * warps + batch % warps) *
          unsigned(batch_points);
      return i < unsigned(n) ? int(i) : n;
    };
    const auto size_of = [&](int i) { return n - i < batch_points ? n - i : batch_points; };
    int i = first_of(threadIdx.x / 32), size = size_of(i);
    int item = size > 0 ? front.load_item(scratch.begin, queues, i, g, g < size) : 0;
    while (size > 0) {
      unsigned batch = 0;
      if (threadIdx.x % 32 == 0)
        batch = atomicAdd(scratch.next_batch, 1u);
      i = first_of(__shfl_sync(all, batch, 0));
      const int next_size = size_of(i);
      item = evaluate(scratch, queues, item, g < size, i, next_size, counts);
      size = next_size;
    }
  }

  /// What the kernel says at its end: by all threads.
  __device__ __forceinline__ void report(const ResidentBlock& block, int k, int n,
                                         const Counts& counts) const {
    using Count = unsigned long long;
    Count sum[2] = {counts.evaluations, counts.solves};
#pragma unroll
    for (int which = 0; which < 2; ++which) {
#pragma unroll
      for (int offset = 16; offset > 0; offset /= 2)
        sum[which] += __shfl_xor_sync(all, sum[which], offset);
      const int place = which == 0 ? int(Front::evaluations) : int(Front::solves);
      if (threadIdx.x % 32 == 0 && sum[which] > 0)
        atomicAdd(reinterpret_cast<Count*>(state + place), sum[which]);
    }
    if (block.rank == 0 && threadIdx.x == 0) {
      state[int(Front::iteration)] = std::uint64_t(k);
      state[int(Front::count)] = std::uint64_t(n);
    }
  }

  __device__ __forceinline__ void operator()(const ResidentBlock& block) const {
    const Scratch scratch = scratch_of(block);
    const int num_warps = block.num_blocks * warps;
    Counts counts = {0, 0};
    if (threadIdx.x == 0) {
      *scratch.num_appended = 0;
      *scratch.next_batch = warps;
    }
    int k = first;
    for (;;) {
      const int n = front.find(block, k, scratch.begin);
      if (n == 0 || k == last)
        return report(block, k, n, counts);
      const Queues queues = {front.turn_of(block, k), time[k & 1], time[1 - (k & 1)]};
      evaluate_all(block, scratch, queues, n,
                   n <= num_warps       ? 1
                   : n <= 2 * num_warps ? 2
                                        : points,
                   counts);
      front.clear_fields(block, k, threads); // by warps that wait for others
      __syncthreads();
      if (threadIdx.x == 0) {
        front.end_turn(block, k, *scratch.num_appended);
        *scratch.num_appended = 0;
        *scratch.next_batch = warps;
      }
      ++k;
      block.grid_barrier();
    }
  }
};

} // namespace detail
#endif

} // namespace ossatura
