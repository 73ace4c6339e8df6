// SPDX-License-Identifier: Apache-2.0
// L D L^T on a backend against the host's, the inverse W = L^-1 and its products against dense
// elimination.
#include "tests/backend_test.hpp"
#include "tests/reference/dense_cholesky.hpp"
#include "tests/reference/dense_solve.hpp"
#include "tests/solvers/krylov/spd_problem.hpp"
#include <ossatura/kernels/factor/batched.hpp>
#include <ossatura/kernels/factor/form_inverse.hpp>
#include <ossatura/kernels/factor/inverse_bands.hpp>
#include <ossatura/kernels/factor/inverse_product.hpp>
#include <ossatura/kernels/softbody/elements/polar_rotation.hpp>

namespace {

using namespace ossatura;
using test::dot;
using test::Graph;
using test::random_vector;
using test::relative_difference;
using test::SpdProblem;

template<class View>
auto to_host(const View& array) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), array);
  return std::vector<typename View::value_type>(host.data(), host.data() + host.extent(0));
}

Graph complete(int n) {
  Graph graph(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j)
      test::join(graph, i, j);
  return graph;
}

/// Irregular, a mesh, panels whose only child hands its update on, a forest, one node.
std::vector<SpdProblem> problems() {
  Graph forest(24);
  for (int i = 1; i < 12; ++i)
    test::join(forest, i, i / 2);
  for (int i = 13; i < 20; ++i)
    test::join(forest, i, 12);
  return {test::make_spd_problem(test::random_graph(70, 150, 1), 1),
          test::dissected_problem(test::box_graph(4, 5, 4), 2),
          test::make_spd_problem(complete(50), 3), test::make_spd_problem(forest, 4),
          test::make_spd_problem(Graph(1), 5)};
}

/// A factor on a backend and what comes with it.
template<class Exec>
struct Made {
  SupernodalFactor<Exec> factor;
  DiagonalInverse<Exec> diagonal;
  Array<double, Exec> inverse_pivot;
  int replaced = 0;
};

template<class Exec>
Made<Exec> allocate(const Exec& exec, const SpdProblem& problem) {
  Made<Exec> made;
  made.factor = test::upload_factor(exec, problem); // to be overwritten
  Kokkos::deep_copy(exec, made.factor.panel, 7.0);
  Kokkos::deep_copy(exec, made.factor.pivot, 7.0);
  made.diagonal = make_diagonal_inverse(exec, problem.pattern);
  made.inverse_pivot = make_zeros<double>(exec, problem.num_rows(), "test::inverse_pivot");
  return made;
}

template<class Exec>
Made<Exec> factor_on(const Exec& exec, const BatchedFactor<Exec>& batched,
                     const SpdProblem& problem) {
  Made<Exec> made = allocate(exec, problem);
  BlockMatrix<Exec> matrix;
  matrix.num_rows = problem.num_rows() / 3;
  matrix.row_begin = upload(exec, "test::row_begin", problem.row_begin);
  matrix.column = upload(exec, "test::column", problem.column);
  matrix.value = upload(exec, "test::value", problem.value);
  const auto replaced = make_zeros<int>(exec, 1, "test::replaced");
  batched.factor(exec, matrix, made.factor, made.inverse_pivot, made.diagonal, replaced);
  fence(exec, "test::factor");
  made.replaced = to_host(replaced)[0];
  return made;
}

template<class Exec>
BatchedFactor<Exec> make_batched(const Exec& exec, const SpdProblem& problem) {
  return {exec, problem.pattern, problem.row_begin, problem.column};
}

/// L_ss X for the inverse X of every diagonal block is the identity.
double diagonal_error(const SpdProblem& problem, const std::vector<double>& inverse) {
  double worst = 0;
  const double* x = inverse.data();
  for (int s = 0; s < problem.pattern.num_panels(); ++s) {
    const int n = 3 * problem.pattern.width(s), height = 3 * problem.pattern.height(s);
    const double* const l = problem.factor.panel.data() + problem.pattern.begin[s];
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = i == j ? -1 : 0;
        for (int k = 0; k < n; ++k)
          sum += l[k * height + i] * x[j * n + k];
        worst = std::abs(sum) <= worst ? worst : std::abs(sum);
      }
    x += n * n;
  }
  return worst;
}

