// SPDX-License-Identifier: Apache-2.0
// The dense inverse by its defining equations, also where the matrix is singular, and those of many
// packed matrices.
#include "tests/backend_test.hpp"
#include "tests/kernels/image/host_values.hpp"
#include "tests/reference/symmetric_eigenvalues.hpp"
#include "tests/reference/voxel_reference.hpp"
#include <ossatura/core/machine/instruction_set.hpp>
#include <ossatura/kernels/algebra/dense/inverse.hpp>
#include <ossatura/kernels/algebra/dense/invert_packed.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <random>

namespace {

using namespace ossatura;

/// Dense square matrices by rows.
struct Matrix {
  int n;
  std::vector<double> a;

  explicit Matrix(int size)
      : n(size)
      , a(std::size_t(size) * size) {}
  double& operator()(int i, int j) { return a[std::size_t(i) * n + j]; }
  double operator()(int i, int j) const { return a[std::size_t(i) * n + j]; }
  double norm() const {
    double sum = 0;
    for (double x : a)
      sum += x * x;
    return std::sqrt(sum);
  }
};

Matrix operator*(const Matrix& x, const Matrix& y) {
  Matrix z(x.n);
  for (int i = 0; i < x.n; ++i)
    for (int k = 0; k < x.n; ++k)
      for (int j = 0; j < x.n; ++j)
        z(i, j) += x(i, k) * y(k, j);
  return z;
}

Matrix operator-(Matrix x, const Matrix& y) {
  for (std::size_t i = 0; i < x.a.size(); ++i)
    x.a[i] -= y.a[i];
  return x;
}

template<class Scalar = double, class Exec>
Matrix invert(const Exec& exec, const Matrix& a) {
  const auto inverse =
      test::host_values(invert_semidefinite<Scalar>(exec, upload(exec, "test::matrix", a.a), a.n));
  Matrix x(a.n);
  x.a.assign(inverse.begin(), inverse.end());
  return x;
}

/// Random symmetric positive semidefinite of the given rank.
Matrix random_matrix(int n, int rank, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> factor(std::size_t(n) * rank);
  for (double& x : factor)
    x = random() / 2147483648.0 - 1;
  Matrix a(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < rank; ++k)
        a(i, j) += factor[std::size_t(i) * rank + k] * factor[std::size_t(j) * rank + k];
  return a;
}

/// The stiffness matrix of a model on the lattice, without constraints.
Matrix stiffness(const reference::Model& model) {
  const reference::SparseMatrix k = reference::assemble(model);
  Matrix dense(model.num_dofs());
  for (std::size_t i = 0; i < k.row.size(); ++i)
    for (const auto& [j, value] : k.row[i])
      dense(int(i), j) = value;
  return dense;
}

bool is_symmetric(const Matrix& x) {
  for (int i = 0; i < x.n; ++i)
    for (int j = 0; j < i; ++j)
      if (x(i, j) != x(j, i))
        return false;
  return true;
}

OSSATURA_BACKEND_TEST("The inverse of a matrix of two rows is that of pencil and paper",
                      "[dense_inverse]") {
  Matrix a(2);
  a.a = {4, 2, 2, 3};
  const Matrix x = invert(TestType(), a);
  const double expected[] = {3. / 8, -1. / 4, -1. / 4, 1. / 2};
  for (int i = 0; i < 4; ++i)
    CHECK(x.a[i] == Approx(expected[i]).epsilon(1e-14));
}

OSSATURA_BACKEND_TEST("Positive definite matrices are inverted", "[dense_inverse]") {
  for (int n : {1, 2, 7, 31, 32, 33, 64, 121, 200}) { // blocks of pivots, whole and not
    Matrix a = random_matrix(n, n, n), identity(n);
    for (int i = 0; i < n; ++i) {
      a(i, i) += 0.1;
      identity(i, i) = 1;
    }
    const Matrix x = invert(TestType(), a);
    INFO(n << " rows");
    CHECK((a * x - identity).norm() < 1e-13 * a.norm() * x.norm());
    CHECK(is_symmetric(x));
    CHECK((invert<float>(TestType(), a) - x).norm() < 1e-7 * x.norm());
  }
}

OSSATURA_BACKEND_TEST("Rows of zeros stay out of the inverse", "[dense_inverse]") {
  Matrix a = random_matrix(70, 70, 3);
  const int held[] = {0, 4, 31, 32, 40, 69};
  for (int i : held)
    for (int j = 0; j < 70; ++j)
      a(i, j) = a(j, i) = 0;
  const Matrix x = invert(TestType(), a);
  for (int i : held)
    for (int j = 0; j < 70; ++j)
      CHECK((x(i, j) == 0 && x(j, i) == 0));
  CHECK((a * x * a - a).norm() < 1e-10 * a.norm());
  CHECK(x.norm() > 0);
}

OSSATURA_BACKEND_TEST("Singular matrices get a symmetric semidefinite generalised inverse",
                      "[dense_inverse]") {
  for (int rank : {1, 5, 35}) {
    const Matrix a = random_matrix(40, rank, 30 + rank), x = invert(TestType(), a);
    INFO("rank " << rank);
    CHECK((a * x * a - a).norm() < 1e-9 * a.norm());
    CHECK(is_symmetric(x));
    CHECK(reference::symmetric_eigenvalues(x.a, 40).front() > -1e-12 * x.norm());
  }
}

/// Packed matrices one behind the other.
struct PackedItems {
  ArrayPointer<const int> rows;
  ArrayPointer<const std::int64_t> begin;

