// SPDX-License-Identifier: Apache-2.0
// These rows time the parts of a multigrid cycle other than the finest level's product, per degree
// of freedom of the finer level:
//   voxel_multigrid/<piece>/<backend>/<f64|f32>/<image>:<n>
#include "bench/bone/cost.hpp"
#include "bench/bone/model.hpp"
#include "bench/harness/compare_vectors.hpp"
#include "bench/harness/groups.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/register.hpp"
#include <ossatura/kernels/bone/cells/coarsen.hpp>
#include <ossatura/kernels/bone/cells/transfer.hpp>

namespace ossatura::bench {

namespace {

/// The voxels, the cells below them, and a random vector on each that is zero where held.
template<class Exec, class Scalar>
struct TwoLevels {
  VoxelGrid<Exec> grid;
  CellGrid<Exec> cells;
  CellTransfer<Exec> transfer;
  Constraints<Exec> fine_held, coarse_held;
  Array<Scalar, Exec> fine, coarse, fine_result, coarse_result;

  TwoLevels(const Exec& exec, const VoxelProblem<Exec>& problem)
      : grid(problem.grid)
      , fine_held(problem.held) {
    const CoarseCells<Exec> next = coarsen_cells(exec, grid, problem.lame, Coarsening::split);
    cells = next.cells;
    transfer = next.transfer;
    coarse_held = coarsen_held(exec, transfer, grid, cells, fine_held.mask);
    fine = make_zeros<Scalar>(exec, grid.num_dofs(), "ossatura::bench::fine");
    fine_result = make_zeros<Scalar>(exec, grid.num_dofs(), "ossatura::bench::fine_result");
    coarse = make_zeros<Scalar>(exec, cells.num_dofs(), "ossatura::bench::coarse");
    coarse_result = make_zeros<Scalar>(exec, cells.num_dofs(), "ossatura::bench::coarse_result");
    fill_random(exec, 1, fine);
    fill_random(exec, 2, coarse);
    clear(exec, fine_held, fine);
    clear(exec, coarse_held, coarse);
  }

  void prolong_coarse(const Exec& exec) const {
    prolong_add(exec, transfer, cells, coarse, fine_held.mask, fine_result);
  }
  void restrict_fine(const Exec& exec) const {
    restrict_residual(exec, transfer, grid, cells, fine, coarse_held.mask, coarse_result);
  }

  /// |fine . P coarse - P^T fine . coarse| over the size of its terms.
  double adjoint_defect(const Exec& exec) const {
    Kokkos::deep_copy(exec, fine_result, Scalar(0));
    prolong_coarse(exec);
    restrict_fine(exec);
    const double scale = std::sqrt(dot(exec, fine, fine) * dot(exec, fine_result, fine_result));
    const double defect = std::abs(dot(exec, fine, fine_result) - dot(exec, coarse_result, coarse));
    return scale > 0 ? defect / scale : INFINITY;
  }
};

struct Prolong {
  static constexpr const char* name = "prolong_add";

  /// Coarse vector, fine vector read and written, parent, position and mask of the fine nodes,
  /// corners of the cells. A node adds 1.5^3 = 27/8 coarse values per component on average, then a
  /// multiply-add.
  template<class Exec, class Scalar>
  static Cost cost(const TwoLevels<Exec, Scalar>& levels) {
    const double fine = double(levels.grid.num_nodes), coarse = double(levels.cells.num_nodes);
    return {3 * fine,
            sizeof(Scalar) * (3 * coarse + 6 * fine) + (4 + 1 + 1) * fine +
                8 * 4 * double(levels.cells.num_elem),
            3 * fine * (27. / 8 + 2)};
  }
  template<class Exec, class Scalar>
  static void run(const Exec& exec, const TwoLevels<Exec, Scalar>& levels) {
    levels.prolong_coarse(exec);
  }
};

struct Restrict {
  static constexpr const char* name = "restrict_residual";

  /// Fine vector read, coarse vector written, parents and positions of the fine nodes, fine blocks,
  /// corners and places of the cells, coarse mask. Each value that prolongation reads is a
  /// multiply-add here.
  template<class Exec, class Scalar>
  static Cost cost(const TwoLevels<Exec, Scalar>& levels) {
    const double fine = double(levels.grid.num_nodes), coarse = double(levels.cells.num_nodes);
    return {3 * fine,
            sizeof(Scalar) * 3 * (coarse + fine) + (4 + 1) * fine + (4 + 1) * coarse +
                (8 * 4 + 8) * double(levels.cells.num_elem) +
                sizeof(detail::NodeBlock) * double(levels.grid.block.extent(0)),
            3 * fine * 2 * 27. / 8};
  }
  template<class Exec, class Scalar>
  static void run(const Exec& exec, const TwoLevels<Exec, Scalar>& levels) {
    levels.restrict_fine(exec);
  }
};

template<class Piece, class Scalar, class Exec>
void run_transfer(benchmark::State& state, const Exec& exec, ModelImage image, int n) {
  const TwoLevels<Exec, Scalar> levels(exec, cached_voxel_model(exec, image, n).problem);
  const double defect = levels.adjoint_defect(exec);
  if (!(defect <= rounding_bound<Scalar>))
    return fail_benchmark(state, "restriction is not the transpose of prolongation: " +
                                     std::to_string(defect));
  const double seconds = time_iterations(state, exec, [&] { Piece::run(exec, levels); });
  report<Exec, Scalar>(state, Piece::cost(levels), seconds);
}

template<class Piece, class Scalar, class Exec>
void register_rows(const Options& options) {
  for (const ModelImage image : name_table<ModelImage>)
    for (const int n : options.sizes_or(kernel_sizes<Exec>(image)))
      add_row(
          options,
          row_name<Exec, Scalar>(std::string("voxel_multigrid/") + Piece::name, name_of(image), n),
          [=](benchmark::State& state) { run_transfer<Piece, Scalar>(state, Exec(), image, n); });
}

} // namespace

void register_voxel_multigrid(const Options& options) {
  for_each_backend(options, [&](auto backend) {
    using Exec = BackendOf<decltype(backend)>;
    register_rows<Prolong, double, Exec>(options);
    register_rows<Prolong, float, Exec>(options);
    register_rows<Restrict, double, Exec>(options);
    register_rows<Restrict, float, Exec>(options);
  });
}

} // namespace ossatura::bench
