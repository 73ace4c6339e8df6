// SPDX-License-Identifier: Apache-2.0
// The consistent mass matrix of solid elements, whose entries are integrals of products of two
// shape functions: with it, frequencies are those of the motions that the elements can have, not
// below those of the continuum where the stiffness is integrated exactly, too. Of second-order
// elements it keeps their order, which sums of rows on the diagonal do not [1].
//
// Each element keeps the upper half of its matrix for 1 kg / m^3, n (n + 1) / 2 numbers, as the
// three components of a node have the same: 10 of C3D4, 36 of C3D8, 55 of C3D10, 210 of C3D20.
//
// [1] T. Hughes. The Finite Element Method, Prentice-Hall 1987, section 7.3.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>
#include <ossatura/core/mesh/solids/shape.hpp>
#include <ossatura/kernels/algebra/sparse/inverse_map.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/solids/rules.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

/// A slot begin(e) + a is node a of element e.
template<class Exec>
struct ElementMasses {
  int num_nodes = 0, num_elem = 0;
  Array<int, Exec> begin;                 ///< [num_elem + 1] of slots
  Array<int, Exec> node, elem;            ///< [num_slots]
  Array<int, Exec> around_begin, around;  ///< [num_nodes + 1], [num_slots] slots of each node
  Array<std::int64_t, Exec> matrix_begin; ///< [num_elem + 1] into the next
  Array<double, Exec> matrix;             ///< upper halves, row by row, m^3

  /// Of row a and column b of n.
  KOKKOS_FORCEINLINE_FUNCTION static int entry(int n, int a, int b) {
    const int low = a < b ? a : b, high = a < b ? b : a;
    return low * n - low * (low - 1) / 2 + high - low;
  }
};

namespace detail {

template<class Exec>
struct FormMasses {
  ElementMasses<Exec> masses;
  SolidRules<Exec> rules;
  Array<double, Exec> point; ///< [num_nodes, 3]
  Array<std::uint8_t, Exec> kind;

  /// The determinant of the Jacobian at the point of the rule whose values begin at `at`.
  KOKKOS_FUNCTION double determinant_at(std::int64_t e, std::int64_t at) const {
    const std::int64_t first = masses.begin(e), end = masses.begin(e + 1);
    const std::int64_t origin = 3 * std::int64_t(masses.node(first));
    double j[3][3] = {};
    for (std::int64_t slot = first; slot < end; ++slot) {
      const std::int64_t x = 3 * std::int64_t(masses.node(slot));
      for (int c = 0; c < 3; ++c)
        for (int d = 0; d < 3; ++d)
          j[c][d] += (point(x + c) - point(origin + c)) * rules.slope(3 * (at + slot - first) + d);
    }
    return j[0][0] * (j[1][1] * j[2][2] - j[1][2] * j[2][1]) -
           j[0][1] * (j[1][0] * j[2][2] - j[1][2] * j[2][0]) +
           j[0][2] * (j[1][0] * j[2][1] - j[1][1] * j[2][0]);
  }

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    const int own = kind(e), n = masses.begin(e + 1) - masses.begin(e);
    double* const matrix = masses.matrix.data() + masses.matrix_begin(e);
    for (int i = 0; i < n * (n + 1) / 2; ++i)
      matrix[i] = 0;
    for (std::int64_t q = rules.first_point[own]; q < rules.first_point[own + 1]; ++q) {
      const std::int64_t at = rules.first_value[own] + n * (q - rules.first_point[own]);
      const double volume = determinant_at(e, at) * rules.weight(q);
      for (int a = 0, i = 0; a < n; ++a)
        for (int b = a; b < n; ++b, ++i)
          matrix[i] += volume * rules.value(at + a) * rules.value(at + b);
    }
  }
};

/// A node sums over its slots, in their order.
template<class Exec>
struct ApplyMass {
  ElementMasses<Exec> masses;
  Array<double, Exec> density, x, y;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    double sum[3] = {};
    for (int s = masses.around_begin(node); s < masses.around_begin(node + 1); ++s) {
      const int slot = masses.around(s), e = masses.elem(slot);
      const int first = masses.begin(e), n = masses.begin(e + 1) - first;
      const double* const matrix = masses.matrix.data() + masses.matrix_begin(e);
      double own[3] = {};
      for (int b = 0; b < n; ++b) {
        const double entry = matrix[ElementMasses<Exec>::entry(n, slot - first, b)];
        const std::int64_t from = 3 * std::int64_t(masses.node(first + b));
        for (int c = 0; c < 3; ++c)
          own[c] += entry * x(from + c);
      }
      for (int c = 0; c < 3; ++c)
        sum[c] += density(e) * own[c];
    }
    for (int c = 0; c < 3; ++c)
      y(3 * node + c) = sum[c];
  }
};

