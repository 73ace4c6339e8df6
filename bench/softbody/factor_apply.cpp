// SPDX-License-Identifier: Apache-2.0
// These rows time one application of M^-1 = L^-T D^-1 L^-1, the factor of the first step's matrix
// of a soft body, in double precision unless the way says otherwise:
//   factor_apply/<way>/<backend>/<model>
// Ways:
//   levels              scalar rows by levels
//   dissection          sub-domains of nested dissection (the paper's)
//   supernodes          panels: by levels on devices, subtrees on cores
//   inverse_fp64, 32, 16  W = L^-1 as dense rectangles
//   inverse_fp16_k2, ...  the same in two or more bands, of fp32 too; _auto: as the solver chooses
//   sequential          rows one after the other, on one core whatever the backend
//   kokkos_kernels_rp, _tp1  sptrsv of Kokkos Kernels, a thread or a team for each row
//   kokkos_kernels_etree  its supernodal one on our panels, where it was built with that
//   cusparse_fp64, 32   SpSV of cuSPARSE, its analysis done before
// Every row is verified against the sequential solve before it is timed. The time is that of one of
// a batch of applications without a fence between them, of ours on CUDA as a recorded graph; the
// counter stream_us has the same without a graph.
#include "bench/harness/compare_vectors.hpp"
#include "bench/harness/groups.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/register.hpp"
#include "bench/softbody/factor_kokkos_kernels.hpp"
#include "bench/softbody/factor_rows.hpp"
#include "bench/softbody/problem.hpp"
#include <ossatura/core/base/half.hpp>
#include <ossatura/core/parallel/launch_graph.hpp>
#include <ossatura/kernels/factor/diagonal_inverse.hpp>
#include <ossatura/kernels/factor/form_inverse.hpp>
#include <ossatura/kernels/factor/inverse_bands.hpp>
#include <ossatura/kernels/factor/inverse_product.hpp>
#include <ossatura/kernels/factor/make_factor_pattern.hpp>
#include <ossatura/kernels/factor/published/dissection_solve.hpp>
#include <ossatura/kernels/factor/published/level_solve.hpp>
#include <ossatura/kernels/factor/supernode_solve.hpp>
#if defined(OSSATURA_BENCH_CUSPARSE)
#include "bench/host/factor_cusparse.hpp"
#endif

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace ossatura::bench {

namespace {

/// The factor, a vector, and the sequential solve's answer.
template<class Exec>
struct FactorCase {
  const SoftProblem& problem;
  CsrMatrix<double> rows; ///< of L
  std::vector<double> inverse_pivot, r_on_host, answer;
  SupernodalFactor<Exec> factor;
  Array<double, Exec> r, z, expected;

  FactorCase(const Exec& exec, SoftModel model)
      : problem(cached_soft_problem(model))
      , rows(factor_rows(problem.pattern, problem.ldlt.panel)) {
    for (const double pivot : problem.ldlt.pivot)
      inverse_pivot.push_back(1 / pivot);
    const std::int64_t n = std::int64_t(inverse_pivot.size());
    r = make_uninitialized<double>(exec, n, "ossatura::bench::r");
    z = make_zeros<double>(exec, n, "ossatura::bench::z");
    fill_random(exec, 1, r);
    fence(exec, "ossatura::bench::FactorCase");
    const auto copied = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), r);
    r_on_host.assign(copied.data(), copied.data() + n);
    answer.resize(r_on_host.size());
    solve_sequentially(rows, inverse_pivot.data(), r_on_host.data(), answer.data());
    expected = upload(exec, "ossatura::bench::expected", answer);
    factor = {upload_pattern(exec, problem.pattern),
              upload(exec, "ossatura::bench::panel", problem.ldlt.panel),
              upload(exec, "ossatura::bench::pivot", problem.ldlt.pivot)};
  }
  /// Of both directions.
  double entries() const { return 2 * double(rows.num_entries()); }
  /// Entries without columns, each once in both directions, and vectors.
  double least_bytes(double bytes_per_entry) const {
    return entries() * bytes_per_entry + 5 * 8 * double(r.extent(0));
  }
};

/// What a row reports beside its time.
struct FactorRow {
  double bound;      ///< on the relative difference from the sequential solve
  double bytes;      ///< read and written by an application, at the least
  double entries;    ///< multiplied and added, in both directions
  double levels = 0; ///< 0: does not apply
  bool record = true;
};

