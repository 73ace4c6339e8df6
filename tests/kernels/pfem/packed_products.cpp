// SPDX-License-Identifier: Apache-2.0
// Products with packed symmetric matrices of every size that elements have, of random numbers,
// against plain loops.
#include "tests/backend_test.hpp"
#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/pfem/modes.hpp>
#include <ossatura/core/pfem/numbering.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/pfem/matrix_free/packed_multiply.hpp>

#include <algorithm>
#include <cmath>
#include <set>

using namespace ossatura;

namespace {

constexpr int num_modes = 1000; ///< of the mesh
constexpr int before = 3;       ///< numbers of y that are not of the batch

/// Number i of a sequence on [-1/2, 1/2).
KOKKOS_INLINE_FUNCTION double random_entry(std::int64_t i) {
  std::uint64_t bits = (std::uint64_t(i) + 1) * 0x9e3779b97f4a7c15ull;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebull;
  return double((bits ^ (bits >> 31)) >> 11) / 9007199254740992.0 - 0.5;
}

template<class Exec>
struct FillEntries {
  Array<double, Exec> to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to(i) = random_entry(i); }
};

/// Modes that are turned, and some that are not there.
std::vector<int> random_modes(std::int64_t count) {
  std::vector<int> mode;
  for (std::int64_t i = 0; i < count; ++i) {
    const int number = int((random_entry(i) + 0.5) * num_modes);
    mode.push_back(i % 11 == 4 ? int(SignedMode::none) : 2 * number + int(i % 3 == 1));
  }
  return mode;
}

/// A batch without elements but with matrices.
template<class Exec>
struct Packed {
  std::vector<int> mode;
  std::vector<double> x;
  HexaBatch<Exec> batch;
  Array<double, Exec> matrix, x_there;
  std::int64_t entries;

  /// `skipped`: entries of the array before the first matrix.
  Packed(const Exec& exec, int n, std::int64_t num_elem, std::int64_t skipped = 0)
      : mode(random_modes(num_elem * (n / 3)))
      , entries(matrix_entries(MatrixStorage::packed, n)) {
    for (std::int64_t i = 0; i < 3 * num_modes; ++i)
      x.push_back(random_entry(-2 - i));
    x_there = upload(exec, "test::x", x);
    batch.num_modes = n / 3;
    batch.num_elem = num_elem;
    batch.signed_mode = upload(exec, "test::signed_mode", mode);
    const auto whole =
        make_uninitialized<double>(exec, skipped + num_elem * entries, "test::matrix");
    matrix = Array<double, Exec>(
        Kokkos::subview(whole, std::make_pair(skipped, skipped + num_elem * entries)));
    Kokkos::parallel_for("test::fill", range(exec, matrix.extent(0)), FillEntries<Exec>{matrix});
    fence(exec, "test::fill");
  }

  std::vector<double> product(const Exec& exec) const {
    const auto y =
        make_uninitialized<double>(exec, before + batch.num_elem * batch.num_dofs(), "test::y");
    Kokkos::deep_copy(exec, y, std::nan(""));
    multiply_packed_elements(exec, batch, matrix, x_there, y, before);
    return download(exec, y);
  }

  /// The largest difference from plain loops, in parts of the sum of the absolute terms.
  double error_of(std::int64_t elem, const std::vector<double>& y) const {
    const std::size_t n = std::size_t(batch.num_dofs());
    std::vector<double> u(n), sum(n, 0), scale(n, 0);
    for (std::size_t i = 0; i < n; ++i)
      if (const int own = mode[std::size_t(elem) * n / 3 + i / 3]; own >= 0)
        u[i] = (own % 2 == 1 ? -1 : 1) * x[3 * std::size_t(own / 2) + i % 3];
    std::int64_t at = elem * entries;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        const double entry = random_entry(at++);
        sum[i] += entry * u[j];
        scale[i] += std::abs(entry * u[j]);
        if (j < i) {
          sum[j] += entry * u[i];
          scale[j] += std::abs(entry * u[i]);
        }
      }
    double largest = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double value = y[before + std::size_t(elem) * n + i];
      largest =
          std::max(largest, std::isfinite(value) ? std::abs(value - sum[i]) / scale[i] : INFINITY);
    }
    return largest;
  }
};

/// Of both spaces and all orders.
std::set<int> sizes() {
  std::set<int> sizes;
  for (const HexaSpace space : {HexaSpace::trunk, HexaSpace::tensor})
    for (int order = 1; order <= max_hexa_order; ++order)
      sizes.insert(3 * num_hierarchic_modes(space, order));
  return sizes;
}

/// On devices more than run at once, and not a multiple of those.
template<class Exec>
std::int64_t elements_of(int n) {
  const std::int64_t bytes = 8 * matrix_entries(MatrixStorage::packed, n);
  return BackendTraits<Exec>::is_device && n <= 1100
             ? std::min<std::int64_t>(2999, 600000000 / bytes)
             : 3;
}

template<class Exec>
void check_all(const Exec& exec) {
  for (const int n : sizes()) {
    const std::int64_t num_elem = elements_of<Exec>(n);
    INFO(n << " rows, " << num_elem << " elements");
    const Packed<Exec> packed(exec, n, num_elem);
    const std::vector<double> y = packed.product(exec);
    CHECK(std::all_of(y.begin(), y.begin() + before, [](double v) { return std::isnan(v); }));
    CHECK(std::all_of(y.begin() + before, y.end(), [](double v) { return std::isfinite(v); }));
    const std::int64_t step = std::max<std::int64_t>(1, num_elem / (n < 100 ? 100 : 4));
    double largest = packed.error_of(num_elem - 1, y);
    for (std::int64_t elem = 0; elem < num_elem; elem += step)
      largest = std::max(largest, packed.error_of(elem, y));
    CHECK(largest < 1e-13);
    const std::vector<double> again = packed.product(exec);
    CHECK(std::equal(y.begin() + before, y.end(), again.begin() + before));
  }
}

OSSATURA_BACKEND_TEST("Products with packed matrices of every size are those of plain loops",
                      "[packed_products]") {
  check_all(TestType());
}

template<class Exec>
void check_few(const Exec& exec) {
  for (const int n : {24, 60, 150, 315, 957})
    for (const std::int64_t num_elem : {1, 2}) {
      INFO(n << " rows, " << num_elem << " elements");
      const Packed<Exec> packed(exec, n, num_elem), moved(exec, n, num_elem, 1);
      const std::vector<double> y = packed.product(exec), same = moved.product(exec);
      for (std::int64_t elem = 0; elem < num_elem; ++elem) {
        CHECK(packed.error_of(elem, y) < 1e-13);
        CHECK(moved.error_of(elem, same) < 1e-13);
      }
    }
}

OSSATURA_BACKEND_TEST("Packed matrices may be few, and begin at any number", "[packed_products]") {
  check_few(TestType());
}

} // namespace
