// SPDX-License-Identifier: Apache-2.0
// What every operator on hexahedra promises, on distorted meshes in any order with moduli between
// 1e-6 and 1.
#include "tests/backend_test.hpp"
#include "tests/kernels/hexa/hexa_cases.hpp"
#include "tests/kernels/image/host_values.hpp"
#include "tests/reference/hexa_elasticity.hpp"
#include <ossatura/core/machine/instruction_set.hpp>
#include <ossatura/kernels/hexa/published/assembled_operator.hpp>
#include <ossatura/solvers/hexa/operators.hpp>

namespace {

using namespace ossatura;
using ossatura::test::hexa_cases;
using ossatura::test::HexaCase;
using ossatura::test::host_values;
using ossatura::test::random_moduli;
using ossatura::test::uniform_numbers;

constexpr double poisson = 0.3;

template<class Scalar, class Exec>
std::unique_ptr<HexaOperator<Exec, Scalar>> make_operator(const Exec& exec, HexaOperatorKind kind,
                                                          const ElementMesh& mesh,
                                                          const HexaArrays<Exec>& arrays) {
  return make_hexa_operator<Scalar>(exec, kind, mesh, arrays, unit_lame(poisson));
}

template<class Scalar, class Exec>
std::vector<double> product(const Exec& exec, const HexaOperator<Exec, Scalar>& matrix,
                            const std::vector<double>& x) {
  const auto in = upload(exec, "test::x", std::vector<Scalar>(x.begin(), x.end()));
  const auto out = make_uninitialized<Scalar>(exec, std::int64_t(x.size()), "test::y");
  Kokkos::deep_copy(exec, out, Scalar(777)); // what is there does not count
  matrix.apply(exec, in, out);
  exec.fence();
  const std::vector<Scalar> y = host_values(out);
  return std::vector<double>(y.begin(), y.end());
}

/// max |y_i - expected_i| / scale_i, infinite where y is not finite; both are 0 where the scale is.
double largest_error(const std::vector<double>& y, const std::vector<double>& expected,
                     const std::vector<double>& scale) {
  double largest = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double error = std::abs(y[i] - expected[i]);
    if (!(error <= 0))
      largest =
          std::max(largest, scale[i] > 0 && std::isfinite(error) ? error / scale[i] : INFINITY);
  }
  return largest;
}

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

/// A mesh with its oracle: products, and what their rounding errors are relative to.
struct Sample {
  HexaCase c;
  std::vector<double> modulus, x, y, scale;

  explicit Sample(const HexaCase& given)
      : c(given) {
    modulus = random_moduli(c.mesh.num_elem(), 11);
    x = uniform_numbers(c.mesh.point.size(), -1, 1, 12);
    for (double& value : x)
      value = double(float(value)); // exact in both precisions
    y.resize(x.size());
    scale.resize(x.size());
    reference::Dense k(24, 24);
    for (std::size_t e = 0; e < modulus.size(); ++e) {
      k = reference::hexa_stiffness(corners(e), poisson);
      for (std::size_t i = 0; i < 24; ++i)
        for (std::size_t j = 0; j < 24; ++j) {
          const double term = modulus[e] * k(int(i), int(j)) * x[dof(e, j)];
          y[dof(e, i)] += term;
          scale[dof(e, i)] += std::abs(term);
        }
    }
  }
  std::size_t dof(std::size_t e, std::size_t i) const {
    return 3 * std::size_t(c.mesh.node[8 * e + i / 3]) + i % 3;
  }
  std::vector<double> corners(std::size_t e) const {
    std::vector<double> corner(24);
    for (std::size_t i = 0; i < 24; ++i)
      corner[i] = c.mesh.point[dof(e, i)];
    return corner;
  }
};

const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = [] {
    const std::vector<HexaCase> cases = hexa_cases();
    return std::vector<Sample>(cases.begin(), cases.end());
  }();
  return all;
}

template<class Scalar, class Exec>
void check_products(const Exec& exec, double tolerance) {
  for (const Sample& sample : samples()) {
    const HexaArrays<Exec> arrays = make_hexa_arrays(exec, sample.c.mesh);
    const auto ones = upload(exec, "test", std::vector<double>(sample.modulus.size(), 1.0));
    const auto modulus = upload(exec, "test", sample.modulus);
    for (const HexaOperatorKind kind : hexa_operator_kinds) {
      INFO(name_of(kind) << ", " << sample.c.name << ", " << sizeof(Scalar) << " bytes");
      const auto matrix = make_operator<Scalar>(exec, kind, sample.c.mesh, arrays);
      REQUIRE(matrix != nullptr);
      matrix->set_modulus(exec, ones); // the next ones replace them
      matrix->set_modulus(exec, modulus);
      const std::vector<double> y = product(exec, *matrix, sample.x);
      CHECK(largest_error(y, sample.y, sample.scale) < tolerance);
      const OperatorCost cost = matrix->cost();
      CHECK(cost.bytes_moved > double(sizeof(Scalar)) * 2 * double(sample.x.size()));
      CHECK(cost.flops > 0);
    }
  }
}

