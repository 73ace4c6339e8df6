// SPDX-License-Identifier: Apache-2.0
// The products with hierarchical hexahedra against sums of signed element matrices, on distorted
// meshes with vertices numbered and elements turned at random.
#include "tests/backend_test.hpp"
#include "tests/kernels/hexa/hexa_cases.hpp"
#include "tests/reference/hierarchic_element.hpp"
#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/machine/instruction_set.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/core/mesh/hexa/changes.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/pfem/mode_block_matrix.hpp>
#include <ossatura/solvers/pfem/model.hpp>
#include <ossatura/solvers/pfem/operators.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <type_traits>

namespace {

using namespace ossatura;
using ossatura::test::uniform_numbers;

/// Anisotropic, [6, 6].
std::vector<double> stiff(double scale) {
  std::vector<double> d(36);
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 6; ++j)
      d[6 * i + j] = scale * (i == j ? 3 + 0.2 * double(i) : 0.6 / (1 + double(i + j)));
  return d;
}

std::vector<double> upper_triangle(const std::vector<double>& d) {
  std::vector<double> upper;
  for (std::size_t i = 0; i < 6; ++i)
    upper.insert(upper.end(), d.begin() + std::ptrdiff_t(7 * i),
                 d.begin() + std::ptrdiff_t(6 * (i + 1)));
  return upper;
}

double scale_at(const double* x) {
  return 1.5 + 0.4 * x[0] - 0.3 * x[1] + 0.2 * x[2] * x[0];
}

struct Sample {
  std::string name;
  HexaSpace space;
  std::vector<std::uint8_t> order;
  CurvedHexaMesh mesh;
  bool varies = false;    ///< D, within elements; else the first half of them is softer
  bool congruent = false; ///< elements have few shapes

  HierarchicNumbering numbering = {};
  ElasticityField elasticity = {};
  std::vector<double> x = {}, y = {}, scale = {}, block = {}; ///< of the oracle

  std::vector<double> d_of(std::size_t elem, const double* at) const {
    return stiff(varies ? scale_at(at) : 2 * elem < mesh.mesh.num_elem() ? 0.5 : 1.0);
  }
  std::vector<double> corners(std::size_t elem) const {
    std::vector<double> corner;
    for (std::size_t a = 0; a < 8; ++a) {
      const double* const at = &mesh.mesh.point[3 * std::size_t(mesh.mesh.node[8 * elem + a])];
      corner.insert(corner.end(), at, at + 3);
    }
    return corner;
  }

  void solve_by_hand() {
    const std::size_t num_elem = mesh.mesh.num_elem();
    numbering = make_hierarchic_numbering(mesh.mesh, make_hexa_entities(mesh.mesh), space, order);
    for (std::size_t e = 0; e < num_elem && !varies; ++e) {
      const std::vector<double> d = upper_triangle(d_of(e, nullptr));
      elasticity.value.insert(elasticity.value.end(), d.begin(), d.end());
    }
    if (varies)
      elasticity.at_point = [](std::int64_t, const double(&at)[3], double(&d)[21]) {
        const std::vector<double> upper = upper_triangle(stiff(scale_at(at)));
        std::copy(upper.begin(), upper.end(), d);
      };
    x = uniform_numbers(3 * std::size_t(numbering.num_modes), -1, 1, 5);
    y.assign(x.size(), 0);
    scale.assign(x.size(), 0);
    block.assign(3 * x.size(), 0);
    std::map<std::pair<int, bool>, std::vector<double>> known; // one shape: by order and D
    for (std::size_t e = 0; e < num_elem; ++e) {
      const int p = numbering.order[e];
      const reference::HierarchicElement element{
          corners(e), p,
          p + 1,      space == HexaSpace::trunk,
          true,       [&](const double* at) { return d_of(e, at); }};
      std::vector<double>& k = congruent ? known[{p, 2 * e < num_elem}] : known[{0, false}];
      if (!congruent || k.empty())
        k = element.stiffness();
      const std::int32_t* const own = &numbering.signed_mode[std::size_t(numbering.begin[e])];
      const std::size_t modes = std::size_t(numbering.begin[e + 1] - numbering.begin[e]);
      for (std::size_t i = 0; i < 3 * modes; ++i)
        for (std::size_t j = 0; j < 3 * modes; ++j) {
          const int row = own[i / 3], column = own[j / 3];
          if (row < 0 || column < 0)
            continue;
          const double entry = k[3 * modes * i + j] * ((row ^ column) & 1 ? -1 : 1);
          const std::size_t to = 3 * std::size_t(row / 2) + i % 3,
                            from = 3 * std::size_t(column / 2) + j % 3;
          y[to] += entry * x[from];
          scale[to] += std::abs(entry * x[from]);
          if (i / 3 == j / 3)
            block[3 * to + j % 3] += entry;
        }
    }
  }
};

