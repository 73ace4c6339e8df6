// SPDX-License-Identifier: Apache-2.0
// A mesh that is cut between ranks has the times, iterations and evaluations of one process, to the
// bit, wherever the cuts are.
#include "tests/backend_test.hpp"
#include "tests/solvers/eikonal/eikonal_problem.hpp"
#include <ossatura/core/comm/together.hpp>
#include <ossatura/solvers/eikonal/ranks/mesh_share.hpp>
#include <ossatura/solvers/eikonal/ranks/solver.hpp>

#include <cstring>
#include <numeric>
#include <set>

namespace {

using namespace ossatura;
using namespace ossatura::test;

template<class Real>
bool same_bits(const std::vector<Real>& a, const std::vector<Real>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Real)) == 0;
}

void check_same_counts(const EikonalResult& cut, const EikonalResult& whole) {
  CHECK(cut.iterations == whole.iterations);
  CHECK(cut.converged == whole.converged);
  CHECK(cut.evaluations == whole.evaluations);
  CHECK(cut.local_solves == whole.local_solves);
  CHECK(cut.residual == whole.residual);
  CHECK(cut.certificate == whole.certificate);
  CHECK(cut.certificate_ms == whole.certificate_ms);
  CHECK(cut.num_unreached == whole.num_unreached);
}

/// Solves over all ranks and, on each, alone; only rank 0 has the arguments.
template<class Real, class Exec, class Velocities>
EikonalResult check_cut(const Exec& exec, const TetraMesh& mesh, const Velocities& velocities,
                        EikonalOptions options, const std::vector<Sites>& sets) {
  const Communicator world = Communicator::world();
  options.method = EikonalMethod::spread;
  options.deterministic = true;
  EikonalSolver<Exec, Real> alone(exec, mesh, velocities, options);
  EikonalResult whole;
  const std::vector<Real> expected = solve_sets(exec, alone, sets, whole);
  for (const PointPartition partition : {PointPartition::curve, PointPartition::metis}) {
    INFO(name_of(partition) << ", " << world.size() << " ranks, " << sizeof(Real) << " bytes");
    const bool first = world.is_first();
    CutEikonalSolver<Exec, Real> solver(world, partition, exec, first ? mesh : TetraMesh(),
                                        first ? velocities : Velocities(), options);
    CHECK(solver.num_points() == std::int64_t(mesh.num_points()));
    CHECK(solver.num_tetra() == std::int64_t(mesh.num_tetra()));
    for (int repeat = 0; repeat < 2; ++repeat) {
      std::vector<Real> times = {1};
      check_same_counts(solver.solve(exec, first ? sets : std::vector<Sites>(), times), whole);
      CHECK(same_bits(times, first ? expected : std::vector<Real>()));
    }
  }
  return whole;
}

template<class Real, class Exec>
void check_methods(const Exec& exec) {
  const Communicator world = Communicator::world();
  const TetraMesh mesh = rotating_box();
  for (const TetraMetric metric : {TetraMetric::lengths, TetraMetric::products}) {
    EikonalOptions options = tight_options<Real>(EikonalMethod::spread, metric, true);
    CutEikonalSolver<Exec, Real> solver(world, PointPartition::curve, exec, mesh,
                                        rotating_box_velocities, options);
    std::vector<Real> times;
    const EikonalResult cut = solver.solve(exec, {rotating_box_sites}, times);
    for (const EikonalMethod method : all_eikonal_methods) {
      INFO(name_of(method) << ' ' << name_of(metric));
      options.method = method;
      EikonalSolver<Exec, Real> alone(exec, mesh, rotating_box_velocities, options);
      EikonalResult whole;
      const auto expected = solve_sets(exec, alone, {rotating_box_sites}, whole);
      CHECK(cut.iterations == whole.iterations);
      CHECK(cut.evaluations == whole.evaluations);
      // A compiler that contracts products and sums does so in `scan` alone.
#if defined(__FP_FAST_FMAF)
      if (method == EikonalMethod::scan && !BackendTraits<Exec>::is_device)
        continue;
#endif
      CHECK(same_bits(times, world.is_first() ? expected : std::vector<Real>()));
    }
  }
}

OSSATURA_RANKS_TEST("Cut times are those of every deterministic method", "[eikonal]") {
  check_methods<float>(TestType());
  check_methods<double>(TestType());
}

