// SPDX-License-Identifier: Apache-2.0
// What every voxel operator promises: kernels/bone/operator_list.hpp has them.
#include "tests/backend_test.hpp"
#include "tests/kernels/bone/lattice.hpp"
#include "tests/reference/symmetric_eigenvalues.hpp"
#include <ossatura/kernels/algebra/constraints.hpp>
#include <ossatura/kernels/algebra/fused_updates/free.hpp>
#include <ossatura/kernels/algebra/fused_updates/smoothing.hpp>
#include <ossatura/kernels/bone/operator_list.hpp>

#include <functional>

namespace {

using namespace ossatura;
using ossatura::test::host_values;
using ossatura::test::to_compact;
using ossatura::test::to_lattice;
using reference::relative_difference;

/// y_i = sum_e sum_j |A_e,ij| |x_j|: what rounding errors of a product are relative to.
std::vector<double> absolute_product(const reference::Model& model, const std::vector<double>& x) {
  std::vector<double> y(model.num_dofs());
  for (int k = 0; k < model.shape[2]; ++k)
    for (int j = 0; j < model.shape[1]; ++j)
      for (int i = 0; i < model.shape[0]; ++i) {
        if (!model.solid(i, j, k))
          continue;
        const int voxel = model.voxel(i, j, k);
        const auto a =
            reference::element_matrix(model.modulus[voxel], model.poisson[voxel], model.edge);
        int dof[24];
        for (int d = 0; d < 24; ++d)
          dof[d] = 3 * model.node(i + (d / 3 & 1), j + (d / 3 >> 1 & 1), k + (d / 3 >> 2)) + d % 3;
        for (int r = 0; r < 24; ++r)
          for (int c = 0; c < 24; ++c)
            y[dof[r]] += std::abs(a[r][c]) * std::abs(x[dof[c]]);
      }
  return y;
}

/// max_i |x_i - y_i| / scale_i; infinite where only the scale is 0.
double largest_difference(const std::vector<double>& x, const std::vector<double>& y,
                          const std::vector<double>& scale) {
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double difference = std::abs(x[i] - y[i]);
    if (!(difference <= 0))
      largest = std::max(largest, scale[i] > 0 ? difference / scale[i] : INFINITY);
  }
  return largest;
}

/// A model, its grid and constants, a vector, and the product of the oracle.
template<class Exec>
struct Sample {
  reference::Model model;
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  std::vector<double> x, y, scale;

  Sample(const Exec& exec, reference::Model m, unsigned seed)
      : model(std::move(m)) {
    const MaterialImage<Exec> material = ossatura::test::upload_material(exec, model);
    grid = make_voxel_grid(exec, material.solid());
    lame = make_lame_field(exec, grid, material);
    x = reference::random_vector(model, seed);
    for (double& value : x)
      value = double(float(value)); // exact in both precisions
    y = reference::assemble(model) * x;
    scale = absolute_product(model, x);
  }
  template<class Operator, class Scalar = double>
  std::vector<double> apply(const Exec& exec, const std::vector<double>& in) const {
    const Operator matrix(exec, grid, lame, model.edge);
    const auto device_in = to_compact<Scalar>(exec, grid, model, in);
    // The product must not add to what is there.
    const auto out = make_uninitialized<Scalar>(exec, grid.num_dofs(), "test::product");
    Kokkos::deep_copy(out, Scalar(1e30));
    matrix.apply(exec, device_in, out);
    return to_lattice(grid, model, out);
  }
};

struct NamedModel {
  std::string name;
  reference::Model model;
};

/// Voxels for which `solid(x, y, z)`, of moduli 1 to 1000.
reference::Model shaped(std::array<int, 3> shape, const std::function<bool(int, int, int)>& solid) {
  reference::Model model = reference::random_model(shape, 1, 1000, 0.3, 0.3, 17, 0.037);
  for (int z = 0; z < shape[2]; ++z)
    for (int y = 0; y < shape[1]; ++y)
      for (int x = 0; x < shape[0]; ++x)
        if (!solid(x, y, z))
          model.modulus[model.voxel(x, y, z)] = 0;
  return model;
}