ElementMesh turned_box(std::array<int, 3> cells) {
  ElementMesh mesh = test::distorted_box(cells, 21);
  renumber(mesh, 4);
  return mesh;
}

std::vector<Sample> make_samples() {
  std::vector<Sample> all;
  const auto add = [&](const std::string& name, HexaSpace space, std::vector<std::uint8_t> order,
                       ElementMesh mesh, bool varies) -> Sample& {
    all.push_back({name, space, std::move(order), {std::move(mesh), nullptr}, varies});
    return all.back();
  };
  for (const std::uint8_t p : {std::uint8_t(1), std::uint8_t(2), std::uint8_t(3), std::uint8_t(4)})
    add("trunk of order " + std::to_string(int(p)), HexaSpace::trunk, {p}, turned_box({2, 2, 1}),
        p == 3);
  add("tensor of order 3", HexaSpace::tensor, {3}, turned_box({2, 1, 1}), false);
  add("mixed orders", HexaSpace::trunk, {4, 1, 2, 3, 2, 4, 1, 3}, turned_box({2, 2, 2}), false);
  Sample& curved = add("by Jacobians", HexaSpace::trunk, {3}, turned_box({2, 2, 1}), true);
  curved.mesh.map = make_trilinear_map(curved.mesh.mesh);
  std::vector<std::uint8_t> order(27, 3);
  std::fill_n(order.begin(), 9, std::uint8_t(2));
  Sample& sheared =
      add("few shapes", HexaSpace::trunk, order, make_hexa_box({3, 3, 3}, {3, 2, 4}), false);
  for (std::size_t n = 0; n < sheared.mesh.mesh.num_points(); ++n)
    sheared.mesh.mesh.point[3 * n] += 0.3 * sheared.mesh.mesh.point[3 * n + 1];
  sheared.congruent = true;
  for (Sample& sample : all) {
    if (sample.mesh.map != nullptr) // of a copy that lives as long
      sample.mesh.map = make_trilinear_map(sample.mesh.mesh);
    sample.solve_by_hand();
  }
  return all;
}

const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = make_samples();
  return all;
}

std::vector<HierarchicOperatorKind> kinds_for(const Sample& sample) {
  std::vector<HierarchicOperatorKind> kinds = {HierarchicOperatorKind::packed,
                                               HierarchicOperatorKind::bsr,
                                               HierarchicOperatorKind::matrix_free};
  if (!sample.varies && sample.mesh.map == nullptr)
    kinds.push_back(HierarchicOperatorKind::shared);
  return kinds;
}

template<class Exec>
HierarchicModel<Exec> model_of(const Exec& exec, const Sample& sample) {
  return make_hierarchic_model(exec, sample.mesh, sample.numbering, sample.elasticity, {});
}

template<class Exec>
std::vector<double> product(const Exec& exec, const HierarchicOperator<Exec>& matrix,
                            const std::vector<double>& x) {
  const auto y = make_uninitialized<double>(exec, std::int64_t(x.size()), "test::y");
  Kokkos::deep_copy(exec, y, 777.0); // what is there does not count
  matrix.apply(exec, upload(exec, "test::x", x), y);
  return download(exec, y);
}