double quantile(std::vector<double> samples, double part) {
  std::sort(samples.begin(), samples.end());
  return samples[std::size_t(std::lround(part * double(samples.size() - 1)))];
}

/// `apply` launches the work from r to z.
template<class Exec, class Apply>
void verify_and_time(benchmark::State& state, const Exec& exec, const FactorCase<Exec>& own,
                     const FactorRow& row, const Apply& apply) {
  constexpr bool device = BackendTraits<Exec>::is_device;
  LaunchGraph<Exec> graph(row.record);
  const auto run = [&] { graph.run(exec, apply); };
  for (int i = 0; i < 3; ++i) // launched, recorded, replayed
    run();
  Kokkos::deep_copy(exec, own.z, 0.0);
  run();
  const double difference = relative_difference(exec, own.z, own.expected);
  if (!(difference <= row.bound))
    return fail_benchmark(state, "differs from the sequential solve by " +
                                     std::to_string(1e6 * difference) + "e-6");
  // As many as take some milliseconds, so that few wait for the first launch.
  const int batch = device ? std::clamp(int(5e-3 / timed(exec, run)), 1, 20) : 1;
  std::vector<double> samples;
  time_calls(
      state,
      [&] {
        const double seconds = timed(exec, run, batch);
        samples.push_back(seconds / batch);
        return seconds;
      },
      batch);
  const double median = quantile(samples, 0.5);
  state.counters["median_us"] = 1e6 * median;
  state.counters["p10_us"] = 1e6 * quantile(samples, 0.1);
  state.counters["p90_us"] = 1e6 * quantile(samples, 0.9);
  if (device) {
    std::vector<double> plain;
    for (int i = 0; i < std::min(21, int(samples.size())); ++i)
      plain.push_back(timed(exec, apply, batch) / batch);
    state.counters["stream_us"] = 1e6 * quantile(plain, 0.5);
    state.counters["graph"] = graph.state() == LaunchGraphState::replays;
  }
  state.counters["rows"] = double(own.r.extent(0));
  state.counters["entries"] = double(own.rows.num_entries());
  state.counters["MB"] = 1e-6 * row.bytes;
  report_rates<Exec, double>(state, row.bytes, 2 * row.entries, median);
  state.counters["difference"] = difference;
  if (row.levels > 0)
    state.counters["levels"] = row.levels;
}

/// What one refresh takes.
template<class Exec, class Refresh>
void time_refresh(benchmark::State& state, const Exec& exec, const Refresh& refresh) {
  refresh();
  state.counters["refresh_us"] = 1e6 / 3 * timed(exec, refresh, 3);
}

template<class Exec, class Solve>
void run_solve(benchmark::State& state, const Exec& exec, SoftModel model) {
  const FactorCase<Exec> own(exec, model);
  Solve solve(exec, own.problem.pattern);
  time_refresh(state, exec, [&] { solve.refresh(exec, own.factor); });
  verify_and_time(state, exec, own,
                  {1e-9, double(solve.bytes()), own.entries(), double(solve.num_levels())},
                  [&] { solve.apply(exec, own.r, own.z); });
}

template<class Exec, class Storage>
void run_inverse(benchmark::State& state, const Exec& exec, SoftModel model, int bands) {
  const FactorCase<Exec> own(exec, model);
  const InverseLayout layout =
      choose_inverse_layout(own.problem.pattern, bands, int(sizeof(Storage)),
                            inverse_cost(BackendTraits<Exec>::is_device));
  const auto inverse = make_inverse_factor<Storage>(exec, own.factor.pattern, layout);
  const DiagonalInverse<Exec> diagonal = make_diagonal_inverse(exec, own.problem.pattern);
  const InverseForming<Exec, Storage> forming(exec, own.problem.pattern, layout);
  const InverseProduct<Exec, Storage> product(exec, own.problem.pattern, layout);
  time_refresh(state, exec, [&] {
    invert_diagonal_blocks(exec, own.factor, diagonal, inverse.inverse_pivot);
    forming.form(exec, own.factor, diagonal, inverse);
  });
  const double bytes =
      2.0 * sizeof(Storage) * double(layout.num_entries) + 5 * 8 * double(own.r.extent(0));
  const double bound = sizeof(Storage) == 8 ? 1e-9 : sizeof(Storage) == 4 ? 1e-3 : 1e-1;
  state.counters["bands"] = layout.num_bands();
  verify_and_time(state, exec, own,
                  {bound, bytes, 2 * double(layout.num_entries), double(layout.num_bands())},
                  [&] { product.apply(exec, inverse, own.r, own.z); });
}

