// SPDX-License-Identifier: Apache-2.0
// Products with block matrices, and their conversion to scalar rows.
#include "tests/backend_test.hpp"
#include "tests/kernels/softbody/assembly/element_cases.hpp"
#include <ossatura/kernels/algebra/sparse/block_multiply.hpp>

namespace {

using namespace ossatura;
using ossatura::test::difference;
using ossatura::test::ElementCase;
using ossatura::test::host_entries;
using ossatura::test::host_values;
using ossatura::test::random_values;

template<class Exec>
BlockMatrix<Exec> random_matrix(const Exec& exec) {
  const ElementCase c;
  BlockMatrix<Exec> matrix;
  make_element_map(exec, c.num_nodes, c.groups, c.fixed, matrix);
  matrix.value = upload(exec, "test", random_values(matrix.value.extent(0), 6));
  return matrix;
}

OSSATURA_BACKEND_TEST("Block products are those of the scalar entries", "[block_multiply]") {
  const TestType exec;
  const BlockMatrix<TestType> matrix = random_matrix(exec);
  const std::vector<double> x = random_values(3 * std::size_t(matrix.num_rows), 7);
  const std::vector<double> expected = reference::multiply(host_entries(matrix), x);
  const auto device_x = upload(exec, "test", x);
  const auto y = make_uninitialized<double>(exec, std::int64_t(x.size()), "test::y");
  Kokkos::deep_copy(exec, y, 777.0);
  detail::multiply<true>(exec, matrix, device_x, y);
  exec.fence();
  CHECK(difference(host_values(y), expected) < 1e-13);
  Kokkos::deep_copy(exec, y, 777.0);
  detail::multiply<false>(exec, matrix, device_x, y);
  exec.fence();
  CHECK(difference(host_values(y), expected) < 1e-13);
}

OSSATURA_BACKEND_TEST("Scalar rows have the entries of the blocks", "[block_multiply]") {
  const TestType exec;
  const BlockMatrix<TestType> matrix = random_matrix(exec);
  const CsrMatrix<TestType> csr = to_csr(exec, matrix);
  exec.fence();
  const auto begin = host_values(csr.row_begin), column = host_values(csr.column);
  const auto value = host_values(csr.value);
  REQUIRE(csr.num_rows == 3 * matrix.num_rows);
  REQUIRE(begin.back() == 9 * matrix.num_entries());
  reference::Entries entries;
  for (std::size_t i = 0; i + 1 < begin.size(); ++i)
    for (std::size_t k = std::size_t(begin[i]); k < std::size_t(begin[i + 1]); ++k) {
      CHECK((k == std::size_t(begin[i]) || column[k] > column[k - 1]));
      entries[{int(i), column[k]}] = value[k];
    }
  CHECK(difference(entries, host_entries(matrix)) == 0);
}

OSSATURA_BACKEND_TEST("A matrix without rows", "[block_multiply]") {
  const TestType exec;
  BlockMatrix<TestType> matrix;
  make_element_map(exec, 0, {}, {}, matrix);
  const auto none = make_zeros<double>(exec, 0, "test::none");
  multiply(exec, matrix, none, none);
  const CsrMatrix<TestType> csr = to_csr(exec, matrix);
  exec.fence();
  CHECK(host_values(csr.row_begin) == std::vector<int>{0});
  CHECK(csr.num_entries() == 0);
}

} // namespace
