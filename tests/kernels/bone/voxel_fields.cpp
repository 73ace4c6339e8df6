// SPDX-License-Identifier: Apache-2.0
// Strain, stress and energy of voxels for displacements whose fields are known.
#include "tests/backend_test.hpp"
#include "tests/kernels/bone/lattice.hpp"
#include <ossatura/kernels/bone/fields.hpp>
#include <ossatura/kernels/bone/gather_operator.hpp>

#include <cmath>

namespace {

using namespace ossatura;
using ossatura::test::host_sites;
using ossatura::test::host_values;

template<class Exec>
struct Body {
  reference::Model model = reference::random_model({5, 4, 6}, 0.5, 10, 0.1, 0.4, 3);
  double edge = 0.25;
  MaterialImage<Exec> material;
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;

  explicit Body(const Exec& exec)
      : material(ossatura::test::upload_material(exec, model))
      , grid(make_voxel_grid(exec, material.solid()))
      , lame(make_lame_field(exec, grid, material)) {}
};

/// u = gradient x.
template<class Exec>
Array<double, Exec> linear_displacement(const Exec& exec, const Body<Exec>& body,
                                        const double (&gradient)[3][3]) {
  std::vector<double> u;
  for (const auto& s : host_sites(body.grid))
    for (int c = 0; c < 3; ++c)
      u.push_back(body.edge *
                  (gradient[c][0] * s[0] + gradient[c][1] * s[1] + gradient[c][2] * s[2]));
  return upload(exec, "test::u", u);
}

OSSATURA_BACKEND_TEST("A linear displacement has its constant strain, and stress by Hooke's law",
                      "[voxel_fields]") {
  const TestType exec;
  const Body<TestType> body(exec);
  const double g[3][3] = {{0.01, 0.02, -0.03}, {0.004, -0.02, 0.05}, {-0.06, 0.01, 0.03}};
  const auto u = linear_displacement(exec, body, g);
  const double strain[6] = {g[0][0],           g[1][1],           g[2][2],
                            g[0][1] + g[1][0], g[1][2] + g[2][1], g[2][0] + g[0][2]};
  for (const EnergyPoint point : {EnergyPoint::centre, EnergyPoint::mean}) {
    double energy = 0;
    const auto fields = compute_voxel_fields(exec, {0, body.grid.num_nodes}, body.grid, body.lame,
                                             body.edge, u, point, true, energy);
    const auto element = host_values(fields.element);
    const auto strains = host_values(fields.strain), stresses = host_values(fields.stress),
               sed = host_values(fields.energy_density), mises = host_values(fields.von_mises),
               effective = host_values(fields.effective_strain);
    const auto sites = host_sites(body.grid);
    REQUIRE(int(element.size()) == body.grid.num_elem);
    double total = 0;
    for (std::size_t e = 0; e < element.size(); ++e) {
      const auto& s = sites[element[e]];
      const int voxel = int(body.model.voxel(s[0], s[1], s[2]));
      const auto d = reference::elasticity(body.model.modulus[voxel], body.model.poisson[voxel]);
      double stress[6], density = 0;
      for (int i = 0; i < 6; ++i) {
        stress[i] = 0;
        for (int j = 0; j < 6; ++j)
          stress[i] += d[i][j] * strain[j];
        density += 0.5 * stress[i] * strain[i];
        CHECK(strains[6 * e + i] == Approx(strain[i]).epsilon(1e-6));
        CHECK(stresses[6 * e + i] == Approx(stress[i]).epsilon(1e-5).margin(1e-6));
      }
      CHECK(sed[e] == Approx(density).epsilon(1e-5));
      CHECK(effective[e] ==
            Approx(std::sqrt(2 * density / body.model.modulus[voxel])).epsilon(1e-5));
      // Von Mises from the deviator.
      const double p = (stress[0] + stress[1] + stress[2]) / 3;
      double j2 = 0;
      for (int i = 0; i < 6; ++i)
        j2 += i < 3 ? 0.5 * (stress[i] - p) * (stress[i] - p) : stress[i] * stress[i];
      CHECK(mises[e] == Approx(std::sqrt(3 * j2)).epsilon(1e-5));
      total += density * std::pow(body.edge, 3);
    }
    CHECK(energy == Approx(total).epsilon(1e-6));
  }
}

OSSATURA_BACKEND_TEST("The strain energy of any displacement is half of u K u", "[voxel_fields]") {
  const TestType exec;
  const Body<TestType> body(exec);
  const auto u = make_zeros<double>(exec, body.grid.num_dofs(), "test::u");
  const auto product = make_zeros<double>(exec, body.grid.num_dofs(), "test::Ku");
  fill_random(exec, 5, u);
  GatherOperator<TestType>(exec, body.grid, body.lame, body.edge).apply(exec, u, product);
  double energy = 0;
  const auto fields = compute_voxel_fields(exec, {0, body.grid.num_nodes}, body.grid, body.lame,
                                           body.edge, u, EnergyPoint::mean, false, energy);
  CHECK(energy == Approx(0.5 * dot(exec, u, product)).epsilon(1e-12));
  double sum = 0;
  for (const float density : host_values(fields.energy_density))
    sum += double(density) * std::pow(body.edge, 3);
  CHECK(sum == Approx(energy).epsilon(1e-5));
  CHECK(fields.strain.extent(0) == 0);
}

OSSATURA_BACKEND_TEST(
    "The mean stress of a linear displacement is the mean stiffness times its strain",
    "[voxel_fields]") {
  const TestType exec;
  const Body<TestType> body(exec);
  const double g[3][3] = {{0.01, 0.02, 0}, {0.02, -0.02, 0.05}, {0, 0.05, 0.03}};
  const auto u = linear_displacement(exec, body, g);
  const double strain[6] = {0.01, -0.02, 0.03, 0.04, 0.1, 0};
  const double volume = 5 * 4 * 6 * std::pow(body.edge, 3);
  const auto mean = mean_stress(exec, body.grid, body.lame, body.edge, u, volume);
  double expected[6] = {};
  for (std::size_t voxel = 0; voxel < body.model.modulus.size(); ++voxel) {
    if (!(body.model.modulus[voxel] > 0))
      continue;
    const auto d = reference::elasticity(body.model.modulus[voxel], body.model.poisson[voxel]);
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j)
        expected[i] += d[i][j] * strain[j] / double(body.model.modulus.size());
  }
  for (int i = 0; i < 6; ++i)
    CHECK(mean[i] == Approx(expected[i]).epsilon(1e-5).margin(1e-9));
}

} // namespace