template<class Exec>
void run_sequential(benchmark::State& state, const Exec& exec, SoftModel model) {
  const FactorCase<Exec> own(exec, model);
  verify_and_time(state, exec, own, {1e-9, own.least_bytes(12), own.entries(), 0, false}, [&] {
    solve_sequentially(own.rows, own.inverse_pivot.data(), own.r.data(), own.z.data());
  });
}

/// y(i) = scale(i) x(i).
template<class Exec, class Scalar>
struct Multiply {
  Array<double, Exec> scale;
  Array<Scalar, Exec> x, y;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { y(i) = Scalar(scale(i)) * x(i); }
};

template<class Exec, class Scalar>
void multiply(const Exec& exec, const Array<double, Exec>& scale, const Array<Scalar, Exec>& x,
              const Array<Scalar, Exec>& y) {
  Kokkos::parallel_for("ossatura::bench::multiply", range(exec, x.extent(0)),
                       Multiply<Exec, Scalar>{scale, x, y});
}

#if defined(OSSATURA_BENCH_KOKKOS_KERNELS)
enum class KokkosKernelsWay { rows, teams, supernodes };

template<class Exec>
void run_kokkos_kernels(benchmark::State& state, const Exec& exec, SoftModel model,
                        KokkosKernelsWay way) {
  const FactorCase<Exec> own(exec, model);
  const auto y = make_zeros<double>(exec, std::int64_t(own.r.extent(0)), "ossatura::bench::y");
  const auto scale = upload(exec, "ossatura::bench::inverse_pivot", own.inverse_pivot);
  const bool supernodes = way == KokkosKernelsWay::supernodes;
  const TriangleSolves solves =
      supernodes
          ? kokkos_kernels_supernodes(exec, own.problem.pattern, own.problem.ldlt.panel, own.r, y,
                                      own.z)
          : kokkos_kernels_solves(exec, own.rows, way == KokkosKernelsWay::teams, own.r, y, own.z);
  if (!solves.lower)
    return skip_benchmark(state, "Kokkos Kernels was not built for this backend");
  verify_and_time(state, exec, own, {1e-9, own.least_bytes(12), own.entries(), 0, false}, [&] {
    solves.lower();
    multiply(exec, scale, y, y);
    solves.upper();
  });
}
#endif

#if defined(OSSATURA_BENCH_CUSPARSE)
template<class Scalar>
void run_cusparse(benchmark::State& state, const Cuda& exec, SoftModel model) {
  const FactorCase<Cuda> own(exec, model);
  const std::int64_t n = std::int64_t(own.r.extent(0));
  const CsrMatrix<double> rows = with_unit_diagonal(own.rows);
  const auto row_begin = upload(exec, "ossatura::bench::row_begin", rows.row_begin);
  const auto column = upload(exec, "ossatura::bench::column", rows.column);
  const auto value = upload(exec, "ossatura::bench::value",
                            std::vector<Scalar>(rows.value.begin(), rows.value.end()));
  const auto scale = upload(exec, "ossatura::bench::inverse_pivot", own.inverse_pivot);
  const auto r = make_zeros<Scalar>(exec, n, "ossatura::bench::r");
  const auto y = make_zeros<Scalar>(exec, n, "ossatura::bench::y");
  const auto z = make_zeros<Scalar>(exec, n, "ossatura::bench::z");
  copy(exec, own.r, r);
  std::vector<Array<char, Cuda>> buffers;
  CusparseTriangle triangle;
  triangle.stream = exec.cuda_stream();
  triangle.num_rows = n;
  triangle.num_entries = std::int64_t(rows.num_entries());
  triangle.row_begin = row_begin.data();
  triangle.column = column.data();
  triangle.value = value.data();
  triangle.r = r.data();
  triangle.y = y.data();
  triangle.z = z.data();
  triangle.single_precision = sizeof(Scalar) == 4;
  triangle.allocate = [&](std::size_t bytes) -> void* {
    buffers.emplace_back("ossatura::bench::buffer", bytes);
    return buffers.back().data();
  };
  CusparseSolve solve(triangle);
  const double bound = sizeof(Scalar) == 8 ? 1e-9 : 1e-3;
  const auto apply = [&] {
    solve.lower();
    multiply(exec, scale, y, y);
    solve.upper();
  };
  // The answer is looked at through the array of doubles; its copy is not part of the time.
  apply();
  copy(exec, z, own.z);
  const double difference = relative_difference(exec, own.z, own.expected);
  if (!(difference <= bound))
    return fail_benchmark(state, "differs from the sequential solve by " +
                                     std::to_string(1e6 * difference) + "e-6");
  verify_and_time(state, exec, own,
                  {1e300, own.least_bytes(4 + sizeof(Scalar)), own.entries(), 0, false}, apply);
  state.counters["difference"] = difference;
}
#endif