  KOKKOS_FUNCTION int size(std::int64_t item) const { return rows(item); }
  KOKKOS_FUNCTION std::int64_t matrix(std::int64_t item) const { return begin(item); }
};

/// By invert_packed, or as devices invert many rows.
template<class Exec>
std::vector<Matrix> invert_together(const Exec& exec, const std::vector<Matrix>& matrices,
                                    bool in_tiles = false) {
  std::vector<int> rows;
  std::vector<std::int64_t> begin;
  std::vector<double> packed;
  for (const Matrix& a : matrices) {
    rows.push_back(a.n);
    begin.push_back(std::int64_t(packed.size()));
    for (int i = 0; i < a.n; ++i)
      for (int j = 0; j <= i; ++j)
        packed.push_back(a(i, j));
  }
  const auto rows_there = upload(exec, "test::rows", rows);
  const auto begin_there = upload(exec, "test::begin", begin);
  const auto value = upload(exec, "test::packed", packed);
  const PackedItems items{rows_there, begin_there};
  const int most_rows = *std::max_element(rows.begin(), rows.end());
  if (in_tiles)
    detail::invert_packed_tiles(exec, items, std::int64_t(matrices.size()), most_rows, value,
                                1e-12);
  else
    invert_packed(exec, items, std::int64_t(matrices.size()), most_rows, value);
  const auto inverse = test::host_values(value);
  std::vector<Matrix> result;
  std::size_t k = 0;
  for (const Matrix& a : matrices) {
    Matrix x(a.n);
    for (int i = 0; i < a.n; ++i)
      for (int j = 0; j <= i; ++j)
        x(i, j) = x(j, i) = inverse[k++];
    result.push_back(x);
  }
  return result;
}

OSSATURA_BACKEND_TEST("Packed matrices of several sizes are inverted together", "[dense_inverse]") {
  std::vector<Matrix> matrices;
  for (int n : {33, 1, 2, 7, 15, 16, 17, 31, 32, 200, 63, 64, 65, 121, 0, 3}) {
    matrices.push_back(random_matrix(n, n, n));
    for (int i = 0; i < n; ++i)
      matrices.back()(i, i) += 0.1;
  }
  for (const bool in_tiles : {false, true}) {
    const std::vector<Matrix> inverse = invert_together(TestType(), matrices, in_tiles);
    for (std::size_t k = 0; k < matrices.size(); ++k) {
      const Matrix &a = matrices[k], &x = inverse[k];
      Matrix identity(a.n);
      for (int i = 0; i < a.n; ++i)
        identity(i, i) = 1;
      INFO(a.n << " rows" << (in_tiles ? " in tiles" : ""));
      CHECK((a * x - identity).norm() <= 1e-13 * a.norm() * x.norm());
    }
  }
}

OSSATURA_BACKEND_TEST("Rows of zeros of packed matrices stay, dependent ones are cleared",
                      "[dense_inverse]") {
  Matrix held_rows = random_matrix(70, 70, 3);
  const int held[] = {0, 4, 31, 32, 40, 69};
  for (int i : held)
    for (int j = 0; j < 70; ++j)
      held_rows(i, j) = held_rows(j, i) = 0;
  const std::vector<Matrix> matrices = {held_rows, random_matrix(40, 5, 35), Matrix(3)};
  for (const bool in_tiles : {false, true}) {
    CAPTURE(in_tiles);
    const std::vector<Matrix> inverse = invert_together(TestType(), matrices, in_tiles);
    for (int i : held)
      for (int j = 0; j < 70; ++j)
        CHECK(inverse[0](i, j) == 0);
    for (std::size_t k = 0; k < 2; ++k) {
      const Matrix &a = matrices[k], &x = inverse[k];
      CHECK((a * x * a - a).norm() < 1e-9 * a.norm());
      CHECK(x.norm() > 0);
    }
    CHECK(inverse[2].norm() == 0);
  }
}

OSSATURA_BACKEND_TEST("Packed inverses do not depend on the instruction set", "[dense_inverse]") {
  const std::vector<Matrix> matrices = {random_matrix(109, 109, 1), random_matrix(40, 30, 2)};
  const std::vector<Matrix> best = invert_together(TestType(), matrices);
  for (const InstructionSet set : {InstructionSet::baseline, InstructionSet::avx2}) {
    limit_instruction_set(set);
    const std::vector<Matrix> other = invert_together(TestType(), matrices);
    limit_instruction_set(InstructionSet::avx512);
    for (std::size_t k = 0; k < matrices.size(); ++k)
      CHECK(other[k].a == best[k].a);
  }
}

OSSATURA_BACKEND_TEST("Floating voxels lose their rigid motions and nothing else",
                      "[dense_inverse]") {
  // Two bodies that do not touch, of very different moduli: 12 rigid motions.
  reference::Model model = reference::homogeneous({5, 2, 1}, 0, 0.3, 0.1);
  for (int x : {0, 1, 3, 4})
    for (int y : {0, 1})
      model.modulus[model.voxel(x, y, 0)] = x < 2 ? 1e4 : 1e-2;
  const Matrix k = stiffness(model), inverse = invert(TestType(), k);
  int used = 0;
  for (int i = 0; i < inverse.n; ++i)
    used += inverse(i, i) > 0;
  CHECK(used == model.num_dofs() - 12);
  CHECK((k * inverse * k - k).norm() < 1e-10 * k.norm());
  // also for the soft body alone, to its own scale
  Matrix soft(k.n);
  for (int i = 0; i < k.n; ++i)
    for (int j = 0; j < k.n; ++j)
      if (model.site(i / 3)[0] >= 3 && model.site(j / 3)[0] >= 3)
        soft(i, j) = k(i, j);
  CHECK((soft * inverse * soft - soft).norm() < 1e-10 * soft.norm());
}

OSSATURA_BACKEND_TEST("A matrix of another size than said is refused", "[dense_inverse]") {
  const TestType exec;
  CHECK_THROWS_AS(invert_semidefinite<double>(exec, make_zeros<double>(exec, 8, "test::a"), 3),
                  std::invalid_argument);
}

} // namespace
