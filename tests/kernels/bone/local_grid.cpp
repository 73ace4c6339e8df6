// SPDX-License-Identifier: Apache-2.0
// What ranks see of a cut image, and products on it, beside the grid of the whole image.
#include "tests/backend_test.hpp"
#include "tests/kernels/bone/cut_model.hpp"
#include <ossatura/kernels/algebra/ranks/halo.hpp>
#include <ossatura/kernels/bone/operator_list.hpp>

#include <cmath>

namespace {

using namespace ossatura;
using ossatura::test::CutModel;
using ossatura::test::host_sites;

/// Errors of the local grid of a rank: of its owned part, its ghosts, and the voxels around.
template<class Exec>
int count_grid_errors(const Exec& exec, const CutModel<Exec>& m) {
  const OwnedNodes& owned = m.grid.owned;
  const auto all = host_sites(m.whole), mine = host_sites(m.grid);
  int errors = owned.global_count != m.whole.num_nodes;
  errors += m.comm.sum(std::int64_t(owned.count())) != m.whole.num_nodes;
  for (int i = owned.begin; i < owned.end; ++i)
    errors += mine[i] != all[std::size_t(owned.global_begin + i - owned.begin)];

  // Ghosts have the number of their owner.
  std::vector<std::int64_t> number(mine.size(), -1);
  for (int i = owned.begin; i < owned.end; ++i)
    number[i] = owned.global_begin + i - owned.begin;
  const Halo<Exec, std::int64_t> halo(exec, m.device_comm, m.plan, 1);
  const auto numbers = upload(exec, "test::numbers", number);
  halo.exchange(exec, numbers);
  number = download(exec, numbers);
  for (std::size_t i = 0; i < mine.size(); ++i)
    errors += number[i] < 0 || all[std::size_t(number[i])] != mine[i] ||
              (i > 0 && number[i] <= number[i - 1]);

  // Every voxel around an owned node is seen, and nothing that is not there.
  std::map<std::array<int, 3>, int> local;
  for (std::size_t i = 0; i < mine.size(); ++i)
    local.emplace(mine[i], int(i));
  const auto modulus = download(exec, m.lame.mu_value);
  for (int i = owned.begin; i < owned.end; ++i)
    for (int v = 0; v < 8; ++v) {
      const int x = mine[i][0] - (v & 1), y = mine[i][1] - (v >> 1 & 1), z = mine[i][2] - (v >> 2);
      const auto found = local.find({x, y, z});
      const bool solid = found != local.end() && modulus[found->second] > 0;
      errors += solid != m.model.solid(x, y, z);
    }
  return errors;
}

OSSATURA_RANKS_TEST("Local grids together are the grid of the whole image", "[cut]") {
  const TestType exec;
  for (const reference::Model& model : ossatura::test::cut_models())
    for (int bits : {2, 3}) {
      const CutModel<TestType> m(exec, model, bits);
      CHECK(count_grid_errors(exec, m) == 0);
    }
}

std::vector<double> some_vector(std::int64_t n) {
  std::vector<double> x;
  for (std::int64_t i = 0; i < n; ++i)
    x.push_back(std::sin(double(i) * 1.7) + 1e-3 * double(i % 11));
  return x;
}

/// Whether an operator on cut models has the bits of the one on the whole: owned rows of x that
/// comes by an exchange. `tolerance` 0, or relative to the largest entry.
template<class Operator, class Scalar, class Exec>
void check_products(const Exec& exec, double tolerance) {
  for (const reference::Model& model : ossatura::test::cut_models()) {
    const CutModel<Exec> m(exec, model, 2);
    const std::vector<double> x = some_vector(m.whole.num_dofs());
    const auto all_x = upload(exec, "test::x", std::vector<Scalar>(x.begin(), x.end()));
    const auto all_y = make_zeros<Scalar>(exec, m.whole.num_dofs(), "test::y");
    Operator(exec, m.whole, m.whole_lame, 0.3).apply(exec, all_x, all_y);
    const std::vector<Scalar> expected = download(exec, all_y);

    std::vector<double> part = m.local_part(x);
    for (int i = 0; i < int(part.size()); ++i)
      if (!m.grid.owned.has(i / 3))
        part[i] = std::nan(""); // what is not exchanged is seen
    const auto local_x = upload(exec, "test::x", std::vector<Scalar>(part.begin(), part.end()));
    const auto local_y = make_zeros<Scalar>(exec, m.grid.num_dofs(), "test::y");
    Halo<Exec, Scalar>(exec, m.device_comm, m.plan).exchange(exec, local_x);
    Operator(exec, m.grid, m.lame, 0.3).apply(exec, local_x, local_y);
    const std::vector<Scalar> y = m.join(exec, local_y);
    REQUIRE(y.size() == expected.size());
    double largest = 0, difference = 0;
    std::int64_t different = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      largest = std::max(largest, std::abs(double(expected[i])));
      difference = std::max(difference, std::abs(double(expected[i]) - double(y[i])));
      different += !(y[i] == expected[i]);
    }
    INFO(Operator::name << ", " << m.comm.size() << " ranks, " << y.size() << " dofs");
    if (tolerance == 0)
      CHECK(different == 0);
    else
      CHECK(difference <= tolerance * largest);
  }
}

OSSATURA_RANKS_TEST("Products by gather and brick have the bits of one process", "[cut]") {
  const TestType exec;
  check_products<GatherOperator<TestType>, double>(exec, 0);
  check_products<GatherOperator<TestType>, float>(exec, 0);
  check_products<BrickOperator<TestType>, double>(exec, 0);
  check_products<BrickOperator<TestType>, float>(exec, 0);
}

OSSATURA_RANKS_TEST("Products by offset and hash agree with one process", "[cut]") {
  const TestType exec;
  check_products<OffsetOperator<TestType>, double>(exec, 1e-14);
  check_products<HashOperator<TestType>, double>(exec, 1e-14);
}

} // namespace
