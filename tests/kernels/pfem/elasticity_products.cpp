// SPDX-License-Identifier: Apache-2.0
// What D has of w' K u: against products with K, and against those with another D.
#include "tests/backend_test.hpp"
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/core/pfem/meshes.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/pfem/elasticity_products.hpp>
#include <ossatura/solvers/pfem/model.hpp>
#include <ossatura/solvers/pfem/operators.hpp>

#include <cmath>
#include <random>

using namespace ossatura;

namespace {

std::vector<double> product_values(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> values(n);
  for (double& value : values)
    value = double(random()) / double(random.max()) - 0.5;
  return values;
}

/// An elasticity without symmetries, of each element.
std::vector<double> rough_elasticity(std::size_t num_elem) {
  std::vector<double> d = product_values(std::size_t(elasticity_entries) * num_elem, 3);
  for (std::size_t e = 0; e < num_elem; ++e)
    for (int i = 0; i < 6; ++i)
      d[std::size_t(elasticity_entries) * e + std::size_t(elasticity_entry(i, i))] += 4;
  return d;
}

template<class Exec>
struct ProductBody {
  CurvedHexaMesh mesh = make_sphere_octant(1, 2, 1, 1);
  HierarchicNumbering numbering;

  explicit ProductBody(HexaSpace space)
      : numbering(make_hierarchic_numbering(mesh.mesh, make_hexa_entities(mesh.mesh), space,
                                            {3, 2, 4})) {}
  HierarchicModel<Exec> model(const Exec& exec, const std::vector<double>& d) const {
    HierarchicOptions options;
    options.points = 6;
    return make_hierarchic_model(exec, mesh, numbering, {d, {}}, options);
  }
};

template<class Exec>
double bilinear(const Exec& exec, const HierarchicModel<Exec>& model, const std::vector<double>& w,
                const std::vector<double>& u) {
  const auto op = make_hierarchic_operator(exec, HierarchicOperatorKind::packed, model);
  const Array<double, Exec> y =
      make_zeros<double>(exec, std::int64_t(u.size()), "tests::elasticity_products");
  op->apply(exec, upload(exec, "u", u), y);
  const std::vector<double> force = download(exec, y);
  double sum = 0;
  for (std::size_t i = 0; i < w.size(); ++i)
    sum += w[i] * force[i];
  return sum;
}

OSSATURA_BACKEND_TEST("Products by D are the derivatives of w' K u", "[elasticity_products]") {
  const TestType exec;
  for (const HexaSpace space : {HexaSpace::trunk, HexaSpace::tensor}) {
    const ProductBody<TestType> body(space);
    const std::size_t n = 3 * std::size_t(body.numbering.num_modes);
    const std::vector<double> w = product_values(n, 1), u = product_values(n, 2),
                              d = rough_elasticity(3);
    const HierarchicModel<TestType> model = body.model(exec, d);
    const auto out = make_zeros<double>(exec, std::int64_t(d.size()), "out");
    Kokkos::deep_copy(out, 1.0); // is added to
    add_elasticity_products(exec, model, 2.0, upload(exec, "w", w), upload(exec, "u", u), out);
    const std::vector<double> found = download(exec, out);

    double sum = 0;
    for (std::size_t i = 0; i < d.size(); ++i)
      sum += 0.5 * (found[i] - 1) * d[i];
    CHECK(sum == Approx(bilinear(exec, model, w, u)).epsilon(1e-11)); // linear in D
    for (const std::size_t entry : {0, 1, 8, 20, 21 + 13, 42 + 20}) {
      std::vector<double> moved = d;
      moved[entry] += 0.25;
      const double slope =
          bilinear(exec, body.model(exec, moved), w, u) - bilinear(exec, model, w, u);
      CHECK(0.5 * (found[entry] - 1) == Approx(slope / 0.25).epsilon(1e-8).margin(1e-10));
    }

    const auto same = make_zeros<double>(exec, std::int64_t(d.size()), "same"),
               other = make_zeros<double>(exec, std::int64_t(d.size()), "other");
    const Array<double, TestType> v = upload(exec, "v", u);
    add_elasticity_products(exec, model, 1.0, v, v, same);
    add_elasticity_products(exec, model, 1.0, v, upload(exec, "u", u), other);
    CHECK(download(exec, same) == download(exec, other));
  }
}

} // namespace