OSSATURA_BACKEND_TEST("The factor of a backend is that of the host", "[inverse_factor]") {
  const TestType exec;
  for (const SpdProblem& problem : problems()) {
    CAPTURE(problem.num_rows());
    const auto batched = make_batched(exec, problem);
    const Made<TestType> made = factor_on(exec, batched, problem);
    CHECK(relative_difference(to_host(made.factor.panel), problem.factor.panel) < 1e-13);
    const std::vector<double> pivot = to_host(made.factor.pivot);
    CHECK(relative_difference(pivot, problem.factor.pivot) < 1e-13);
    std::vector<double> inverse_pivot = to_host(made.inverse_pivot);
    for (std::size_t i = 0; i < pivot.size(); ++i)
      inverse_pivot[i] *= pivot[i];
    CHECK(relative_difference(inverse_pivot, std::vector<double>(pivot.size(), 1.0)) < 1e-14);
    CHECK(made.replaced == 0);
    const std::vector<double> inverse = to_host(made.diagonal.value);
    CHECK(diagonal_error(problem, inverse) < 1e-13);

    const Made<TestType> again = factor_on(exec, batched, problem); // after another's updates
    CHECK(to_host(again.factor.panel) == to_host(made.factor.panel));
    CHECK(to_host(again.factor.pivot) == pivot);
    CHECK(to_host(again.diagonal.value) == inverse);
  }
}

OSSATURA_BACKEND_TEST("What comes with a factor of the host is the same", "[inverse_factor]") {
  const TestType exec;
  const SpdProblem problem = test::dissected_problem(test::box_graph(4, 4, 3), 6);
  const Made<TestType> made = allocate(exec, problem);
  invert_diagonal_blocks(exec, test::upload_factor(exec, problem), made.diagonal,
                         made.inverse_pivot);
  fence(exec, "test::invert");
  CHECK(diagonal_error(problem, to_host(made.diagonal.value)) < 1e-13);
  const std::vector<double> inverse_pivot = to_host(made.inverse_pivot);
  bool inverse = true;
  for (std::size_t i = 0; i < inverse_pivot.size(); ++i)
    inverse = inverse && inverse_pivot[i] == 1 / problem.factor.pivot[i];
  CHECK(inverse);
}

OSSATURA_BACKEND_TEST("Pivots are replaced as on the host", "[inverse_factor]") {
  const TestType exec;
  for (const unsigned seed : {1u, 2u}) {
    SpdProblem problem = test::make_spd_problem(test::random_graph(60, 120, seed), seed);
    for (const int node : {10, 35})
      for (int k = problem.row_begin[node]; k < problem.row_begin[node + 1]; ++k)
        for (std::size_t c = 0; c < 3; ++c)
          if (problem.column[k] == node)
            problem.value[9 * std::size_t(k) + 4 * c] *= -1;
    factor_on_host(problem.pattern, problem.row_begin, problem.column, problem.value.data(),
                   problem.factor);
    REQUIRE(problem.factor.num_replaced == 6);
    const Made<TestType> made = factor_on(exec, make_batched(exec, problem), problem);
    CHECK(made.replaced == 6);
    CHECK(relative_difference(to_host(made.factor.pivot), problem.factor.pivot) < 1e-12);
    CHECK(relative_difference(to_host(made.factor.panel), problem.factor.panel) < 1e-12);
  }
}

/// L of a problem, dense.
std::vector<double> dense_factor(const SpdProblem& problem) {
  const FactorPattern& pattern = problem.pattern;
  const std::size_t n = std::size_t(problem.num_rows());
  std::vector<double> l(n * n, 0.0);
  for (int s = 0; s < pattern.num_panels(); ++s)
    for (std::size_t k = 0; k < std::size_t(3 * pattern.width(s)); ++k)
      for (std::size_t i = 0; i < std::size_t(3 * pattern.height(s)); ++i) {
        const int node = int(i / 3) < pattern.width(s)
                             ? pattern.first[s] + int(i / 3)
                             : pattern.row[pattern.row_begin[s] + int(i / 3) - pattern.width(s)];
        l[(3 * std::size_t(node) + i % 3) * n + 3 * std::size_t(pattern.first[s]) + k] =
            problem.factor
                .panel[std::size_t(pattern.begin[s]) + k * std::size_t(3 * pattern.height(s)) + i];
      }
  return l;
}

