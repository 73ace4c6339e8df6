// SPDX-License-Identifier: Apache-2.0
// Parts that can be made: means over linked voxels, heights of columns and the filter of overhangs
// against loops over all voxels of an image, and gradients against differences.
#include "tests/backend_test.hpp"
#include <ossatura/core/mesh/generators/voxel_mesh.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/bone/lame_field.hpp>
#include <ossatura/kernels/topopt/draw_heights.hpp>
#include <ossatura/kernels/topopt/overhang.hpp>
#include <ossatura/solvers/topopt/process/lattice_maps.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>

namespace {

using namespace ossatura;
using MadeValues = std::vector<double>;
using MadePlace = std::array<int, 3>;

/// Voxels with a role, by their places.
struct MadeBody {
  VoxelImage image;
  std::map<MadePlace, DesignRole> role;

  bool has(const MadePlace& p) const { return role.count(p) > 0; }
};

/// 5 x 5 x 6 voxels with gaps, solid and void ones; `alike` on both sides of x = 2.5 and y = 2.5.
MadeBody made_body(bool alike) {
  MadeBody body;
  body.image.shape = {5, 5, 6};
  body.image.value.assign(150, 0);
  std::mt19937 random(11);
  std::map<MadePlace, unsigned> drawn;
  for (int z = 0; z < 6; ++z)
    for (int y = 0; y < 5; ++y)
      for (int x = 0; x < 5; ++x) {
        const MadePlace p{x, y, z};
        const MadePlace first = alike ? MadePlace{std::min(x, 4 - x), std::min(y, 4 - y), z} : p;
        if (!drawn.count(first))
          drawn[first] = unsigned(random()) % 20;
        const unsigned value = drawn[first];
        if (value < 2)
          continue;
        body.image.value[std::size_t(x + 5 * (y + 5 * z))] = 1;
        body.role[p] = value == 2   ? DesignRole::solid
                       : value == 3 ? DesignRole::void_
                                    : DesignRole::free;
      }
  return body;
}

/// A body on a backend.
template<class Exec>
struct MadeLattice {
  const MadeBody& body;
  VoxelGrid<Exec> grid;
  Array<float, Exec> solid;
  Array<std::uint8_t, Exec> role;
  std::map<MadePlace, std::size_t> number;

