// SPDX-License-Identifier: Apache-2.0
// These rows time y = K x on n^3 hierarchical hexahedra of order p in the trunk space, for the
// operators of kernels/pfem/operator.hpp and for the matrix in rows of scalars by Kokkos Kernels
// (csr_kokkos_kernels) where the build found it:
//   pfem_apply/<operator>/<backend>/f64/<shapes>:<n>/p:<p>
// --sizes=8,16 is n; left out, it is such that packed matrices take 4 GB on devices and 128 MB on
// cores. dofs are those of the mesh, each once. Bytes and flops are those that the operator states
// (OperatorCost); of_ceiling is the larger fraction of the rates of a copy and of multiply-adds,
// over_packed the speed-up over packed matrices, where these ran before.
#include "bench/harness/compare_vectors.hpp"
#include "bench/harness/groups.hpp"
#include "bench/harness/kept.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/register.hpp"
#include "bench/pfem/problem.hpp"
#include <ossatura/core/machine/kokkos_runtime.hpp>
#include <ossatura/core/machine/memory.hpp>
#include <ossatura/core/mesh/hexa/entities.hpp>
#include <ossatura/core/pfem/numbering.hpp>
#include <ossatura/solvers/pfem/operators.hpp>

#if defined(OSSATURA_BENCH_KOKKOS_KERNELS)
#include <ossatura/kernels/algebra/sparse/block_multiply.hpp>
#include <ossatura/kernels/pfem/mode_block_matrix.hpp>
#include <ossatura/solvers/pfem/stiffness.hpp>

#include <KokkosSparse_CrsMatrix.hpp>
#include <KokkosSparse_spmv.hpp>
#endif

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <tuple>

namespace ossatura::bench {

namespace {

struct ApplyRow {
  HierarchicOperatorKind kind;
  PfemShapes shapes;
  int n, order;
};

/// A mesh on a backend, and the product of a matrix with x.
template<class Exec>
struct ApplyProblem {
  PfemShapes shapes;
  int n, order;
  HierarchicModel<Exec> model;
  Array<double, Exec> x, expected;
  HierarchicOperatorKind expected_of;

  ApplyProblem(const Exec& exec, const ApplyRow& row)
      : shapes(row.shapes)
      , n(row.n)
      , order(row.order) {
    const CurvedHexaMesh mesh = make_pfem_mesh(shapes, {n, n, n});
    const HierarchicNumbering numbering = make_hierarchic_numbering(
        mesh.mesh, make_hexa_entities(mesh.mesh), HexaSpace::trunk, {std::uint8_t(order)});
    model = make_hierarchic_model(exec, mesh, numbering, make_pfem_elasticity(shapes, mesh),
                                  HierarchicOptions());
    x = make_uninitialized<double>(exec, num_dofs(), "ossatura::bench::x");
    fill_random(exec, 1, x);
    expected_of = HierarchicOperatorKind::matrix_free;
    expected = product_of(exec, expected_of);
  }

  std::int64_t num_dofs() const { return 3 * std::int64_t(model.num_modes); }