template<class Exec>
void check_products(const Exec& exec) {
  for (const Sample& sample : samples()) {
    const HierarchicModel<Exec> model = model_of(exec, sample);
    for (const HierarchicOperatorKind kind : kinds_for(sample)) {
      INFO(name_of(kind) << ", " << sample.name);
      const auto matrix = make_hierarchic_operator(exec, kind, model, StiffnessMethod::blocked);
      const std::vector<double> y = product(exec, *matrix, sample.x);
      double largest = 0;
      for (std::size_t i = 0; i < y.size(); ++i)
        largest =
            std::max(largest, std::isfinite(y[i]) ? std::abs(y[i] - sample.y[i]) / sample.scale[i]
                                                  : INFINITY);
      CHECK(largest < 1e-13);
      CHECK(matrix->is_deterministic());
      CHECK(product(exec, *matrix, sample.x) == y);

      const auto block =
          make_uninitialized<double>(exec, std::int64_t(3 * y.size()), "test::block");
      matrix->diagonal(exec, block);
      const std::vector<double> diagonal = download(exec, block);
      double size = 0, error = 0;
      for (std::size_t i = 0; i < diagonal.size(); ++i) {
        size = std::max(size, std::abs(sample.block[i]));
        error = std::max(error, std::isfinite(diagonal[i]) ? std::abs(diagonal[i] - sample.block[i])
                                                           : INFINITY);
      }
      CHECK(error < 1e-13 * size);
      const auto right = make_zeros<double>(exec, std::int64_t(y.size()), "test"),
                 wrong = make_zeros<double>(exec, std::int64_t(y.size()) - 3, "test");
      CHECK_THROWS_AS(matrix->apply(exec, right, right), std::invalid_argument);
      CHECK_THROWS_AS(matrix->apply(exec, right, wrong), std::invalid_argument);
      CHECK_THROWS_AS(matrix->apply(exec, wrong, right), std::invalid_argument);
      const OperatorCost cost = matrix->cost();
      CHECK(cost.bytes_kept > 0);
      CHECK(cost.bytes_moved > 16.0 * double(y.size())); // x and y
      CHECK(cost.flops > double(y.size()));
    }
  }
}

OSSATURA_BACKEND_TEST("Products and diagonals are sums of signed element matrices",
                      "[hierarchic_operators]") {
  check_products(TestType());
}

/// Of elements of one order, turned at random, with D of each element or of each point.
Sample sample_of(HexaSpace space, std::uint8_t order, bool varies) {
  Sample sample;
  sample.mesh.mesh = turned_box({3, 1, 1});
  sample.numbering = make_hierarchic_numbering(
      sample.mesh.mesh, make_hexa_entities(sample.mesh.mesh), space, {order});
  if (varies)
    sample.elasticity.at_point = [](std::int64_t, const double(&at)[3], double(&d)[21]) {
      const std::vector<double> upper = upper_triangle(stiff(scale_at(at)));
      std::copy(upper.begin(), upper.end(), d);
    };
  else
    for (const double scale : {1.0, 0.5, 2.0}) {
      const std::vector<double> d = upper_triangle(stiff(scale));
      sample.elasticity.value.insert(sample.elasticity.value.end(), d.begin(), d.end());
    }
  return sample;
}

/// Without matrices and with matrices that another method forms.
template<class Exec>
void check_with_matrices(const Exec& exec, HexaSpace space, std::uint8_t order, bool varies,
                         QuadratureRule rule) {
  INFO(name_of(space) << " of order " << int(order) << ", " << name_of(rule) << " points");
  const Sample sample = sample_of(space, order, varies);
  HierarchicOptions options;
  options.rule = rule;
  const HierarchicModel<Exec> model =
      make_hierarchic_model(exec, sample.mesh, sample.numbering, sample.elasticity, options);
  const std::vector<double> x = uniform_numbers(3 * std::size_t(model.num_modes), -1, 1, order);
  std::vector<double> y[2];
  for (const HierarchicOperatorKind kind :
       {HierarchicOperatorKind::packed, HierarchicOperatorKind::matrix_free})
    y[kind == HierarchicOperatorKind::matrix_free] = product(
        exec, *make_hierarchic_operator(exec, kind, model, StiffnessMethod::sum_factorised), x);
  double size = 0, error = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    size = std::max(size, std::abs(y[0][i]));
    error = std::max(error, std::isfinite(y[1][i]) ? std::abs(y[1][i] - y[0][i]) : INFINITY);
  }
  CHECK(size > 0);
  CHECK(error < 1e-13 * size);
}