OSSATURA_RANKS_TEST("Cut meshes are solved as whole ones", "[eikonal]") {
  const auto single = tight_options<float>(), both = tight_options<double>();
  // Several sets: one of sites at many ranks, one with sites of one rank alone, one before 0.
  const std::vector<Sites> sets = {
      rotating_box_sites, {{1330, 0}}, {{17, -2.5}, {18, 4}, {700, 0.5}, {17, 3}}};
  const EikonalResult result =
      check_cut<float>(TestType(), rotating_box(), rotating_box_velocities, single, sets);
  CHECK(result.converged);
  CHECK(result.iterations > 24); // more than one look
  check_cut<double>(TestType(), rotating_box(), rotating_box_velocities, both, sets);
  check_cut<float>(TestType(), make_tetra_box({300, 1, 1}, 1), isotropic, single, {{{0, 0}}});
}

OSSATURA_RANKS_TEST("Cut meshes have velocities of tetrahedra and tissue that does not conduct",
                    "[eikonal]") {
  const TetraMesh mesh = rotating_box();
  std::vector<ConductionVelocity> by_tetra;
  for (std::size_t t = 0; t < mesh.num_tetra(); ++t) {
    const double v = t % 11 == 3 ? 0 : 0.3 + 0.01 * double(t % 37);
    by_tetra.push_back({v, 0.5 * v, 0.4 * v});
  }
  check_cut<double>(TestType(), mesh, by_tetra, tight_options<double>(), {rotating_box_sites});
  // A wave in half of the mesh: the other half is not reached.
  const TissueVelocities half = {{1, {0.6, 0.4, 0.2}}, {2, {0, 1, 1}}};
  const EikonalResult result =
      check_cut<float>(TestType(), mesh, half, tight_options<float>(), {{{0, 0}}});
  CHECK(result.num_unreached[0] > 0);
}

OSSATURA_RANKS_TEST("Ranks may have nothing", "[eikonal]") {
  const auto options = tight_options<double>();
  TetraMesh one; // on three and four ranks some see one tetrahedron, on more some see nothing
  one.point = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  one.tetra = {2, 0, 1, 3};
  one.tag = {1};
  check_cut<double>(TestType(), one, isotropic, options, {{{1, 0}}, {{3, 2}, {0, 1}}});
  // METIS is given too few points to part: rank 0 has all.
  check_cut<float>(TestType(), make_tetra_box({1, 1, 1}, 1), isotropic, tight_options<float>(),
                   {{{7, 0}}});
  // Points of no tetrahedron, which are ranks of their own.
  TetraMesh apart = make_tetra_box({2, 2, 2}, 1);
  apart.point.insert(apart.point.end(), {99, 99, 99, 100, 99, 99});
  const int n = int(apart.num_points());
  check_cut<double>(TestType(), apart, isotropic, options, {{{n - 2, 1.5}}, {{0, 0}, {n - 1, 2}}});
}

OSSATURA_RANKS_TEST("Cut solves go as far as they may, and stop together", "[eikonal]") {
  const Communicator world = Communicator::world();
  EikonalOptions options = tight_options<float>();
  EikonalSolver<TestType, float> alone(
      TestType(), rotating_box(), rotating_box_velocities,
      tight_options<float>(EikonalMethod::spread, TetraMetric::lengths, true));
  EikonalResult whole;
  solve_sets(TestType(), alone, {rotating_box_sites}, whole);
  REQUIRE(whole.converged);
  for (const int most : {1, 2, 23, 24, 25, whole.iterations - 1, whole.iterations}) {
    INFO("at most " << most << " iterations");
    options.max_iterations = most;
    const EikonalResult result = check_cut<float>(
        TestType(), rotating_box(), rotating_box_velocities, options, {rotating_box_sites});
    CHECK(result.converged == (most >= whole.iterations));
  }
  // The last rank alone is asked to stop.
  options = tight_options<float>(EikonalMethod::spread);
  int looks = 0;
  options.stop = [&] { return world.rank() == world.size() - 1 && ++looks > 2; };
  CutEikonalSolver<TestType, float> solver(world, PointPartition::metis, TestType(),
                                           make_tetra_box({300, 1, 1}, 1), isotropic, options);
  std::vector<float> times;
  const EikonalResult stopped = solver.solve(TestType(), {{{0, 0}}}, times);
  CHECK_FALSE(stopped.converged);
  CHECK(stopped.iterations == 48);
  CHECK(stopped.num_unreached[0] > 0);
}