/// Shapes at, below and above the blocks of 4, 8 and 32 that operators cut the lattice into.
std::vector<NamedModel> awkward_models() {
  std::vector<NamedModel> models;
  for (const auto& at : {std::array<int, 3>{0, 0, 0}, {3, 3, 3}, {4, 3, 7}, {7, 7, 7}, {8, 8, 8}})
    models.push_back(
        {"a voxel at " + std::to_string(at[0]), shaped({9, 9, 9}, [=](int x, int y, int z) {
           return x == at[0] && y == at[1] && z == at[2];
         })});
  for (int axis = 0; axis < 3; ++axis) {
    const auto along = [axis](int x, int y, int z) { return std::array<int, 3>{x, y, z}[axis]; };
    for (int place : {0, 3, 4, 8})
      models.push_back(
          {"a plate normal to " + std::to_string(axis),
           shaped({9, 9, 9}, [=](int x, int y, int z) { return along(x, y, z) == place; })});
    std::array<int, 3> column{1, 1, 1}, plate{10, 10, 10};
    column[axis] = 37;
    plate[axis] = 1;
    models.push_back({"a column along " + std::to_string(axis),
                      shaped(column, [](int, int, int) { return true; })});
    models.push_back({"an image of one layer normal to " + std::to_string(axis),
                      shaped(plate, [](int, int, int) { return true; })});
    models.push_back({"parts apart along " + std::to_string(axis),
                      shaped({11, 10, 13}, [=](int x, int y, int z) {
                        return along(x, y, z) % 4 != 3; // cut at faces of 4-blocks
                      })});
    models.push_back({"parts apart by 8-blocks along " + std::to_string(axis),
                      shaped({17, 6, 18}, [=](int x, int y, int z) {
                        return along(x, y, z) % 8 != 7 && along(x, y, z) % 8 != 0;
                      })});
  }
  models.push_back({"voxels that touch in corners", shaped({9, 8, 9}, [](int x, int y, int z) {
                      return x % 2 == y % 2 && y % 2 == z % 2;
                    })});
  models.push_back({"voxels that touch in edges", shaped({9, 9, 8}, [](int x, int y, int z) {
                      return (x + y) % 2 == 0 && z % 2 == 0;
                    })});
  models.push_back({"a checkerboard",
                    shaped({8, 9, 10}, [](int x, int y, int z) { return (x + y + z) % 2 == 0; })});
  models.push_back(
      {"two blocks of 4 in diagonal corners",
       shaped({8, 8, 8}, [](int x, int y, int z) { return x / 4 == y / 4 && y / 4 == z / 4; })});
  models.push_back({"a hollow cube", shaped({10, 9, 11}, [](int x, int y, int z) {
                      return x < 1 || y < 1 || z < 1 || x > 8 || y > 7 || z > 9;
                    })});
  models.push_back({"across 32", reference::random_model({35, 3, 33}, 0.3, 10, 0.3, 0.3, 5)});
  models.push_back({"31 along x", reference::random_model({31, 2, 2}, 1, 10, 0.3, 0.3, 6)});
  models.push_back({"32 along y", reference::random_model({2, 32, 2}, 1, 10, 0.3, 0.3, 7)});
  return models;
}

const std::array<int, 3> shapes[] = {{1, 1, 1},  {5, 5, 5},   {9, 2, 4}, {1, 8, 6},
                                     {13, 1, 1}, {7, 11, 10}, {6, 17, 9}};

/// Every operator on a sample, in both precisions.
template<class Exec>
void check_products(const Exec& exec, const Sample<Exec>& sample, double stored) {
  VoxelOperators<Exec>::for_each([&](auto entry) {
    using Operator = typename decltype(entry)::type;
    INFO(Operator::name);
    const auto y = sample.template apply<Operator>(exec, sample.x);
    CHECK(largest_difference(y, sample.y, sample.scale) < stored + 1e-14);
    CHECK(relative_difference(y, sample.y) < stored + 1e-13);
    const auto single = sample.template apply<Operator, float>(exec, sample.x);
    CHECK(largest_difference(single, sample.y, sample.scale) < 2e-6);
  });
}

