// SPDX-License-Identifier: Apache-2.0
// Levels of cut models beside those of the whole, which one process makes.
#include "tests/backend_test.hpp"
#include "tests/kernels/bone/cut_model.hpp"
#include <ossatura/kernels/bone/cells/cut_cells.hpp>
#include <ossatura/kernels/bone/cells/operator.hpp>

namespace {

using namespace ossatura;
using ossatura::test::CutModel;

/// Some held components, by the place of a node alone.
template<class Exec>
Array<std::uint8_t, Exec> some_held(const Exec& exec, const VoxelGrid<Exec>& grid) {
  std::vector<std::uint8_t> mask;
  for (const auto& s : ossatura::test::host_sites(grid))
    mask.push_back(std::uint8_t(s[2] == 0 ? 7 : (s[0] + 3 * s[1] + 5 * s[2]) % 29 == 0 ? 2 : 0));
  return upload(exec, "test::held", mask);
}

/// The global number of each node of a level on this process.
template<class Exec>
std::vector<std::int64_t> global_numbers(const Exec& exec, const DeviceComm<Exec>& comm,
                                         const OwnedNodes& owned, int num_nodes,
                                         const HaloPlan<Exec>& plan, bool everywhere) {
  std::vector<std::int64_t> number(std::size_t(num_nodes), -1);
  for (int i = 0; i < num_nodes; ++i)
    if (everywhere || owned.has(i))
      number[i] = owned.global_begin + i - owned.begin;
  if (everywhere)
    return number;
  const auto numbers = upload(exec, "test::numbers", number);
  Halo<Exec, std::int64_t>(exec, comm, plan, 1).exchange(exec, numbers);
  return download(exec, numbers);
}

/// A level of one process in the memory of the host.
struct HostLevel {
  std::vector<int> corner, parent;
  std::vector<std::uint8_t> position, held;
  std::vector<std::uint64_t> place;
  std::vector<float> lambda, mu;