template<class Exec, class Velocities>
std::string refusal(const TetraMesh& mesh, const Velocities& velocities,
                    const EikonalOptions& options, const std::vector<Sites>& sets) {
  const Communicator world = Communicator::world();
  try {
    CutEikonalSolver<Exec, float> solver(world, PointPartition::curve, Exec(), mesh, velocities,
                                         options);
    std::vector<float> times;
    solver.solve(Exec(), sets, times);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

OSSATURA_RANKS_TEST("Cut solvers refuse as one on all ranks", "[eikonal]") {
  const Communicator world = Communicator::world();
  const TetraMesh mesh = rotating_box();
  const std::vector<Sites> sets = {rotating_box_sites};
  const auto contains = [](const std::string& text, const std::string& part) {
    INFO("'" << text << "'");
    return text.find(part) != std::string::npos;
  };
  const EikonalOptions usual;
  // What only rank 0 has is refused by all.
  TetraMesh far = mesh;
  if (world.is_first())
    far.tetra[7] = 1331;
  CHECK(contains(refusal<TestType>(far, rotating_box_velocities, usual, sets),
                 "tetrahedron 1 has point 1331 of 1331"));
  CHECK(contains(refusal<TestType>(mesh, TissueVelocities{{1, {1, 1, 1}}}, usual, sets),
                 "tag 2 has no velocity"));
  CHECK(contains(refusal<TestType>(mesh, rotating_box_velocities, usual, {{{1331, 0}}}),
                 "site at vertex 1331"));
  // A fault that its owner finds has the number of the whole mesh.
  for (const std::size_t bad : {std::size_t(0), std::size_t(2900), mesh.num_tetra() - 1}) {
    std::vector<ConductionVelocity> velocities(mesh.num_tetra(), {0.5, 0.5, 0.5});
    velocities[bad] = {1e-9, 1e-9, 1e-9};
    const std::string text = refusal<TestType>(mesh, velocities, usual, sets);
    CHECK(contains(text, "tetrahedron " + std::to_string(bad) + ", of tag "));
    CHECK(contains(text, "a wave takes more than 1e6 ms"));
  }
  for (const EikonalMethod method : all_eikonal_methods) {
    EikonalOptions options;
    options.method = method;
    const std::string text = refusal<TestType>(mesh, rotating_box_velocities, options, sets);
    CHECK(contains(text, std::string("method ") + name_of(method)) ==
          (method != EikonalMethod::spread));
    CHECK(text.empty() == why_not_over_ranks(options).empty());
  }
}

OSSATURA_RANKS_TEST(
    "A mesh is dealt: each point to one rank, each tetrahedron to all of its points", "[eikonal]") {
  const Communicator world = Communicator::world();
  const TetraMesh mesh = rotating_box();
  std::vector<std::int32_t> curve(mesh.num_points());
  std::iota(curve.rbegin(), curve.rend(), 0); // any order will do
  std::int64_t other_ghosts = 0;
  for (const bool metis : {false, true}) {
    const detail::PointCut cut = metis ? detail::cut_by_metis(mesh, curve, world.size())
                                       : detail::cut_curve(curve, world.size());
    const bool first = world.is_first();
    const detail::MeshShare share =
        detail::deal_mesh(world, first ? mesh : TetraMesh(), first ? cut : detail::PointCut(), {});
    CHECK(share.num_own() > 0);
    CHECK(world.sum(share.num_own()) == int(mesh.num_points()));
    const std::int64_t ghosts = world.sum(share.num_ghosts());
    CHECK((ghosts > 0) == (world.size() > 1));
    CHECK((!metis || world.size() == 1 || ghosts < other_ghosts));
    other_ghosts = ghosts;
    if (!metis)
      CHECK(std::abs(share.num_own() - int(mesh.num_points()) / world.size()) <= 8);
    for (std::size_t i = 0; i < cut.order.size(); ++i)
      CHECK(cut.place[std::size_t(cut.order[i])] == std::int32_t(i));
    // Own points are a range of the order; all places ascend in it.
    const std::int32_t begin = cut.begin[std::size_t(world.rank())];
    const auto name_of_point = [&](int p) { return cut.order[std::size_t(share.place_of(p))]; };
    std::set<std::int32_t> own, seen;
    int next_point = 0;
    for (std::int32_t place = 0; place < std::int32_t(cut.order.size()); ++place)
      if (const int p = share.point_at(place); p >= 0) {
        CHECK(p == next_point++);
        CHECK(share.place_of(p) == place);
        const std::int32_t name = name_of_point(p);
        seen.insert(name);
        for (std::size_t d = 0; d < 3; ++d)
          CHECK(share.mesh.point[3 * std::size_t(p) + d] == mesh.point[3 * std::size_t(name) + d]);
        if (share.owns(p)) {
          CHECK(place == begin + p - share.own_begin);
          own.insert(name);
        }
      }
    CHECK(next_point == share.num_points());
    // Tetrahedra with an own point, in their order, and their points.
    std::set<std::int32_t> needed = own;
    std::size_t k = 0;
    for (std::size_t t = 0; t < mesh.num_tetra(); ++t) {
      const std::int32_t* corner = &mesh.tetra[4 * t];
      if (std::none_of(corner, corner + 4, [&](std::int32_t c) { return own.count(c) > 0; }))
        continue;
      needed.insert(corner, corner + 4);
      REQUIRE(k < share.tetra_name.size());
      CHECK(share.tetra_name[k] == std::int32_t(t));
      CHECK(share.mesh.tag[k] == mesh.tag[t]);
      CHECK(share.mesh.fibre[3 * k + 1] == mesh.fibre[3 * t + 1]);
      CHECK(share.mesh.sheet[3 * k + 2] == mesh.sheet[3 * t + 2]);
      for (std::size_t c = 0; c < 4; ++c)
        CHECK(name_of_point(share.mesh.tetra[4 * k + c]) == corner[c]);
      ++k;
    }
    CHECK(k == share.tetra_name.size());
    CHECK(seen == needed);
    // What is sent arrives as the ghosts of each owner, in their order.
    std::vector<std::vector<std::int32_t>> names(std::size_t(world.size()));
    for (std::size_t rank = 0; rank < names.size(); ++rank)
      for (const int p : share.sends[rank]) {
        CHECK(share.owns(p));
        names[rank].push_back(name_of_point(p));
      }
    int ghost = 0;
    std::size_t rank = 0;
    for (const auto& sent : world.exchange(names)) {
      CHECK(std::int64_t(sent.size()) == share.num_received[rank++]);
      for (const std::int32_t name : sent) {
        if (ghost == share.own_begin)
          ghost = share.own_end;
        CHECK(name_of_point(ghost++) == name);
      }
    }
    CHECK((ghost == share.num_points() || ghost == share.own_begin));
  }
}

OSSATURA_RANKS_TEST("A mesh of more than one block is dealt in the order of its tetrahedra",
                    "[eikonal]") {
  const Communicator world = Communicator::world();
  TetraMesh mesh = make_tetra_box({24, 24, 24}, 1);
  mesh.fibre.resize(3 * mesh.num_tetra());
  std::iota(mesh.fibre.begin(), mesh.fibre.end(), 0.0F);
  const std::size_t n = mesh.num_points();
  REQUIRE(mesh.num_tetra() > 1 << 16);
  std::vector<std::int32_t> curve; // so that most tetrahedra have several owners
  for (std::size_t i = 0; i < n; ++i)
    curve.push_back(std::int32_t(i * 7919 % n));
  const detail::PointCut cut = detail::cut_curve(curve, world.size());
  const bool first = world.is_first();
  const detail::MeshShare share =
      detail::deal_mesh(world, first ? mesh : TetraMesh(), first ? cut : detail::PointCut(), {});
  const auto owns = [&, rank = std::size_t(world.rank())](std::int32_t point) {
    const std::int32_t place = cut.place[std::size_t(point)];
    return place >= cut.begin[rank] && place < cut.begin[rank + 1];
  };
  std::vector<std::int32_t> name, corner, seen;
  std::vector<float> fibre;
  std::set<std::int32_t> ghosts;
  for (std::size_t t = 0; t < mesh.num_tetra(); ++t) {
    const auto begin = mesh.tetra.begin() + std::ptrdiff_t(4 * t);
    if (std::none_of(begin, begin + 4, owns))
      continue;
    name.push_back(std::int32_t(t));
    corner.insert(corner.end(), begin, begin + 4);
    for (std::size_t k = 3 * t; k < 3 * t + 3; ++k)
      fibre.push_back(mesh.fibre[k]);
    for (auto point = begin; point != begin + 4; ++point)
      if (!owns(*point))
        ghosts.insert(cut.place[std::size_t(*point)]);
  }
  CHECK(share.tetra_name == name);
  CHECK(share.mesh.fibre == fibre);
  CHECK(share.ghost_place == std::vector<std::int32_t>(ghosts.begin(), ghosts.end()));
  for (const std::int32_t point : share.mesh.tetra)
    seen.push_back(cut.order[std::size_t(share.place_of(point))]);
  CHECK(seen == corner);
}

} // namespace
