// SPDX-License-Identifier: Apache-2.0
// These rows time y = A x on n^3 hexahedra with moduli of their own, for every operator of
// kernels/hexa/operator.hpp and for the matrix in rows of scalars by Kokkos Kernels
// (csr_kokkos_kernels) where the build found it:
//   hexa_apply/<operator>/<backend>/<f64|f32>/<box|distorted>:<n>
// Bytes and flops are those that the operator states (OperatorCost); of_ceiling is the larger
// fraction of the rates of a copy and of multiply-adds, over_ebe the speed-up over `ebe` where that
// ran before. --sizes=80,160,311 are 0.5, 4 and 30 million elements; rows whose memory does not fit
// are skipped and say so.
#include "bench/harness/compare_vectors.hpp"
#include "bench/harness/groups.hpp"
#include "bench/harness/kept.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/register.hpp"
#include "bench/topopt/mesh.hpp"
#include <ossatura/core/machine/kokkos_runtime.hpp>
#include <ossatura/core/machine/memory.hpp>
#include <ossatura/kernels/hexa/published/assembled_operator.hpp>
#include <ossatura/solvers/hexa/operators.hpp>

#if defined(OSSATURA_BENCH_KOKKOS_KERNELS)
#include <KokkosSparse_CrsMatrix.hpp>
#include <KokkosSparse_spmv.hpp>
#endif

#include <algorithm>
#include <map>

namespace ossatura::bench {

namespace {

constexpr double poisson = 0.3;

/// A mesh on a backend, and a product with its matrix in rows of blocks.
template<class Exec>
struct HexaProblem {
  HexaMesh kind;
  int n;
  ElementMesh mesh;
  HexaArrays<Exec> arrays;
  Array<double, Exec> modulus, x, expected;

  HexaProblem(const Exec& exec, HexaMesh kind, int n)
      : kind(kind)
      , n(n)
      , mesh(make_bench_hexa_mesh(kind, n))
      , arrays(make_hexa_arrays(exec, mesh))
      , modulus(upload(exec, "ossatura::bench::modulus", make_bench_moduli(mesh.num_elem())))
      , x(make_uninitialized<double>(exec, num_dofs(), "ossatura::bench::x")) {
    fill_random(exec, 1, x);
    expected = product_of(exec, HexaOperatorKind::bsr);
  }

  std::int64_t num_dofs() const { return 3 * std::int64_t(arrays.num_nodes); }

