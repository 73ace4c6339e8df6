// SPDX-License-Identifier: Apache-2.0
// Arrivals in lanes against the local solver one tetrahedron after the other, and the instruction
// sets against each other.
#include "tests/kernels/eikonal/metric_of.hpp"
#include <ossatura/kernels/eikonal/ring_update.hpp>

#include <numeric>
#include <set>
#include <type_traits>
#include <vector>

using namespace ossatura;
using detail::LowerTimes;
using detail::RingArrivals;
using ossatura::test::metric_of;
using ossatura::test::TimedTetra;

namespace {

/// Those that the program has and this processor can run.
std::vector<const RingArrivals*> arrivals_here() {
  std::vector<const RingArrivals*> all{detail::baseline_ring_arrivals()};
  if (best_instruction_set() >= InstructionSet::avx2 && detail::avx2_ring_arrivals() != nullptr)
    all.push_back(detail::avx2_ring_arrivals());
  if (best_instruction_set() >= InstructionSet::avx512 && detail::avx512_ring_arrivals() != nullptr)
    all.push_back(detail::avx512_ring_arrivals());
  return all;
}

template<class Real>
LowerTimes<Real>* function_of(const RingArrivals& arrivals, TetraLengths<Real>*) {
  return arrivals.of(Real()).lengths;
}
template<class Real>
LowerTimes<Real>* function_of(const RingArrivals& arrivals, TetraProducts<Real>*) {
  return arrivals.of(Real()).products;
}

/// Tetrahedra between random points, two sets of times, and the rings and stars of points. Arrays
/// end with their last number, which the address sanitizer watches.
template<class Metric, class Real>
struct Soup {
  static constexpr int num_sets = 2;
  int num_points;
  std::vector<int> tetra; ///< [num_tetra][4]
  std::vector<Metric> metric;
  std::vector<int> ring_begin, ring_member, star_begin, neighbour;
  std::vector<std::uint32_t> face;
  std::vector<Real> time;

  Soup(int points, int num_tetra, unsigned seed)
      : num_points(points) {
    std::mt19937 random(seed);
    const auto uniform = [&] { return double(random()) / 4294967296.0; };
    // Coarse coordinates make tetrahedra that are flat, or have points in the same place.
    std::vector<std::array<double, 3>> coordinate;
    for (int i = 0; i < num_points; ++i) {
      const bool coarse = random() % 3 == 0;
      std::array<double, 3> x;
      for (double& c : x)
        c = coarse ? double(random() % 3) : 2 * uniform();
      coordinate.push_back(x);
    }
    for (int t = 0; t < num_tetra; ++t) {
      std::set<int> corners;
      while (corners.size() < 4)
        corners.insert(int(random() % unsigned(num_points)));
      std::vector<int> p(corners.begin(), corners.end());
      std::shuffle(p.begin(), p.end(), random);
      tetra.insert(tetra.end(), p.begin(), p.end());
      TimedTetra timed = ossatura::test::regular_tetra;
      for (int k = 0; k < 4; ++k)
        std::copy(coordinate[p[k]].begin(), coordinate[p[k]].end(), timed.vertex[k]);
      timed.metric[2][2] = 1 + 8 * uniform();
      metric.push_back(metric_of(timed, static_cast<Metric*>(nullptr)));
      if (random() % 10 == 0) // does not conduct
        std::fill_n(reinterpret_cast<Real*>(&metric.back()), 6, Real(-1));
    }
    for (int i = 0; i < num_sets * num_points; ++i)
      time.push_back(random() % 8 == 0 ? unreached_time<Real> : Real(1.5 * uniform()));
    make_rings();
  }

  void make_rings() {
    for (int i = 0; i < num_points; ++i) {
      ring_begin.push_back(int(ring_member.size()));
      star_begin.push_back(int(neighbour.size()));
      std::set<int> around;
      for (int corner = 0; corner < int(tetra.size()); ++corner)
        if (tetra[corner] == i) {
          ring_member.push_back(corner);
          for (int which = 0; which < 3; ++which)
            around.insert(other(corner, which));
        }
      if (around.size() > 127) // more than faces have room for
        around.clear();
      neighbour.insert(neighbour.end(), around.begin(), around.end());
      for (int e = ring_begin.back(); e < int(ring_member.size()); ++e)
        face.push_back(packed_face(ring_member[e], around));
    }
    ring_begin.push_back(int(ring_member.size()));
    star_begin.push_back(int(neighbour.size()));
    neighbour.shrink_to_fit();
    ring_member.shrink_to_fit();
    face.shrink_to_fit();
    metric.shrink_to_fit();
  }
  int other(int entry, int which) const {
    return tetra[entry / 4 * 4 + face_vertex(entry % 4, which)];
  }
  std::uint32_t packed_face(int entry, const std::set<int>& around) const {
    std::uint32_t packed = 0;
    for (int which = 0; which < 3 && !around.empty(); ++which) {
      const auto place = std::distance(around.begin(), around.find(other(entry, which)));
      packed |= std::uint32_t(place) << 7 * which;
    }
    const Metric& m = metric[entry / 4];
    return pack_height(packed, m.conducts() ? float(face_height(face_products(m, entry % 4)))
                                            : std::numeric_limits<float>::infinity());
  }