OSSATURA_BACKEND_TEST("Products equal the assembled matrix's on random sparse images",
                      "[voxel_operators]") {
  const TestType exec;
  unsigned seed = 10;
  for (const auto& shape : shapes)
    for (double density : {0.02, 0.1, 0.5, 0.9, 1.0}) {
      ++seed;
      INFO(shape[0] << " x " << shape[1] << " x " << shape[2] << ", density " << density);
      // 0.3 itself is a float here, moduli are floats: nothing is lost but rounding.
      check_products(
          exec,
          Sample<TestType>(
              exec, reference::random_model(shape, density, 1e6, 0.3, 0.3, seed, 0.037), seed),
          0);
    }
}

OSSATURA_BACKEND_TEST("Products honour a Poisson ratio per voxel", "[voxel_operators]") {
  const TestType exec;
  unsigned seed = 50;
  for (const auto& shape : shapes)
    for (double density : {0.2, 0.6}) {
      ++seed;
      INFO(shape[0] << " x " << shape[1] << " x " << shape[2] << ", density " << density);
      // Lame's constants are kept as floats.
      check_products(
          exec,
          Sample<TestType>(
              exec, reference::random_model(shape, density, 1e6, -0.4, 0.45, seed, 2.5), seed),
          2e-7);
    }
}

OSSATURA_BACKEND_TEST("Products equal the assembled matrix's on awkward shapes",
                      "[voxel_operators]") {
  const TestType exec;
  for (const NamedModel& named : awkward_models()) {
    INFO(named.name);
    check_products(exec, Sample<TestType>(exec, named.model, 3), 0);
  }
}

OSSATURA_BACKEND_TEST("Rigid motions load nothing", "[voxel_operators]") {
  const TestType exec;
  Sample<TestType> sample(exec, reference::random_model({9, 7, 6}, 0.4, 1e6, 0.3, 0.3, 4, 0.1), 4);
  for (int mode = 0; mode < 6; ++mode) {
    const int c = mode % 3, d = (c + 1) % 3;
    for (int node = 0; node < sample.model.num_lattice_nodes(); ++node) {
      const auto s = sample.model.site(node);
      double u[3] = {0, 0, 0};
      if (mode < 3) {
        u[c] = 1;
      } else {
        u[c] = s[d];
        u[d] = -s[c];
      }
      for (int i = 0; i < 3; ++i)
        sample.x[3 * node + i] = sample.model.has_node(node) ? u[i] : 0;
    }
    const auto scale = absolute_product(sample.model, sample.x);
    const std::vector<double> zero(sample.x.size());
    VoxelOperators<TestType>::for_each([&](auto entry) {
      using Operator = typename decltype(entry)::type;
      INFO(Operator::name << ", mode " << mode);
      CHECK(largest_difference(sample.template apply<Operator>(exec, sample.x), zero, scale) <
            1e-15);
      CHECK(largest_difference(sample.template apply<Operator, float>(exec, sample.x), zero,
                               scale) < 1e-6);
    });
  }
}

OSSATURA_BACKEND_TEST("Products are symmetric and store energy", "[voxel_operators]") {
  const TestType exec;
  for (unsigned seed : {1u, 2u, 3u}) {
    const Sample<TestType> sample(
        exec, reference::random_model({7, 9, 6}, 0.3, 1e6, -0.4, 0.45, seed), seed);
    const auto other = reference::random_vector(sample.model, seed + 100);
    VoxelOperators<TestType>::for_each([&](auto entry) {
      using Operator = typename decltype(entry)::type;
      INFO(Operator::name);
      const auto y = sample.template apply<Operator>(exec, sample.x);
      const auto z = sample.template apply<Operator>(exec, other);
      using reference::dot;
      CHECK(std::abs(dot(other, y) - dot(sample.x, z)) <
            1e-14 * std::sqrt(dot(sample.x, sample.x) * dot(z, z)));
      CHECK(dot(sample.x, y) > 0);
    });
  }
}

