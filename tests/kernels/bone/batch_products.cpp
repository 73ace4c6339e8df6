// SPDX-License-Identifier: Apache-2.0
// Batch products against assembled element matrices, and the instruction sets against each other.
#include "tests/catch.hpp"
#include "tests/reference/voxel_reference.hpp"
#include <ossatura/kernels/bone/batches/batch_products.hpp>

#include <cmath>
#include <random>
#include <set>
#include <vector>

using namespace ossatura;
using detail::BatchInput;
using detail::BatchProducts;

namespace {

constexpr double edge = 0.5;

/// Those that the program has and this processor can run.
std::vector<const BatchProducts*> products_here() {
  std::vector<const BatchProducts*> all{detail::baseline_batch_products()};
  if (best_instruction_set() >= InstructionSet::avx2 && detail::avx2_batch_products() != nullptr)
    all.push_back(detail::avx2_batch_products());
  if (best_instruction_set() >= InstructionSet::avx512 &&
      detail::avx512_batch_products() != nullptr)
    all.push_back(detail::avx512_batch_products());
  return all;
}

/// Elements by their corners, moduli by element, and a vector whose storage ends with its last
/// number, which the address sanitizer watches.
template<class Scalar>
struct Elements {
  int num_nodes;
  std::vector<int> corner; ///< [8 n]
  std::vector<int> number; ///< [n] in lambda and mu
  std::vector<float> lambda, mu;
  std::vector<Scalar> x;

  int size() const { return int(number.size()); }

