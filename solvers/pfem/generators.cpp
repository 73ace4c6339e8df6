// SPDX-License-Identifier: Apache-2.0
// The generators make thick spheres and tubes under inner pressure with Lame's solutions (S.
// Timoshenko, J. Goodier, Theory of Elasticity, 3rd ed. (1970), sections 136 and 28).
#include <ossatura/solvers/pfem/generators.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/core/mesh/hexa/changes.hpp>
#include <ossatura/core/pfem/meshes.hpp>

#include <Kokkos_MathematicalConstants.hpp>

#include <cmath>
#include <sstream>

namespace ossatura {

namespace {

const PfemGeneratorDefaults generator_defaults;

bool is_box(const std::string& generator) {
  return generator != "sphere" && generator != "cylinder";
}

PfemSupport on_plane(int axis, double value, unsigned components) {
  PfemSupport support;
  support.where.kind = MeshSelection::Kind::plane;
  support.where.axis = axis;
  support.where.value = value;
  std::ostringstream place;
  place << "plane "
        << "xyz"[axis] << " = " << value;
  support.where.place = place.str();
  support.components = std::uint8_t(components);
  return support;
}

PfemLoad inner_pressure(MeshSelection::Kind surface, double radius) {
  PfemLoad load;
  load.where.kind = surface;
  load.where.value = radius;
  load.place = load.where.place = "inner pressure";
  load.value[0] = 1;
  return load;
}

std::string times(const std::array<int, 3>& cells) {
  return std::to_string(cells[0]) + "x" + std::to_string(cells[1]) + "x" + std::to_string(cells[2]);
}

PfemBody make_box(const PfemGenerator& source) {
  PfemBody body;
  const std::array<int, 3> cells = source.cells.value_or(generator_defaults.cells);
  const std::array<double, 3> size = source.size.value_or(generator_defaults.size);
  ElementMesh& mesh = body.shape.mesh;
  mesh = make_hexa_box({cells[0], cells[1], cells[2]}, {size[0], size[1], size[2]});
  if (const double amount =
          source.distort.value_or(source.generator == "distorted" ? generator_defaults.distort : 0);
      amount > 0)
    distort(mesh, amount, source.seed);
  if (source.shear || source.generator == "sheared") {
    const std::array<double, 3> s = source.shear.value_or(generator_defaults.shear);
    shear(mesh, {s[0], s[1], s[2]});
  }
  body.source = source.generator + " box of " + times(cells) + " cells";
  // The face at the lower end of x, which shear moves within the planes of x alone if it is along
  // x: chosen by its vertices.
  PfemSupport clamp;
  clamp.where.kind = MeshSelection::Kind::numbers;
  clamp.where.place = "plane x = 0";
  for (std::int32_t i = 0; std::size_t(i) < mesh.num_points(); i += cells[0] + 1)
    clamp.where.numbers.push_back(i);
  body.supports = {clamp};
  PfemLoad weight;
  weight.kind = PfemLoad::Kind::body_force;
  weight.place = "body force";
  weight.value = {0, 0, -1};
  body.loads = {weight};
  return body;
}

PfemBody make_sphere(const PfemGenerator& source) {
  const double a = source.inner.value_or(generator_defaults.inner),
               b = source.outer.value_or(generator_defaults.outer);
  const int along = source.along.value_or(generator_defaults.along),
            across = source.across.value_or(generator_defaults.across);
  PfemBody body;
  body.shape = make_sphere_octant(a, b, along, across);
  body.is_exact = true;
  body.source = "octant of a sphere, 3 patches of " + times({along, along, across}) + " elements";
  body.supports = {on_plane(0, 0, 1), on_plane(1, 0, 2), on_plane(2, 0, 4)};
  body.loads = {inner_pressure(MeshSelection::Kind::sphere, a)};
  body.exact = [a, b](double young, double poisson) {
    const double scale = a * a * a / (b * b * b - a * a * a) / young;
    const auto radial = [=](double r) {
      return scale * ((1 - 2 * poisson) * r + (1 + poisson) / 2 * b * b * b / (r * r));
    };
    PfemExact exact;
    exact.source = "Lame's sphere under inner pressure";
    exact.energy = Kokkos::numbers::pi * a * a / 4 * radial(a);
    exact.displacement = [radial](const double(&x)[3], double(&u)[3]) {
      const double r = std::hypot(x[0], x[1], x[2]);
      for (int c = 0; c < 3; ++c)
        u[c] = radial(r) * x[c] / r;
    };
    return exact;
  };
  return body;
}

PfemBody make_cylinder(const PfemGenerator& source) {
  const double a = source.inner.value_or(generator_defaults.inner),
               b = source.outer.value_or(generator_defaults.outer);
  const double height = source.height.value_or(generator_defaults.height);
  const int along = source.along.value_or(generator_defaults.along),
            across = source.across.value_or(generator_defaults.across),
            up = source.up.value_or(generator_defaults.up);
  PfemBody body;
  body.shape = make_cylinder_quarter(a, b, height, along, across, up);
  body.is_exact = true;
  body.source = "quarter of a cylinder, " + times({along, across, up}) + " elements";
  body.supports = {on_plane(0, 0, 1), on_plane(1, 0, 2), on_plane(2, 0, 4), on_plane(2, height, 4)};
  body.loads = {inner_pressure(MeshSelection::Kind::cylinder, a)};
  body.exact = [a, b, height](double young, double poisson) {
    const double scale = (1 + poisson) / young * a * a / (b * b - a * a);
    const auto radial = [=](double r) { return scale * ((1 - 2 * poisson) * r + b * b / r); };
    PfemExact exact;
    exact.source = "Lame's cylinder under inner pressure, plane strain";
    exact.energy = Kokkos::numbers::pi * a / 4 * height * radial(a);
    exact.displacement = [radial](const double(&x)[3], double(&u)[3]) {
      const double r = std::sqrt(x[0] * x[0] + x[1] * x[1]);
      u[0] = radial(r) * x[0] / r;
      u[1] = radial(r) * x[1] / r;
      u[2] = 0;
    };
    return exact;
  };
  return body;
}

} // namespace

std::vector<std::string> pfem_generator_names() {
  return {"cube", "sheared", "distorted", "sphere", "cylinder"};
}

PfemBody generate_pfem(const PfemGenerator& source) {
  return is_box(source.generator)         ? make_box(source)
         : source.generator == "cylinder" ? make_cylinder(source)
                                          : make_sphere(source);
}

} // namespace ossatura
