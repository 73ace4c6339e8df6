// SPDX-License-Identifier: Apache-2.0
// These rows time forming the stiffness matrices of m hierarchical hexahedra of order p with p + 1
// points along each axis, by every method of kernels/pfem/stiffness/method.hpp that can do them:
//   pfem_form/<method>/<backend>/f64/<shapes>/<trunk|tensor>/<packed|full>/p:<p>
// --elements=10000,1000000 is m; left out, it is 10 000 on devices, fewer where a row would take
// more than about five seconds a run, and on cores as many as take about a fifth of a second (rows
// of a second a matrix have no place there). Matrices that do not fit the memory at once are formed
// in worksets, one in the place of the other, and more elements than the tables of D fit for are
// the same ones over again.
//
// Before it is timed, matrices of the last workset are compared with those of another method. Bytes
// and flops are those of bench/pfem/cost.hpp: of_write is the time to write the matrices at the
// rate of the fill ceiling, of_fma the method's flops at the rate of multiply-adds, of_roofline the
// larger of the times to read and write what there is and to compute the least that is known, over
// the time taken. Matrix instructions can pass that. plain_GFLOP/s is for all methods the rate of
// the flops of plain sums along axes.
#include "bench/harness/compare_vectors.hpp"
#include "bench/harness/groups.hpp"
#include "bench/harness/kept.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/register.hpp"
#include "bench/pfem/cost.hpp"
#include "bench/pfem/problem.hpp"
#include <ossatura/core/machine/kokkos_runtime.hpp>
#include <ossatura/core/machine/memory.hpp>
#include <ossatura/solvers/pfem/stiffness.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