  Elements(int nodes, std::vector<int> corners, std::vector<int> numbers, int num_constants)
      : num_nodes(nodes)
      , corner(std::move(corners))
      , number(std::move(numbers)) {
    std::mt19937 random(num_nodes + size());
    const auto uniform = [&] { return float(random() / 4294967296.0); };
    for (int i = 0; i < num_constants; ++i) {
      lambda.push_back(0.1f + 100 * uniform());
      mu.push_back(0.1f + 100 * uniform());
    }
    for (int i = 0; i < 3 * num_nodes; ++i)
      x.push_back(Scalar(uniform() - 0.5f));
    x.shrink_to_fit();
  }
  BatchInput<Scalar> input() const {
    return {lambda.data(), mu.data(), Scalar(edge), Scalar(edge), x.data(), num_nodes};
  }
  /// y by node, and the sums of magnitudes that rounding is relative to.
  std::vector<double> expected(std::vector<double>& magnitude) const {
    std::vector<double> y(x.size());
    magnitude.assign(x.size(), 0);
    for (int e = 0; e < size(); ++e) {
      const double l = lambda[number[e]], m = mu[number[e]];
      const auto k =
          reference::element_matrix(m * (3 * l + 2 * m) / (l + m), l / (2 * (l + m)), edge);
      for (int i = 0; i < 24; ++i)
        for (int j = 0; j < 24; ++j) {
          const int row = 3 * corner[8 * e + i / 3] + i % 3,
                    column = 3 * corner[8 * e + j / 3] + j % 3;
          y[row] += k[i][j] * double(x[column]);
          magnitude[row] += std::abs(k[i][j] * double(x[column]));
        }
    }
    return y;
  }
};

template<class Scalar>
constexpr double tolerance = sizeof(Scalar) == 4 ? 2e-6 : 4e-15;

/// Largest difference at the nodes first .. first + count - 1 of y, with `stride` numbers a node,
/// relative to the magnitudes.
template<class Scalar>
double largest_difference(const Elements<Scalar>& elements, const std::vector<Scalar>& y, int first,
                          int count, int stride) {
  std::vector<double> magnitude;
  const std::vector<double> expected = elements.expected(magnitude);
  double largest = 0;
  for (int n = 0; n < count; ++n)
    for (int c = 0; c < 3; ++c) {
      const int i = 3 * (first + n) + c;
      const double difference = std::abs(double(y[stride * n + c]) - expected[i]);
      if (!(difference <= 0))
        largest = std::max(largest, magnitude[i] > 0 ? difference / magnitude[i] : INFINITY);
    }
  return largest;
}

/// Elements whose lowest nodes ascend, with other distances for each, the last node among them.
template<class Scalar>
Elements<Scalar> offset_elements(int count, int longest) {
  std::vector<int> corner, number;
  int num_nodes = 1;
  for (int e = 0; e < count; ++e)
    for (int v = 0; v < 8; ++v) {
      const int lowest = 9 * e, scale = v == 7 && e % 5 == 4 ? longest - 2 : 4 * v;
      corner.push_back(lowest + (v == 0 ? 0 : scale + e % 3)); // of a corner, no two are the same
      num_nodes = std::max(num_nodes, corner.back() + 1);
      if (v == 0)
        number.push_back(lowest);
    }
  return Elements<Scalar>(num_nodes, corner, number, num_nodes);
}

template<class Scalar, class Offset>
void check_offset_elements(int count, int longest) {
  INFO(count << " elements, distances to " << longest);
  const Elements<Scalar> elements = offset_elements<Scalar>(count, longest);
  std::set<std::pair<int, int>> places; // what the function asks for
  std::vector<Offset> distance;
  for (int i = 0; i < 8 * count; ++i) {
    REQUIRE(places.insert({i % 8, elements.corner[i]}).second);
    if (i % 8 > 0)
      distance.push_back(Offset(elements.corner[i] - elements.number[i / 8]));
  }
  distance.shrink_to_fit();
  std::vector<Scalar> first;
  for (const BatchProducts* products : products_here()) {
    std::vector<Scalar> y(elements.x.size(), Scalar(0));
    products->of(Scalar()).add(static_cast<const Offset*>(nullptr))(
        elements.input(), elements.number.data(), distance.data(), count, y.data());
    CHECK(largest_difference(elements, y, 0, elements.num_nodes, 3) < tolerance<Scalar>);
    if (first.empty())
      first = y;
    CHECK(y == first);
  }
}

/// Cells with any corners, many at one node and at the same corner of several.
template<class Scalar>
Elements<Scalar> cells_of(int count, int num_nodes) {
  std::mt19937 random(1 + count);
  std::vector<int> corner, number;
  for (int e = 0; e < count; ++e) {
    const int place = int(random() % unsigned(std::max(num_nodes - 12, 1)));
    for (int v = 0; v < 8; ++v)
      corner.push_back(std::min(place + v + (v > 3 ? 4 : 0), num_nodes - 1));
    number.push_back(e);
  }
  return Elements<Scalar>(num_nodes, corner, number, std::max(count, 1));
}

template<class Scalar>
void check_cells(int count, int num_nodes, int begin, int num_owned) {
  INFO(count << " cells, nodes " << begin << " to " << begin + num_owned - 1 << " of "
             << num_nodes);
  const Elements<Scalar> elements = cells_of<Scalar>(count, num_nodes);
  std::vector<Scalar> first;
  for (const BatchProducts* products : products_here()) {
    std::vector<Scalar> sum(4 * std::size_t(num_owned + 1), Scalar(0));
    products->of(Scalar()).add_cells(elements.input(), elements.corner.data(),
                                     elements.number.data(), count, begin, num_owned, sum.data());
    CHECK(largest_difference(elements, sum, begin, num_owned, 4) < tolerance<Scalar>);
    std::vector<Scalar> kept;
    for (int i = 0; i < 4 * num_owned; ++i)
      if (i % 4 < 3)
        kept.push_back(sum[i]);
    if (first.empty())
      first = kept;
    CHECK(kept == first);
  }
}

} // namespace

TEMPLATE_TEST_CASE("Batches of voxels have the products of their matrices, to the bit on all sets",
                   "[batch_products]", float, double) {
  for (const int count : {0, 1, 2, 7, 8, 9, 15, 16, 17, 100}) {
    check_offset_elements<TestType, std::uint8_t>(count, 255);
    check_offset_elements<TestType, std::uint16_t>(count, 60000);
    check_offset_elements<TestType, std::int32_t>(count, 70000);
  }
}

TEMPLATE_TEST_CASE("Batches of cells have the products of their matrices, to the bit on all sets",
                   "[batch_products]", float, double) {
  for (const int count : {0, 1, 7, 8, 9, 24, 100}) {
    check_cells<TestType>(count, 8, 0, 8);
    check_cells<TestType>(count, 60, 0, 60);
    check_cells<TestType>(count, 60, 20, 13);
    check_cells<TestType>(count, 60, 59, 1);
  }
}

TEST_CASE("Products are those of the instruction set", "[batch_products]") {
  limit_instruction_set(InstructionSet::baseline);
  CHECK(&detail::batch_products() == detail::baseline_batch_products());
  limit_instruction_set(InstructionSet::avx512);
  CHECK(&detail::batch_products() == products_here().back());
}