template<class Exec>
void check_orders(const Exec& exec) {
  for (std::uint8_t order = 1; order <= max_hexa_order; ++order)
    check_with_matrices(exec, HexaSpace::trunk, order, order % 2 == 0,
                        QuadratureRule::order_plus_1);
  for (std::uint8_t order = 1; order <= 5; ++order)
    check_with_matrices(exec, HexaSpace::tensor, order, order % 2 == 1,
                        QuadratureRule::order_plus_1);
  for (std::uint8_t order = 1; order <= 7; order += 2)
    check_with_matrices(exec, HexaSpace::trunk, order, false, QuadratureRule::order_plus_2);
}

OSSATURA_BACKEND_TEST("At every order the product without matrices is that with them",
                      "[hierarchic_operators]") {
  check_orders(TestType());
}

OSSATURA_BACKEND_TEST("Products without matrices do not depend on the instruction set",
                      "[hierarchic_operators]") {
  for (const Sample& sample : samples()) {
    const auto matrix =
        make_hierarchic_operator(TestType(), HierarchicOperatorKind::matrix_free,
                                 model_of(TestType(), sample), StiffnessMethod::blocked);
    const std::vector<double> expected = product(TestType(), *matrix, sample.x);
    for (const InstructionSet set :
         {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512}) {
      INFO(name_of(set) << ", " << sample.name);
      limit_instruction_set(set);
      const std::vector<double> y = product(TestType(), *matrix, sample.x);
      limit_instruction_set(InstructionSet::avx512);
      CHECK(y == expected);
    }
  }
}

#if defined(KOKKOS_ENABLE_SERIAL) && !defined(OSSATURA_OPENMP_ONLY)
/// On cores, where arithmetic is the same, products are those of one thread, and CTest has one and
/// several; on devices those of another run.
template<class Exec>
void check_threads(const Exec& exec) {
  using Other = std::conditional_t<BackendTraits<Exec>::is_device, Exec, Serial>;
  for (const Sample& sample : samples()) {
    const HierarchicModel<Exec> model = model_of(exec, sample);
    const HierarchicModel<Other> other_model = model_of(Other(), sample);
    for (const HierarchicOperatorKind kind : kinds_for(sample)) {
      INFO(name_of(kind) << ", " << sample.name);
      CHECK(product(exec, *make_hierarchic_operator(exec, kind, model, StiffnessMethod::blocked),
                    sample.x) ==
            product(Other(),
                    *make_hierarchic_operator(Other(), kind, other_model, StiffnessMethod::blocked),
                    sample.x));
    }
  }
}

OSSATURA_BACKEND_TEST("Products of any number of threads are those of one, bit by bit",
                      "[hierarchic_operators][backends]") {
  check_threads(TestType());
}
#endif

template<class Exec>
void check_pattern(const Exec& exec, const HierarchicModel<Exec>& model) {
  const BlockMatrix<Exec> matrix = make_mode_block_pattern(exec, model);
  std::vector<std::set<int>> expected(std::size_t(model.num_modes));
  for (int row = 0; row < model.num_modes; ++row)
    expected[std::size_t(row)].insert(row);
  for (const HexaBatch<Exec>& batch : model.batch) {
    const std::vector<int> mode = download(exec, batch.signed_mode);
    const std::size_t n = std::size_t(batch.num_modes);
    for (std::size_t i = 0; i < mode.size(); ++i)
      for (std::size_t j = i / n * n; j < (i / n + 1) * n; ++j)
        if (mode[i] >= 0 && mode[j] >= 0)
          expected[std::size_t(mode[i] / 2)].insert(mode[j] / 2);
  }
  std::vector<int> begin{0}, column;
  for (const std::set<int>& row : expected) {
    column.insert(column.end(), row.begin(), row.end());
    begin.push_back(int(column.size()));
  }
  CHECK(download(exec, matrix.row_begin) == begin);
  CHECK(download(exec, matrix.column) == column);
  CHECK(matrix.value.extent(0) == 9 * column.size());
}

template<class Exec>
void check_patterns(const Exec& exec) {
  for (const Sample& sample : samples()) {
    INFO(sample.name);
    check_pattern(exec, model_of(exec, sample));
  }
  // A mode of no element.
  HierarchicModel<Exec> model = model_of(exec, samples().front());
  ++model.num_modes;
  check_pattern(exec, model);
}

