// SPDX-License-Identifier: Apache-2.0
// Voxelised surfaces against analytic bodies, and what a half-open rule of crossings promises.
#include "tests/backend_test.hpp"
#include "tests/kernels/image/host_values.hpp"
#include <ossatura/kernels/image/count_solid.hpp>
#include <ossatura/kernels/image/voxelise.hpp>

#include <algorithm>
#include <cmath>
#include <random>

namespace {

using namespace ossatura;
using ossatura::test::host_values;

using Point = std::array<double, 3>;

struct Surface {
  std::vector<Point> vertex;
  std::vector<std::array<int, 3>> triangle;
};

double dot(const Point& a, const Point& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Point minus(const Point& a, const Point& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}

double volume(const Surface& surface) {
  double sum = 0;
  for (const auto& t : surface.triangle)
    sum += dot(surface.vertex[t[0]], cross(surface.vertex[t[1]], surface.vertex[t[2]])) / 6;
  return std::abs(sum);
}

/// Turns all triangles from `first` on.
void turn(Surface& surface, std::size_t first) {
  for (std::size_t t = first; t < surface.triangle.size(); ++t)
    std::swap(surface.triangle[t][0], surface.triangle[t][1]);
}

/// The box lower .. upper, added to `surface`, facing outward.
void add_box(Surface& surface, const Point& lower, const Point& upper) {
  const int first = int(surface.vertex.size());
  for (int corner = 0; corner < 8; ++corner)
    surface.vertex.push_back({corner & 1 ? upper[0] : lower[0], corner & 2 ? upper[1] : lower[1],
                              corner & 4 ? upper[2] : lower[2]});
  const int quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                           {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  for (const auto& q : quads) {
    surface.triangle.push_back({first + q[0], first + q[1], first + q[2]});
    surface.triangle.push_back({first + q[0], first + q[2], first + q[3]});
  }
}

Surface tetrahedron(const Point& a, const Point& b, const Point& c, const Point& d) {
  return {{a, b, c, d}, {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}}};
}

/// The unit sphere in rings and sectors.
Surface sphere(int rings, int sectors) {
  Surface surface;
  const double pi = Kokkos::numbers::pi;
  surface.vertex.push_back({0, 0, 1});
  for (int i = 1; i < rings; ++i)
    for (int j = 0; j < sectors; ++j) {
      const double polar = pi * i / rings;
      const double azimuth = 2 * pi * j / sectors;
      surface.vertex.push_back({std::sin(polar) * std::cos(azimuth),
                                std::sin(polar) * std::sin(azimuth), std::cos(polar)});
    }
  surface.vertex.push_back({0, 0, -1});
  const int last = int(surface.vertex.size()) - 1;
  for (int j = 0; j < sectors; ++j) {
    const int k = (j + 1) % sectors;
    surface.triangle.push_back({0, 1 + j, 1 + k});
    surface.triangle.push_back({last, last - sectors + k, last - sectors + j});
    for (int i = 0; i + 2 < rings; ++i) {
      const int p = 1 + i * sectors;
      surface.triangle.push_back({p + j, p + sectors + j, p + k});
      surface.triangle.push_back({p + k, p + sectors + j, p + sectors + k});
    }
  }
  return surface;
}

template<class Exec>
VoxelisedSurface<Exec> voxels_of(const Surface& surface, double spacing, int margin = 0) {
  const Exec exec;
  VoxeliseOptions options;
  options.spacing = spacing;
  options.margin = margin;
  return voxelise(exec, upload_surface(exec, surface.vertex, surface.triangle), options);
}

/// Counts the voxels whose centre `inside` puts (by > 0 inside, < 0 outside, |.| < 1e-3 of a voxel
/// undecided) elsewhere than the image does.
template<class Exec, class Inside>
int count_wrong(const VoxelisedSurface<Exec>& voxels, double spacing, const Inside& inside) {
  const std::vector<float> value = host_values(voxels.image);
  int wrong = 0;
  for (std::int64_t i = 0; i < voxels.image.num_voxels(); ++i) {
    const int x = int(i % voxels.image.shape[0]);
    const int y = int(i / voxels.image.shape[0] % voxels.image.shape[1]);
    const int z = int(i / voxels.image.shape[0] / voxels.image.shape[1]);
    const double depth =
        inside(Point{voxels.origin[0] + (x + 0.5) * spacing, voxels.origin[1] + (y + 0.5) * spacing,
                     voxels.origin[2] + (z + 0.5) * spacing});
    wrong += std::abs(depth) > 1e-3 * spacing && (depth > 0) != (value[i] > 0);
  }
  return wrong;
}

/// Depth of a point in a tetrahedron: the least distance to a face, negative outside.
double depth_in_tetrahedron(const Surface& surface, const Point& p) {
  double depth = 1e300;
  for (int face = 0; face < 4; ++face) {
    const auto& t = surface.triangle[face];
    const Point& a = surface.vertex[t[0]];
    const Point normal = cross(minus(surface.vertex[t[1]], a), minus(surface.vertex[t[2]], a));
    const Point& opposite = surface.vertex[6 - t[0] - t[1] - t[2]];
    const double side = dot(normal, minus(opposite, a)) > 0 ? 1 : -1;
    depth = std::min(depth, side * dot(normal, minus(p, a)) / std::sqrt(dot(normal, normal)));
  }
  return depth;
}

OSSATURA_BACKEND_TEST("A box on the lattice is its voxels, with the margin around them",
                      "[voxelise]") {
  Surface box;
  add_box(box, {10, 20, 30}, {12, 21.5, 32});
  const auto voxels = voxels_of<TestType>(box, 0.5, 2);
  CHECK(voxels.origin == Point{9, 19, 29});
  CHECK(voxels.image.shape[0] == 8);
  CHECK(voxels.image.shape[1] == 7);
  CHECK(voxels.image.shape[2] == 8);
  std::vector<float> expected;
  for (int z = 0; z < 8; ++z)
    for (int y = 0; y < 7; ++y)
      for (int x = 0; x < 8; ++x)
        expected.push_back(x >= 2 && x < 6 && y >= 2 && y < 5 && z >= 2 && z < 6);
  CHECK(host_values(voxels.image) == expected);
}

OSSATURA_BACKEND_TEST("Voxels are those of a lattice that is given", "[voxelise]") {
  const TestType exec;
  Surface box;
  add_box(box, {10, 20, 30}, {12, 21.5, 32.25});
  const auto surface = upload_surface(exec, box.vertex, box.triangle);
  VoxeliseOptions options;
  options.spacing = 0.5;
  // Half a voxel off, larger along x, and without the last of the box along z.
  options.lattice = VoxeliseLattice{{9.25, 19.75, 29.75}, {9, 4, 4}};
  const auto voxels = voxelise(exec, surface, options);
  CHECK(voxels.origin == Point{9.25, 19.75, 29.75});
  std::vector<float> expected;
  for (int z = 0; z < 4; ++z)
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 9; ++x)
        // Centres on the lower side are inside, those on the upper one are not.
        expected.push_back(x >= 1 && x < 5 && y < 3);
  CHECK(host_values(voxels.image) == expected);
  options.lattice->shape[2] = 3;
  CHECK_THROWS_AS(voxelise(exec, surface, options), InputError); // beyond it by a voxel and a half
  options.lattice->shape = {9, 4, 0};
  CHECK_THROWS_AS(voxelise(exec, surface, options), std::invalid_argument);
}

OSSATURA_BACKEND_TEST("Faces through voxel centres take the lower side and leave the upper",
                      "[voxelise]") {
  Surface box;
  add_box(box, {0, 0, 0}, {5, 5, 5});
  add_box(box, {1.5, 1.5, 1.5}, {3.5, 3.5, 3.5}); // a cavity: centres 1.5 and 2.5, not 3.5
  turn(box, 12);
  const std::vector<float> value = host_values(voxels_of<TestType>(box, 1).image);
  for (int z = 0; z < 5; ++z)
    for (int y = 0; y < 5; ++y)
      for (int x = 0; x < 5; ++x) {
        const auto hollow = [](int i) { return i == 1 || i == 2; };
        const bool solid = !(hollow(x) && hollow(y) && hollow(z));
        CHECK(value[x + 5 * (y + 5 * z)] == (solid ? 1.0f : 0.0f));
      }
}

OSSATURA_BACKEND_TEST("Tetrahedra that fill a cube share its voxels without gap or overlap",
                      "[voxelise]") {
  // Kuhn's six: every face inside the cube lies on x = y, y = z or x = z, full of voxel centres.
  for (int n : {1, 2, 7, 8}) {
    const double e = n;
    std::vector<int> owners(n * n * n, 0);
    int order[3] = {0, 1, 2};
    do {
      Point p[4] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
      for (int step = 0; step < 3; ++step) {
        p[step + 1] = p[step];
        p[step + 1][order[step]] = e;
      }
      const auto voxels = voxels_of<TestType>(tetrahedron(p[0], p[1], p[2], p[3]), 1);
      REQUIRE(voxels.image.num_voxels() == n * n * n);
      const std::vector<float> value = host_values(voxels.image);
      for (std::size_t i = 0; i < value.size(); ++i)
        owners[i] += value[i] > 0;
    } while (std::next_permutation(order, order + 3));
    CHECK(owners == std::vector<int>(n * n * n, 1));
  }
}

OSSATURA_BACKEND_TEST("An octahedron with vertices and edges through voxel centres is closed",
                      "[voxelise]") {
  Surface surface;
  const double r = 6.5; // in voxels; the middle is a voxel centre
  for (int d = 0; d < 3; ++d)
    for (double s : {-r, r}) {
      Point p{r, r, r};
      p[d] += s;
      surface.vertex.push_back(p);
    }
  for (int x = 0; x < 2; ++x)
    for (int y = 2; y < 4; ++y)
      for (int z = 4; z < 6; ++z) {
        const bool outward = (x + y + z) % 2 != 0; // an even number of negative axes
        surface.triangle.push_back({outward ? x : y, outward ? y : x, z});
      }
  const auto voxels = voxels_of<TestType>(surface, 1);
  CHECK(count_wrong(voxels, 1, [&](const Point& p) {
          return r - std::abs(p[0] - r) - std::abs(p[1] - r) - std::abs(p[2] - r);
        }) == 0);
}

OSSATURA_BACKEND_TEST("Tetrahedra of any shape are their inside", "[voxelise]") {
  std::mt19937 random(11);
  for (int trial = 0; trial < 60; ++trial) {
    // Half of them with vertices on multiples of half a voxel, the rest anywhere.
    const bool on_lattice = trial % 2 == 0;
    std::uniform_real_distribution<double> uniform(0, 12);
    Point p[4];
    for (Point& q : p)
      for (double& c : q)
        c = on_lattice ? std::floor(2 * uniform(random)) / 2 : uniform(random);
    const Surface surface = tetrahedron(p[0], p[1], p[2], p[3]);
    if (volume(surface) < 1)
      continue;
    const auto voxels = voxels_of<TestType>(surface, 1);
    CHECK(count_wrong(voxels, 1,
                      [&](const Point& q) { return depth_in_tetrahedron(surface, q); }) == 0);
  }
}

OSSATURA_BACKEND_TEST("A rotated cube is where its inverse rotation says", "[voxelise]") {
  Surface cube;
  add_box(cube, {-1, -1, -1}, {1, 1, 1});
  const double a = 0.4;
  const double b = 1.1;
  const auto rotate = [&](const Point& p) { // about z, then about x
    const Point q{std::cos(a) * p[0] - std::sin(a) * p[1], std::sin(a) * p[0] + std::cos(a) * p[1],
                  p[2]};
    return Point{q[0], std::cos(b) * q[1] - std::sin(b) * q[2],
                 std::sin(b) * q[1] + std::cos(b) * q[2]};
  };
  const Point axis[3] = {rotate({1, 0, 0}), rotate({0, 1, 0}), rotate({0, 0, 1})};
  for (Point& p : cube.vertex)
    p = rotate(p);
  const double spacing = 0.05;
  const auto voxels = voxels_of<TestType>(cube, spacing);
  CHECK(count_wrong(voxels, spacing, [&](const Point& p) {
          return 1 - std::max({std::abs(dot(p, axis[0])), std::abs(dot(p, axis[1])),
                               std::abs(dot(p, axis[2]))});
        }) == 0);
}

OSSATURA_BACKEND_TEST("The volume of a voxelised sphere converges to that of its surface",
                      "[voxelise]") {
  const Surface surface = sphere(30, 60);
  const double exact = volume(surface);
  double spacing = 0.1;
  // The lattice has the symmetry of the sphere, so its misses come in eights.
  for (double tolerance : {2e-2, 4e-3, 1e-3}) {
    const auto voxels = voxels_of<TestType>(surface, spacing, 1);
    const double found =
        double(count_solid(TestType(), voxels.image)) * spacing * spacing * spacing;
    CHECK(std::abs(found / exact - 1) < tolerance);
    // Between the sphere through the vertices and the one that touches the flattest facets.
    CHECK(count_wrong(voxels, spacing, [](const Point& p) {
            const double distance = std::sqrt(dot(p, p));
            return distance > 1 ? 1 - distance : distance < 0.99 ? 0.99 - distance : 0.0;
          }) == 0);
    spacing /= 2.1;
  }
}

OSSATURA_BACKEND_TEST("The image is bitwise the same for any backend and order of triangles, and "
                      "inside out",
                      "[voxelise]") {
  Surface surface = sphere(23, 37);
  const auto expected =
      host_values(voxels_of<Kokkos::DefaultHostExecutionSpace>(surface, 0.037).image);
  CHECK(host_values(voxels_of<TestType>(surface, 0.037).image) == expected);
  std::mt19937 random(3);
  std::shuffle(surface.triangle.begin(), surface.triangle.end(), random);
  for (auto& t : surface.triangle)
    std::rotate(t.begin(), t.begin() + random() % 3, t.end());
  CHECK(host_values(voxels_of<TestType>(surface, 0.037).image) == expected);
  turn(surface, 0);
  CHECK(host_values(voxels_of<TestType>(surface, 0.037).image) == expected);
}

OSSATURA_BACKEND_TEST("Shells that overlap are united, and cavities stay", "[voxelise]") {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> place(0, 20);
  for (int trial = 0; trial < 20; ++trial) {
    // Boxes anywhere in one that fixes the lattice; a voxel is in their union or it is not.
    struct Box {
      Point lower, upper;
    };
    std::vector<Box> boxes;
    Surface surface;
    for (int i = 0; i < 6; ++i) {
      Box box;
      for (int d = 0; d < 3; ++d) {
        box.lower[d] = place(random);
        box.upper[d] = box.lower[d] + 1 + place(random) % 8;
      }
      boxes.push_back(box);
      add_box(surface, box.lower, box.upper);
    }
    const auto voxels = voxels_of<TestType>(surface, 1);
    std::int64_t overlapping = 0;
    CHECK(count_wrong(voxels, 1, [&](const Point& p) {
            int count = 0;
            for (const Box& box : boxes) {
              bool in = true;
              for (int d = 0; d < 3; ++d)
                in = in && p[d] > box.lower[d] && p[d] < box.upper[d];
              count += in;
            }
            overlapping += count > 1;
            return count > 0 ? 1.0 : -1.0;
          }) == 0);
    CHECK(voxels.num_overlapping == overlapping);
    CHECK(voxels.num_reversed == 0);
  }
  Surface hollow;
  add_box(hollow, {0, 0, 0}, {8, 8, 8});
  add_box(hollow, {6, 2, 2}, {12, 6, 6}); // sticks out
  add_box(hollow, {2, 2, 2}, {4, 4, 4});
  turn(hollow, 24);
  CHECK(count_solid(TestType(), voxels_of<TestType>(hollow, 1).image) == 512 + 4 * 16 - 8);
}

OSSATURA_BACKEND_TEST("Bodies that face different ways are refused", "[voxelise]") {
  Surface boxes;
  add_box(boxes, {0, 0, 0}, {4, 4, 4});
  add_box(boxes, {6, 0, 0}, {8, 4, 4});
  turn(boxes, 12);
  CHECK_THROWS_AS(voxels_of<TestType>(boxes, 1), InputError);
  // One triangle turned: rows do not add up.
  Surface box;
  add_box(box, {0, 0, 0}, {4, 4, 4});
  turn(box, 11);
  CHECK_THROWS_AS(voxels_of<TestType>(box, 1), InputError);
}

OSSATURA_BACKEND_TEST("Open, empty and broken surfaces are refused", "[voxelise]") {
  Surface open = sphere(12, 24);
  open.triangle.erase(open.triangle.begin() + 300);
  CHECK_THROWS_AS(voxels_of<TestType>(open, 0.02), InputError);

  CHECK_THROWS_AS(voxels_of<TestType>(Surface(), 1), InputError);

  Surface box;
  add_box(box, {0, 0, 0}, {1, 1, 1});
  CHECK_THROWS_AS(voxels_of<TestType>(box, 1e-6), InputError); // a million voxels a side
  CHECK_THROWS_AS(voxels_of<TestType>(box, 0), std::invalid_argument);
  Surface missing = box;
  missing.triangle[3][1] = 8;
  CHECK_THROWS_AS(voxels_of<TestType>(missing, 0.1), InputError);
  Surface infinite = box;
  infinite.vertex[2][1] = INFINITY;
  CHECK_THROWS_AS(voxels_of<TestType>(infinite, 0.1), InputError);
  Surface unknown = box;
  unknown.vertex[2][1] = NAN;
  CHECK_THROWS_AS(voxels_of<TestType>(unknown, 0.1), InputError);
}

} // namespace