OSSATURA_BACKEND_TEST("Products are those of the oracle", "[hexa_operators]") {
  check_products<double>(TestType(), 1e-14);
  check_products<float>(TestType(), 2e-6);
}

template<class Exec>
void check_properties(const Exec& exec) {
  const Sample& sample = samples()[1];
  const ElementMesh& mesh = sample.c.mesh;
  const std::size_t n = mesh.point.size();
  const HexaArrays<Exec> arrays = make_hexa_arrays(exec, mesh);
  const auto modulus = upload(exec, "test", sample.modulus);
  const auto ones = upload(exec, "test", std::vector<double>(mesh.num_elem(), 1.0));
  const std::vector<double> other = uniform_numbers(n, -1, 1, 13);
  // u = G x + t; its first six are rigid motions.
  std::vector<std::vector<double>> linear(7, std::vector<double>(n));
  const std::vector<double> gradient = uniform_numbers(9, -1, 1, 14);
  std::vector<int> num_around(mesh.num_points());
  for (const std::int32_t node : mesh.node)
    ++num_around[std::size_t(node)];
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t c = i % 3, first = i - c;
    const double* const at = mesh.point.data() + first;
    linear[c][i] = 1;
    linear[3 + (c + 1) % 3][i] = at[(c + 2) % 3];
    linear[3 + (c + 2) % 3][i] = -at[(c + 1) % 3];
    for (std::size_t d = 0; d < 3; ++d)
      linear[6][i] += gradient[3 * c + d] * at[d];
  }
  for (const HexaOperatorKind kind : hexa_operator_kinds) {
    INFO(name_of(kind));
    const auto matrix = make_operator<double>(exec, kind, mesh, arrays);
    matrix->set_modulus(exec, modulus);
    const std::vector<double> y = product(exec, *matrix, sample.x),
                              z = product(exec, *matrix, other);
    CHECK(std::abs(dot(other, y) - dot(sample.x, z)) < 1e-13 * std::sqrt(dot(y, y) * n));
    CHECK(dot(sample.x, y) > 0);
    matrix->set_modulus(exec, ones);
    const std::vector<double> stretched = product(exec, *matrix, linear[6]);
    const double size = std::sqrt(dot(stretched, stretched));
    CHECK(size > 1);
    for (int mode = 0; mode < 6; ++mode) {
      const std::vector<double> rest = product(exec, *matrix, linear[std::size_t(mode)]);
      CHECK(std::sqrt(dot(rest, rest)) < 1e-12 * size);
    }
    // The patch test: no forces on nodes with elements all around.
    int num_inside = 0;
    double largest = 0;
    for (std::size_t i = 0; i < n; ++i)
      if (num_around[i / 3] == 8) {
        ++num_inside;
        largest = std::max(largest, std::abs(stretched[i]));
      }
    CHECK(num_inside == 3 * 3 * 2 * 2);
    CHECK(largest < 1e-13 * size);
  }
}

OSSATURA_BACKEND_TEST("Products are symmetric, rigid motions and the patch test leave no forces",
                      "[hexa_operators]") {
  check_properties(TestType());
}

template<class Scalar, class Exec>
void check_instruction_sets(const Exec& exec) {
  for (const Sample& sample : samples())
    for (const HexaOperatorKind kind :
         {HexaOperatorKind::recompute, HexaOperatorKind::partial, HexaOperatorKind::congruent}) {
      INFO(name_of(kind) << ", " << sample.c.name << ", " << sizeof(Scalar) << " bytes");
      const HexaArrays<Exec> arrays = make_hexa_arrays(exec, sample.c.mesh);
      const auto matrix = make_operator<Scalar>(exec, kind, sample.c.mesh, arrays);
      matrix->set_modulus(exec, upload(exec, "test", sample.modulus));
      limit_instruction_set(InstructionSet::baseline);
      const std::vector<double> expected = product(exec, *matrix, sample.x);
      limit_instruction_set(InstructionSet::avx2);
      CHECK(product(exec, *matrix, sample.x) == expected);
      limit_instruction_set(InstructionSet::avx512);
      CHECK(product(exec, *matrix, sample.x) == expected);
    }
}

OSSATURA_BACKEND_TEST("Products are the same with every instruction set", "[hexa_operators]") {
  check_instruction_sets<double>(TestType());
  check_instruction_sets<float>(TestType());
}

