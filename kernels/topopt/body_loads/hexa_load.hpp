// SPDX-License-Identifier: Apache-2.0
// These kernels compute the forces that gravity and rotation exert on the nodes of hexahedra, and
// the work of these forces by element: integrals of shape function times force by volume at the
// 2 x 2 x 2 Gauss points, which are exact for gravity on parallelepipeds.
#pragma once

#include <ossatura/core/mesh/hexa/model.hpp>
#include <ossatura/kernels/hexa/stiffness.hpp>

namespace ossatura {

namespace detail {

KOKKOS_FORCEINLINE_FUNCTION Vector3 vector_of(const double (&x)[3]) {
  return {{x[0], x[1], x[2]}};
}

/// BodyLoad for kernels.
struct ForceOnMass {
  double acceleration[3], square_speed, origin[3], axis[3];

  explicit ForceOnMass(const BodyLoad& load)
      : square_speed(load.square_speed) {
    for (std::size_t c = 0; c < 3; ++c) {
      acceleration[c] = load.acceleration[c];
      origin[c] = load.origin[c];
      axis[c] = load.axis[c];
    }
  }
  /// N / kg
  KOKKOS_FUNCTION Vector3 at(const Vector3& x) const {
    const Vector3 arm = x - vector_of(origin), along = vector_of(axis);
    return vector_of(acceleration) + square_speed * (arm - dot(arm, along) * along);
  }
};

/// N_a at Gauss point g.
KOKKOS_FORCEINLINE_FUNCTION double hexa_shape(int a, int g) {
  const double s = gauss_point;
  return 0.125 * (1 + s * hexa_xi(a) * hexa_xi(g)) * (1 + s * hexa_eta(a) * hexa_eta(g)) *
         (1 + s * hexa_zeta(a) * hexa_zeta(g));
}

/// Values of the nodes of an element, component c of node a at 3 a + c, at Gauss point g.
KOKKOS_FORCEINLINE_FUNCTION Vector3 at_gauss_point(const double (&values)[24], int g) {
  Vector3 sum{{0, 0, 0}};
  for (int a = 0; a < 8; ++a)
    sum = sum + hexa_shape(a, g) * Vector3{{values[3 * a], values[3 * a + 1], values[3 * a + 2]}};
  return sum;
}

KOKKOS_FORCEINLINE_FUNCTION HexaModes modes_of_points(const double (&x)[24]) {
  HexaModes modes = no_modes();
  for (int a = 0; a < 8; ++a)
    modes.add_corner(a, Vector3{{x[3 * a], x[3 * a + 1], x[3 * a + 2]}});
  return modes;
}

/// A node sums over its elements, in their order.
template<class Exec>
struct AddBodyForces {
  HexaArrays<Exec> arrays;
  ForceOnMass load;
  Array<double, Exec> mass, force;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    Vector3 sum{{0, 0, 0}};
    for (int s = arrays.around_begin(node); s < arrays.around_begin(node + 1); ++s) {
      const int elem = arrays.around(s) / 8, a = arrays.around(s) % 8;
      double x[24];
      arrays.load_points(elem, x);
      const HexaModes modes = modes_of_points(x);
      Vector3 own{{0, 0, 0}};
      for (int g = 0; g < 8; ++g)
        own = own + (hexa_shape(a, g) * determinant(gauss_jacobian(modes, g))) *
                        load.at(at_gauss_point(x, g));
      sum = sum + mass(elem) * own;
    }
    for (int c = 0; c < 3; ++c)
      force(3 * node + c) += sum[c];
  }
};

template<class Exec>
struct AddBodyWork {
  HexaArrays<Exec> arrays;
  ForceOnMass load;
  double weight;
  Array<double, Exec> u, work;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    double x[24], way[24];
    arrays.load_points(int(e), x);
    for (int a = 0; a < 8; ++a)
      for (int c = 0; c < 3; ++c)
        way[3 * a + c] = u(3 * std::int64_t(arrays.node_of(int(e), a)) + c);
    const HexaModes modes = modes_of_points(x);
    double sum = 0;
    for (int g = 0; g < 8; ++g)
      sum += determinant(gauss_jacobian(modes, g)) *
             dot(load.at(at_gauss_point(x, g)), at_gauss_point(way, g));
    work(e) += weight * sum;
  }
};

template<class Exec>
struct FillMasses {
  Array<double, Exec> mass_density, density, mass;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    mass(e) = density(e) > 0 ? mass_density(e) * density(e) : 0;
  }
};

template<class Exec>
struct AddMassSlope {
  Array<double, Exec> mass_density, density, work, gradient;
  double factor;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    gradient(e) += density(e) > 0 ? factor * mass_density(e) * work(e) : 0;
  }
};

} // namespace detail

/// force [num_nodes, 3] += the forces of a load on elements of `mass` [num_elem], kg / m^3. The
/// same for any number of threads. Does not fence.
template<class Exec>
void add_body_forces(const Exec& exec, const HexaArrays<Exec>& arrays, const BodyLoad& load,
                     const Array<double, Exec>& mass, const Array<double, Exec>& force) {
  Kokkos::parallel_for("ossatura::add_body_forces", range(exec, arrays.num_nodes),
                       detail::AddBodyForces<Exec>{arrays, detail::ForceOnMass(load), mass, force});
}

/// work(e) += weight times the work of the forces on element e for 1 kg / m^3, u [num_nodes, 3].
/// Does not fence.
template<class Exec>
void add_body_work(const Exec& exec, const HexaArrays<Exec>& arrays, const BodyLoad& load,
                   double weight, const Array<double, Exec>& u, const Array<double, Exec>& work) {
  Kokkos::parallel_for(
      "ossatura::add_body_work", range(exec, arrays.num_elem),
      detail::AddBodyWork<Exec>{arrays, detail::ForceOnMass(load), weight, u, work});
}

/// mass(e) = mass_density(e) density(e), kg / m^3; densities below 0 count as 0. Does not fence.
template<class Exec>
void fill_masses(const Exec& exec, const Array<double, Exec>& mass_density,
                 const Array<double, Exec>& density, const Array<double, Exec>& mass) {
  Kokkos::parallel_for("ossatura::fill_masses", range(exec, mass.extent(0)),
                       detail::FillMasses<Exec>{mass_density, density, mass});
}

/// gradient(e) += factor dm/drho work(e), m as fill_masses gives it. Does not fence.
template<class Exec>
void add_mass_slope(const Exec& exec, const Array<double, Exec>& mass_density,
                    const Array<double, Exec>& density, double factor,
                    const Array<double, Exec>& work, const Array<double, Exec>& gradient) {
  Kokkos::parallel_for("ossatura::add_mass_slope", range(exec, gradient.extent(0)),
                       detail::AddMassSlope<Exec>{mass_density, density, work, gradient, factor});
}

} // namespace ossatura