template<class Storage, class Exec>
InverseFactor<Exec, Storage> form(const Exec& exec, const SpdProblem& problem,
                                  const Made<Exec>& made, const InverseLayout& layout) {
  auto inverse = make_inverse_factor<Storage>(exec, made.factor.pattern, layout);
  Kokkos::deep_copy(exec, inverse.value, Storage(3.0f)); // what was there before
  Kokkos::deep_copy(exec, inverse.inverse_pivot, made.inverse_pivot);
  InverseForming<Exec, Storage>(exec, problem.pattern, layout)
      .form(exec, made.factor, made.diagonal, inverse);
  fence(exec, "test::form");
  return inverse;
}

/// Values do not depend on it.
constexpr InverseCost some_cost{1, 1, 1};

InverseLayout cut(const SpdProblem& problem, int bands) {
  return choose_inverse_layout(problem.pattern, bands, 8, some_cost);
}

/// W against the dense inverse, and zeros around it.
template<class Storage, class Exec>
void check_inverse(const Exec& exec, const SpdProblem& problem, const Made<Exec>& made,
                   const std::vector<double>& dense, double allowed) {
  const InverseLayout layout = make_inverse_layout(problem.pattern);
  const std::vector<Storage> value = to_host(form<Storage>(exec, problem, made, layout).value);
  const int n = problem.num_rows();
  double error = 0, largest = 0;
  bool padded = true, aligned = true;
  for (int s = 0; s < problem.pattern.num_panels(); ++s) {
    const int least = 3 * problem.pattern.subtree_first[s];
    aligned = aligned && layout.begin[s] % 8 == 0 && layout.origin[s] % 8 == 0 &&
              layout.stride[s] % 8 == 0;
    for (int i = 3 * problem.pattern.first[s]; i < 3 * problem.pattern.first[s + 1]; ++i)
      for (int j = 0; j < std::max(n, layout.origin[s] + layout.stride[s]); ++j) {
        const double exact = j < n ? dense[std::size_t(i) * std::size_t(n) + std::size_t(j)] : 0;
        const bool stored = j >= layout.origin[s] && j < layout.origin[s] + layout.stride[s];
        const std::size_t at = std::size_t(layout.begin[s]) +
                               std::size_t((i - 3 * problem.pattern.first[s]) * layout.stride[s] +
                                           j - layout.origin[s]);
        const double w = stored ? double(value[at]) : 0;
        if (j < least || j >= 3 * problem.pattern.first[s + 1])
          padded = padded && w == 0;
        error = std::abs(w - exact) <= error ? error : std::abs(w - exact);
        largest = std::max(largest, std::abs(exact));
      }
  }
  CHECK(aligned);
  CHECK(padded);
  CHECK(error < allowed * largest);
}

OSSATURA_BACKEND_TEST("W is the inverse of L, with zeros around it", "[inverse_factor]") {
  const TestType exec;
  for (const SpdProblem& problem : problems()) {
    CAPTURE(problem.num_rows());
    const Made<TestType> made = factor_on(exec, make_batched(exec, problem), problem);
    const std::vector<double> dense =
        ::reference::dense_inverse(dense_factor(problem), problem.num_rows());
    check_inverse<double>(exec, problem, made, dense, 1e-12);
    check_inverse<float>(exec, problem, made, dense, 1e-5);
    check_inverse<Half>(exec, problem, made, dense, 1e-3);
    const InverseLayout layout = make_inverse_layout(problem.pattern);
    CHECK(to_host(form<float>(exec, problem, made, layout).value) ==
          to_host(form<float>(exec, problem, made, layout).value));
  }
}

/// The inverse of L where columns of other bands are those of I: P_k.
std::vector<double> dense_band_inverse(const SpdProblem& problem, const InverseLayout& layout,
                                       const std::vector<double>& factor, int band) {
  const std::size_t n = std::size_t(problem.num_rows());
  std::vector<double> l = factor;
  for (std::size_t j = 0; j < n; ++j)
    if (layout.band[std::size_t(problem.pattern.panel_of[j / 3])] != band)
      for (std::size_t i = 0; i < n; ++i)
        l[i * n + j] = i == j;
  return ::reference::dense_inverse(l, problem.num_rows());
}

/// The stored rows of the nodes `nodes` against those of the dense P_k of their columns' band.
/// Counts the entries that are right.
template<class Storage>
struct RowCheck {
  const SpdProblem& problem;
  const InverseLayout& layout;
  const std::vector<Storage>& value;
  double error = 0, largest = 0;
  bool padded = true;
  std::vector<char> seen = {}; ///< [rows, rows] entries of the band that are stored

