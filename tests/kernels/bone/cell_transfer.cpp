// SPDX-License-Identifier: Apache-2.0
// Transfer between levels of cells against the oracle's interpolation, and by its properties.
#include "tests/backend_test.hpp"
#include "tests/kernels/bone/cell_levels.hpp"
#include <ossatura/kernels/bone/cells/transfer.hpp>

namespace {

using namespace ossatura;
using ossatura::test::CellLevels;
using ossatura::test::host_values;

std::vector<std::uint8_t> random_mask(int num_nodes, double held_share, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> mask;
  for (int node = 0; node < num_nodes; ++node) {
    std::uint8_t bits = 0;
    for (int c = 0; c < 3; ++c)
      bits = std::uint8_t(bits | (random() < held_share * 4294967296.0) << c);
    mask.push_back(bits);
  }
  return mask;
}

/// Random numbers at free components, zero at held ones.
std::vector<double> random_free(const std::vector<std::uint8_t>& mask, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> x;
  for (std::uint8_t bits : mask)
    for (int c = 0; c < 3; ++c) {
      const double value = random() / 2147483648.0 - 1;
      x.push_back(bits >> c & 1 ? 0 : value);
    }
  return x;
}

/// Largest absolute difference of prolongation and restriction from the oracle's weights, and the
/// number of coarse components wrongly held or free.
struct Differences {
  double prolonged = 0, restricted = 0;
  int held = 0;
};
template<class Exec, class FineGrid>
Differences compare(const Exec& exec, const FineGrid& fine_grid, const CoarseCells<Exec>& coarse,
                    const reference::CellLevel& fine, const reference::CoarseLevel& expected) {
  const int num_coarse = coarse.cells.num_nodes;
  const auto fine_mask = random_mask(fine.num_nodes, 0.02, 7);
  const auto fine_held = upload(exec, "test::mask", fine_mask);
  const auto coarse_held = coarsen_held(exec, coarse.transfer, fine_grid, coarse.cells, fine_held);
  const auto coarse_mask = host_values(coarse_held.mask);
  const auto x = random_free(coarse_mask, 1), r = random_free(fine_mask, 2);

  std::vector<double> prolonged(3 * fine.num_nodes, 5), restricted(3 * num_coarse);
  std::vector<int> mask(num_coarse);
  const auto cells_of_nodes = fine.cells_of_nodes();
  for (int n = 0; n < fine.num_nodes; ++n)
    for (const auto& [m, weight] :
         reference::interpolation(fine, expected, n, *cells_of_nodes[n].rbegin())) {
      mask[m] |= fine_mask[n];
      for (int c = 0; c < 3; ++c) {
        prolonged[3 * n + c] += fine_mask[n] >> c & 1 ? 0 : weight * x[3 * m + c];
        restricted[3 * m + c] += weight * r[3 * n + c];
      }
    }
  Differences differences;
  for (int m = 0; m < num_coarse; ++m) {
    differences.held += mask[m] != coarse_mask[m];
    for (int c = 0; c < 3; ++c)
      restricted[3 * m + c] = mask[m] >> c & 1 ? 0 : restricted[3 * m + c];
  }
  const auto y = upload(exec, "test::y", std::vector<double>(3 * fine.num_nodes, 5));
  prolong_add(exec, coarse.transfer, coarse.cells, upload(exec, "test::x", x), fine_held, y);
  const auto b = upload(exec, "test::b", std::vector<double>(3 * num_coarse, 9));
  restrict_residual(exec, coarse.transfer, fine_grid, coarse.cells, upload(exec, "test::r", r),
                    coarse_held.mask, b);
  exec.fence();
  const auto computed_y = host_values(y), computed_b = host_values(b);
  for (std::size_t i = 0; i < prolonged.size(); ++i)
    differences.prolonged = std::max(differences.prolonged, std::abs(prolonged[i] - computed_y[i]));
  for (std::size_t i = 0; i < restricted.size(); ++i)
    differences.restricted =
        std::max(differences.restricted, std::abs(restricted[i] - computed_b[i]));
  return differences;
}

OSSATURA_BACKEND_TEST("Prolongation, restriction and held components are the oracle's",
                      "[cell_transfer]") {
  const TestType exec;
  for (const auto& model : ossatura::test::cell_models())
    for (Coarsening kind : {Coarsening::averaged, Coarsening::split}) {
      const CellLevels<TestType> levels(exec, model, kind);
      const auto oracle = ossatura::test::oracle_levels(levels, kind);
      std::size_t l = 0;
      levels.for_each_pair([&](const auto& fine, const auto& coarse) {
        for (const auto& cells : {ossatura::test::by_patches(exec, coarse.cells),
                                  ossatura::test::by_nodes(coarse.cells)}) {
          const Differences d = compare(exec, fine, CoarseCells<TestType>{cells, coarse.transfer},
                                        oracle[l].level, oracle[l + 1]);
          CHECK(d.prolonged < 1e-14);
          CHECK(d.restricted < 1e-14);
          CHECK(d.held == 0);
        }
        ++l;
      });
    }
}

OSSATURA_BACKEND_TEST("Prolongation reproduces linear functions of split parts",
                      "[cell_transfer]") {
  const TestType exec;
  const auto linear = [](const reference::Place& s, int c, int scale) {
    return 1 + scale * (0.3 * (c + 1) * s[0] - 0.7 * s[1] + (0.1 - c) * s[2]);
  };
  for (const auto& model : ossatura::test::cell_models()) {
    const CellLevels<TestType> levels(exec, model, Coarsening::split);
    const auto oracle = ossatura::test::oracle_levels(levels, Coarsening::split);
    for (std::size_t l = 0; l < levels.coarse.size(); ++l) {
      std::vector<double> values, expected;
      for (const auto& s : oracle[l + 1].level.sites())
        for (int c = 0; c < 3; ++c)
          values.push_back(linear(s, c, 2));
      for (const auto& s : oracle[l].level.sites())
        for (int c = 0; c < 3; ++c)
          expected.push_back(linear(s, c, 1));
      const auto fine = make_zeros<double>(exec, std::int64_t(expected.size()), "test::fine");
      const auto free =
          make_zeros<std::uint8_t>(exec, std::int64_t(expected.size()) / 3, "test::free");
      prolong_add(exec, levels.coarse[l].transfer, levels.coarse[l].cells,
                  upload(exec, "test::coarse", values), free, fine);
      exec.fence();
      CHECK(reference::relative_difference(host_values(fine), expected) < 1e-14);
    }
  }
}

} // namespace