  Array<double, Exec> product_of(const Exec& exec, HierarchicOperatorKind kind) const {
    const auto y = make_uninitialized<double>(exec, num_dofs(), "ossatura::bench::expected");
    make_hierarchic_operator(exec, kind, model)->apply(exec, x, y);
    fence(exec, "ossatura::bench::product_of"); // the matrix goes
    return y;
  }
};

template<class Exec>
const ApplyProblem<Exec>& cached_problem(const Exec& exec, const ApplyRow& row) {
  static Kept<std::tuple<PfemShapes, int, int>, ApplyProblem<Exec>> kept;
  return kept.get({row.shapes, row.n, row.order},
                  [&] { return std::make_unique<ApplyProblem<Exec>>(exec, row); });
}

/// Seconds of packed matrices by the end of the row's name, for the rows after it.
std::map<std::string, double>& seconds_of_packed() {
  static std::map<std::string, double> seconds;
  return seconds;
}

template<class Exec>
std::string end_of_name(const ApplyRow& row) {
  return std::string(BackendTraits<Exec>::name) + "/f64/" + name_of(row.shapes) + ':' +
         std::to_string(row.n) + "/p:" + std::to_string(row.order);
}

/// `multiply(y)` writes K x; it is verified and timed.
template<class Exec, class Multiply>
void verify_and_time(benchmark::State& state, const Exec& exec, const ApplyRow& row,
                     const ApplyProblem<Exec>& problem, const Array<double, Exec>& expected,
                     const OperatorCost& cost, const Multiply& multiply) {
  const std::int64_t n = problem.num_dofs();
  const auto y = make_zeros<double>(exec, n, "ossatura::bench::y");
  multiply(y);
  const double difference = relative_difference(exec, y, expected);
  if (!(difference <= rounding_bound<double>))
    return fail_benchmark(state, "the product differs from that of another operator by " +
                                     std::to_string(difference));
  const double seconds = time_iterations(state, exec, [&] { multiply(y); });
  report<Exec, double>(state, {double(n), cost.bytes_moved, cost.flops}, seconds);
  state.counters["elements"] = double(row.n) * row.n * row.n;
  state.counters["kept_bytes/dof"] = double(cost.bytes_kept) / double(n);
  const std::string place = end_of_name<Exec>(row);
  if (row.kind == HierarchicOperatorKind::packed)
    seconds_of_packed()[place] = seconds;
  if (const auto packed = seconds_of_packed().find(place); packed != seconds_of_packed().end())
    state.counters["over_packed"] = packed->second / seconds;
}

template<class Exec>
void run(benchmark::State& state, const Exec& exec, const ApplyRow& row) {
  const ApplyProblem<Exec>& problem = cached_problem(exec, row);
  Array<double, Exec> expected = problem.expected;
  if (row.kind == problem.expected_of) // not against itself
    expected = problem.product_of(exec, HierarchicOperatorKind::packed);
  const auto matrix = make_hierarchic_operator(exec, row.kind, problem.model);
  verify_and_time(state, exec, row, problem, expected, matrix->cost(),
                  [&](const Array<double, Exec>& y) { matrix->apply(exec, problem.x, y); });
}

#if defined(OSSATURA_BENCH_KOKKOS_KERNELS)
/// The assembled matrix with a row for each scalar.
template<class Exec>
CsrMatrix<Exec> assemble_csr(const Exec& exec, const HierarchicModel<Exec>& model) {
  const HexaBatch<Exec>& batch = model.batch[0];
  const BlockMatrix<Exec> blocks = make_mode_block_pattern(exec, model);
  const auto matrix = make_uninitialized<double>(
      exec, batch.num_elem * matrix_entries(MatrixStorage::packed, batch.num_dofs()),
      "ossatura::bench::matrix");
  form_stiffness(exec, StiffnessMethod::automatic, batch, MatrixStorage::packed, 0, batch.num_elem,
                 matrix);
  add_element_matrices(exec, model, make_mode_gather(exec, model), 0, 0, batch.num_elem, matrix,
                       blocks);
  const CsrMatrix<Exec> csr = to_csr(exec, blocks);
  fence(exec, "ossatura::bench::assemble_csr"); // element matrices and blocks go
  return csr;
}

template<class Exec>
void run_kokkos_kernels(benchmark::State& state, const Exec& exec, const ApplyRow& row) {
  using Device = Kokkos::Device<Exec, typename Exec::memory_space>;
  using Matrix = KokkosSparse::CrsMatrix<double, int, Device, void, int>;
  const ApplyProblem<Exec>& problem = cached_problem(exec, row);
  const CsrMatrix<Exec> csr = assemble_csr(exec, problem.model);
  const Matrix matrix("ossatura::bench::csr", csr.num_rows, csr.num_rows, csr.num_entries(),
                      typename Matrix::values_type(csr.value),
                      typename Matrix::row_map_type(csr.row_begin),
                      typename Matrix::index_type(csr.column));
  verify_and_time(state, exec, row, problem, problem.expected,
                  cost_of_rows<double, int, 1>(csr.num_entries(), csr.num_rows),
                  [&](const Array<double, Exec>& y) {
                    KokkosSparse::spmv("N", 1.0, matrix, problem.x, 0.0, y);
                  });
}
#endif

template<class Exec>
int default_size(int order) {
  const double bytes = BackendTraits<Exec>::is_device ? 4e9 : 1.28e8;
  const double each =
      8.0 * double(matrix_entries(MatrixStorage::packed,
                                  3 * std::int64_t(num_hierarchic_modes(HexaSpace::trunk, order))));
  return std::max(2, int(std::cbrt(bytes / each)));
}

/// Rows of a mesh are together, for it is kept from one to the next.
template<class Exec>
void register_products(const Options& options) {
  for (int p = 1; p <= max_hexa_order; ++p) {
    const std::vector<int> own(1, default_size<Exec>(p));
    for (const int n : options.sizes_or(own))
      for (const PfemShapes shapes :
           {PfemShapes::elements, PfemShapes::points, PfemShapes::cubes}) {
        for (const HierarchicOperatorKind kind :
             {HierarchicOperatorKind::packed, HierarchicOperatorKind::matrix_free,
              shapes == PfemShapes::cubes ? HierarchicOperatorKind::shared
                                          : HierarchicOperatorKind::bsr}) {
          const ApplyRow row = {kind, shapes, n, p};
          add_row(options,
                  "pfem_apply/" + std::string(name_of(kind)) + '/' + end_of_name<Exec>(row),
                  [=](benchmark::State& state) { run(state, Exec(), row); });
        }
#if defined(OSSATURA_BENCH_KOKKOS_KERNELS)
        if (shapes == PfemShapes::elements) {
          const ApplyRow row = {HierarchicOperatorKind::bsr, shapes, n, p};
          add_row(options, "pfem_apply/csr_kokkos_kernels/" + end_of_name<Exec>(row),
                  [=](benchmark::State& state) { run_kokkos_kernels(state, Exec(), row); });
        }
#endif
      }
  }
}

} // namespace

void register_pfem_apply(const Options& options) {
  for_each_backend(options,
                   [&](auto backend) { register_products<BackendOf<decltype(backend)>>(options); });
}

} // namespace ossatura::bench