  void rows(const std::vector<double>& dense, const std::vector<int>& nodes, std::int64_t begin,
            int origin, int stride, int root) {
    const FactorPattern& pattern = problem.pattern;
    const std::size_t n = std::size_t(problem.num_rows());
    std::vector<int> scalar_of(std::size_t(stride), -1);
    for (int s = 0; s < pattern.num_panels(); ++s) // of the subtree of `root` within its band
      if (layout.band[s] == layout.band[root] && s <= root &&
          pattern.first[s] >= pattern.subtree_first[root])
        for (int c = 0; c < 3 * pattern.width(s); ++c)
          scalar_of[std::size_t(layout.column[s] + c - origin)] = 3 * pattern.first[s] + c;
    for (std::size_t i = 0; i < 3 * nodes.size(); ++i)
      for (std::size_t c = 0; c < std::size_t(stride); ++c) {
        const double w = double(value[std::size_t(begin) + i * std::size_t(stride) + c]);
        const std::size_t row = 3 * std::size_t(nodes[i / 3]) + i % 3;
        if (scalar_of[c] < 0) {
          padded = padded && w == 0;
          continue;
        }
        const std::size_t at = row * n + std::size_t(scalar_of[c]);
        error = std::abs(w - dense[at]) <= error ? error : std::abs(w - dense[at]);
        largest = std::max(largest, std::abs(dense[at]));
        seen[at] = 1;
      }
  }
};

template<class Storage, class Exec>
void check_bands(const Exec& exec, const SpdProblem& problem, const Made<Exec>& made, int bands,
                 double allowed) {
  const FactorPattern& pattern = problem.pattern;
  const InverseLayout layout = cut(problem, bands);
  const std::vector<Storage> value = to_host(form<Storage>(exec, problem, made, layout).value);
  CHECK(std::int64_t(value.size()) == layout.num_entries);
  const std::vector<double> l = dense_factor(problem);
  double missed = 0;
  RowCheck<Storage> check{problem, layout, value};
  for (int band = 0; band < layout.num_bands(); ++band) {
    const std::vector<double> dense = dense_band_inverse(problem, layout, l, band);
    check.seen.assign(dense.size(), 0);
    for (int s = 0; s < pattern.num_panels(); ++s)
      if (layout.band[s] == band) {
        std::vector<int> nodes;
        for (int i = pattern.first[s]; i < pattern.first[s + 1]; ++i)
          nodes.push_back(i);
        check.rows(dense, nodes, layout.begin[s], layout.origin[s], layout.stride[s], s);
      }
    for (const InverseUpdate& update : layout.updates)
      if (layout.band[update.root] == band) {
        const auto first = pattern.row.begin();
        const std::vector<int> nodes(first + pattern.row_begin[update.root],
                                     first + pattern.row_begin[update.root + 1]);
        check.rows(dense, nodes, update.begin, update.origin, update.stride, update.root);
      }
    for (std::size_t at = 0; at < dense.size(); ++at) {
      const std::size_t n = std::size_t(problem.num_rows());
      const bool diagonal = at / n == at % n;
      missed = std::max(missed, check.seen[at] ? 0 : std::abs(dense[at] - double(diagonal)));
    }
  }
  CHECK(check.padded);
  CHECK(check.error < allowed * check.largest);
  CHECK(missed < 1e-13 * check.largest); // what is not stored is the identity
}

OSSATURA_BACKEND_TEST("Bands of W are the inverses of their parts of L", "[inverse_factor]") {
  const TestType exec;
  const SpdProblem problem = test::dissected_problem(test::box_graph(4, 5, 4), 2);
  const Made<TestType> made = factor_on(exec, make_batched(exec, problem), problem);
  for (const int bands : {1, 2, 3, 4}) {
    CAPTURE(bands);
    CHECK(cut(problem, bands).num_bands() == bands);
    check_bands<double>(exec, problem, made, bands, 1e-12);
    check_bands<float>(exec, problem, made, bands, 1e-5);
    check_bands<Half>(exec, problem, made, bands, 1e-3);
  }
}

template<class Storage, class Exec>
class Product {
public:
  Product(const Exec& exec, const SpdProblem& problem, const Made<Exec>& made,
          const InverseLayout& layout)
      : exec_(exec)
      , inverse_(form<Storage>(exec, problem, made, layout))
      , product_(exec, problem.pattern, layout) {}

