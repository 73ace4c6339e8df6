// SPDX-License-Identifier: Apache-2.0
// An analysis of a model that is cut among ranks: supports, islands, response and statistics are
// those of the whole, in bits where no order of sums matters, and in bits for any number of ranks.
#include "tests/backend_test.hpp"
#include "tests/kernels/bone/cut_model.hpp"
#include <ossatura/kernels/algebra/ranks/blocks.hpp>
#include <ossatura/kernels/bone/lame_summary.hpp>
#include <ossatura/solvers/bone/islands.hpp>
#include <ossatura/solvers/bone/results/pistoia.hpp>
#include <ossatura/solvers/bone/results/solution.hpp>
#include <ossatura/solvers/bone/results/statistics.hpp>
#include <ossatura/solvers/bone/support_checks.hpp>

#include <cmath>
#include <optional>

namespace {

using namespace ossatura;
using ossatura::test::upload_material;
using ossatura::test::upload_planes;

/// Noise with two parts that nothing holds, one of them on both sides of a cut; moduli vary, so
/// that sums depend on their order.
reference::Model specimen() {
  reference::Model model = reference::random_model({18, 13, 22}, 0.6, 1e3, 0.3, 0.4, 7, 0.25);
  const auto isolate = [&](int x, int y, int z, int length) { // along x
    for (int k = z - 1; k <= z + 1; ++k)
      for (int j = y - 1; j <= y + 1; ++j)
        for (int i = x - 1; i <= x + length; ++i)
          model.modulus[std::size_t(i + 18 * (j + 13 * k))] =
              i >= x && i < x + length && j == y && k == z ? 300 : 0;
  };
  isolate(10, 6, 11, 1);
  isolate(2, 3, 4, 4);
  return model;
}

/// The planes of this rank, or all.
template<class Exec>
MaterialImage<Exec> make_image(const Exec& exec, const std::optional<Communicator>& ranks) {
  return ranks ? upload_planes(exec, *ranks, specimen()) : upload_material(exec, specimen());
}

template<class Exec>
VoxelProblem<Exec> make_problem(const Exec& exec, const std::optional<Communicator>& ranks,
                                const MaterialImage<Exec>& material) {
  return ranks ? make_cut_problem(exec, *ranks, material, 0.1, 2)
               : make_voxel_problem(exec, material, 0.1);
}

/// Of nodes in the order of the whole.
template<class T, class Exec>
std::vector<T> join(const Exec& exec, const VoxelProblem<Exec>& problem, const Array<T, Exec>& x,
                    int components) {
  return ranks_of(problem).gather(download(exec, owned_part(problem.grid.owned, x, components)));
}

/// What a load is, whatever computes with it.
struct LoadFound {
  std::vector<std::uint8_t> mask;
  std::vector<double> u, force;
  std::int64_t num_held, num_voxels, num_parts, num_carrying;
  std::vector<std::int64_t> counts; ///< of nodes and missing ones
  std::vector<std::array<double, 2>> contacts;
  std::array<double, 3> centre;
  std::optional<FreePart> free;
};

template<class Exec>
LoadFound describe_load(const Exec& exec, const VoxelProblem<Exec>& problem,
                        const BoneLoad<Exec>& load) {
  const SupportFindings found = examine_supports(exec, problem, load);
  LoadFound all{join(exec, problem, problem.held.mask, 1),
                join(exec, problem, load.u, 3),
                {},
                count_held_dofs(exec, problem),
                count_voxels(exec, problem),
                found.num_parts,
                found.num_carrying,
                {},
                {},
                centre_of_bone(exec, problem),
                found.free};
  if (ranks_of(problem).any(load.force.extent(0) > 0))
    all.force = join(exec, problem, load.force, 3);
  for (const SmallContact& contact : found.small_contacts)
    all.contacts.push_back({contact.support.contact_area, contact.cross_section});
  return all;
}

void check_equal(const LoadFound& found, const LoadFound& expected) {
  CHECK(found.mask == expected.mask);
  CHECK(found.u == expected.u);
  CHECK(found.force == expected.force);
  CHECK(found.num_held == expected.num_held);
  CHECK(found.num_voxels == expected.num_voxels);
  CHECK(found.num_parts == expected.num_parts);
  CHECK(found.num_carrying == expected.num_carrying);
  CHECK(found.counts == expected.counts);
  CHECK(found.contacts == expected.contacts);
  CHECK(found.centre == expected.centre);
  REQUIRE(found.free.has_value() == expected.free.has_value());
  if (found.free) {
    CHECK(found.free->voxel == expected.free->voxel);
    CHECK(found.free->num_voxels == expected.free->num_voxels);
    CHECK(found.free->motions == expected.free->motions);
  }
}

OSSATURA_RANKS_TEST("Loads and their checks are those of the whole", "[cut_analysis]") {
  const TestType exec;
  const auto describe = [&](const std::optional<Communicator>& ranks, int kind) {
    VoxelProblem<TestType> problem = make_problem(exec, ranks, make_image(exec, ranks));
    if (kind < 2) {
      MechanicalTest test;
      test.kind = kind == 0 ? TestKind::axial : TestKind::torsion;
      test.lateral_free = true; // and pins
      return describe_load(exec, problem, load_by_test(exec, test, problem));
    }
    ListedLoad<TestType> listed(exec, problem, 0.2);
    std::vector<PrescribedNode> nodes;
    for (int i = 0; i < 19; ++i) // some in the void
      nodes.push_back({{i, i % 14, 3 * i % 23}, 5, {0.1 * i, 0, -0.2}});
    const MissingNodes missing = listed.hold(nodes);
    std::vector<std::int64_t> counts = {missing.count, missing.first};
    counts.push_back(listed.hold({{true, 2, false, {}}, {true, false, true}, 0}));
    counts.push_back(listed.push({{true, 2, true, {}}, {false, true, true}, -5}));
    counts.push_back(listed.push(std::vector<NodalValue>{{{5, 5, 9}, 1, 2}, {{0, 0, 0}, 1, 2}}));
    const BoneLoad<TestType> load = listed.finish(problem.held);
    LoadFound found = describe_load(exec, problem, load);
    found.counts = counts;
    for (const SideContact& side : load.pushed_sides)
      found.contacts.push_back({double(side.num_nodes), side.area});
    return found;
  };
  for (const int kind : {0, 1, 2}) {
    INFO("load " << kind);
    const LoadFound found = describe(Communicator::world(), kind);
    CHECK(found.num_held > 0);
    if (Communicator::world().is_first()) // one rank compares
      check_equal(found, describe({}, kind));
  }
}

OSSATURA_RANKS_TEST("Islands of a cut model are those of the whole", "[cut_analysis]") {
  const TestType exec;
  const auto drop = [&](const std::optional<Communicator>& ranks, std::vector<float>& left) {
    const MaterialImage<TestType> material = make_image(exec, ranks);
    VoxelProblem<TestType> problem = make_problem(exec, ranks, material);
    load_by_test(exec, MechanicalTest(), problem);
    // Where mu is 0, lambda is not read.
    const DroppedIslands islands = drop_islands(exec, problem, material.solid(), 0.5);
    left = ranks.value_or(Communicator()).gather(download(exec, material.solid().value));
    return islands;
  };
  std::vector<float> left, expected_left;
  const DroppedIslands found = drop(Communicator::world(), left);
  CHECK(found.are_dropped);
  if (!Communicator::world().is_first())
    return;
  const DroppedIslands expected = drop({}, expected_left);
  REQUIRE(expected.are_dropped);
  CHECK(found.components == expected.components);
  CHECK(found.voxels == expected.voxels);
  CHECK(found.example == expected.example);
  CHECK(found.part == expected.part);
  CHECK(left == expected_left);
}

/// Numbers that follow from a solution, and fields.
struct Results {
  std::vector<double> numbers;
  std::vector<float> fields;
};

template<class Exec>
Results analyse(const Exec& exec, const std::optional<Communicator>& ranks) {
  const MaterialImage<Exec> material = make_image(exec, ranks);
  VoxelProblem<Exec> problem = make_problem(exec, ranks, material);
  BoneLoad<Exec> load = load_by_test(exec, MechanicalTest(), problem);
  drop_islands(exec, problem, material.solid(), 0.5);
  problem = make_problem(exec, ranks, material);
  load = load_by_test(exec, MechanicalTest(), problem);
  VoxelSolverOptions options;
  options.cg.tolerance = 1e-6;
  options.matrix = VoxelOperatorKind::gather;
  options.precision = Precision::fp64;
  options.multigrid.direct_nodes = 60;
  REQUIRE(VoxelSolver<Exec>(exec, problem, options).solve(exec, {}, load.u).converged);
  const BoneSolution<Exec> solution = evaluate_solution(exec, problem, load);
  const VoxelFields<Exec>& fields = solution.fields;
  const SampleStatistics mises = summarise(exec, fields.elements, fields.von_mises);
  const Communicator comm = ranks_of(problem);
  const ForceBalance& balance = solution.balance;
  Results all{{*solution.response->force, *solution.response->stiffness, solution.strain_energy,
               balance.force_scale, balance.moment_scale, balance.work, balance.work_scale,
               mises.mean, mises.standard_deviation, mises.minimum, mises.maximum,
               double(mises.count)},
              comm.gather(download(exec, fields.energy_density))};
  all.numbers.insert(all.numbers.end(), mises.percentiles.begin(), mises.percentiles.end());
  for (const MovedSupport& support : solution.supports)
    for (const double force : support.reaction.force)
      all.numbers.push_back(force);
  const auto failure = estimate_failure(exec, fields.effective_strain, solution.response, {}, comm);
  all.numbers.push_back(failure->result.factor);
  for (const std::int64_t count : make_histogram(exec, fields.von_mises, 8, comm).count)
    all.numbers.push_back(double(count));
  const LameSummary lame = summarise_lame(exec, share_nodes(exec, problem), problem.lame);
  for (const double number : {lame.modulus_min, lame.modulus_max, lame.modulus_sum, lame.lambda_sum,
                              lame.mu_sum, lame.inverse_bulk_sum, lame.inverse_mu_sum})
    all.numbers.push_back(number);
  return all;
}

OSSATURA_RANKS_TEST(
    "Results have the same bits for any number of ranks, and are those of the whole",
    "[cut_analysis]") {
  const TestType exec;
  const Results found = analyse(exec, Communicator::world());
  CHECK_FALSE(found.fields.empty());
  if (!Communicator::world().is_first())
    return;
  const Results alone = analyse(exec, Communicator()), whole = analyse(exec, {});
  CHECK(found.numbers == alone.numbers);
  CHECK(found.fields == alone.fields);
  REQUIRE(found.numbers.size() == whole.numbers.size());
  for (std::size_t i = 0; i < whole.numbers.size(); ++i)
    CHECK(std::abs(found.numbers[i] - whole.numbers[i]) <=
          1e-4 * std::max(1.0, std::abs(whole.numbers[i])));
  REQUIRE(found.fields.size() == whole.fields.size());
}

OSSATURA_RANKS_TEST(
    "Arrays of all ranks come to the first one in their order, as far as it takes them",
    "[rank_blocks]") {
  const TestType exec;
  const Communicator world = Communicator::world();
  const int rank = world.rank();
  std::vector<int> mine; // nothing of rank 1
  for (int i = 0; i < 2 * rank * (rank != 1) + (rank == 0); ++i)
    mine.push_back(100 * rank + i);
  const auto array = upload(exec, "test::mine", mine);
  {
    RankBlocks<TestType> blocks(exec, world);
    for (int repeat = 0; repeat < 2; ++repeat) {
      std::vector<int> all;
      blocks.for_each(array, 1, [&](const int* values, std::size_t first, std::size_t count) {
        CHECK(first == all.size());
        all.insert(all.end(), values, values + count);
      });
      const std::vector<int> expected = world.gather(mine);
      CHECK(all == (world.is_first() ? expected : std::vector<int>()));
    }
    blocks.finish();
  }
  int taken = 0;
  try {
    RankBlocks<TestType> blocks(exec, world);
    blocks.for_each(array, 1, [&](const int*, std::size_t, std::size_t) {
      if (++taken == (world.size() > 2 ? 2 : 1))
        throw std::runtime_error("full");
    });
    blocks.for_each(array, 1, [](const int*, std::size_t, std::size_t) {});
    CHECK(false);
  } catch (const std::runtime_error&) {
    CHECK(world.is_first());
  } catch (const BlocksNotTaken&) {
    CHECK_FALSE(world.is_first());
  }
}

OSSATURA_RANKS_TEST("What ranks make of their arrays comes to the first one, as far as it takes it",
                    "[rank_blocks]") {
  const TestType exec;
  const Communicator world = Communicator::world();
  const int rank = world.rank();
  const auto mine = upload(exec, "test::mine", std::vector<int>(std::size_t(rank), rank));
  const auto make = [&](RankBlocks<TestType>& blocks, int told) {
    int sum = told;
    blocks.for_own(mine, 1, [&](const int* values, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i)
        sum += values[i];
    });
    for (int part = 0; part < 2; ++part)
      blocks.hand_over({{std::uint64_t(rank), std::uint64_t(part)}, {std::uint8_t(sum)}});
    blocks.hand_over({});
  };
  {
    RankBlocks<TestType> blocks(exec, world);
    int asked = 0, taken = 0;
    CHECK(blocks.tell([&] { return 40 + asked++; }) == 40);
    CHECK(asked == (world.is_first() ? 1 : 0));
    if (world.is_first())
      blocks.take_others([&](const MadeBlock& block) {
        const auto other = std::uint64_t(1 + taken / 2);
        CHECK(block.numbers == std::vector<std::uint64_t>{other, std::uint64_t(taken % 2)});
        CHECK(block.bytes == std::vector<unsigned char>{std::uint8_t(40 + other * other)});
        ++taken;
      });
    else
      make(blocks, 40);
    CHECK(taken == (world.is_first() ? 2 * (world.size() - 1) : 0));
    blocks.finish();
  }
  if (world.size() == 1)
    return;
  try { // the second block cannot be taken
    RankBlocks<TestType> blocks(exec, world);
    blocks.tell([] { return 0; });
    if (world.is_first())
      blocks.take_others([](const MadeBlock& block) {
        if (block.numbers[1] == 1)
          throw std::runtime_error("full");
      });
    else
      make(blocks, 0);
    blocks.tell([] { return 0; }); // whom the others have handed over to waits no longer
    CHECK(false);
  } catch (const std::runtime_error&) {
    CHECK(world.is_first());
  } catch (const BlocksNotTaken&) {
    CHECK_FALSE(world.is_first());
  }
}

} // namespace