OSSATURA_BACKEND_TEST("The matrix of a small body has six zero eigenvalues, the others positive",
                      "[voxel_operators]") {
  const TestType exec;
  // Seven voxels of eight, in one piece across a corner of the 4-blocks.
  const reference::Model model = shaped({5, 5, 5}, [](int x, int y, int z) {
    return x > 2 && y > 2 && z > 2 && !(x == 4 && y == 4 && z == 4);
  });
  Sample<TestType> sample(exec, model, 1);
  std::vector<int> dofs;
  for (int i = 0; i < model.num_dofs(); ++i)
    if (model.has_node(i / 3))
      dofs.push_back(i);
  const int n = int(dofs.size());
  REQUIRE(n == 3 * 26);
  VoxelOperators<TestType>::for_each([&](auto entry) {
    using Operator = typename decltype(entry)::type;
    INFO(Operator::name);
    std::vector<double> dense(std::size_t(n) * n);
    for (int j = 0; j < n; ++j) {
      std::vector<double> unit(model.num_dofs());
      unit[dofs[j]] = 1;
      const auto column = sample.template apply<Operator>(exec, unit);
      for (int i = 0; i < n; ++i)
        dense[i * n + j] = column[dofs[i]];
    }
    double asymmetry = 0, largest = 0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        asymmetry = std::max(asymmetry, std::abs(dense[i * n + j] - dense[j * n + i]));
        largest = std::max(largest, std::abs(dense[i * n + j]));
      }
    CHECK(asymmetry < 1e-15 * largest);
    const auto eigenvalues = reference::symmetric_eigenvalues(dense, n);
    for (int i = 0; i < 6; ++i)
      CHECK(std::abs(eigenvalues[i]) < 1e-13 * eigenvalues[n - 1]);
    CHECK(eigenvalues[6] > 1e-6 * eigenvalues[n - 1]);
  });
}

OSSATURA_BACKEND_TEST("Linear displacements of a solid block load its surface alone",
                      "[voxel_operators]") {
  const TestType exec;
  reference::Model model = reference::homogeneous({9, 6, 5}, 10, 0.3, 0.5);
  Sample<TestType> sample(exec, model, 1);
  for (int node = 0; node < model.num_lattice_nodes(); ++node) {
    const auto s = model.site(node);
    sample.x[3 * node] = 1 + 0.1 * s[0] - 0.2 * s[1] + 0.7 * s[2];
    sample.x[3 * node + 1] = 0.4 * s[0] + 0.3 * s[1] - 0.6 * s[2];
    sample.x[3 * node + 2] = -2 + 0.5 * s[0] - 0.8 * s[1] - 0.9 * s[2];
  }
  VoxelOperators<TestType>::for_each([&](auto entry) {
    using Operator = typename decltype(entry)::type;
    INFO(Operator::name);
    const auto y = sample.template apply<Operator>(exec, sample.x);
    double inside = 0, surface = 0;
    for (int node = 0; node < model.num_lattice_nodes(); ++node) {
      const auto s = model.site(node);
      bool boundary = false;
      for (int d = 0; d < 3; ++d)
        boundary = boundary || s[d] == 0 || s[d] == model.shape[d];
      for (int c = 0; c < 3; ++c)
        (boundary ? surface : inside) =
            std::max(boundary ? surface : inside, std::abs(y[3 * node + c]));
    }
    CHECK(surface > 1);
    CHECK(inside < 1e-13 * surface);
  });
}

OSSATURA_BACKEND_TEST("Products that promise it are the same to the last bit in every run",
                      "[voxel_operators][slow]") {
  const TestType exec;
  const Sample<TestType> sample(exec, reference::random_model({17, 19, 18}, 0.7, 1e3, 0.3, 0.3, 3),
                                3);
  VoxelOperators<TestType>::for_each([&](auto entry) {
    using Operator = typename decltype(entry)::type;
    if (!Operator::is_reproducible)
      return;
    INFO(Operator::name);
    const auto first = sample.template apply<Operator>(exec, sample.x);
    const auto single = sample.template apply<Operator, float>(exec, sample.x);
    for (int run = 0; run < 4; ++run) {
      CHECK(sample.template apply<Operator>(exec, sample.x) == first);
      CHECK(sample.template apply<Operator, float>(exec, sample.x) == single);
    }
  });
}