namespace ossatura::bench {

namespace {

struct FormRow {
  StiffnessMethod method;
  PfemShapes shapes;
  HexaSpace space;
  MatrixStorage storage;
  int order;
  std::int64_t num_elem; ///< 0: by the time it would take
};

/// At least `num_elem` elements, or as many as have tables of a moderate size.
template<class Exec>
const HexaBatch<Exec>& cached_batch(const Exec& exec, const FormRow& row, std::int64_t num_elem) {
  constexpr double bytes = BackendTraits<Exec>::is_device ? 4e9 : 2.5e8;
  const int points = quadrature_points(QuadratureRule::order_plus_1, row.order);
  if (row.shapes == PfemShapes::points)
    num_elem =
        std::min(num_elem, std::int64_t(bytes / (8 * elasticity_entries * std::pow(points, 3))));
  num_elem = std::max<std::int64_t>(1, std::min<std::int64_t>(num_elem, 10'000'000));
  static Kept<std::tuple<PfemShapes, HexaSpace, int>, HexaBatch<Exec>> kept;
  if (kept.value() != nullptr && kept.value()->num_elem < num_elem)
    kept.release();
  return kept.get({row.shapes, row.space, row.order}, [&] {
    const CurvedHexaMesh mesh = make_pfem_elements(row.shapes, num_elem);
    return std::make_unique<HexaBatch<Exec>>(make_hexa_batch(exec, mesh, row.space, row.order,
                                                             make_pfem_elasticity(row.shapes, mesh),
                                                             HierarchicOptions()));
  });
}

/// A room for `count` matrices, or for fewer where there is no memory for so many.
template<class Exec>
Array<double, Exec> make_workset(const Exec& exec, std::int64_t count, double matrix_bytes) {
  double most = BackendTraits<Exec>::is_device ? 48e9 : 2.5e8;
  if (const auto available = double(available_host_bytes());
      !BackendTraits<Exec>::is_device && available > 0)
    most = std::min(most, available / 4);
  count = std::min(count, std::max<std::int64_t>(1, std::int64_t(most / matrix_bytes)));
  for (;; count /= 2)
    try {
      return make_uninitialized<double>(exec, count * std::int64_t(matrix_bytes / 8),
                                        "ossatura::bench::matrix");
    } catch (const std::exception& error) {
      if (count == 1 || !is_out_of_memory(error))
        throw;
    }
}

/// Seconds that a matrix would take at rates that all methods reach.
template<class Exec>
double expected_seconds(const StiffnessCost& cost) {
  constexpr bool device = BackendTraits<Exec>::is_device;
  const double threads = device ? 1 : host_threads(BackendTraits<Exec>::name);
  return std::max(cost.flops / (device ? 5e12 : 2e9 * threads),
                  (cost.traffic + cost.written) / (device ? 1e12 : 2e9 * threads));
}

template<class Exec>
std::int64_t default_elements(const StiffnessCost& cost, bool quick) {
  if (quick)
    return 8;
  const double seconds = BackendTraits<Exec>::is_device ? 5 : 0.2;
  return std::min<std::int64_t>(10000, std::max(1.0, seconds / expected_seconds<Exec>(cost)));
}

/// The largest relative difference of matrices of the elements begin .. end - 1, which are in
/// `matrix`, to those of another method: of the last one, and of the first and one in the middle
/// where that does not take long.
template<class Exec>
double difference_from_other_method(const Exec& exec, const FormRow& row,
                                    const HexaBatch<Exec>& batch, std::int64_t begin,
                                    std::int64_t end, const Array<double, Exec>& matrix) {
  std::optional<StiffnessMethod> other;
  for (const StiffnessMethod method :
       {StiffnessMethod::blocked, StiffnessMethod::aii_inner, StiffnessMethod::ai_inner})
    if (!other && method != row.method && supports(exec, method, batch).supported)
      other = method;
  if (!other)
    fail<std::runtime_error>("no other method to verify the matrices with");
  const std::int64_t entries = matrix_entries(row.storage, batch.num_dofs());
  const auto expected = make_uninitialized<double>(exec, entries, "ossatura::bench::expected");
  std::set<std::int64_t> chosen = {end - 1};
  if (row.order < 8) // the other method takes long then
    chosen.insert({begin, (begin + end) / 2});
  double largest = 0;
  for (const std::int64_t e : chosen) {
    form_stiffness(exec, *other, batch, row.storage, e, e + 1, expected);
    const std::int64_t first = (e - begin) * entries;
    const Array<double, Exec> found =
        Kokkos::subview(matrix, Kokkos::make_pair(first, first + entries));
    largest = std::max(largest, relative_difference(exec, found, expected));
  }
  return largest;
}

template<class Exec>
void report_forming(benchmark::State& state, const StiffnessCost& cost, double num_elem,
                    double workset, double seconds) {
  const Ceilings& best = ceilings<Exec>();
  const double each = seconds / num_elem;
  state.counters["matrices"] = num_elem;
  state.counters["workset"] = workset;
  state.counters["matrices/s"] = 1 / each;
  state.counters["ms_10000"] = 1e7 * each;
  report_rates<Exec, double>(state, cost.written + cost.read + cost.traffic, cost.flops, each);
  state.counters["written_GB/s"] = 1e-9 * cost.written / each;
  state.counters["plain_GFLOP/s"] = 1e-9 * cost.plain / each;
  state.counters["of_write"] = cost.written / best.fill_rate / each;
  state.counters["of_roofline"] =
      std::max(cost.written / best.fill_rate + cost.read / best.dot_rate,
               cost.least / best.fma_rate_f64) /
      each;
}

template<class Exec>
void run(benchmark::State& state, const Exec& exec, const FormRow& row, bool quick) {
  const int points = quadrature_points(QuadratureRule::order_plus_1, row.order);
  const StiffnessCost cost = stiffness_cost(row.method, row.space, row.order, points, row.storage,
                                            row.shapes == PfemShapes::points);
  const std::int64_t num_elem =
      row.num_elem > 0 ? row.num_elem : default_elements<Exec>(cost, quick);
  const HexaBatch<Exec>& batch = cached_batch(exec, row, num_elem);
  if (const MethodSupport support = supports(exec, row.method, batch); !support.supported)
    return skip_benchmark(state, "not for these elements: " + support.reason);
  const std::int64_t entries = matrix_entries(row.storage, batch.num_dofs());
  const Array<double, Exec> matrix =
      make_workset(exec, std::min(num_elem, batch.num_elem), cost.written);
  const std::int64_t workset = std::int64_t(matrix.extent(0)) / entries;
  Kokkos::deep_copy(exec, matrix, double(NAN)); // what is not written is not right

  std::int64_t begin = 0, end = 0;
  const auto form = [&] {
    end = 0;
    for (std::int64_t left = num_elem; left > 0; left -= end - begin) {
      begin = end < batch.num_elem ? end : 0;
      end = begin + std::min({left, workset, batch.num_elem - begin});
      form_stiffness(exec, row.method, batch, row.storage, begin, end, matrix);
    }
  };
  form();
  const double difference = difference_from_other_method(exec, row, batch, begin, end, matrix);
  if (!(difference <= rounding_bound<double>))
    return fail_benchmark(state, "matrices differ from those of another method by " +
                                     std::to_string(difference));
  const double seconds = time_iterations(state, exec, form);
  report_forming<Exec>(state, cost, double(num_elem), double(workset), seconds);
}

template<class Exec>
void register_row(const Options& options, const FormRow& row) {
  const StiffnessCost cost = stiffness_cost(row.method, row.space, row.order, row.order + 1,
                                            row.storage, row.shapes == PfemShapes::points);
  if (!BackendTraits<Exec>::is_device && cost.flops > 1e9)
    return;
  std::string name = std::string("pfem_form/") + name_of(row.method) + '/' +
                     BackendTraits<Exec>::name + "/f64/" + name_of(row.shapes) + '/' +
                     name_of(row.space) + '/' + name_of(row.storage);
  if (row.num_elem > 0)
    name += "/m:" + std::to_string(row.num_elem);
  name += "/p:" + std::to_string(row.order);
  const bool quick = options.quick;
  add_row(options, name, [=](benchmark::State& state) { run(state, Exec(), row, quick); });
}

/// Rows of the same elements are together, for their tables are kept from one to the next.
template<class Exec>
void register_forming(const Options& options) {
  constexpr HexaSpace trunk = HexaSpace::trunk;
  constexpr MatrixStorage packed = MatrixStorage::packed, full = MatrixStorage::full;
  const std::vector<StiffnessMethod> fast = {
      StiffnessMethod::blocked, StiffnessMethod::sum_factorised, StiffnessMethod::tensor_cores};
  const std::vector<int> batches =
      options.elements.empty() ? std::vector<int>{0} : options.elements;
  for (const std::int64_t m : batches)
    for (int p = 1; p <= max_hexa_order; ++p) {
      const auto add = [&](StiffnessMethod method, PfemShapes shapes, HexaSpace space,
                           MatrixStorage storage) {
        if (method != StiffnessMethod::tensor_cores || BackendTraits<Exec>::is_device)
          register_row<Exec>(options, {method, shapes, space, storage, p, m});
      };
      for (const StiffnessMethod method : all_stiffness_methods)
        if (method != StiffnessMethod::affine && method != StiffnessMethod::congruent)
          add(method, PfemShapes::points, trunk, packed);
      for (const StiffnessMethod method : fast)
        add(method, PfemShapes::points, trunk, full);
      for (const StiffnessMethod method : fast)
        add(method, PfemShapes::elements, trunk, packed);
      if (p <= 6)
        for (const StiffnessMethod method : fast)
          add(method, PfemShapes::points, HexaSpace::tensor, packed);
      add(StiffnessMethod::affine, PfemShapes::sheared, trunk, packed);
      add(StiffnessMethod::affine, PfemShapes::cubes, trunk, packed);
      add(StiffnessMethod::congruent, PfemShapes::cubes, trunk, packed);
    }
}

} // namespace

void register_pfem_form(const Options& options) {
  for_each_backend(options,
                   [&](auto backend) { register_forming<BackendOf<decltype(backend)>>(options); });
}

} // namespace ossatura::bench