/// In the precision in which the order of a sum shows more.
template<class Exec>
std::vector<double> float_product(const Exec& exec, HexaOperatorKind kind, const Sample& sample,
                                  bool& deterministic) {
  const HexaArrays<Exec> arrays = make_hexa_arrays(exec, sample.c.mesh);
  const auto matrix = make_operator<float>(exec, kind, sample.c.mesh, arrays);
  matrix->set_modulus(exec, upload(exec, "test", sample.modulus));
  deterministic = matrix->is_deterministic();
  return product(exec, *matrix, sample.x);
}

// CTest runs the host's parallel backend with one thread and with four.
OSSATURA_BACKEND_TEST(
    "Deterministic products are bitwise the same from run to run and on one thread",
    "[hexa_operators][backends]") {
  const TestType exec;
  for (const Named<HexaOperatorKind>& kind : hexa_operator_kinds) {
    INFO(kind.name);
    bool deterministic = false;
    const std::vector<double> first = float_product(exec, kind, samples()[1], deterministic);
    if (!kind.published || kind == HexaOperatorKind::ebe_colour || kind == HexaOperatorKind::nbn)
      CHECK(deterministic);
    if (!deterministic)
      continue;
    for (int run = 0; run < 3; ++run)
      CHECK(float_product(exec, kind, samples()[1], deterministic) == first);
#if defined(KOKKOS_ENABLE_SERIAL) && !defined(OSSATURA_OPENMP_ONLY)
    if (!BackendTraits<TestType>::is_device) // which contracts products and sums
      CHECK(float_product(Serial(), kind, samples()[1], deterministic) == first);
#endif
  }
}

OSSATURA_BACKEND_TEST("Operators keep the bytes that their table says", "[hexa_operators]") {
  const TestType exec;
  const ElementMesh mesh = make_hexa_box({16, 16, 16}, {1, 1, 1});
  const HexaArrays<TestType> arrays = make_hexa_arrays(exec, mesh);
  const double num_blocks = double(make_hexa_graph(exec, arrays).num_entries());
  for (const HexaOperatorEntry& entry : hexa_operator_table) {
    if (entry.name == HexaOperatorKind::automatic)
      continue;
    const auto matrix = make_operator<double>(exec, entry.name.value, mesh, arrays);
    const double said = entry.memory.bytes(8, arrays.num_elem, num_blocks, arrays.num_nodes);
    INFO(entry.name.name << ", " << matrix->cost().bytes_kept << " bytes, not " << said);
    CHECK(std::abs(double(matrix->cost().bytes_kept) - said) <=
          (entry.memory.elem_bytes > 4 ? 0.25 * said : 16)); // patches of devices are larger
  }
}

OSSATURA_BACKEND_TEST("Products without moduli or with other sizes are refused",
                      "[hexa_operators]") {
  const TestType exec;
  const Sample& sample = samples()[0];
  const HexaArrays<TestType> arrays = make_hexa_arrays(exec, sample.c.mesh);
  const auto x = make_zeros<double>(exec, 24, "test"), y = make_zeros<double>(exec, 24, "test"),
             shorter = make_zeros<double>(exec, 21, "test");
  for (const HexaOperatorKind kind : hexa_operator_kinds) {
    INFO(name_of(kind));
    const auto matrix = make_operator<double>(exec, kind, sample.c.mesh, arrays);
    CHECK_THROWS_AS(matrix->apply(exec, x, y), std::invalid_argument);
    CHECK_THROWS_AS(matrix->set_modulus(exec, x), std::invalid_argument);
    matrix->set_modulus(exec, upload(exec, "test", sample.modulus));
    CHECK_THROWS_AS(matrix->apply(exec, x, shorter), std::invalid_argument);
    CHECK_THROWS_AS(matrix->apply(exec, shorter, y), std::invalid_argument);
    CHECK_THROWS_AS(matrix->apply(exec, x, x), std::invalid_argument);
    CHECK_NOTHROW(matrix->apply(exec, x, y));
  }
  exec.fence();
}

/// Marks of the pairs of nodes that share an element, [num_nodes, num_nodes].
std::vector<char> joined_nodes(const ElementMesh& mesh) {
  std::vector<char> joined(mesh.num_points() * mesh.num_points());
  for (std::size_t e = 0; e < mesh.num_elem(); ++e)
    for (std::size_t a = 0; a < 8; ++a)
      for (std::size_t b = 0; b < 8; ++b)
        joined[std::size_t(mesh.node[8 * e + a]) * mesh.num_points() +
               std::size_t(mesh.node[8 * e + b])] = 1;
  return joined;
}