/// Vectors and constraints for the updates, on the compact nodes.
template<class Scalar>
struct UpdateData {
  std::vector<Scalar> b, x, inverse_diagonal, product;
  std::vector<std::uint8_t> held;

  explicit UpdateData(std::size_t num_nodes)
      : b(3 * num_nodes)
      , x(3 * num_nodes)
      , inverse_diagonal(num_nodes)
      , held(num_nodes) {
    std::mt19937 random(11);
    for (auto* v : {&b, &x, &inverse_diagonal})
      for (Scalar& value : *v)
        value = Scalar(random() / 2147483648.0 - 1);
    for (std::uint8_t& mask : held)
      mask = random() % 2 ? 0 : std::uint8_t(random() % 8);
  }
  bool is_held(std::size_t dof) const { return held[dof / 3] >> (dof % 3) & 1; }
};

template<class Operator, class Scalar, class Exec>
void check_updates(const Exec& exec, const Sample<Exec>& sample) {
  const VoxelGrid<Exec>& grid = sample.grid;
  const Operator matrix(exec, grid, sample.lame, sample.model.edge);
  UpdateData<Scalar> data{std::size_t(grid.num_nodes)};
  const auto x = upload(exec, "test::x", data.x);
  const auto held = upload(exec, "test::held", data.held);
  const auto inverse = upload(exec, "test::inverse", data.inverse_diagonal);
  const auto make_scratch = [&] {
    const auto scratch = make_uninitialized<Scalar>(exec, grid.num_dofs(), "test::scratch");
    Kokkos::deep_copy(exec, scratch, Scalar(1e30));
    return scratch;
  };
  const auto b = upload(exec, "test::b", data.b);

  // The product itself: of the oracle.
  const auto on_lattice = to_lattice(grid, sample.model, x);
  const auto exact = reference::assemble(sample.model) * on_lattice;
  const auto scale = absolute_product(sample.model, on_lattice);
  const double bound = sizeof(Scalar) == 8 ? 1e-14 : 2e-6;
  const auto product = make_scratch();
  apply_then(exec, matrix, x, make_scratch(), StoreProduct<Exec, Scalar>{product});
  CHECK(largest_difference(to_lattice(grid, sample.model, product), exact, scale) < bound);
  const auto sites = ossatura::test::host_sites(grid);
  std::vector<double> a_x, size;
  for (const auto& s : sites)
    for (int c = 0; c < 3; ++c) {
      a_x.push_back(exact[3 * sample.model.node(s[0], s[1], s[2]) + c]);
      size.push_back(scale[3 * sample.model.node(s[0], s[1], s[2]) + c]);
    }

  // The residual, into an array of its own and over the right-hand side.
  std::vector<double> expected(a_x.size()), magnitude(a_x.size());
  for (std::size_t i = 0; i < a_x.size(); ++i) {
    expected[i] = data.is_held(i) ? 0 : double(data.b[i]) - a_x[i];
    magnitude[i] = data.is_held(i) ? 0 : std::abs(double(data.b[i])) + size[i];
  }
  const auto check = [&](const Array<Scalar, Exec>& result) {
    exec.fence();
    const auto values = host_values(result);
    CHECK(largest_difference(std::vector<double>(values.begin(), values.end()), expected,
                             magnitude) < bound);
  };
  const auto r = make_scratch();
  apply_then(exec, matrix, x, make_scratch(), StoreResidual<Exec, Scalar>{held, b, r});
  check(r);
  const auto in_place = upload(exec, "test::in_place", data.b);
  apply_then(exec, matrix, x, make_scratch(),
             StoreResidual<Exec, Scalar>{held, in_place, in_place});
  check(in_place);

  // The smoothing step.
  const Scalar omega = Scalar(0.625);
  for (std::size_t i = 0; i < a_x.size(); ++i) {
    const double factor = double(omega) * double(data.inverse_diagonal[i / 3]);
    expected[i] = data.is_held(i) ? 0 : double(data.x[i]) + factor * (double(data.b[i]) - a_x[i]);
    magnitude[i] = data.is_held(i) ? 0
                                   : std::abs(double(data.x[i])) +
                                         std::abs(factor) * (std::abs(double(data.b[i])) + size[i]);
  }
  const auto y = make_scratch();
  apply_then(exec, matrix, x, make_scratch(),
             SmoothingStep<Exec, Scalar>{omega, inverse, held, b, y});
  check(y);
  exec.fence();
  CHECK(host_values(x) == data.x);
  CHECK(host_values(b) == data.b);
}

