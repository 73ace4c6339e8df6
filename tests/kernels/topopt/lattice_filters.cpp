// SPDX-License-Identifier: Apache-2.0
// The cone filter on a lattice against sums over all pairs, and energies of voxels against those of
// hexahedra.
#include "tests/backend_test.hpp"
#include <ossatura/core/mesh/generators/voxel_mesh.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/topopt/hexa_energies.hpp>
#include <ossatura/kernels/topopt/lattice_cone.hpp>
#include <ossatura/kernels/topopt/voxel_energies.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <tuple>

namespace {

using namespace ossatura;
using Values = std::vector<double>;

/// Voxels of edge 0.5, four fifths of them solid.
VoxelImage porous_image(const std::array<int, 3>& shape = {6, 5, 7}) {
  VoxelImage image;
  image.shape = shape;
  image.spacing = 0.5;
  std::mt19937 random(3);
  for (std::size_t i = 0; i < image.num_voxels(); ++i)
    image.value.push_back(random() % 5 == 0 ? 0.0f : 1.0f);
  image.value.front() = image.value.back() = 1;
  return image;
}

Values voxel_values(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  Values x(n);
  for (double& value : x)
    value = 0.1 + 0.9 * double(random()) / double(random.max());
  return x;
}

/// Grid, and the solid voxels with the numbers of their lowest corners.
template<class Exec>
struct Lattice {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  std::vector<Site> site;
  std::vector<std::size_t> place;

  Lattice(const Exec& exec, const VoxelImage& image) {
    const VoxelArray<Exec> array = to_device(exec, image);
    grid = make_voxel_grid(exec, array);
    lame = make_lame_field(exec, grid, make_material(array, 0.3));
    const std::vector<std::uint64_t> sites = download(exec, list_sites(exec, grid));
    const std::vector<float> solid = download(exec, lame.mu_value);
    for (std::size_t i = 0; i < sites.size(); ++i)
      if (solid[i] > 0) {
        site.push_back(detail::unpack_site(sites[i]));
        place.push_back(i);
      }
  }

  Array<double, Exec> put(const Exec& exec, const Values& values) const {
    Values placed(std::size_t(grid.num_nodes));
    for (std::size_t e = 0; e < values.size(); ++e)
      placed[place[e]] = values[e];
    return upload(exec, "test::values", placed);
  }
  Values get(const Exec& exec, const Array<double, Exec>& values) const {
    const Values placed = download(exec, values);
    Values result;
    for (const std::size_t i : place)
      result.push_back(placed[i]);
    return result;
  }
};

/// Weights of all pairs, images in the planes x = 0 and z = `top` voxels among them.
std::vector<Values> all_weights(const std::vector<Site>& site, double radius, int top) {
  std::vector<Values> weight(site.size(), Values(site.size()));
  for (std::size_t i = 0; i < site.size(); ++i)
    for (std::size_t j = 0; j < site.size(); ++j)
      for (int image = 0; image < 4; ++image) {
        const int x = image & 1 ? -1 - site[j].x : site[j].x,
                  z = image & 2 ? 2 * top - 1 - site[j].z : site[j].z;
        const double dx = 0.5 * (site[i].x - x), dy = 0.5 * (site[i].y - site[j].y),
                     dz = 0.5 * (site[i].z - z);
        weight[i][j] += std::max(0.0, radius - std::sqrt(dx * dx + dy * dy + dz * dz));
      }
  return weight;
}

void check_close(const Values& values, const Values& expected) {
  REQUIRE(values.size() == expected.size());
  double apart = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    apart = std::max(apart, std::fabs(values[i] - expected[i]) / (1 + std::fabs(expected[i])));
  CHECK(apart < 1e-13);
}

OSSATURA_BACKEND_TEST("The cone filter on a lattice is that of all pairs", "[lattice_cone]") {
  const TestType exec;
  const int top = 11;
  const Lattice<TestType> lattice(exec, porous_image({13, 9, top})); // of several tiles
  const std::size_t n = lattice.place.size();
  MirrorPlanes mirrors;
  mirrors.count[0] = mirrors.count[2] = 1;
  mirrors.place[2][0] = top;
  const Values x = voxel_values(n, 5), density = voxel_values(n, 6);
  for (const double radius : {0.74, 2.3, 15.2}) { // the last one beyond all of the body
    const LatticeCone<TestType> filter =
        make_lattice_cone(exec, lattice.grid, lattice.lame.mu_value, 0.5, radius, mirrors);
    const std::vector<Values> weight = all_weights(lattice.site, radius, top);
    Values sum(n), mean(n), transposed(n), sensitivity(n);
    const double volume = 0.125;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        sum[i] += volume * weight[i][j];
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        mean[i] += volume * weight[i][j] * x[j] / sum[i];
        transposed[i] += volume * weight[j][i] * x[j] / sum[j];
        sensitivity[i] += volume * weight[i][j] * density[j] * x[j] / (sum[i] * density[i]);
      }
    const auto y = make_zeros<double>(exec, lattice.grid.num_nodes, "test::y");
    apply_cone_filter(exec, filter, lattice.put(exec, x), y);
    check_close(lattice.get(exec, y), mean);
    apply_cone_filter_transposed(exec, filter, lattice.put(exec, x), y);
    check_close(lattice.get(exec, y), transposed);
    filter_sensitivities(exec, filter, lattice.put(exec, density), lattice.put(exec, x), y);
    check_close(lattice.get(exec, y), sensitivity);
  }
}

