// SPDX-License-Identifier: Apache-2.0
// The local solver and the Gray codes of its metric, on the host.
#include "tests/kernels/eikonal/metric_of.hpp"
#include <ossatura/kernels/eikonal/local_solver.hpp>
#include <ossatura/kernels/eikonal/ring_update.hpp>

#include <set>

namespace {

using namespace ossatura;
using ossatura::test::metric_of;
using ossatura::test::TimedTetra;

template<class Metric, class Real>
struct Update {
  double operator()(const TimedTetra& tetra, int target) const {
    const Metric metric = metric_of(tetra, static_cast<Metric*>(nullptr));
    return eikonal_update(face_products(metric, target), Real(tetra.time[face_vertex(target, 0)]),
                          Real(tetra.time[face_vertex(target, 1)]),
                          Real(tetra.time[face_vertex(target, 2)]));
  }
};

template<class Metric, class Real>
void check_all(bool single) {
  const Update<Metric, Real> update;
  ossatura::test::check_regular_tetra(update, single ? 1e-6 : 1e-15);
  ossatura::test::check_random_tetra(update, single ? 5e-4 : 1e-12);
  ossatura::test::check_permutations(update, single ? 1e-4 : 1e-12);
  ossatura::test::check_slivers(update, single ? 1e-3 : 1e-7, single ? 1e-3 : 1e-8);
  ossatura::test::check_unreached(update, single ? 1e-4 : 1e-12);
  ossatura::test::check_causality(update, single ? 1e-4 : 1e-12);
}

TEST_CASE("The update of a vertex from six lengths is the least arrival", "[eikonal]") {
  check_all<TetraLengths<double>, double>(false);
  check_all<TetraLengths<float>, float>(true);
}

TEST_CASE("The update of a vertex from eighteen products is the least arrival", "[eikonal]") {
  check_all<TetraProducts<double>, double>(false);
  check_all<TetraProducts<float>, float>(true);
}

TEST_CASE("Turning the tetrahedron gives the edges and signs of the paper", "[eikonal]") {
  // Ganellari et al. 2018, tables 3 and 8: e34, e13, e23 when solving for vertices 4, 3, 2, 1.
  const int reference[3] = {12, 5, 6};
  const int slot[4][3] = {{5, 1, 2}, {2, 4, 0}, {0, 1, 3}, {3, 4, 5}};
  const bool flipped[4][3] = {
      {false, false, false}, {false, true, false}, {false, true, true}, {true, false, false}};
  for (int turn = 0; turn < 4; ++turn)
    for (int k = 0; k < 3; ++k) {
      const gray::TurnedEdge edge = gray::turn_edge(reference[k], 3 - turn);
      CHECK(edge.slot == slot[turn][k]);
      CHECK(edge.flipped == flipped[turn][k]);
    }
}

TEST_CASE("Products of edges with a common vertex have places of their own", "[eikonal]") {
  std::set<int> places;
  for (int k = 0; k < 6; ++k)
    for (int l = k; l < 6; ++l)
      if (k + l != 5) {
        CHECK(gray::product_slot(k, l) == gray::product_slot(l, k));
        places.insert(gray::product_slot(k, l));
      }
  CHECK(places.size() == 18);
  CHECK(*places.begin() == 0);
  CHECK(*places.rbegin() == 17);
}

TEST_CASE("A packed height is a lower bound within a ninth, beside the face", "[eikonal]") {
  const std::uint32_t face = 127 | 5 << 7 | 99 << 14;
  for (const float height : {0.0f, 1e-30f, 0.1f, 0.123456f, 1.0f, 3.9999f, 1e10f}) {
    const std::uint32_t packed = pack_height(pack_height(face, 17.3f), height);
    CHECK(unpack_height(packed) <= height);
    CHECK(unpack_height(packed) >= height * (1 - 1 / 9.0f));
    CHECK(face_place(packed, 0) == 127);
    CHECK(face_place(packed, 1) == 5);
    CHECK(face_place(packed, 2) == 99);
  }
}

TEST_CASE("No arrival is before the height over the face", "[eikonal]") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> coordinate(0, 1);
  for (int n = 0; n < 5000; ++n) {
    TimedTetra tetra = ossatura::test::regular_tetra;
    for (auto& vertex : tetra.vertex)
      for (double& x : vertex)
        x = coordinate(random);
    for (double& t : tetra.time)
      t = 0.3 * coordinate(random);
    const auto metric = metric_of(tetra, static_cast<TetraLengths<float>*>(nullptr));
    for (int target = 0; target < 4; ++target) {
      const auto face = face_products(metric, target);
      float times[3];
      for (int k = 0; k < 3; ++k)
        times[k] = float(tetra.time[face_vertex(target, k)]);
      const float first = std::min({times[0], times[1], times[2]});
      CHECK(first + face_height(face) <= eikonal_update(face, times[0], times[1], times[2]));
    }
  }
}

} // namespace