/// The sums of updates that sum up, against those of what they read and store.
template<class Operator, class Scalar, class Exec>
void check_sums(const Exec& exec, const Sample<Exec>& sample) {
  const Operator matrix(exec, sample.grid, sample.lame, sample.model.edge);
  UpdateData<Scalar> data{std::size_t(sample.grid.num_nodes)};
  const auto x = upload(exec, "test::x", data.x), b = upload(exec, "test::b", data.b),
             inverse = upload(exec, "test::inverse", data.inverse_diagonal);
  const auto held = upload(exec, "test::held", data.held);
  const auto y = make_zeros<Scalar>(exec, sample.grid.num_dofs(), "test::y");
  const auto parts = make_uninitialized<double>(exec, matrix.num_sums(), "test::parts");
  const auto check = [&](const std::vector<Scalar>& with) {
    const auto sums = download(exec, parts);
    const auto stored = download(exec, y);
    double sum = 0, expected = 0, magnitude = 0;
    for (double part : sums)
      sum += part;
    for (std::size_t i = 0; i < stored.size(); ++i) {
      expected += double(with[i]) * double(stored[i]);
      magnitude += std::abs(double(with[i]) * double(stored[i]));
    }
    CHECK(magnitude > 0);
    // In single precision, what is summed may be from before the rounding of what is stored.
    CHECK(std::abs(sum - expected) <= (sizeof(Scalar) == 8 ? 1e-13 : 1e-6) * magnitude);
  };
  Kokkos::deep_copy(exec, parts, 1e30);
  matrix.apply_then(exec, x, StoreFreeProductDot<Exec, Scalar>{{held, y}, parts.data()});
  check(data.x);
  Kokkos::deep_copy(exec, parts, 1e30);
  matrix.apply_then(
      exec, x, SmoothingStepDot<Exec, Scalar>{{Scalar(0.625), inverse, held, b, y}, parts.data()});
  check(data.b);
}

OSSATURA_BACKEND_TEST("Updates that sum up give the products of what they store",
                      "[voxel_operators]") {
  const TestType exec;
  for (const auto& model : {reference::random_model({7, 9, 6}, 0.4, 1e4, 0.3, 0.3, 8, 0.1),
                            reference::random_model({23, 14, 19}, 1, 10, 0.3, 0.45, 9, 2)}) {
    const Sample<TestType> sample(exec, model, 1);
    int num_operators = 0;
    VoxelOperators<TestType>::for_each([&](auto entry) {
      using Operator = typename decltype(entry)::type;
      if constexpr (SumsUpdates<Operator>::value) {
        check_sums<Operator, double>(exec, sample);
        check_sums<Operator, float>(exec, sample);
        ++num_operators;
      }
    });
    CHECK(num_operators == 1);
  }
}

OSSATURA_BACKEND_TEST("Updates after a product equal plain loops", "[voxel_operators]") {
  const TestType exec;
  for (const auto& model : {reference::random_model({7, 9, 6}, 0.4, 1e4, 0.3, 0.3, 8, 0.1),
                            reference::random_model({13, 4, 9}, 1, 10, 0.3, 0.3, 9, 2),
                            reference::random_model({1, 1, 1}, 1, 10, 0.3, 0.3, 9)}) {
    const Sample<TestType> sample(exec, model, 1);
    VoxelOperators<TestType>::for_each([&](auto entry) {
      using Operator = typename decltype(entry)::type;
      INFO(Operator::name);
      check_updates<Operator, double>(exec, sample);
      check_updates<Operator, float>(exec, sample);
    });
  }
}