/// Checks the pattern of an assembled matrix, and returns the matrix with its zeros.
template<class Exec>
reference::Dense check_pattern(const HexaBlockOperator<Exec, double>& blocks,
                               const ElementMesh& mesh) {
  const std::size_t num_nodes = mesh.num_points();
  const std::vector<char> joined = joined_nodes(mesh);
  const auto begin = host_values(blocks.pattern().row_begin);
  const auto column = host_values(blocks.pattern().column);
  const auto value = host_values(blocks.value());
  reference::Dense found(3 * int(num_nodes), 3 * int(num_nodes));
  bool ascend = true, all_joined = true;
  for (std::size_t i = 0; i < num_nodes; ++i)
    for (std::int64_t k = begin[i]; k < begin[i + 1]; ++k) {
      const int j = column[std::size_t(k)];
      ascend = ascend && (k == begin[i] || column[std::size_t(k) - 1] < j);
      all_joined = all_joined && joined[i * num_nodes + std::size_t(j)];
      for (int m = 0; m < 9; ++m)
        found(3 * int(i) + m / 3, 3 * j + m % 3) = value[9 * std::size_t(k) + std::size_t(m)];
    }
  CHECK(ascend);
  CHECK(all_joined);
  CHECK(begin.back() == std::count(joined.begin(), joined.end(), char(1)));
  CHECK(std::int64_t(column.size()) == begin.back());
  return found;
}

/// Checks that the scalar rows hold the entries of `expected`, bit for bit.
template<class Exec>
void check_scalar_rows(const HexaCsrOperator<Exec, double>& scalars,
                       const reference::Dense& expected, int n) {
  const auto begin = host_values(scalars.row_begin());
  const auto column = host_values(scalars.column());
  const auto value = host_values(scalars.value());
  int different = 0;
  bool ascend = true;
  for (int i = 0; i < n; ++i)
    for (std::int64_t k = begin[std::size_t(i)]; k < begin[std::size_t(i) + 1]; ++k) {
      const std::size_t at = std::size_t(k);
      different += value[at] != expected(i, column[at]);
      ascend = ascend && (k == begin[std::size_t(i)] || column[at - 1] < column[at]);
    }
  CHECK(different == 0);
  CHECK(ascend);
  CHECK(begin.back() == std::int64_t(value.size()));
}

template<class Exec>
void check_assembled(const Exec& exec, const Sample& sample) {
  INFO(sample.c.name);
  const HexaArrays<Exec> arrays = make_hexa_arrays(exec, sample.c.mesh);
  HexaBlockOperator<Exec, double> blocks(exec, arrays, unit_lame(poisson));
  HexaCsrOperator<Exec, double> scalars(exec, arrays, unit_lame(poisson));
  const auto modulus = upload(exec, "test", sample.modulus);
  blocks.set_modulus(exec, modulus);
  scalars.set_modulus(exec, modulus);
  exec.fence();
  const int n = 3 * arrays.num_nodes;
  const reference::Dense expected =
      reference::hexa_matrix(sample.c.mesh.point, sample.c.mesh.node, poisson, sample.modulus);
  const reference::Dense found = check_pattern(blocks, sample.c.mesh);
  double largest = 0, error = 0;
  int asymmetric = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      largest = std::max(largest, std::abs(expected(i, j)));
      error = std::max(error, std::abs(expected(i, j) - found(i, j)));
      asymmetric += found(i, j) != found(j, i);
    }
  CHECK(error < 1e-14 * largest);
  CHECK(asymmetric == 0);
  check_scalar_rows(scalars, found, n);
  CHECK(scalars.value().extent(0) == blocks.value().extent(0));

  // The kernels that the products above do not use.
  constexpr bool other = !BackendTraits<Exec>::is_device;
  const auto x = upload(exec, "test", sample.x);
  const auto y = make_zeros<double>(exec, n, "test::y");
  detail::multiply_scalar_rows<other>(
      exec, detail::ScalarRowMultiply<Exec, double>{n, scalars.row_begin().data(),
                                                    scalars.column().data(), scalars.value().data(),
                                                    x.data(), y.data()});
  exec.fence();
  CHECK(largest_error(host_values(y), sample.y, sample.scale) < 1e-14);
  detail::multiply_block_rows<other>(exec, detail::BlockMultiply<Exec, double, std::int64_t>{
                                               arrays.num_nodes, blocks.pattern().row_begin.data(),
                                               blocks.pattern().column.data(),
                                               blocks.value().data(), x.data(), y.data()});
  exec.fence();
  CHECK(largest_error(host_values(y), sample.y, sample.scale) < 1e-14);
}

OSSATURA_BACKEND_TEST(
    "Assembled matrices have the entries of the oracle, symmetric to the last bit",
    "[hexa_operators]") {
  for (const Sample& sample : samples())
    check_assembled(TestType(), sample);
}

} // namespace