  std::vector<double> operator()(const std::vector<double>& r, bool in_place = false,
                                 const std::vector<double>& rotation = {}) {
    const auto from = upload(exec_, "test::r", r);
    const auto to = in_place ? from : make_zeros<double>(exec_, from.extent(0), "test::z");
    if (!in_place)
      Kokkos::deep_copy(exec_, to, std::nan("")); // nothing of it may be read
    Array<double, Exec> turn;
    if (!rotation.empty())
      turn = upload(exec_, "test::rotation", rotation);
    product_.apply(exec_, inverse_, from, to, turn);
    fence(exec_, "test::apply");
    return to_host(to);
  }

  /// As the solver calls it; the sum of r . z.
  double dots(const std::vector<double>& r, int stop, std::vector<double>& z) {
    const auto from = upload(exec_, "test::r", r);
    const auto to = upload(exec_, "test::z", z);
    const auto parts = make_zeros<double>(exec_, product_.num_tiles(), "test::dots");
    product_.apply_rotated(exec_, inverse_, from, to, {}, parts,
                           upload(exec_, "test::stop", std::vector<int>(1, stop)));
    fence(exec_, "test::apply_rotated");
    z = to_host(to);
    double sum = 0;
    for (const double part : to_host(parts))
      sum += part;
    return sum;
  }

private:
  Exec exec_;
  InverseFactor<Exec, Storage> inverse_;
  InverseProduct<Exec, Storage> product_;
};

/// Rotations of the nodes, row-major.
std::vector<double> random_rotations(int num_nodes) {
  const std::vector<double> numbers = random_vector(9 * num_nodes, 9);
  std::vector<double> rotation(numbers.size());
  for (std::size_t i = 0; i < rotation.size(); i += 9) {
    Matrix3 a;
    for (int k = 0; k < 9; ++k)
      a(k / 3, k % 3) = numbers[i + std::size_t(k)];
    const Matrix3 r = polar_rotation(a);
    for (int k = 0; k < 9; ++k)
      rotation[i + std::size_t(k)] = r(k / 3, k % 3);
  }
  return rotation;
}