std::string row_name(const std::string& way, const std::string& backend, SoftModel model) {
  return "factor_apply/" + way + '/' + backend + '/' + name_of(model);
}

template<class Exec>
void register_rows(const Options& options, SoftModel model) {
  const auto add = [&](const std::string& way, auto run) {
    add_row(options, row_name(way, BackendTraits<Exec>::name, model),
            [=](benchmark::State& state) { run(state, Exec(), model); });
  };
  using State = benchmark::State;
  add("levels",
      [](State& s, const Exec& e, SoftModel m) { run_solve<Exec, LevelSolve<Exec>>(s, e, m); });
  add("dissection", [](State& s, const Exec& e, SoftModel m) {
    run_solve<Exec, DissectionSolve<Exec>>(s, e, m);
  });
  add("supernodes",
      [](State& s, const Exec& e, SoftModel m) { run_solve<Exec, SupernodeSolve<Exec>>(s, e, m); });
  // On cores W of the cube takes minutes to make unless it is cut in many bands.
  const bool whole = BackendTraits<Exec>::is_device || model != SoftModel::cube;
  if (whole)
    add("inverse_fp64",
        [](State& s, const Exec& e, SoftModel m) { run_inverse<Exec, double>(s, e, m, 1); });
  for (const int bands : {1, 2, 3, 4, 0})
    if (whole || bands == 0) {
      const std::string end = bands == 0 ? "_auto" : bands == 1 ? "" : "_k" + std::to_string(bands);
      add("inverse_fp32" + end, [bands](State& s, const Exec& e, SoftModel m) {
        run_inverse<Exec, float>(s, e, m, bands);
      });
      add("inverse_fp16" + end, [bands](State& s, const Exec& e, SoftModel m) {
        run_inverse<Exec, Half>(s, e, m, bands);
      });
    }
#if defined(OSSATURA_BENCH_KOKKOS_KERNELS)
  const auto add_kokkos_kernels = [&](const char* name, KokkosKernelsWay kernels) {
    add(name, [=](State& s, const Exec& e, SoftModel m) { run_kokkos_kernels(s, e, m, kernels); });
  };
  add_kokkos_kernels("kokkos_kernels_rp", KokkosKernelsWay::rows);
  add_kokkos_kernels("kokkos_kernels_tp1", KokkosKernelsWay::teams);
  if (has_kokkos_kernels_supernodes())
    add_kokkos_kernels("kokkos_kernels_etree", KokkosKernelsWay::supernodes);
#endif
#if defined(OSSATURA_BENCH_CUSPARSE)
  if constexpr (BackendTraits<Exec>::is_device) {
    add("cusparse_fp64",
        [](State& s, const Exec& e, SoftModel m) { run_cusparse<double>(s, e, m); });
    add("cusparse_fp32",
        [](State& s, const Exec& e, SoftModel m) { run_cusparse<float>(s, e, m); });
  }
#endif
}

} // namespace

void register_factor_apply(const Options& options) {
  using Host = Kokkos::DefaultHostExecutionSpace;
  for (const SoftModel model : soft_models(options)) {
    add_row(options, row_name("sequential", "host", model),
            [model](benchmark::State& state) { run_sequential(state, Host(), model); });
    for_each_backend(options, [&](auto backend) {
      register_rows<BackendOf<decltype(backend)>>(options, model);
    });
  }
}

} // namespace ossatura::bench
