// SPDX-License-Identifier: Apache-2.0
// These rows time the product of voxel_apply with the assembled matrix, by Kokkos Kernels where the
// build found it and by Eigen on the host:
//   peers/csr_<library>/<backend>/<f64|f32>/<image>:<n>
#include "bench/bone/cost.hpp"
#include "bench/bone/csr_assembly.hpp"
#include "bench/bone/model.hpp"
#include "bench/harness/compare_vectors.hpp"
#include "bench/harness/groups.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/register.hpp"
#include <ossatura/core/machine/kokkos_runtime.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#if defined(OSSATURA_BENCH_KOKKOS_KERNELS)
#include <KokkosSparse_CrsMatrix.hpp>
#include <KokkosSparse_spmv.hpp>
#endif

namespace ossatura::bench {

namespace {

/// Values and columns once, row offsets, x read, y written; a multiply-add per entry.
template<class Scalar>
Cost csr_cost(const CsrMatrix<Scalar>& a) {
  const double rows = double(a.num_rows()), entries = double(a.num_entries());
  return {rows, entries * (sizeof(Scalar) + 4) + (rows + 1) * 4 + 2 * rows * sizeof(Scalar),
          2 * entries};
}

/// The vectors of a product, and what the matrix-free operator makes of them.
template<class Exec, class Scalar>
struct Product {
  Array<Scalar, Exec> x, y, expected;

  Product(const Exec& exec, const VoxelProblem<Exec>& problem) {
    const std::int64_t n = problem.grid.num_dofs();
    x = make_uninitialized<Scalar>(exec, n, "ossatura::bench::x");
    y = make_zeros<Scalar>(exec, n, "ossatura::bench::y");
    expected = make_uninitialized<Scalar>(exec, n, "ossatura::bench::expected");
    fill_random(exec, 1, x);
    GatherOperator<Exec>(exec, problem.grid, problem.lame, problem.edge).apply(exec, x, expected);
    fence(exec, "ossatura::bench::Product");
  }
};

template<class Exec, class Scalar, class Multiply>
void verify_and_time(benchmark::State& state, const Exec& exec, const CsrMatrix<Scalar>& host,
                     const Product<Exec, Scalar>& product, const Multiply& multiply) {
  multiply();
  const double difference = relative_difference(exec, product.y, product.expected);
  if (!(difference <= rounding_bound<Scalar>))
    return fail_benchmark(state, "the product differs from that without a matrix by " +
                                     std::to_string(difference));
  const double seconds = time_iterations(state, exec, multiply);
  report<Exec, Scalar>(state, csr_cost(host), seconds);
}

#if defined(OSSATURA_BENCH_KOKKOS_KERNELS)
template<class Exec, class Scalar>
struct KokkosKernelsCsr {
  static constexpr const char* name = "csr_kokkos_kernels";

  static void run(benchmark::State& state, const Exec& exec, const CsrMatrix<Scalar>& host,
                  const Product<Exec, Scalar>& product) {
    using Device = Kokkos::Device<Exec, typename Exec::memory_space>;
    using Matrix = KokkosSparse::CrsMatrix<Scalar, int, Device, void, int>;
    const int rows = int(host.num_rows());
    const Matrix matrix(
        "ossatura::bench::csr", rows, rows, int(host.num_entries()),
        typename Matrix::values_type(upload(exec, "ossatura::csr_value", host.value)),
        typename Matrix::row_map_type(upload(exec, "ossatura::csr_row_begin", host.row_begin)),
        typename Matrix::index_type(upload(exec, "ossatura::csr_column", host.column)));
    verify_and_time(state, exec, host, product, [&] {
      KokkosSparse::spmv("N", Scalar(1), matrix, product.x, Scalar(0), product.y);
    });
  }
};
#endif

template<class Exec, class Scalar>
struct EigenCsr {
  static constexpr const char* name = "csr_eigen";

  static void run(benchmark::State& state, const Exec& exec, const CsrMatrix<Scalar>& host,
                  const Product<Exec, Scalar>& product) {
    const int threads = host_threads(BackendTraits<Exec>::name);
    verify_and_time(state, exec, host, product,
                    [&] { multiply_by_eigen(host, threads, product.x.data(), product.y.data()); });
  }
};

template<class Library, class Scalar, class Exec>
void run(benchmark::State& state, const Exec& exec, ModelImage image, int n) {
  const CsrMatrix<Scalar> host =
      assemble_csr<Scalar>(cached_voxel_model(HostBackend(), image, n).problem);
  Library::run(state, exec, host,
               Product<Exec, Scalar>(exec, cached_voxel_model(exec, image, n).problem));
}

template<template<class, class> class Library, class Scalar, class Exec>
void register_rows(const Options& options) {
  // Assembled matrices take about a thousand bytes per degree of freedom, and entries are counted
  // in 32 bits: larger ones have no row.
  constexpr int largest = 160;
  for (const ModelImage image : name_table<ModelImage>)
    for (const int n : options.sizes_or({16, 32, 64})) {
      if (n > largest)
        continue;
      add_row(options,
              row_name<Exec, Scalar>(std::string("peers/") + Library<Exec, Scalar>::name,
                                     name_of(image), n),
              [=](benchmark::State& state) {
                run<Library<Exec, Scalar>, Scalar>(state, Exec(), image, n);
              });
    }
}

template<class Exec>
void register_backend(const Options& options) {
#if defined(OSSATURA_BENCH_KOKKOS_KERNELS)
  register_rows<KokkosKernelsCsr, double, Exec>(options);
  register_rows<KokkosKernelsCsr, float, Exec>(options);
#endif
  if constexpr (!BackendTraits<Exec>::is_device) {
    register_rows<EigenCsr, double, Exec>(options);
    register_rows<EigenCsr, float, Exec>(options);
  }
}

} // namespace

void register_peers(const Options& options) {
  for_each_backend(options,
                   [&](auto backend) { register_backend<BackendOf<decltype(backend)>>(options); });
}

} // namespace ossatura::bench