OSSATURA_BACKEND_TEST("The assembled matrix has a block for two modes that share an element",
                      "[hierarchic_operators]") {
  check_patterns(TestType());
}

template<class Exec>
void check_choice(const Exec& exec) {
  const auto model_for = [&](int cells, std::uint8_t order, bool distorted,
                             QuadratureRule rule = QuadratureRule::order_plus_1) {
    Sample sample;
    sample.mesh.mesh = distorted ? test::distorted_box({cells, cells, cells}, 3)
                                 : make_hexa_box({cells, cells, cells}, {1, 1, 1});
    sample.numbering = make_hierarchic_numbering(
        sample.mesh.mesh, make_hexa_entities(sample.mesh.mesh), HexaSpace::trunk, {order});
    sample.elasticity.value = isotropic_elasticity(1, 0.3);
    HierarchicOptions options;
    options.rule = rule;
    return make_hierarchic_model(exec, sample.mesh, sample.numbering, sample.elasticity, options);
  };
  const auto choice = [&](const HierarchicModel<Exec>& model, std::int64_t memory) {
    return choose_hierarchic_operator(exec, model, memory);
  };
  // Devices recompute those with order + 1 points faster than they read matrices.
  const HierarchicModel<Exec> cubes = model_for(4, 2, false),
                              bent = model_for(3, 1, true, QuadratureRule::order_plus_2),
                              low_order = model_for(3, 1, true), high = model_for(2, 5, true);
  CHECK(choice(cubes, 1 << 30).kind == HierarchicOperatorKind::shared);
  CHECK(choice(cubes, 1 << 30).reason == "1 matrix for 64 elements");
  CHECK(choice(cubes, 1000).kind == HierarchicOperatorKind::matrix_free);
  // With 8 modes in each of 27 elements, on 64 nodes.
  const std::int64_t most_assembled = 76 * (64 + 27 * 8 * 7) + 4 * 65;
  const HierarchicOperatorKind low =
      BackendTraits<Exec>::is_device ? HierarchicOperatorKind::bsr : HierarchicOperatorKind::packed;
  CHECK(choice(bent, 1 << 30).kind == low);
  CHECK(choice(bent, most_assembled).kind == low);
  CHECK(choice(bent, most_assembled - 1).kind == HierarchicOperatorKind::packed);
  CHECK(choice(bent, 27 * 300 * 8).kind == HierarchicOperatorKind::packed);
  CHECK(choice(bent, 27 * 300 * 8 - 1).kind == HierarchicOperatorKind::matrix_free);
  CHECK(choice(high, 1 << 30).kind == HierarchicOperatorKind::matrix_free);
  CHECK(choice(low_order, 1 << 30).kind == (BackendTraits<Exec>::is_device
                                                ? HierarchicOperatorKind::matrix_free
                                                : HierarchicOperatorKind::packed));
  CHECK_THROWS_AS(make_hierarchic_operator(exec, HierarchicOperatorKind::automatic, high),
                  std::invalid_argument);
  Sample curved;
  curved.mesh.mesh = make_hexa_box({1, 1, 1}, {1, 1, 1});
  curved.mesh.map = make_trilinear_map(curved.mesh.mesh);
  curved.numbering = make_hierarchic_numbering(
      curved.mesh.mesh, make_hexa_entities(curved.mesh.mesh), HexaSpace::trunk, {1});
  curved.elasticity.value = isotropic_elasticity(1, 0.3);
  CHECK_THROWS_AS(
      make_hierarchic_operator(exec, HierarchicOperatorKind::shared, model_of(exec, curved)),
      std::invalid_argument);
  HierarchicModel<Exec> bare = high;
  bare.batch[0].signed_mode = {};
  CHECK_THROWS_AS(make_hierarchic_operator(exec, HierarchicOperatorKind::matrix_free, bare),
                  std::invalid_argument);
}

OSSATURA_BACKEND_TEST("The choice says why, and what cannot be is refused",
                      "[hierarchic_operators]") {
  check_choice(TestType());
}

} // namespace
