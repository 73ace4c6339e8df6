// SPDX-License-Identifier: Apache-2.0
// Consistent mass against integrals that are known: of boxes of each kind of element, for fields
// that these have exactly, and products of many vectors against sums in a row.
#include "tests/backend_test.hpp"
#include "tests/solid_meshes.hpp"
#include <ossatura/kernels/algebra/many_vectors.hpp>
#include <ossatura/kernels/solids/mass.hpp>

#include <cmath>

namespace {

using namespace ossatura;

/// u . M v for u, v with the x component at nodes of these functions.
template<class Exec, class U, class V>
double mass_product(const Exec& exec, const ElementMasses<Exec>& masses, const SolidMesh& mesh,
                    const std::vector<double>& density, const U& u, const V& v) {
  std::vector<double> left(3 * mesh.num_points()), right(left.size());
  for (std::size_t n = 0; n < mesh.num_points(); ++n) {
    left[3 * n] = u(&mesh.point[3 * n]);
    right[3 * n] = v(&mesh.point[3 * n]);
  }
  const auto y = make_uninitialized<double>(exec, std::int64_t(left.size()), "y");
  apply_mass(exec, masses, upload(exec, "density", density), upload(exec, "v", right), y);
  return dot(exec, upload(exec, "u", left), y);
}

} // namespace

OSSATURA_BACKEND_TEST("Consistent mass integrates what elements have", "[element_masses]") {
  const TestType exec;
  for (const SolidKind kind : ossatura_test::all_solid_kinds) {
    INFO(name_of(kind));
    // A sheared box of 2 x 1 x 3, of volume 6; elements of the left half are of density 5, the
    // others of 2.
    const SolidMesh mesh =
        ossatura_test::make_solid_box([&](int) { return kind; }, {2, 1, 2}, {2, 1, 3},
                                      [](std::array<double, 3>& x) { x[1] += 0.3 * x[2]; });
    std::vector<double> density;
    for (std::size_t e = 0; e < mesh.num_elem(); ++e)
      density.push_back(centre_of(mesh, e)[0] < 1 ? 5 : 2);
    const ElementMasses<TestType> masses = make_element_masses(exec, mesh);
    const auto one = [](const double*) { return 1.0; };
    const auto x = [](const double* at) { return at[0]; };
    const auto z = [](const double* at) { return at[2]; };
    const auto sum = [&](const auto& u, const auto& v) {
      return mass_product(exec, masses, mesh, density, u, v);
    };
    // Over each half: of 1 the volume 3, of x and x^2 those of 0 .. 1 and 1 .. 2, of z^2 3^3 / 3.
    CHECK(sum(one, one) == Approx(21).epsilon(1e-13));
    CHECK(sum(x, one) == Approx(3 * (5 * 0.5 + 2 * 1.5)).epsilon(1e-13));
    CHECK(sum(x, x) == Approx(3 * (5 / 3. + 2 * 7 / 3.)).epsilon(1e-13));
    CHECK(sum(z, z) == Approx(9 * 7).epsilon(1e-13));
    CHECK(sum(x, z) == Approx(4.5 * (5 * 0.5 + 2 * 1.5)).epsilon(1e-13));
    if (is_second_order(kind)) // their squares are of fourth degree
      CHECK(sum([](const double* at) { return at[0] * at[0]; },
                [](const double* at) { return at[2] * at[2]; }) ==
            Approx(9 * (5 / 3. + 2 * 7 / 3.)).epsilon(1e-13));
    // Energies of elements for 1 kg / m^3 add up to the product.
    std::vector<double> u(3 * mesh.num_points());
    for (std::size_t i = 0; i < u.size(); ++i)
      u[i] = std::sin(double(i));
    const auto on_backend = upload(exec, "u", u);
    const auto energy = make_zeros<double>(exec, std::int64_t(mesh.num_elem()), "energy");
    add_mass_energies(exec, masses, 2, on_backend, energy);
    const auto y = make_uninitialized<double>(exec, std::int64_t(u.size()), "y");
    apply_mass(exec, masses, upload(exec, "density", density), on_backend, y);
    double total = 0;
    const std::vector<double> each = download(exec, energy);
    for (std::size_t e = 0; e < each.size(); ++e) {
      CHECK(each[e] > 0);
      total += density[e] * each[e];
    }
    CHECK(total == Approx(2 * dot(exec, on_backend, y)).epsilon(1e-13));
  }
}

OSSATURA_BACKEND_TEST("Products and combinations of many vectors are sums", "[many_vectors]") {
  const TestType exec;
  constexpr int count = 7;
  constexpr std::int64_t n = 10007; // of several parts
  const ManyVectors<TestType> a = make_many_vectors(exec, count, n, "a"),
                              b = make_many_vectors(exec, count, n, "b");
  std::vector<double> left, right;
  for (std::int64_t i = 0; i < count * n; ++i) {
    left.push_back(std::sin(1.3 * double(i)));
    right.push_back(std::cos(0.7 * double(i)));
  }
  upload_to(exec, left, a.value);
  upload_to(exec, right, b.value);
  fence(exec, "uploads");
  const auto expected = [&](const std::vector<double>& x, const std::vector<double>& y, int i,
                            int j) {
    double sum = 0;
    for (std::int64_t k = 0; k < n; ++k)
      sum += x[std::size_t(i * n + k)] * y[std::size_t(j * n + k)];
    return sum;
  };
  const std::vector<double> found = row_products(exec, a, b, std::vector<int>{0, 0, 6, 2, 3, 5});
  CHECK(found[0] == Approx(expected(left, right, 0, 0)).margin(1e-9));
  CHECK(found[1] == Approx(expected(left, right, 6, 2)).margin(1e-9));
  CHECK(found[2] == Approx(expected(left, right, 3, 5)).margin(1e-9));
  const std::vector<double> gram = row_products(exec, a, a, 3);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      CHECK(gram[std::size_t(3 * i + j)] == Approx(expected(left, left, i, j)).margin(1e-9));
  // Rows 3 and 4 less 2 and -1 times rows 0 and 1; then two rows of the first three.
  subtract_rows(exec, a, 2, 3, 5, {2, 0.5, -1, 3});
  combine_rows(exec, a, 3, 2, {1, 4, 2, 5, 3, 6});
  const std::vector<double> now = download(exec, a.value);
  double apart = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    const auto old = [&](int i) { return left[std::size_t(i * n + k)]; };
    const auto is = [&](int i) { return now[std::size_t(i * n + k)]; };
    for (const double difference :
         {is(3) - (old(3) - 2 * old(0) + old(1)), is(4) - (old(4) - 0.5 * old(0) - 3 * old(1)),
          is(0) - (old(0) + 2 * old(1) + 3 * old(2)),
          is(1) - (4 * old(0) + 5 * old(1) + 6 * old(2)), is(2) - old(2), is(5) - old(5)})
      apart = std::max(apart, std::fabs(difference));
  }
  CHECK(apart < 1e-14);
}