  Array<double, Exec> product_of(const Exec& exec, HexaOperatorKind other) const {
    const auto y = make_uninitialized<double>(exec, num_dofs(), "ossatura::bench::expected");
    const auto matrix = make_hexa_operator<double>(exec, other, mesh, arrays, unit_lame(poisson));
    matrix->set_modulus(exec, modulus);
    matrix->apply(exec, x, y);
    fence(exec, "ossatura::bench::product_of"); // the matrix goes
    return y;
  }
};

template<class Exec>
const HexaProblem<Exec>& cached_problem(const Exec& exec, HexaMesh mesh, int n) {
  static Kept<std::pair<HexaMesh, int>, HexaProblem<Exec>> kept;
  return kept.get({mesh, n}, [&] { return std::make_unique<HexaProblem<Exec>>(exec, mesh, n); });
}

/// Skips the row where the host's memory cannot take the operator on n^3 elements; a device says so
/// itself, but a host would only fail when it is written.
template<class Exec, class Scalar>
bool fits(benchmark::State& state, HexaOperatorKind kind, double n) {
  if (BackendTraits<Exec>::is_device)
    return true;
  // Mesh, vectors, and the blocks of doubles that the product is verified with.
  const double num_elem = n * n * n;
  const double bytes =
      memory_of(kind).bytes(sizeof(Scalar), num_elem, 27 * num_elem, num_elem) + 3000 * num_elem;
  const double available = double(available_host_bytes());
  if (available <= 0 || bytes <= available)
    return true;
  skip_benchmark(state, "does not fit: up to " + std::to_string(1e-9 * bytes) + " GB of " +
                            std::to_string(1e-9 * available));
  return false;
}

/// Seconds of `ebe` by the end of its name, for the rows after it.
std::map<std::string, double>& seconds_of_ebe() {
  static std::map<std::string, double> seconds;
  return seconds;
}

/// Vectors in Scalar; `multiply(x, y)` is verified and timed.
template<class Scalar, class Exec, class Multiply>
void verify_and_time(benchmark::State& state, const Exec& exec, const HexaProblem<Exec>& problem,
                     const Array<double, Exec>& expected, const OperatorCost& cost,
                     const Multiply& multiply, bool is_ebe = false) {
  const std::int64_t n = problem.num_dofs();
  const auto x = make_uninitialized<Scalar>(exec, n, "ossatura::bench::x"),
             y = make_zeros<Scalar>(exec, n, "ossatura::bench::y");
  copy(exec, problem.x, x);
  multiply(x, y);
  {
    const auto found = make_uninitialized<double>(exec, n, "ossatura::bench::found");
    copy(exec, y, found);
    const double difference = relative_difference(exec, found, expected);
    if (!(difference <= rounding_bound<Scalar>))
      return fail_benchmark(state, "the product differs from that of another operator by " +
                                       std::to_string(difference));
  }
  const double seconds = time_iterations(state, exec, [&] { multiply(x, y); });
  report<Exec, Scalar>(state, {double(n), cost.bytes_moved, cost.flops}, seconds);
  const double num_elem = problem.arrays.num_elem;
  state.counters["elem/s"] = num_elem / seconds;
  state.counters["kept_bytes/elem"] = double(cost.bytes_kept) / num_elem;
  const std::string place = row_name<Exec, Scalar>("", name_of(problem.kind), problem.n);
  if (is_ebe)
    seconds_of_ebe()[place] = seconds;
  if (const auto ebe = seconds_of_ebe().find(place); ebe != seconds_of_ebe().end())
    state.counters["over_ebe"] = ebe->second / seconds;
}

template<class Scalar, class Exec>
void run(benchmark::State& state, const Exec& exec, HexaOperatorKind kind, HexaMesh mesh, int n) {
  if (!fits<Exec, Scalar>(state, kind, n))
    return;
  const HexaProblem<Exec>& problem = cached_problem(exec, mesh, n);
  Array<double, Exec> expected = problem.expected;
  if (kind == HexaOperatorKind::bsr) // not against itself
    expected = problem.product_of(exec, HexaOperatorKind::ebe_sym);
  const auto matrix =
      make_hexa_operator<Scalar>(exec, kind, problem.mesh, problem.arrays, unit_lame(poisson));
  matrix->set_modulus(exec, problem.modulus);
  verify_and_time<Scalar>(
      state, exec, problem, expected, matrix->cost(),
      [&](const auto& x, const auto& y) { matrix->apply(exec, x, y); },
      kind == HexaOperatorKind::ebe);
}

#if defined(OSSATURA_BENCH_KOKKOS_KERNELS)
template<class Scalar, class Exec>
void run_kokkos_kernels(benchmark::State& state, const Exec& exec, HexaMesh mesh, int n) {
  using Device = Kokkos::Device<Exec, typename Exec::memory_space>;
  using Matrix = KokkosSparse::CrsMatrix<Scalar, int, Device, void, int>;
  if (!fits<Exec, Scalar>(state, HexaOperatorKind::csr, n))
    return;
  const HexaProblem<Exec>& problem = cached_problem(exec, mesh, n);
  HexaCsrOperator<Exec, Scalar> csr(exec, problem.arrays, unit_lame(poisson));
  csr.set_modulus(exec, problem.modulus);
  const std::int64_t entries = std::int64_t(csr.value().extent(0));
  if (entries > INT32_MAX)
    return skip_benchmark(state, "its entries are counted with 32 bits");
  const auto row_begin =
      make_uninitialized<int>(exec, problem.num_dofs() + 1, "ossatura::bench::row_begin");
  copy(exec, csr.row_begin(), row_begin);
  fence(exec, "ossatura::bench::csr");
  const Matrix matrix("ossatura::bench::csr", int(problem.num_dofs()), int(problem.num_dofs()),
                      int(entries), typename Matrix::values_type(csr.value()),
                      typename Matrix::row_map_type(row_begin),
                      typename Matrix::index_type(csr.column()));
  verify_and_time<Scalar>(state, exec, problem, problem.expected,
                          cost_of_rows<Scalar, int, 1>(entries, problem.num_dofs()),
                          [&](const auto& x, const auto& y) {
                            KokkosSparse::spmv("N", Scalar(1), matrix, x, Scalar(0), y);
                          });
}
#endif

/// Rows of a mesh are together, for its arrays are kept from one to the next.
template<class Exec>
void register_backend(const Options& options) {
  const std::vector<int> own =
      BackendTraits<Exec>::is_device ? std::vector<int>{80, 160} : std::vector<int>{16, 32};
  for (const int n : options.sizes_or(own))
    for (const HexaMesh mesh : name_table<HexaMesh>) {
      for (const HexaOperatorKind kind : hexa_operator_kinds) {
        const std::string group = std::string("hexa_apply/") + name_of(kind);
        add_row(options, row_name<Exec, double>(group, name_of(mesh), n),
                [=](benchmark::State& state) { run<double>(state, Exec(), kind, mesh, n); });
        add_row(options, row_name<Exec, float>(group, name_of(mesh), n),
                [=](benchmark::State& state) { run<float>(state, Exec(), kind, mesh, n); });
      }
#if defined(OSSATURA_BENCH_KOKKOS_KERNELS)
      const std::string peer = "hexa_apply/csr_kokkos_kernels";
      add_row(options, row_name<Exec, double>(peer, name_of(mesh), n),
              [=](benchmark::State& state) { run_kokkos_kernels<double>(state, Exec(), mesh, n); });
      add_row(options, row_name<Exec, float>(peer, name_of(mesh), n),
              [=](benchmark::State& state) { run_kokkos_kernels<float>(state, Exec(), mesh, n); });
#endif
    }
}

} // namespace

void register_hexa_apply(const Options& options) {
  for_each_backend(options,
                   [&](auto backend) { register_backend<BackendOf<decltype(backend)>>(options); });
}

} // namespace ossatura::bench