  MadeLattice(const Exec& exec, const MadeBody& of)
      : body(of) {
    const VoxelArray<Exec> array = to_device(exec, body.image);
    grid = make_voxel_grid(exec, array);
    solid = restrict_to_grid(exec, grid, array);
    const std::vector<std::uint64_t> sites = download(exec, list_sites(exec, grid));
    std::vector<std::uint8_t> roles(sites.size(), std::uint8_t(DesignRole::void_));
    for (std::size_t i = 0; i < sites.size(); ++i) {
      const Site s = detail::unpack_site(sites[i]);
      if (!body.has({s.x, s.y, s.z}))
        continue;
      number[{s.x, s.y, s.z}] = i;
      roles[i] = std::uint8_t(body.role.at({s.x, s.y, s.z}));
    }
    role = upload(exec, "test::role", roles);
  }
  Array<double, Exec> put(const Exec& exec, const std::map<MadePlace, double>& values) const {
    MadeValues placed(std::size_t(grid.num_nodes), 0.0);
    for (const auto& [place, value] : values)
      placed[number.at(place)] = value;
    return upload(exec, "test::values", placed);
  }
  std::map<MadePlace, double> get(const Exec& exec, const Array<double, Exec>& values) const {
    const MadeValues placed = download(exec, values);
    std::map<MadePlace, double> result;
    for (const auto& [place, i] : number)
      result[place] = placed[i];
    return result;
  }
};

std::map<MadePlace, double> made_values(const MadeBody& body, unsigned seed, double low = 0.05) {
  std::mt19937 random(seed);
  std::map<MadePlace, double> x;
  for (const auto& [place, role] : body.role) {
    const double value = low + (0.95 - low) * double(random()) / double(random.max());
    x[place] = role == DesignRole::free ? value : role == DesignRole::solid ? 1 : 0;
  }
  return x;
}

/// For each free place the mean over the free places of the same name.
std::map<MadePlace, double> named_means(const MadeBody& body, const std::map<MadePlace, double>& x,
                                        const std::function<MadePlace(const MadePlace&)>& name) {
  std::map<MadePlace, std::pair<double, int>> sum;
  for (const auto& [place, role] : body.role)
    if (role == DesignRole::free) {
      sum[name(place)].first += x.at(place);
      ++sum[name(place)].second;
    }
  std::map<MadePlace, double> y = x;
  for (auto& [place, value] : y)
    if (body.role.at(place) == DesignRole::free)
      value = sum[name(place)].first / sum[name(place)].second;
  return y;
}

void check_near(const std::map<MadePlace, double>& values, const std::map<MadePlace, double>& other,
                double tolerance) {
  double largest = 0;
  for (const auto& [place, value] : values)
    largest = std::max(largest, std::fabs(value - other.at(place)));
  CHECK(largest <= tolerance);
}

OSSATURA_BACKEND_TEST("Linked voxels have the mean of those that are free", "[process_kernels]") {
  const TestType exec;
  const MadeBody body = made_body(true);
  const MadeLattice<TestType> lattice(exec, body);
  const std::map<MadePlace, double> x = made_values(body, 7);
  DesignProcess process;
  const auto check = [&](int axis, int parting, const auto& name) {
    LatticeLinks<TestType> links;
    links.columns = {lattice.grid, lattice.solid, std::max(axis, 0), parting};
    links.by_columns = axis >= 0;
    const std::vector<LatticeMap> maps = lattice_maps(process, {1, 1, 0}, 2);
    links.num_maps = int(maps.size());
    for (std::size_t m = 0; m < maps.size(); ++m)
      links.map[m] = maps[m];
    CHECK(count_lonely(exec, links) == 0);
    const Array<double, TestType> y = lattice.put(exec, x);
    average_links(exec, links, lattice.role, y, y);
    check_near(lattice.get(exec, y), named_means(body, x, name), 1e-15);
  };
  for (int axis = 0; axis < 3; ++axis)
    check(axis, 0, [&](MadePlace p) {
      p[std::size_t(axis)] = 0;
      return p;
    });
  check(2, 2, [](const MadePlace& p) { return MadePlace{p[0], p[1], p[2] < 2 ? 0 : 2}; });
  process.symmetry = {{0, 6}}; // x = 2.5 voxels of 2 m, from 1 m on
  check(-1, 0, [](const MadePlace& p) { return MadePlace{std::min(p[0], 4 - p[0]), p[1], p[2]}; });
  process.symmetry.push_back({1, 6});
  const auto quarter = [](const MadePlace& p) {
    return MadePlace{std::min(p[0], 4 - p[0]), std::min(p[1], 4 - p[1]), p[2]};
  };
  check(-1, 0, quarter);
  check(2, 0, [&](const MadePlace& p) {
    MadePlace q = quarter(p);
    q[2] = 0;
    return q;
  });
  process.symmetry.clear();
  process.rotation = {2, 2, {6, 6, 0}};
  check(-1, 0, [](const MadePlace& p) { return std::min(p, MadePlace{4 - p[0], 4 - p[1], p[2]}); });
}

TEST_CASE("Sectors and planes make groups of maps", "[process_kernels]") {
  DesignProcess process;
  process.rotation = {4, 1, {6, 0, 9}}; // about y: z = 4, x = 2.5 voxels
  CHECK_THROWS_WITH(lattice_maps(process, {1, 1, 1}, 2), ContainsSubstring("the axis of the sect"));
  process.rotation->point[2] = 8; // z = 3.5
  const std::vector<LatticeMap> turns = lattice_maps(process, {1, 1, 1}, 2);
  REQUIRE(turns.size() == 4);
  // The centre of the voxel (2, 5, 4) is (0, 1) from the axis in x, z; then (1, 0), (0, -1), (-1,
  // 0).
  const Site corner{2, 5, 4};
  MadePlace known[4] = {{2, 5, 4}, {3, 5, 3}, {2, 5, 2}, {1, 5, 3}};
  for (int k = 0; k < 4; ++k) {
    const Site s = turns[std::size_t(k)](corner);
    CHECK(MadePlace{s.x, s.y, s.z} == known[k]);
  }
  process.symmetry = {{0, 6}, {1, 3}};
  CHECK(lattice_maps(process, {1, 1, 1}, 2).size() == 16);
  process.symmetry = {{0, 6}, {0, 8}};
  CHECK_THROWS_WITH(lattice_maps(process, {1, 1, 1}, 2), ContainsSubstring("more than 16 images"));
  process.symmetry = {{0, 5.5}};
  CHECK_THROWS_WITH(lattice_maps(process, {1, 1, 1}, 2), ContainsSubstring("does not fit the cub"));
  process.symmetry.clear();
  process.rotation->sectors = 3;
  CHECK_THROWS_WITH(lattice_maps(process, {1, 1, 1}, 2), ContainsSubstring("2 or 4 on voxels"));
}

/// The gradient of sum c f(x) by its transposed against central differences in a random direction.
void check_made_gradient(
    const MadeBody& body, const std::map<MadePlace, double>& x,
    const std::function<std::map<MadePlace, double>(const std::map<MadePlace, double>&)>& apply,
    const std::function<std::map<MadePlace, double>(const std::map<MadePlace, double>&)>& back,
    double step) {
  std::map<MadePlace, double> weight = made_values(body, 29, -0.5), direction = weight;
  std::mt19937 random(31);
  for (auto& [place, value] : direction)
    value =
        body.role.at(place) == DesignRole::free ? double(random()) / double(random.max()) - 0.5 : 0;
  for (auto& [place, value] : weight)
    value = body.role.at(place) == DesignRole::free ? value : 0;
  double change = 0, slope = 0;
  for (const auto& [at, factor] : {std::pair{1, 8.0}, {-1, -8.0}, {2, -1.0}, {-2, 1.0}}) {
    std::map<MadePlace, double> moved = x;
    for (auto& [place, value] : moved)
      value += at * step * direction.at(place);
    for (const auto& [place, value] : apply(moved))
      change += factor * weight.at(place) * value / (12 * step);
  }
  for (const auto& [place, value] : back(weight))
    slope += value * direction.at(place);
  CHECK(std::fabs(slope) > 1e-3);
  CHECK(slope == Approx(change).epsilon(1e-6));
}

/// Of a column with heights of its own, by the second form of the formula.
double height_density(double sharpness, double place, double height) {
  return std::sinh(sharpness * height) / std::sinh(sharpness) * std::cosh(sharpness * (1 - place)) /
         std::cosh(sharpness * (height - place));
}

OSSATURA_BACKEND_TEST("Heights make columns without undercuts", "[process_kernels]") {
  const TestType exec;
  const MadeBody body = made_body(false);
  const MadeLattice<TestType> lattice(exec, body);
  for (const auto& [axis, parting, sense] : {std::tuple{2, 0, 1}, {0, 0, -1}, {2, 2, 1}}) {
    const LatticeHeights<TestType> heights{{lattice.grid, lattice.solid, axis, parting}, sense};
    const Array<std::uint8_t, TestType> role =
        make_zeros<std::uint8_t>(exec, lattice.grid.num_nodes, "test::role");
    Kokkos::deep_copy(exec, role, lattice.role);
    fill_below_solid(exec, heights, role);
    const std::vector<std::uint8_t> filled = download(exec, role);
    MadeBody made = body;
    for (auto& [place, one] : made.role)
      one = DesignRole(filled[lattice.number.at(place)]);
    // Free ones of columns from the parting face outward, and what lies beyond a solid one.
    std::map<MadePlace, std::vector<MadePlace>> column;
    const int length = body.image.shape[std::size_t(axis)];
    for (const auto& [place, one] : body.role) {
      const int k = place[std::size_t(axis)];
      const bool rises = parting > 0 ? k >= parting : sense > 0;
      const int end = rises ? length : -1, step = rises ? 1 : -1;
      bool covered = false;
      for (int other = k; other != end; other += step) {
        MadePlace there = place;
        there[std::size_t(axis)] = other;
        covered = covered || (body.has(there) && body.role.at(there) == DesignRole::solid);
      }
      CHECK(made.role[place] == (covered && one == DesignRole::free ? DesignRole::solid : one));
      MadePlace name = place;
      name[std::size_t(axis)] = parting > 0 && rises ? 1 : 0;
      if (made.role[place] == DesignRole::free)
        column[name].push_back(place); // ascending
    }
    for (auto& [name, places] : column)
      if (parting > 0 ? name[std::size_t(axis)] == 0 : sense < 0)
        std::reverse(places.begin(), places.end());

    const std::map<MadePlace, double> x = made_values(made, 13);
    const auto apply = [&](const std::map<MadePlace, double>& height) {
      const Array<double, TestType> rho = lattice.put(exec, made_values(made, 1));
      apply_heights(exec, heights, 7, role, lattice.put(exec, height), rho);
      return lattice.get(exec, rho);
    };
    std::map<MadePlace, double> expected = made_values(made, 1);
    for (const auto& [name, places] : column)
      for (std::size_t k = 0; k < places.size(); ++k)
        expected[places[k]] =
            height_density(std::min(7.0, most_draw_sharpness * double(places.size())),
                           (double(k) + 0.5) / double(places.size()), x.at(places[k]));
    check_near(apply(x), expected, 1e-13);
    check_made_gradient(
        made, x, apply,
        [&](const std::map<MadePlace, double>& gradient) {
          const Array<double, TestType> g = lattice.put(exec, gradient);
          apply_heights_back(exec, heights, 7, role, lattice.put(exec, x), g);
          return lattice.get(exec, g);
        },
        1e-3);
    // A height for each column: densities fall along it, and 0 and 1 are void and solid.
    for (const double height : {0.0, 0.21, 0.5, 0.83, 1.0}) {
      std::map<MadePlace, double> same = x;
      for (auto& [place, value] : same)
        value = height;
      const std::map<MadePlace, double> rho = apply(same);
      for (const auto& [name, places] : column)
        for (std::size_t k = 0; k < places.size(); ++k) {
          CHECK((k == 0 || rho.at(places[k]) <= rho.at(places[k - 1]) + 1e-14));
          if (height == 0 || height == 1)
            CHECK(rho.at(places[k]) == Approx(height).margin(1e-14));
        }
    }
  }
}

OSSATURA_BACKEND_TEST("Undercuts are counted", "[process_kernels]") {
  const TestType exec;
  MadeBody body;
  body.image.shape = {1, 1, 6};
  body.image.value = {1, 1, 1, 0, 1, 1};
  for (const int z : {0, 1, 2, 4, 5})
    body.role[{0, 0, z}] = DesignRole::free;
  const MadeLattice<TestType> lattice(exec, body);
  const auto count = [&](const MadeValues& rho, int parting, int sense) {
    std::map<MadePlace, double> values;
    for (const auto& [place, one] : body.role)
      values[place] = rho[std::size_t(place[2])];
    return count_undercuts(
        exec, LatticeHeights<TestType>{{lattice.grid, lattice.solid, 2, parting}, sense},
        lattice.put(exec, values));
  };
  CHECK(count({1, 1, 0, 0, 0, 0}, 0, 1) == 0);
  CHECK(count({0, 1, 0, 0, 0, 0}, 0, 1) == 1);
  CHECK(count({1, 1, 1, 0, 1, 0}, 0, 1) == 1); // the gap
  CHECK(count({1, 0, 1, 0, 0, 1}, 0, 1) == 3);
  CHECK(count({1, 0, 1, 0, 1, 1}, 0, -1) == 2);
  CHECK(count({0, 1, 1, 0, 0, 0}, 2, 1) == 0);
  CHECK(count({1, 0, 0, 0, 1, 0}, 2, 1) == 3);
}

/// Langelaar (2017), layer by layer up z or down it, with `shift` 0 in his formulas.
std::map<MadePlace, double>
printed_by_loops(const MadeBody& body, const std::map<MadePlace, double>& blueprint, int sense) {
  const double q = 40 + std::log(5.0) / std::log(0.5);
  std::map<MadePlace, double> printed;
  for (int k = 0; k < 6; ++k) {
    const int z = sense > 0 ? k : 5 - k;
    for (const auto& [place, role] : body.role) {
      if (place[2] != z)
        continue;
      double& p = printed[place];
      p = role == DesignRole::solid ? 1 : role == DesignRole::void_ ? 0 : blueprint.at(place);
      if (role != DesignRole::free || k == 0)
        continue;
      double sum = 0;
      for (const auto& [dx, dy] : {std::pair{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}}) {
        const auto below = printed.find({place[0] + dx, place[1] + dy, z - sense});
        if (below != printed.end())
          sum += std::pow(below->second, 40);
      }
      const double support = std::pow(sum, 1 / q);
      p = 0.5 * (p + support - std::sqrt((p - support) * (p - support) + 1e-4) + std::sqrt(1e-4));
    }
  }
  return printed;
}

OSSATURA_BACKEND_TEST("Printed layers are those of the published filter", "[process_kernels]") {
  const TestType exec;
  const MadeBody body = made_body(false);
  const MadeLattice<TestType> lattice(exec, body);
  for (const int sense : {1, -1}) {
    const PrintLayers<TestType> layers =
        make_print_layers(exec, lattice.grid, lattice.solid, 2, sense);
    CHECK(layers.num_layers() == 6);
    const std::map<MadePlace, double> x = made_values(body, 17, 0.3);
    const auto print = [&](const std::map<MadePlace, double>& blueprint) {
      const Array<double, TestType> printed = lattice.put(exec, {});
      print_layers(exec, layers, lattice.role, lattice.put(exec, blueprint), printed);
      return printed;
    };
    check_near(lattice.get(exec, print(x)), printed_by_loops(body, x, sense), 1e-12);
    check_made_gradient(
        body, x,
        [&](const std::map<MadePlace, double>& blueprint) {
          return lattice.get(exec, print(blueprint));
        },
        [&](const std::map<MadePlace, double>& gradient) {
          const Array<double, TestType> g = lattice.put(exec, gradient);
          print_layers_back(exec, layers, lattice.role, lattice.put(exec, x), print(x), g);
          return lattice.get(exec, g);
        },
        1e-5);
    // All solid: at most the stated excess above 1; all void: void.
    std::map<MadePlace, double> whole = x, none = x;
    for (auto& [place, value] : whole)
      value = 1;
    for (auto& [place, value] : none)
      value = 0;
    double largest = 0;
    for (const auto& [place, value] : lattice.get(exec, print(whole)))
      largest = std::max(largest, value);
    CHECK(largest > 1);
    CHECK(largest <= 1 + overhang_excess);
    for (const auto& [place, value] : lattice.get(exec, print(none)))
      if (body.role.at(place) == DesignRole::free)
        CHECK((value >= 0 && value <= 5e-3));
  }
}

} // namespace