template<class Exec>
struct AddMassEnergies {
  ElementMasses<Exec> masses;
  double weight;
  Array<double, Exec> u, energy;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    const int first = masses.begin(e), n = masses.begin(e + 1) - first;
    const double* const matrix = masses.matrix.data() + masses.matrix_begin(e);
    double sum = 0;
    for (int a = 0; a < n; ++a)
      for (int b = 0; b < n; ++b) {
        const std::int64_t i = 3 * std::int64_t(masses.node(first + a)),
                           k = 3 * std::int64_t(masses.node(first + b));
        double product = 0;
        for (int c = 0; c < 3; ++c)
          product += u(i + c) * u(k + c);
        sum += matrix[ElementMasses<Exec>::entry(n, a, b)] * product;
      }
    energy(e) += weight * sum;
  }
};

} // namespace detail

/// Of elements with these kinds [num_elem], nodes from begin [num_elem + 1] and points [num_nodes,
/// 3]. Fences.
template<class Exec>
ElementMasses<Exec> make_element_masses(const Exec& exec, const std::vector<SolidKind>& kind,
                                        const std::vector<std::int32_t>& begin,
                                        const std::vector<std::int32_t>& node,
                                        const std::vector<double>& point) {
  ElementMasses<Exec> masses;
  masses.num_nodes = int(point.size() / 3);
  masses.num_elem = int(kind.size());
  std::vector<std::int32_t> elem;
  std::vector<std::int64_t> matrix_begin{0};
  std::vector<std::uint8_t> number;
  for (std::size_t e = 0; e < kind.size(); ++e) {
    const int n = nodes_per_elem(kind[e]);
    elem.insert(elem.end(), std::size_t(n), std::int32_t(e));
    matrix_begin.push_back(matrix_begin.back() + n * (n + 1) / 2);
    number.push_back(std::uint8_t(kind[e]));
  }
  masses.begin = upload(exec, "ossatura::mass::begin", begin);
  masses.node = upload(exec, "ossatura::mass::node", node);
  masses.elem = upload(exec, "ossatura::mass::elem", elem);
  masses.matrix_begin = upload(exec, "ossatura::mass::matrix_begin", matrix_begin);
  masses.matrix = make_uninitialized<double>(exec, matrix_begin.back(), "ossatura::mass::matrix");
  const InverseMap<Exec> slots = invert_map(exec, masses.node, masses.num_nodes);
  masses.around_begin = slots.begin;
  masses.around = slots.member;
  Kokkos::parallel_for(
      "ossatura::form_masses", range(exec, masses.num_elem),
      detail::FormMasses<Exec>{masses,
                               make_solid_rules(exec, "ossatura::mass::rule", mass_quadrature_of),
                               upload(exec, "ossatura::mass::point", point),
                               upload(exec, "ossatura::mass::kind", number)});
  fence(exec, "ossatura::make_element_masses"); // the uploads go
  return masses;
}

template<class Exec>
ElementMasses<Exec> make_element_masses(const Exec& exec, const SolidMesh& mesh) {
  return make_element_masses(exec, mesh.kind, mesh.begin, mesh.node, mesh.point);
}

/// Of hexahedra of eight nodes.
template<class Exec>
ElementMasses<Exec> make_element_masses(const Exec& exec, const ElementMesh& mesh) {
  std::vector<std::int32_t> begin;
  for (std::size_t e = 0; e <= mesh.num_elem(); ++e)
    begin.push_back(std::int32_t(8 * e));
  return make_element_masses(exec, std::vector<SolidKind>(mesh.num_elem(), SolidKind::hexa8), begin,
                             mesh.node, mesh.point);
}

/// y = M x for elements of `density` [num_elem] kg / m^3; x, y [num_nodes, 3], all components. The
/// same for any number of threads. Does not fence.
template<class Exec>
void apply_mass(const Exec& exec, const ElementMasses<Exec>& masses,
                const Array<double, Exec>& density, const Array<double, Exec>& x,
                const Array<double, Exec>& y) {
  Kokkos::parallel_for("ossatura::apply_mass", range(exec, masses.num_nodes),
                       detail::ApplyMass<Exec>{masses, density, x, y});
}

/// energy(e) += weight u . M_e u for 1 kg / m^3. Does not fence.
template<class Exec>
void add_mass_energies(const Exec& exec, const ElementMasses<Exec>& masses, double weight,
                       const Array<double, Exec>& u, const Array<double, Exec>& energy) {
  Kokkos::parallel_for("ossatura::add_mass_energies", range(exec, masses.num_elem),
                       detail::AddMassEnergies<Exec>{masses, weight, u, energy});
}

} // namespace ossatura
