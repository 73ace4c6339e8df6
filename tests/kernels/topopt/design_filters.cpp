// SPDX-License-Identifier: Apache-2.0
// What densities go through on the way to moduli: filters, projection, the law of the modulus; and
// the energies that gradients are made of.
#include "tests/backend_test.hpp"
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/kernels/hexa/geometry.hpp>
#include <ossatura/kernels/softbody/elements/lumped_mass.hpp>
#include <ossatura/kernels/topopt/cone_filter.hpp>
#include <ossatura/kernels/topopt/design_variables.hpp>
#include <ossatura/kernels/topopt/hexa_energies.hpp>
#include <ossatura/kernels/topopt/tanh_projection.hpp>
#include <ossatura/solvers/topopt/filters/helmholtz.hpp>

#include <cmath>
#include <numeric>
#include <random>

namespace {

using namespace ossatura;
using Values = std::vector<double>;

/// A box of hexahedra whose nodes, but for those of its faces, are moved at random by up to
/// `distortion` of an edge.
ElementMesh make_box(const int (&cells)[3], const double (&size)[3], double distortion) {
  ElementMesh mesh = make_hexa_box(cells, size);
  std::mt19937 random(7);
  for (std::size_t i = 0; i < mesh.point.size(); ++i) {
    const double full = size[i % 3], step = full / cells[i % 3];
    const double move = distortion * step * (2 * (double(random()) / double(random.max())) - 1);
    if (mesh.point[i] > 1e-9 * full && mesh.point[i] < full * (1 - 1e-9))
      mesh.point[i] += move;
  }
  return mesh;
}

Values random_values(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  Values values(n);
  for (double& value : values)
    value = double(random()) / double(random.max());
  return values;
}

double dot_of(const Values& a, const Values& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double largest_gap(const Values& a, const Values& b) {
  double largest = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    largest = std::max(largest, std::fabs(a[i] - b[i]));
  return largest;
}

/// The matrix w by definition, images and all [n, n].
Values cone_weights(const Values& centroid, double radius, const MirrorPlanes& mirrors) {
  const std::size_t n = centroid.size() / 3;
  Values w(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (int image = 0; image < 27; ++image) {
        const int which[3] = {image % 3, image / 3 % 3, image / 9};
        double square = 0;
        bool there = true;
        for (int c = 0; c < 3; ++c) {
          there = there && which[c] <= mirrors.count[c];
          double x = centroid[3 * j + std::size_t(c)];
          if (there && which[c] > 0)
            x = 2 * mirrors.place[c][which[c] - 1] - x;
          square += std::pow(x - centroid[3 * i + std::size_t(c)], 2);
        }
        if (there)
          w[i * n + j] += std::max(0.0, radius - std::sqrt(square));
      }
  return w;
}

OSSATURA_BACKEND_TEST("A mean by distance is what its definition says", "[design_filters]") {
  const TestType exec;
  const ElementMesh mesh = make_box({7, 5, 4}, {2, 1, 1}, 0.2);
  const auto geometry = measure_hexas(exec, make_hexa_arrays(exec, mesh));
  const Values centroid = download(exec, geometry.centroid),
               volume = download(exec, geometry.volume);
  const std::size_t n = volume.size();
  const Values x = random_values(n, 1), g = random_values(n, 2);
  MirrorPlanes some;
  some.count[0] = 1, some.place[0][0] = 2;
  some.count[2] = 2, some.place[2][0] = 1, some.place[2][1] = 0;
  for (const MirrorPlanes& mirrors : {MirrorPlanes(), some})
    for (double radius : {0.05, 0.4, 0.9}) { // within an element; two; most of the body
      const Values w = cone_weights(centroid, radius, mirrors);
      Values mean(n), transposed(n), sensitivity(n), sum(n);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
          sum[i] += w[i * n + j] * volume[j];
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
          const double matrix = w[i * n + j] * volume[j] / sum[i];
          mean[i] += matrix * x[j];
          transposed[j] += matrix * g[i];
          sensitivity[i] += volume[i] * matrix * x[j] * g[j] / (volume[j] * std::max(x[i], 1e-3));
        }
      const auto filter =
          make_cone_filter(exec, geometry.centroid, geometry.volume, radius, mirrors);
      const auto x_there = upload(exec, "test::x", x), g_there = upload(exec, "test::g", g);
      const auto y = make_zeros<double>(exec, std::int64_t(n), "test::y");
      INFO("radius " << radius);
      apply_cone_filter(exec, filter, x_there, y);
      CHECK(largest_gap(download(exec, y), mean) < 1e-14);
      apply_cone_filter_transposed(exec, filter, g_there, y);
      CHECK(largest_gap(download(exec, y), transposed) < 1e-13);
      filter_sensitivities(exec, filter, x_there, g_there, y);
      const double size = *std::max_element(sensitivity.begin(), sensitivity.end());
      CHECK(largest_gap(download(exec, y), sensitivity) < 1e-13 * size);
      Kokkos::deep_copy(exec, x_there, 0.3);
      apply_cone_filter(exec, filter, x_there, y);
      CHECK(largest_gap(download(exec, y), Values(n, 0.3)) < 1e-15);
    }
}

OSSATURA_BACKEND_TEST("Between mirrors a mean by distance keeps the volume", "[design_filters]") {
  const TestType exec;
  const auto geometry =
      measure_hexas(exec, make_hexa_arrays(exec, make_box({6, 5, 4}, {6, 5, 4}, 0)));
  MirrorPlanes mirrors;
  for (int c = 0; c < 3; ++c)
    mirrors.count[c] = 2, mirrors.place[c][1] = 6 - c;
  const Values x = random_values(120, 3);
  const auto filter =
      make_cone_filter(exec, geometry.centroid, geometry.volume, std::sqrt(3.0), mirrors);
  const auto y = make_zeros<double>(exec, 120, "test::y");
  apply_cone_filter(exec, filter, upload(exec, "test::x", x), y);
  const Values filtered = download(exec, y);
  CHECK(std::accumulate(filtered.begin(), filtered.end(), 0.0) ==
        Approx(std::accumulate(x.begin(), x.end(), 0.0)).epsilon(1e-13));
  // A single element away from the boundary, by hand: the weights are sqrt(3) for itself, sqrt(3) -
  // 1 for 6 neighbours and sqrt(3) - sqrt(2) for 12.
  const Values centroid = download(exec, geometry.centroid);
  std::size_t inner = 0;
  while (std::fabs(centroid[3 * inner] - 2.5) + std::fabs(centroid[3 * inner + 1] - 2.5) +
             std::fabs(centroid[3 * inner + 2] - 1.5) >
         1e-9)
    ++inner;
  Values one(120);
  one[inner] = 1;
  apply_cone_filter(exec, filter, upload(exec, "test::x", one), y);
  const double root = std::sqrt(3.0), all = root + 6 * (root - 1) + 12 * (root - std::sqrt(2.0));
  const Values spread = download(exec, y);
  CHECK(spread[inner] == Approx(root / all).epsilon(1e-14));
  CHECK(std::count_if(spread.begin(), spread.end(), [&](double value) {
          return std::fabs(value - (root - 1) / all) < 1e-14;
        }) == 6);
}

OSSATURA_BACKEND_TEST("A filter that makes no sense is refused", "[design_filters]") {
  const TestType exec;
  const auto arrays = make_hexa_arrays(exec, make_box({2, 2, 2}, {1, 1, 1}, 0));
  const auto geometry = measure_hexas(exec, arrays);
  CHECK_THROWS_AS(make_cone_filter(exec, geometry.centroid, geometry.volume, 0.0),
                  std::invalid_argument);
  CHECK_THROWS_AS(HelmholtzFilter<TestType>(exec, arrays, -1), std::invalid_argument);
  MirrorPlanes close;
  close.count[1] = 2, close.place[1][1] = 1;
  CHECK_THROWS_WITH(make_cone_filter(exec, geometry.centroid, geometry.volume, 1.1, close),
                    ContainsSubstring("nearer than the radius"));
}

OSSATURA_BACKEND_TEST("The Helmholtz filter keeps constants and the volume", "[design_filters]") {
  const TestType exec;
  const auto arrays = make_hexa_arrays(exec, make_box({6, 5, 4}, {2, 1, 1}, 0.2));
  const Values volume = download(exec, measure_hexas(exec, arrays).volume);
  const HelmholtzFilter<TestType> filter(exec, arrays, 0.7);
  const std::size_t n = volume.size();
  const Values x = random_values(n, 4), g = random_values(n, 5);
  const auto y = upload(exec, "test::y", Values(n, 0.4));
  REQUIRE(filter.apply(exec, y, y).converged);
  CHECK(largest_gap(download(exec, y), Values(n, 0.4)) < 1e-10);
  filter.apply(exec, upload(exec, "test::x", x), y);
  const Values filtered = download(exec, y);
  CHECK(dot_of(volume, filtered) == Approx(dot_of(volume, x)).epsilon(1e-9));
  CHECK(largest_gap(filtered, x) > 0.1);
  filter.apply_transposed(exec, upload(exec, "test::g", g), y);
  CHECK(dot_of(download(exec, y), x) == Approx(dot_of(g, filtered)).epsilon(1e-9));
}

OSSATURA_BACKEND_TEST("The Helmholtz filter keeps what lies between 0 and 1 there",
                      "[design_filters]") {
  const TestType exec;
  const auto beyond = [&](const double(&size)[3], double distortion, double radius) {
    const auto arrays = make_hexa_arrays(exec, make_box({6, 5, 4}, size, distortion));
    double most = 0;
    for (unsigned seed = 0; seed < 5; ++seed) {
      Values x = random_values(120, seed);
      for (double& value : x)
        value = value > 0.5 ? 1 : 0;
      const auto y = upload(exec, "test::y", x);
      REQUIRE(HelmholtzFilter<TestType>(exec, arrays, radius).apply(exec, y, y).converged);
      for (const double value : download(exec, y))
        most = std::max({most, -value, value - 1});
    }
    return most;
  };
  for (const double radius : {1.0, 1.5, 3.0}) {
    CHECK(beyond({6, 5, 4}, 0, radius) < 1e-9);
    CHECK(beyond({6, 5, 4}, 0.4, radius) < 1e-3);
  }
  CHECK(beyond({60, 5, 4}, 0, 6) < helmholtz_excess);
}

OSSATURA_BACKEND_TEST("The Helmholtz filter damps a wave as its equation says",
                      "[design_filters]") {
  // x = cos(pi s) along the box of length 1 becomes x / (1 + l^2 pi^2), l = R / (2 sqrt 3), with an
  // error that falls with the square of the edge of cubes.
  const TestType exec;
  const double radius = 0.6,
               factor = 1 / (1 + radius * radius * Kokkos::numbers::pi * Kokkos::numbers::pi / 12);
  double error[2];
  for (int level = 0; level < 2; ++level) {
    const int cells = 8 << level;
    const auto arrays =
        make_hexa_arrays(exec, make_box({cells, cells / 8, cells / 4}, {1, 0.125, 0.25}, 0));
    const Values centroid = download(exec, measure_hexas(exec, arrays).centroid);
    Values x(centroid.size() / 3), exact(x.size());
    for (std::size_t e = 0; e < x.size(); ++e) { // means over the element
      const double s = centroid[3 * e], h = 1.0 / cells;
      x[e] = (std::sin(Kokkos::numbers::pi * (s + h / 2)) -
              std::sin(Kokkos::numbers::pi * (s - h / 2))) /
             (Kokkos::numbers::pi * h);
      exact[e] = factor * x[e];
    }
    const auto y = upload(exec, "test::y", x);
    HelmholtzFilter<TestType>(exec, arrays, radius).apply(exec, y, y);
    error[level] = largest_gap(download(exec, y), exact);
  }
  CHECK(error[0] < 0.02);
  CHECK(error[0] / error[1] == Approx(4).epsilon(0.1));
}

OSSATURA_BACKEND_TEST("Projection and law of the modulus have the slopes they say",
                      "[design_filters]") {
  const double h = 1e-6;
  for (double beta : {0.5, 8.0, 64.0})
    for (double eta : {0.3, 0.5}) {
      const TanhProjection step(beta, eta);
      CHECK(step.value(0) == Approx(0).margin(1e-15));
      CHECK(step.value(1) == Approx(1).epsilon(1e-15));
      for (double rho : {0.1, 0.5, 0.8})
        CHECK(step.slope(rho) == Approx((step.value(rho + h) - step.value(rho - h)) / (2 * h))
                                     .epsilon(1e-7)
                                     .margin(1e-9));
    }
  const SimpLaw law{210e9, 1e-9, 3.5};
  CHECK(law.modulus(1) == Approx(210e9));
  CHECK(law.modulus(0) == Approx(210));
  CHECK(law.modulus(-0.01) == law.modulus(0)); // undershoot of a filter
  for (double rho : {0.1, 0.5, 0.8})
    CHECK(law.slope(rho) ==
          Approx((law.modulus(rho + h) - law.modulus(rho - h)) / (2 * h)).epsilon(1e-7));
  CHECK(law.slope(-0.01) == 0);
}

OSSATURA_BACKEND_TEST("Elements have the volumes and energies of their fields",
                      "[design_filters]") {
  const TestType exec;
  const ElementMesh mesh = make_box({4, 3, 3}, {2, 1, 1.5}, 0.25);
  const auto arrays = make_hexa_arrays(exec, mesh);
  const auto geometry = measure_hexas(exec, arrays);
  const Values volume = download(exec, geometry.volume);
  for (std::size_t e = 0; e < volume.size(); ++e)
    CHECK(volume[e] == Approx(element_volume(mesh, e)).epsilon(1e-14));
  CHECK(geometry.total_volume == Approx(3).epsilon(1e-14));
  CHECK(
      measure_hexas(exec, make_hexa_arrays(exec, make_box({4, 1, 1}, {2, 1, 1.5}, 0))).mean_edge ==
      Approx(1).epsilon(1e-14)); // edges of 0.5, 1 and 1.5

  // u = G x, v = H x: stress(G) : strain(H) times the volume, exactly, whatever the shape.
  const double nu = 0.3;
  const UnitLame lame = unit_lame(nu);
  const Values big_g = random_values(9, 11), big_h = random_values(9, 12);
  Values u(mesh.point.size()), v(u.size());
  for (std::size_t i = 0; i < u.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      u[i] += big_g[3 * (i % 3) + k] * mesh.point[i - i % 3 + k];
      v[i] += big_h[3 * (i % 3) + k] * mesh.point[i - i % 3 + k];
    }
  double shear = 0;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      shear += 0.25 * (big_g[3 * i + j] + big_g[3 * j + i]) * (big_h[3 * i + j] + big_h[3 * j + i]);
  const double density = 1 / (1 + nu) * shear + nu / ((1 + nu) * (1 - 2 * nu)) *
                                                    (big_g[0] + big_g[4] + big_g[8]) *
                                                    (big_h[0] + big_h[4] + big_h[8]);
  const auto energy = make_zeros<double>(exec, arrays.num_elem, "test::energy");
  const auto u_there = upload(exec, "test::u", u), v_there = upload(exec, "test::v", v);
  add_energies(exec, arrays, lame, 2, u_there, v_there, energy);
  add_energies(exec, arrays, lame, -1, v_there, u_there, energy); // symmetric
  const Values affine = download(exec, energy);
  for (std::size_t e = 0; e < volume.size(); ++e)
    CHECK(affine[e] == Approx(density * volume[e]).epsilon(1e-13));

  // Any field: the product with the element's matrix.
  const Values any = random_values(u.size(), 13);
  Kokkos::deep_copy(exec, energy, 0.0);
  const auto any_there = upload(exec, "test::any", any);
  add_energies(exec, arrays, lame, 1, any_there, any_there, energy);
  const Values found = download(exec, energy);
  for (std::size_t e = 0; e < volume.size(); e += 5) {
    double x[24], k[300], sum = 0;
    const auto dof = [&](int i) {
      return 3 * std::size_t(mesh.node[8 * e + std::size_t(i / 3)]) + std::size_t(i % 3);
    };
    for (int i = 0; i < 24; ++i)
      x[i] = mesh.point[dof(i)];
    hexa_stiffness(x, lame, k);
    for (int i = 0; i < 24; ++i)
      for (int j = 0; j < 24; ++j)
        sum += any[dof(i)] * k[hexa_packed(i, j)] * any[dof(j)];
    CHECK(found[e] == Approx(sum).epsilon(1e-12));
  }
}

} // namespace