/// R x or R^T x, node by node.
std::vector<double> turn(const std::vector<double>& rotation, const std::vector<double>& x,
                         bool back) {
  std::vector<double> y(x.size(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k)
      y[i] += rotation[9 * (i / 3) + (back ? 3 * k + i % 3 : 3 * (i % 3) + k)] * x[i / 3 * 3 + k];
  return y;
}

/// `rounding`: of the storage; `sum`: of the arithmetic.
template<class Storage, class Exec>
void check_product(const Exec& exec, const SpdProblem& problem, const Made<Exec>& made, int bands,
                   double rounding, double arithmetic) {
  Product<Storage, Exec> product(exec, problem, made, cut(problem, bands));
  const std::vector<double> dense = problem.dense();
  const std::vector<double> r = random_vector(problem.num_rows(), 1);
  const std::vector<double> s = random_vector(problem.num_rows(), 2);
  const std::vector<double> z = product(r), w = product(s);
  CHECK(relative_difference(z, reference::solve_dense(dense, r)) < rounding);
  CHECK(dot(r, z) > 0);
  CHECK(std::abs(dot(r, w) - dot(s, z)) < arithmetic * std::sqrt(dot(r, z) * dot(s, w)));
  CHECK(product(r, true) == z); // in place, and again
  const std::vector<double> rotation = random_rotations(problem.num_rows() / 3);
  const std::vector<double> turned =
      turn(rotation, reference::solve_dense(dense, turn(rotation, r, true)), false);
  CHECK(relative_difference(product(r, false, rotation), turned) < rounding);
  // rotated() still holds R^T r of the last call.
  std::vector<double> unturned(r.size(), 5.0);
  const double rz = product.dots(s, 0, unturned);
  CHECK(relative_difference(turn(rotation, unturned, false), turned) < rounding);
  CHECK(rz == Approx(dot(s, unturned)).epsilon(1e-12));
  std::vector<double> kept(r.size(), 5.0);
  CHECK(product.dots(s, 1, kept) == 0);
  CHECK(kept == std::vector<double>(r.size(), 5.0));
}

OSSATURA_BACKEND_TEST("Products with W solve with the matrix", "[inverse_factor]") {
  const TestType exec;
  for (const SpdProblem& problem : problems()) {
    CAPTURE(problem.num_rows());
    const Made<TestType> made = factor_on(exec, make_batched(exec, problem), problem);
    for (const int bands : {1, 2, 3, 4}) { // as many as the tree has
      CAPTURE(bands);
      check_product<double>(exec, problem, made, bands, 1e-12, 1e-13);
      check_product<float>(exec, problem, made, bands, 1e-5, 1e-6);
      check_product<Half>(exec, problem, made, bands, 1e-2, 1e-6);
    }
  }
}

/// Rows longer than a task takes: of a path eliminated from one end, in single panels.
OSSATURA_BACKEND_TEST("Rows of W are summed in parts", "[inverse_factor]") {
  const TestType exec;
  const int n = 400;
  Graph graph(n);
  std::vector<int> order;
  for (int i = 0; i < n; ++i) {
    order.push_back(i);
    test::join(graph, i, std::max(0, i - 1));
  }
  const SpdProblem problem = test::make_spd_problem(graph, 7, order);
  const InverseLayout layout = make_inverse_layout(problem.pattern);
  REQUIRE(*std::max_element(layout.stride.begin(), layout.stride.end()) > 1024);
  const Made<TestType> made = factor_on(exec, make_batched(exec, problem), problem);
  const std::vector<double> x = random_vector(problem.num_rows(), 3);
  for (const int bands : {1, 2})
    CHECK(relative_difference(Product<double, TestType>(exec, problem, made,
                                                        cut(problem, bands))(problem.multiply(x)),
                              x) < 1e-12);
}

/// Nodes that are joined to all of a few are eliminated first: trees of one node, and many rows
/// above each of them in the columns of a tile.
OSSATURA_BACKEND_TEST("Tiles with many rows above their band are summed in parts",
                      "[inverse_factor]") {
  const TestType exec;
  const int leaves = 32, last = 60;
  Graph graph(leaves + last);
  std::vector<int> order;
  for (int i = 0; i < leaves + last; ++i) {
    order.push_back(i);
    for (int j = std::max(i, leaves) + 1; j < leaves + last; ++j)
      test::join(graph, i, j);
  }
  const SpdProblem problem = test::make_spd_problem(graph, 8, order);
  const InverseLayout layout = make_inverse_layout(problem.pattern, {1});
  int rows = 0; // above the trees of the first 16 nodes, which may be a tile
  for (const InverseUpdate& update : layout.updates)
    if (layout.column[update.root] < detail::column_tile)
      rows += 3 * problem.pattern.num_below(update.root);
  REQUIRE(rows > detail::most_scratch_rows);
  const Made<TestType> made = factor_on(exec, make_batched(exec, problem), problem);
  const std::vector<double> x = random_vector(problem.num_rows(), 3);
  CHECK(relative_difference(
            Product<double, TestType>(exec, problem, made, layout)(problem.multiply(x)), x) <
        1e-12);
}

OSSATURA_BACKEND_TEST("As many bands as pay", "[inverse_factor]") {
  const FactorPattern pattern = test::dissected_problem(test::box_graph(9, 9, 9), 2).pattern;
  const std::vector<InverseCut> cuts = cut_inverse(pattern, 4);
  REQUIRE(cuts.size() == 4);
  for (std::size_t k = 0; k < cuts.size(); ++k) {
    const InverseLayout layout = make_inverse_layout(pattern, cuts[k].bounds);
    CHECK(layout.num_bands() == int(k) + 1);
    CHECK(double(cuts[k].num_entries) == Approx(double(layout.num_entries)).epsilon(0.05));
  }
  CHECK(cuts[1].num_entries < 0.8 * double(cuts[0].num_entries));
  const auto bands = [&](const InverseCost& cost) {
    return choose_inverse_layout(pattern, 0, 4, cost).num_bands();
  };
  const std::int64_t any = std::int64_t(1) << 60;
  CHECK(bands({1, 1e30, any}) == 1); // launches cost
  CHECK(bands({0, 1, any}) > 2);     // bytes do
  const std::int64_t second = 4 * make_inverse_layout(pattern, cuts[1].bounds).num_entries;
  CHECK(bands({1, 1e30, second + second / 20}) == 2); // room for that
  CHECK(bands({1, 1, 0}) > 2);                        // none: the fewest entries
  CHECK_THROWS_AS(choose_inverse_layout(pattern, -1, 4, some_cost), std::invalid_argument);
}

} // namespace