OSSATURA_BACKEND_TEST("Operators agree on elements of all three classes", "[voxel_operators]") {
  const TestType exec;
  const int n = 48; // 117 649 nodes: some distances exceed 65 535, and the hash has several cubes
  std::vector<float> values(std::size_t(n) * n * n);
  std::mt19937 random(2);
  for (float& value : values)
    value = random() % 8 ? 3 : 0;
  const auto image = ossatura::test::device_image(exec, {n, n, n}, values);
  const auto grid = make_voxel_grid(exec, image);
  const auto lame = make_lame_field(exec, grid, make_material(image, 0.3));
  const OffsetClasses classes = OffsetOperator<TestType>(exec, grid, lame, 1).classes();
  REQUIRE(classes.num_short > 0);
  REQUIRE(classes.num_medium > 0);
  REQUIRE(classes.num_long > 0);
  const auto x = make_zeros<double>(exec, grid.num_dofs(), "test::x");
  const auto expected = make_zeros<double>(exec, grid.num_dofs(), "test::expected");
  fill_random(exec, 5, x);
  GatherOperator<TestType>(exec, grid, lame, 0.1).apply(exec, x, expected);
  VoxelOperators<TestType>::for_each([&](auto entry) {
    using Operator = typename decltype(entry)::type;
    INFO(Operator::name);
    const auto y = make_zeros<double>(exec, grid.num_dofs(), "test::y");
    Operator(exec, grid, lame, 0.1).apply(exec, x, y);
    exec.fence();
    CHECK(relative_difference(host_values(y), host_values(expected)) < 1e-14);
  });
}

template<class Exec>
OffsetClasses solid_cube_classes(const Exec& exec, int n) {
  const auto image =
      ossatura::test::device_image(exec, {n, n, n}, std::vector<float>(std::size_t(n) * n * n, 1));
  const auto grid = make_voxel_grid(exec, image);
  const auto lame = make_lame_field(exec, grid, make_material(image, 0.3));
  return OffsetOperator<Exec>(exec, grid, lame, 1).classes();
}

OSSATURA_BACKEND_TEST("Distances between an element's nodes are as short as the paper's lemma says",
                      "[voxel_operators]") {
  // Arbenz, Flaig, Kellenberger 2014, (A.3): shares of at least 165 / 256 and 61473 / 65536, for
  // building blocks of Morton keys: compact numbers in a finite cube are at most as far apart.
  const TestType exec;
  const OffsetClasses classes = solid_cube_classes(exec, 64);
  const double total = 64 * 64 * 64;
  CHECK(classes.num_short + classes.num_medium + classes.num_long == 64 * 64 * 64);
  CHECK(classes.num_short / total >= 165. / 256);
  CHECK((classes.num_short + classes.num_medium) / total >= 61473. / 65536);
  // Exactly, from the numbering itself.
  const OffsetClasses small = solid_cube_classes(exec, 3); // 64 nodes: all short
  CHECK(small.num_short == 27);
  CHECK(small.num_medium == 0);
  CHECK(small.num_long == 0);
}

template<class Exec>
bool all_are_operators() {
  bool all = true;
  VoxelOperators<Exec>::for_each([&](auto entry) {
    using Operator = typename decltype(entry)::type;
    all = all && is_voxel_operator<Operator, Exec, double> &&
          is_voxel_operator<Operator, Exec, float>;
  });
  return all;
}

OSSATURA_BACKEND_TEST("Every operator is what the solvers ask for", "[voxel_operators]") {
  CHECK(all_are_operators<TestType>());
}

OSSATURA_BACKEND_TEST("Poisson ratios per voxel are checked at solid voxels only",
                      "[voxel_operators]") {
  const TestType exec;
  const auto modulus = ossatura::test::device_image(exec, {2, 1, 1}, {5, 0});
  CHECK_NOTHROW(
      make_material(exec, modulus, ossatura::test::device_image(exec, {2, 1, 1}, {0.2f, 9})));
  for (float bad : {0.5f, -1.0f, 2.0f, std::nanf("")})
    CHECK_THROWS_AS(
        make_material(exec, modulus, ossatura::test::device_image(exec, {2, 1, 1}, {bad, 0.2f})),
        InputError);
  CHECK_THROWS_AS(
      make_material(exec, modulus, ossatura::test::device_image(exec, {3, 1, 1}, {0, 0, 0})),
      std::invalid_argument);
}

} // namespace
