// SPDX-License-Identifier: Apache-2.0
// Gravity and rotation pull at each kg by a force that is linear in its place x,
//
//   b(x) = g + w^2 (r - (r . n) n),   r = x - o,
//
// so that their forces on node a of an element of 1 kg / m^3, the integral of N_a b, are those of
// the two moments m_a, the integral of N_a, and s_a, that of N_a x:
//
//   F_a = m_a g + w^2 (q_a - (q_a . n) n),   q_a = s_a - m_a o.
//
// Moments are formed once, by rules that are exact on elements with straight edges. Of second-order
// tetrahedra and hexahedra m_a is negative at corners: that is what is consistent.
#pragma once

#include <ossatura/core/mesh/hexa/model.hpp>
#include <ossatura/kernels/solids/arrays.hpp>
#include <ossatura/kernels/solids/rules.hpp>

namespace ossatura {

namespace detail {

/// BodyLoad for kernels on solids.
struct LinearBodyForce {
  double acceleration[3], square_speed, origin[3], axis[3];

  explicit LinearBodyForce(const BodyLoad& load)
      : square_speed(load.square_speed) {
    for (std::size_t c = 0; c < 3; ++c) {
      acceleration[c] = load.acceleration[c];
      origin[c] = load.origin[c];
      axis[c] = load.axis[c];
    }
  }
  /// `moment`: m and s of a slot.
  KOKKOS_FUNCTION void of_moments(const double* moment, double (&force)[3]) const {
    double arm[3], along = 0;
    for (int c = 0; c < 3; ++c) {
      arm[c] = moment[1 + c] - moment[0] * origin[c];
      along += arm[c] * axis[c];
    }
    for (int c = 0; c < 3; ++c)
      force[c] = moment[0] * acceleration[c] + square_speed * (arm[c] - along * axis[c]);
  }
};

template<class Exec>
struct FormMoments {
  SolidArrays<Exec> arrays;
  SolidRules<Exec> rules;
  Array<std::uint8_t, Exec> kind;
  Array<double, Exec> moment; ///< [num_slots, 4]

  /// The place of a point, and the determinant of the Jacobian there.
  KOKKOS_FUNCTION double measure(std::int64_t e, std::int64_t at, double (&x)[3]) const {
    const std::int64_t first = arrays.begin(e);
    const int n = arrays.num_slots(e);
    const std::int64_t origin = 3 * std::int64_t(arrays.node(first));
    double j[3][3] = {};
    for (double& one : x)
      one = 0;
    for (int a = 0; a < n; ++a) {
      const std::int64_t node = 3 * std::int64_t(arrays.node(first + a));
      for (int c = 0; c < 3; ++c) {
        const double way = arrays.point(node + c) - arrays.point(origin + c);
        x[c] += rules.value(at + a) * way;
        for (int d = 0; d < 3; ++d)
          j[c][d] += way * rules.slope(3 * (at + a) + d);
      }
    }
    for (int c = 0; c < 3; ++c)
      x[c] += arrays.point(origin + c);
    return j[0][0] * (j[1][1] * j[2][2] - j[1][2] * j[2][1]) -
           j[0][1] * (j[1][0] * j[2][2] - j[1][2] * j[2][0]) +
           j[0][2] * (j[1][0] * j[2][1] - j[1][1] * j[2][0]);
  }

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    const int own = kind(e), n = arrays.num_slots(e);
    const std::int64_t first = arrays.begin(e);
    for (std::int64_t i = 4 * first; i < 4 * (first + n); ++i)
      moment(i) = 0;
    for (std::int64_t q = rules.first_point[own]; q < rules.first_point[own + 1]; ++q) {
      const std::int64_t at = rules.first_value[own] + n * (q - rules.first_point[own]);
      double x[3];
      const double volume = measure(e, at, x) * rules.weight(q);
      for (int a = 0; a < n; ++a) {
        const double share = volume * rules.value(at + a);
        moment(4 * (first + a)) += share;
        for (int c = 0; c < 3; ++c)
          moment(4 * (first + a) + 1 + c) += share * x[c];
      }
    }
  }
};

/// A node sums over its slots, in their order.
template<class Exec>
struct AddSolidBodyForces {
  SolidArrays<Exec> arrays;
  Array<double, Exec> moment;
  LinearBodyForce load;
  Array<double, Exec> mass, force;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    double sum[3] = {};
    for (int s = arrays.around_begin(node); s < arrays.around_begin(node + 1); ++s) {
      const std::int64_t slot = arrays.around(s);
      double own[3];
      load.of_moments(moment.data() + 4 * slot, own);
      for (int c = 0; c < 3; ++c)
        sum[c] += mass(arrays.elem(slot)) * own[c];
    }
    for (int c = 0; c < 3; ++c)
      force(3 * node + c) += sum[c];
  }
};

template<class Exec>
struct AddSolidBodyWork {
  SolidArrays<Exec> arrays;
  Array<double, Exec> moment;
  LinearBodyForce load;
  double weight;
  Array<double, Exec> u, work;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    double sum = 0;
    for (std::int64_t slot = arrays.begin(e); slot < arrays.begin(e + 1); ++slot) {
      double own[3];
      load.of_moments(moment.data() + 4 * slot, own);
      for (int c = 0; c < 3; ++c)
        sum += own[c] * u(3 * std::int64_t(arrays.node(slot)) + c);
    }
    work(e) += weight * sum;
  }
};

} // namespace detail

/// The integrals of N and N x, y, z of each slot [num_slots, 4], m^3 and m^4. Does not fence.
template<class Exec>
Array<double, Exec> make_shape_moments(const Exec& exec, const SolidMesh& mesh,
                                       const SolidArrays<Exec>& arrays) {
  std::vector<std::uint8_t> kind;
  for (const SolidKind one : mesh.kind)
    kind.push_back(std::uint8_t(one));
  const auto moment =
      make_uninitialized<double>(exec, 4 * arrays.node.extent(0), "ossatura::solids::moment");
  Kokkos::parallel_for("ossatura::make_shape_moments", range(exec, arrays.num_elem),
                       detail::FormMoments<Exec>{
                           arrays,
                           make_solid_rules(exec, "ossatura::solids::moment", moment_quadrature_of),
                           upload(exec, "ossatura::solids::kind", kind), moment});
  return moment;
}

/// force [num_nodes, 3] += the forces of a load on elements of `mass` [num_elem], kg / m^3, with
/// the moments of make_shape_moments. The same for any number of threads. Does not fence.
template<class Exec>
void add_body_forces(const Exec& exec, const SolidArrays<Exec>& arrays,
                     const Array<double, Exec>& moment, const BodyLoad& load,
                     const Array<double, Exec>& mass, const Array<double, Exec>& force) {
  Kokkos::parallel_for(
      "ossatura::add_solid_body_forces", range(exec, arrays.num_nodes),
      detail::AddSolidBodyForces<Exec>{arrays, moment, detail::LinearBodyForce(load), mass, force});
}

/// work(e) += weight times the work of the forces on element e for 1 kg / m^3, u [num_nodes, 3].
/// Does not fence.
template<class Exec>
void add_body_work(const Exec& exec, const SolidArrays<Exec>& arrays,
                   const Array<double, Exec>& moment, const BodyLoad& load, double weight,
                   const Array<double, Exec>& u, const Array<double, Exec>& work) {
  Kokkos::parallel_for("ossatura::add_solid_body_work", range(exec, arrays.num_elem),
                       detail::AddSolidBodyWork<Exec>{arrays, moment, detail::LinearBodyForce(load),
                                                      weight, u, work});
}

} // namespace ossatura