  template<class Exec>
  HostLevel(const Exec& exec, const CellGrid<Exec>& cells, const CellTransfer<Exec>& transfer,
            const Array<std::uint8_t, Exec>& mask)
      : corner(download(exec, cells.corner))
      , parent(download(exec, transfer.parent))
      , position(download(exec, transfer.position))
      , held(download(exec, mask))
      , place(download(exec, cells.place))
      , lambda(download(exec, cells.lambda_value))
      , mu(download(exec, cells.mu_value)) {}
};

/// Errors of the cells, corners and held components of a cut level, and of the parents of the
/// owned nodes of the finer one; `number` and `fine_number` are global ones of nodes.
template<class Exec>
int count_level_errors(const CutCells<Exec>& level, const HostLevel& mine, const HostLevel& whole,
                       const std::vector<std::int64_t>& number,
                       const std::vector<std::int64_t>& fine_number, const OwnedNodes& fine_owned) {
  // Cells at a place are told by their corners; those with the same corners come in order.
  std::map<std::pair<std::uint64_t, std::vector<std::int64_t>>, std::vector<int>> by_corners;
  for (std::size_t e = 0; e < whole.place.size(); ++e) {
    std::vector<std::int64_t> nodes(whole.corner.begin() + 8 * e, whole.corner.begin() + 8 * e + 8);
    by_corners[{whole.place[e], nodes}].push_back(int(e));
  }
  int errors = level.num_elem != std::int64_t(whole.place.size());
  std::vector<int> cell_of(mine.place.size(), -1);
  for (std::size_t e = 0; e < mine.place.size(); ++e) {
    std::vector<std::int64_t> nodes;
    for (int v = 0; v < 8; ++v)
      nodes.push_back(number[std::size_t(mine.corner[8 * e + v])]);
    std::vector<int>& found = by_corners[{mine.place[e], nodes}];
    if (found.empty()) {
      ++errors;
      continue;
    }
    const int cell = cell_of[e] = found.front();
    found.erase(found.begin());
    errors += e > 0 && cell <= cell_of[e - 1]; // the order of one process
    errors += mine.mu[e] != whole.mu[cell] || mine.lambda[e] != whole.lambda[cell];
  }
  for (std::size_t n = 0; n < number.size(); ++n)
    errors += number[n] < 0 || mine.held[n] != whole.held[std::size_t(number[n])];
  for (int f = fine_owned.begin; f < fine_owned.end; ++f) {
    const std::size_t fine = std::size_t(fine_number[f]);
    errors += cell_of[std::size_t(mine.parent[f])] != whole.parent[fine] ||
              mine.position[f] != whole.position[fine];
  }
  return errors;
}

/// restrict_residual of a cut level against the whole, in bits: the nodes of this process.
template<class Exec, class FineGrid>
int count_restriction_errors(const Exec& exec, const CutCells<Exec>& level, const FineGrid& fine,
                             const CellGrid<Exec>& whole, const CellTransfer<Exec>& whole_transfer,
                             const FineGrid& whole_fine,
                             const std::vector<std::int64_t>& fine_number) {
  std::vector<double> x(3 * std::size_t(whole_fine.num_nodes)), part;
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = double((i * 2654435761u) % 10007) / 10007 - 0.5;
  for (const std::int64_t n : fine_number)
    for (int c = 0; c < 3; ++c)
      part.push_back(x[std::size_t(3 * n + c)]);
  CellGrid<Exec> cells = level.cells;
  cells.owned = level.share;
  const auto none = make_zeros<std::uint8_t>(exec, cells.num_nodes, "test::held"),
             whole_none = make_zeros<std::uint8_t>(exec, whole.num_nodes, "test::held");
  const auto y = make_zeros<double>(exec, cells.num_dofs(), "test::y"),
             whole_y = make_zeros<double>(exec, whole.num_dofs(), "test::y");
  restrict_residual(exec, level.transfer, fine, cells, upload(exec, "test::x", part), none, y);
  restrict_residual(exec, whole_transfer, whole_fine, whole, upload(exec, "test::x", x), whole_none,
                    whole_y);
  const auto mine = download(exec, y), all = download(exec, whole_y);
  int errors = 0;
  for (int i = 3 * level.share.begin; i < 3 * level.share.end; ++i) {
    const double expected =
        all[std::size_t(3 * level.share.global_begin + i - 3 * level.share.begin)];
    errors += !(std::abs(mine[i] - expected) <= 1e-13);
  }
  return errors;
}

/// All cut levels of a model, and that of superblocks, which is everywhere.
template<class Exec>
void check_levels(const Exec& exec, const CutModel<Exec>& m, Coarsening kind) {
  CoarseCells<Exec> whole = coarsen_cells(exec, m.whole, m.whole_lame, kind);
  CutCells<Exec> level = coarsen_cells(exec, m.comm, m.cut, m.table, m.grid, m.lame, kind);
  auto fine_held = some_held(exec, m.grid), whole_fine_held = some_held(exec, m.whole);
  Constraints<Exec> held = coarsen_held(exec, m.device_comm, level, m.grid, fine_held),
                    whole_held =
                        coarsen_held(exec, whole.transfer, m.whole, whole.cells, whole_fine_held);
  auto fine_number =
      global_numbers(exec, m.device_comm, m.grid.owned, m.grid.num_nodes, m.plan, false);
  OwnedNodes fine_owned = m.grid.owned;
  CHECK(count_restriction_errors(exec, level, m.grid, whole.cells, whole.transfer, m.whole,
                                 fine_number) == 0);
  for (int l = 1;; ++l) {
    const auto number = global_numbers(exec, m.device_comm, level.cells.owned,
                                       level.cells.num_nodes, level.plan, level.is_everywhere);
    REQUIRE(level.cells.owned.global_count == whole.cells.num_nodes);
    CHECK(count_level_errors(level, HostLevel(exec, level.cells, level.transfer, held.mask),
                             HostLevel(exec, whole.cells, whole.transfer, whole_held.mask), number,
                             fine_number, fine_owned) == 0);
    CHECK(m.comm.sum(level.share.count()) == whole.cells.num_nodes);
    REQUIRE(level.is_everywhere == (l == m.cut.bits));
    if (level.is_everywhere)
      return;
    fine_number = number;
    fine_owned = level.cells.owned;
    const CoarseCells<Exec> whole_fine = whole;
    const CutCells<Exec> fine = level;
    whole = coarsen_cells(exec, whole_fine.cells, kind);
    level = coarsen_cells(exec, m.comm, m.cut, m.table, l + 1, fine, kind);
    const auto mask = held.mask, whole_mask = whole_held.mask;
    held = coarsen_held(exec, m.device_comm, level, fine.cells, mask);
    whole_held = coarsen_held(exec, whole.transfer, whole_fine.cells, whole.cells, whole_mask);
    CHECK(count_restriction_errors(exec, level, fine.cells, whole.cells, whole.transfer,
                                   whole_fine.cells, fine_number) == 0);
  }
}

OSSATURA_RANKS_TEST("Levels of cut models are those of one process", "[cut]") {
  const TestType exec;
  for (const reference::Model& model : ossatura::test::cut_models())
    for (const Coarsening kind : {Coarsening::split, Coarsening::averaged})
      for (int bits : {2, 3}) {
        INFO(model.shape[0] << " x " << model.shape[1] << " x " << model.shape[2] << ", bits "
                            << bits << ", split " << (kind == Coarsening::split));
        check_levels(exec, CutModel<TestType>(exec, model, bits), kind);
      }
}

/// The entries of owned nodes of all ranks in their order.
std::vector<double> join(const Communicator& comm, const OwnedNodes& owned,
                         const std::vector<double>& local) {
  return comm.gather(
      std::vector<double>(local.begin() + 3 * owned.begin, local.begin() + 3 * owned.end));
}

/// Products and restrictions on the levels of a cut model, of all nodes in order.
template<class Exec>
std::vector<std::vector<double>> level_products(const Exec& exec, const CutModel<Exec>& m) {
  std::vector<std::vector<double>> results;
  const auto some_values = [&](const OwnedNodes& owned, int num_nodes, const HaloPlan<Exec>& plan,
                               bool everywhere) {
    const auto number = global_numbers(exec, m.device_comm, owned, num_nodes, plan, everywhere);
    std::vector<double> x;
    for (const std::int64_t n : number)
      for (int c = 0; c < 3; ++c)
        x.push_back(double((3 * n + c) * 7919 % 10007) / 10007 - 0.5);
    return upload(exec, "test::x", x);
  };
  CutCells<Exec> level =
      coarsen_cells(exec, m.comm, m.cut, m.table, m.grid, m.lame, Coarsening::split);
  CutCells<Exec> fine;
  auto x = some_values(m.grid.owned, m.grid.num_nodes, m.plan, false);
  for (int l = 1;; ++l) {
    CellGrid<Exec> cells = level.cells;
    const auto none = make_zeros<std::uint8_t>(exec, cells.num_nodes, "test::held");
    const auto y = make_zeros<double>(exec, cells.num_dofs(), "test::y");
    cells.owned = level.share;
    if (l == 1)
      restrict_residual(exec, level.transfer, m.grid, cells, x, none, y);
    else
      restrict_residual(exec, level.transfer, fine.cells, cells, x, none, y);
    results.push_back(join(m.comm, level.share, download(exec, y)));
    x = some_values(level.cells.owned, cells.num_nodes, level.plan, level.is_everywhere);
    CellOperator<Exec>(exec, level.cells, 0.7).apply(exec, x, y);
    results.push_back(join(m.comm, level.share, download(exec, y)));
    if (level.is_everywhere)
      return results;
    fine = level;
    level = coarsen_cells(exec, m.comm, m.cut, m.table, l + 1, fine, Coarsening::split);
  }
}

OSSATURA_RANKS_TEST("Products and transfers of levels have the bits of a cut for one", "[cut]") {
  const TestType exec;
  for (const reference::Model& model : ossatura::test::cut_models()) {
    const CutModel<TestType> cut(exec, model, 2), alone(exec, model, 2, cut_halo, Communicator());
    CHECK(level_products(exec, cut) == level_products(exec, alone));
  }
}

OSSATURA_RANKS_TEST("A process that sees one voxel beyond its superblocks is found out", "[cut]") {
  const TestType exec;
  const auto model = reference::random_model({26, 21, 30}, 0.4, 1e3, 0.3, 0.3, 99, 0.25);
  const CutModel<TestType> m(exec, model, 2, 1);
  if (m.comm.size() > 1)
    CHECK_THROWS_AS(coarsen_cells(exec, m.comm, m.cut, m.table, m.grid, m.lame, Coarsening::split),
                    std::logic_error);
  else
    CHECK_NOTHROW(coarsen_cells(exec, m.comm, m.cut, m.table, m.grid, m.lame, Coarsening::split));
}

} // namespace
