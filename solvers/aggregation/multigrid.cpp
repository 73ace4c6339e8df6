// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/aggregation/multigrid.hpp>

#include <ossatura/kernels/aggregation/invert_diagonal_blocks.hpp>
#include <ossatura/kernels/aggregation/transfer.hpp>

namespace ossatura {

namespace {

constexpr std::int64_t largest_scratch = std::int64_t(1) << 25; ///< numbers of W at a time: 256 MiB
constexpr std::int64_t largest_dense = 3000; ///< rows; above, the coarsest level is smoothed alone

template<class Exec, class Scalar>
LevelVectors<Exec, Scalar> make_vectors(const Exec& exec, std::int64_t n, bool with_b) {
  return {make_zeros<Scalar>(exec, n, "ossatura::aggregation::x"),
          make_zeros<Scalar>(exec, n, "ossatura::aggregation::next"),
          with_b ? make_zeros<Scalar>(exec, n, "ossatura::aggregation::b") : Array<Scalar, Exec>()};
}

} // namespace

template<class Exec, class Scalar>
AggregationMultigrid<Exec, Scalar>::AggregationMultigrid(
    const Exec& exec, std::shared_ptr<const AggregationHierarchy<Exec>> hierarchy,
    const AggregationOptions& options)
    : hierarchy_(std::move(hierarchy))
    , options_(options) {
  const std::int64_t n = 3 * std::int64_t(hierarchy_->graph.num_rows);
  fine_.held = hierarchy_->held;
  fine_.cost = 1;
  fine_.vectors = make_vectors<Exec, Scalar>(exec, n, false);
  fine_.scratch = make_zeros<Scalar>(exec, n, "ossatura::aggregation::scratch");
  fine_.jacobi.blocks = make_uninitialized<Scalar>(exec, 2 * n, "ossatura::aggregation::jacobi");
  int height = 3;
  for (const AggregationLevel<Exec>& level : hierarchy_->levels) {
    prolongator_.push_back(
        make_uninitialized<Scalar>(exec, 6 * height * level.arrays.prolongator.num_entries(),
                                   "ossatura::aggregation::prolongator"));
    Coarse coarse;
    const std::int64_t rows = level.num_aggregates();
    coarse.held = level.coarse_held;
    coarse.cost = 0;
    coarse.matrix.graph = level.arrays.coarse;
    coarse.matrix.value = make_uninitialized<Scalar>(exec, 36 * level.arrays.coarse.num_entries(),
                                                     "ossatura::aggregation::matrix");
    coarse.vectors = make_vectors<Exec, Scalar>(exec, 6 * rows, true);
    coarse.jacobi.blocks =
        make_uninitialized<Scalar>(exec, 36 * rows, "ossatura::aggregation::jacobi");
    coarse_.push_back(std::move(coarse));
    height = 6;
  }
  direct_ = !coarse_.empty() && coarse_.back().vectors.x.extent(0) <= largest_dense;
}

template<class Exec, class Scalar>
template<class Level>
void AggregationMultigrid<Exec, Scalar>::prepare_smoother(const Exec& exec, int degree,
                                                          Level& level,
                                                          const Array<Scalar, Exec>& scratch) {
  const double largest = estimate_largest_eigenvalue(
      exec, options_.lanczos_steps, level.jacobi,
      [&](const auto& p, const auto& q) { level.multiply(exec, p, q); },
      [&](const auto& r) { clear(exec, level.held, r); }, scratch, level.vectors.x,
      level.vectors.next);
  // A level on which nothing acts is given any weights.
  level.largest_eigenvalue = largest > 0 && std::isfinite(largest) ? largest : 1;
  SmootherOptions smoother = options_.smoother;
  smoother.degree = degree;
  level.weights = smoothing_weights(smoother, level.largest_eigenvalue);
}

template<class Exec, class Scalar>
template<class Level>
Array<double, Exec>
AggregationMultigrid<Exec, Scalar>::coarsen(const Exec& exec, std::size_t number,
                                            const Array<double, Exec>& a, const Level& from) {
  const AggregationLevel<Exec>& level = hierarchy_->levels[number];
  constexpr int height = decltype(from.jacobi)::components;
  smooth_prolongator(exec, level.arrays, a, from.jacobi,
                     options_.prolongator_damping /
                         (options_.smoother.safety * from.largest_eigenvalue),
                     prolongator_[number]);
  const auto coarse = make_uninitialized<double>(exec, 36 * level.arrays.coarse.num_entries(),
                                                 "ossatura::aggregation::coarse");
  const std::vector<std::int64_t>&w_begin = level.product_begin, &c_begin = level.coarse_begin;
  const int count = level.num_aggregates();
  Array<double, Exec> w;
  for (int first = 0, last = 0; first < count; first = last) {
    while (last < count &&
           (last == first ||
            6 * height * (w_begin[std::size_t(last) + 1] - w_begin[std::size_t(first)]) <=
                largest_scratch))
      ++last;
    const std::int64_t num_products = w_begin[std::size_t(last)] - w_begin[std::size_t(first)];
    if (std::int64_t(w.extent(0)) < 6 * height * num_products)
      w = make_uninitialized<double>(exec, 6 * height * num_products, "ossatura::aggregation::w");
    coarse_rows<height>(exec, level.arrays, a, prolongator_[number], first, last, num_products,
                        c_begin[std::size_t(last)] - c_begin[std::size_t(first)], w, coarse);
  }
  fence(exec, "ossatura::AggregationMultigrid::coarsen"); // w goes
  Coarse& next = coarse_[number];
  copy(exec, coarse, next.matrix.value);
  invert_row_blocks(exec, next.matrix.graph, coarse, next.jacobi.blocks);
  return coarse;
}

template<class Exec, class Scalar>
void AggregationMultigrid<Exec, Scalar>::prepare(const Exec& exec,
                                                 const Operator<Exec, Scalar>& product,
                                                 Array<double, Exec> a) {
  const Graph<Exec>& graph = hierarchy_->graph;
  OSSATURA_REQUIRE(std::int64_t(a.extent(0)) == 9 * graph.num_entries(),
                   a.extent(0) << " numbers for " << graph.num_entries() << " blocks");
  invert_diagonal_blocks(exec, graph, fine_.held.mask, a, fine_.jacobi.blocks);
  prepare_finest(exec, product);
  if (coarse_.empty()) {
    fence(exec, "ossatura::AggregationMultigrid::prepare"); // a goes
    return;
  }
  const Array<double, Exec> matrix = coarsen(exec, 0, a, fine_);
  a = {}; // before others are made: it is the largest
  prepare_coarse(exec, matrix);
}

template<class Exec, class Scalar>
void AggregationMultigrid<Exec, Scalar>::update(const Exec& exec,
                                                const Operator<Exec, Scalar>& product) {
  prepare_finest(exec, product);
  fence(exec, "ossatura::AggregationMultigrid::update");
}

template<class Exec, class Scalar>
void AggregationMultigrid<Exec, Scalar>::prepare_finest(const Exec& exec,
                                                        const Operator<Exec, Scalar>& product) {
  fine_.matrix = {&product};
  prepare_smoother(exec, options_.smoother.degree, fine_, fine_.scratch);
  graph_ = std::make_unique<LaunchGraph<Exec>>();
  recorded_ = nullptr;
}

template<class Exec, class Scalar>
void AggregationMultigrid<Exec, Scalar>::prepare_coarse(const Exec& exec,
                                                        Array<double, Exec> matrix) {
  for (std::size_t number = 1; number < coarse_.size(); ++number) {
    Coarse& level = coarse_[number - 1];
    prepare_smoother(exec, options_.coarse_degree, level, level.vectors.b);
    matrix = coarsen(exec, number, matrix, level);
  }
  Coarse& coarsest = coarse_.back();
  if (direct_) {
    const auto dense = dense_block_rows(exec, coarsest.matrix.graph, matrix);
    inverse_ = invert_semidefinite<Scalar>(exec, dense, coarsest.vectors.x.extent(0), 1e-13);
  } else {
    prepare_smoother(exec, options_.coarse_degree, coarsest, coarsest.vectors.b);
  }
  fence(exec, "ossatura::AggregationMultigrid::prepare"); // scratch goes
}

template<class Exec, class Scalar>
Array<Scalar, Exec> AggregationMultigrid<Exec, Scalar>::cycle_coarse(const Exec& exec,
                                                                     std::size_t number,
                                                                     const Array<Scalar, Exec>& b) {
  Coarse& level = coarse_[number];
  double work = 0;
  if (number + 1 < coarse_.size())
    return detail::cycle(exec, level, b, 1, work, [&](const auto& r, const auto& x) {
      const AggregationArrays<Exec>& arrays = hierarchy_->levels[number + 1].arrays;
      const Coarse& next = coarse_[number + 1];
      restrict_residual<6>(exec, arrays, prolongator_[number + 1], r, next.vectors.b);
      prolongate<6>(exec, arrays, prolongator_[number + 1],
                    cycle_coarse(exec, number + 1, next.vectors.b), x);
    });
  if (direct_) {
    apply_dense(exec, inverse_, b, level.vectors.x);
    return level.vectors.x;
  }
  Array<Scalar, Exec> x = level.vectors.x, next = level.vectors.next;
  smooth_from_zero(exec, level.system(), level.weights, b, x, next);
  return x;
}

template<class Exec, class Scalar>
Array<Scalar, Exec> AggregationMultigrid<Exec, Scalar>::cycle(const Exec& exec,
                                                              const Array<Scalar, Exec>& b) {
  double work = 0;
  return detail::cycle(exec, fine_, b, 1, work, [&](const auto& r, const auto& x) {
    if (coarse_.empty())
      return;
    const AggregationArrays<Exec>& arrays = hierarchy_->levels[0].arrays;
    restrict_residual<3>(exec, arrays, prolongator_[0], r, coarse_[0].vectors.b);
    prolongate<3>(exec, arrays, prolongator_[0], cycle_coarse(exec, 0, coarse_[0].vectors.b), x);
  });
}

template<class Exec, class Scalar>
Array<Scalar, Exec> AggregationMultigrid<Exec, Scalar>::apply(const Exec& exec,
                                                              const Array<Scalar, Exec>& b) {
  if (b.data() != recorded_) {
    graph_ = std::make_unique<LaunchGraph<Exec>>();
    recorded_ = b.data();
  }
  graph_->run(exec, [&] { result_ = cycle(exec, b); });
  return result_;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template class AggregationMultigrid<Exec, float>;                                                \
  template class AggregationMultigrid<Exec, double>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