  detail::RingArrays<Real> arrays() const {
    return {tetra.data(),      metric.data()->number(), ring_begin.data(), ring_member.data(),
            star_begin.data(), neighbour.data(),        face.data(),       time.data(),
            num_points};
  }

  /// The least of the time of `index` and all arrivals.
  Real lowered(int index) const {
    const int base = index / num_points * num_points, point = index - base;
    Real best = time[index];
    for (int e = ring_begin[point]; e < ring_begin[point + 1]; ++e) {
      const int entry = ring_member[e];
      if (metric[entry / 4].conducts())
        best = std::min(best,
                        eikonal_update(face_products(metric[entry / 4], entry % 4),
                                       time[base + other(entry, 0)], time[base + other(entry, 1)],
                                       time[base + other(entry, 2)]));
    }
    return best;
  }
  /// Tetrahedra that may lower the time of `index`, where times are gathered.
  int num_marked(int index) const {
    const int base = index / num_points * num_points, point = index - base;
    const int num_neighbours = star_begin[point + 1] - star_begin[point];
    if (num_neighbours > 32)
      return 0;
    int count = 0;
    for (int e = ring_begin[point]; num_neighbours > 0 && e < ring_begin[point + 1]; ++e) {
      Real first = unreached_time<Real>;
      for (int which = 0; which < 3; ++which)
        first = std::min(first, time[base + other(ring_member[e], which)]);
      count += first + Real(unpack_height(face[e])) < time[index] ? 1 : 0;
    }
    return count;
  }
};

template<class Real>
void check_time(Real computed, Real expected) {
#if defined(__FP_FAST_FMA) || defined(__FP_FAST_FMAF) // the compiler fuses what lanes do not
  CHECK(std::abs(computed - expected) <= (sizeof(Real) == 4 ? 1e-4 : 1e-12) * (1 + expected));
#else
  CHECK(computed == expected);
#endif
}

/// Batches of `size` points, on all sets.
template<class Metric, class Real>
void check_batches(const Soup<Metric, Real>& soup, int size) {
  std::vector<std::uint32_t> items(Soup<Metric, Real>::num_sets * soup.num_points);
  std::iota(items.begin(), items.end(), 0u);
  std::shuffle(items.begin(), items.end(), std::mt19937(3));
  items.resize(std::min<std::size_t>(size, items.size()));
  items.shrink_to_fit();
  int expected_count = 0;
  for (std::uint32_t& item : items) {
    expected_count += soup.num_marked(int(item));
    if (item % 3 == 0)
      item |= changed_bit;
  }
  std::vector<Real> first;
  for (const RingArrivals* arrivals : arrivals_here()) {
    std::vector<BatchPoint<Real>> point(items.size());
    const int count = function_of(*arrivals, static_cast<Metric*>(nullptr))(
        soup.arrays(), items.data(), int(items.size()), point.data());
    CHECK(count == expected_count);
    std::vector<Real> best;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const int index = int(items[i] & ~changed_bit);
      CHECK(point[i].item == items[i]);
      CHECK(point[i].index == index);
      CHECK(point[i].current == soup.time[index]);
      check_time(point[i].best, soup.lowered(index));
      best.push_back(point[i].best);
    }
    if (first.empty())
      first = best;
    CHECK(best == first);
  }
}

template<class Metric, class Real>
void check_soups() {
  // Rings of some tetrahedra; of more neighbours than 16, than are gathered, and than have a place;
  // and rings longer than what is marked at once.
  for (const auto& [num_points, num_tetra] :
       {std::array{40, 8}, {40, 60}, {30, 200}, {33, 400}, {200, 3000}, {12, 2000}}) {
    INFO(num_tetra << " tetrahedra between " << num_points << " points");
    const Soup<Metric, Real> soup(num_points, num_tetra, unsigned(num_tetra));
    for (const int size : {0, 1, 2, 15, 16, 17, 100})
      check_batches(soup, size);
  }
}

} // namespace

TEMPLATE_TEST_CASE("Arrivals in lanes are those of the local solver, to the bit on all sets",
                   "[eikonal]", float, double) {
  check_soups<TetraLengths<TestType>, TestType>();
  check_soups<TetraProducts<TestType>, TestType>();
}

TEST_CASE("Arrivals are computed by the instruction set", "[eikonal]") {
  limit_instruction_set(InstructionSet::baseline);
  CHECK(&detail::ring_arrivals() == detail::baseline_ring_arrivals());
  limit_instruction_set(InstructionSet::avx512);
  CHECK(&detail::ring_arrivals() == arrivals_here().back());
}
