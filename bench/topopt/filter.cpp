// SPDX-License-Identifier: Apache-2.0
// These rows time the cone filter on voxels (kernels/topopt/lattice_cone.hpp), of a cube of n^3,
// whose radius is R voxels:
//   design_filter/radius-<R>/<backend>/f64/cube:<n>
// Two or three such means are taken in a step of a design. A row is verified at voxels all over the
// cube by sums over their neighbours. Cost of a voxel, which `dofs` counts: a value, the sum of its
// weights and whether it is solid are read and its mean written, 28 bytes; an addition for each
// neighbour, since those with one weight can be added first.
#include "bench/bone/model.hpp"
#include "bench/harness/groups.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/register.hpp"
#include <ossatura/kernels/topopt/lattice_cone.hpp>

#include <cmath>

namespace ossatura::bench {

namespace {

KOKKOS_INLINE_FUNCTION double value_at(int x, int y, int z) {
  return 1 + 0.01 * ((7 * x + 11 * y + 13 * z) % 101);
}

template<class Exec>
struct FillLattice {
  VoxelGrid<Exec> grid;
  Array<double, Exec> value;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Site s = grid.site(int(i));
    value(i) = value_at(s.x, s.y, s.z);
  }
};

/// The largest error of means at every `stride`-th node that is a voxel of the cube.
template<class Exec>
struct CompareMeans {
  VoxelGrid<Exec> grid;
  double radius;
  std::int64_t stride;
  Array<double, Exec> mean;

  KOKKOS_FUNCTION void operator()(std::int64_t k, double& worst) const {
    const Site s = grid.site(int(k * stride));
    const int n = grid.shape[0], reach = int(radius);
    if (s.x >= n || s.y >= n || s.z >= n)
      return;
    double sum = 0, all = 0;
    for (int z = Kokkos::max(0, s.z - reach); z <= Kokkos::min(n - 1, s.z + reach); ++z)
      for (int y = Kokkos::max(0, s.y - reach); y <= Kokkos::min(n - 1, s.y + reach); ++y)
        for (int x = Kokkos::max(0, s.x - reach); x <= Kokkos::min(n - 1, s.x + reach); ++x) {
          const int dx = x - s.x, dy = y - s.y, dz = z - s.z;
          const double w = radius - sqrt(double(dx * dx + dy * dy + dz * dz));
          sum += w > 0 ? w * value_at(x, y, z) : 0;
          all += w > 0 ? w : 0;
        }
    worst = Kokkos::max(worst, Kokkos::fabs(mean(k * stride) - sum / all));
  }
};

double count_neighbours(double radius) {
  const int reach = int(radius);
  double count = 0;
  for (int z = -reach; z <= reach; ++z)
    for (int y = -reach; y <= reach; ++y)
      for (int x = -reach; x <= reach; ++x)
        count += std::sqrt(double(x * x + y * y + z * z)) < radius ? 1 : 0;
  return count;
}

template<class Exec>
void run(benchmark::State& state, const Exec& exec, double radius, int n) {
  const VoxelProblem<Exec>& problem = cached_voxel_model(exec, ModelImage::cube, n).problem;
  const VoxelGrid<Exec>& grid = problem.grid;
  const LatticeCone<Exec> filter =
      make_lattice_cone(exec, grid, problem.lame.mu_value, 1.0, radius);
  const auto x = make_zeros<double>(exec, grid.num_nodes, "ossatura::bench::x"),
             y = make_zeros<double>(exec, grid.num_nodes, "ossatura::bench::y");
  Kokkos::parallel_for("ossatura::bench::fill_lattice", range(exec, grid.num_nodes),
                       FillLattice<Exec>{grid, x});
  apply_cone_filter(exec, filter, x, y);
  const std::int64_t stride = std::max(1, grid.num_nodes / 1009);
  double worst = 0;
  Kokkos::parallel_reduce("ossatura::bench::compare_means", range(exec, grid.num_nodes / stride),
                          CompareMeans<Exec>{grid, radius, stride, y}, Kokkos::Max<double>(worst));
  if (!(worst <= 1e-12))
    return fail_benchmark(state, "a mean is wrong by " + std::to_string(worst));
  const double voxels = double(grid.num_elem);
  const Cost cost{voxels, 28 * voxels, count_neighbours(radius) * voxels};
  report<Exec, double>(
      state, cost, time_iterations(state, exec, [&] { apply_cone_filter(exec, filter, x, y); }));
}

} // namespace

void register_design_filter(const Options& options) {
  for_each_backend(options, [&](auto backend) {
    using Exec = BackendOf<decltype(backend)>;
    for (const double radius : {1.5, 3.0, 6.0, 12.0}) {
      std::string group = "design_filter/radius-" + std::to_string(radius);
      group.resize(group.find('.') + 2);
      for (const int n : options.sizes_or(kernel_sizes<Exec>(ModelImage::cube)))
        add_row(options, row_name<Exec, double>(group, "cube", n),
                [=](benchmark::State& state) { run(state, Exec(), radius, n); });
    }
  });
}

} // namespace ossatura::bench