OSSATURA_BACKEND_TEST("A lattice filter refuses mirrors within the body", "[lattice_cone]") {
  const TestType exec;
  const Lattice<TestType> lattice(exec, porous_image());
  MirrorPlanes mirrors;
  mirrors.count[1] = 1;
  for (const double place : {2.0, 0.4}) {
    mirrors.place[1][0] = place;
    CHECK_THROWS_AS(make_lattice_cone(exec, lattice.grid, lattice.lame.mu_value, 0.5, 0.8, mirrors),
                    std::invalid_argument);
  }
  for (const double radius : {0.0, -1.0, 1e6})
    CHECK_THROWS_AS(make_lattice_cone(exec, lattice.grid, lattice.lame.mu_value, 0.5, radius),
                    std::invalid_argument);
}

OSSATURA_BACKEND_TEST("Energies of voxels are those of hexahedra", "[voxel_energies]") {
  const TestType exec;
  const VoxelImage image = porous_image();
  const Lattice<TestType> lattice(exec, image);
  const ElementMesh mesh = make_voxel_mesh(image);
  const HexaArrays<TestType> arrays = make_hexa_arrays(exec, mesh);
  const LamePerModulus unit = lame_per_modulus(0.3);
  // A displacement of the place alone, so that the order of nodes does not matter.
  const auto value = [](double px, double py, double pz, int c) {
    return std::sin(3 * px + c) * std::cos(2 * py - c) + pz * pz * (c + 1);
  };
  Values by_mesh, by_grid;
  for (std::size_t i = 0; i < mesh.num_points(); ++i)
    for (int c = 0; c < 3; ++c)
      by_mesh.push_back(value(mesh.point[3 * i], mesh.point[3 * i + 1], mesh.point[3 * i + 2], c));
  for (const std::uint64_t packed : download(exec, list_sites(exec, lattice.grid))) {
    const Site s = detail::unpack_site(packed);
    for (int c = 0; c < 3; ++c)
      by_grid.push_back(value(0.5 * s.x, 0.5 * s.y, 0.5 * s.z, c));
  }
  const auto u = upload(exec, "test::u", by_mesh), v = upload(exec, "test::v", by_grid);
  const auto e = make_zeros<double>(exec, std::int64_t(mesh.num_elem()), "test::e"),
             f = make_zeros<double>(exec, lattice.grid.num_nodes, "test::f");
  add_energies(exec, arrays, UnitLame{unit.lambda, unit.mu}, 0.7, u, u, e);
  add_energies(exec, lattice.grid, lattice.lame, 0.5, 0.7, v, v, f);
  // Elements of the mesh are x fastest.
  std::vector<std::size_t> order(lattice.site.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    order[k] = k;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Site &s = lattice.site[a], &t = lattice.site[b];
    return std::make_tuple(s.z, s.y, s.x) < std::make_tuple(t.z, t.y, t.x);
  });
  const Values energy = lattice.get(exec, f);
  Values sorted;
  for (const std::size_t k : order)
    sorted.push_back(energy[k]);
  check_close(sorted, download(exec, e));
}

} // namespace
