// SPDX-License-Identifier: Apache-2.0
// These products multiply with the matrix of a soft body element by element, without assembly, for
// comparison with assembly in conjugate gradients.
//
// Corotational tetrahedra need 11 numbers each [1]: with the gradients d_a of the shape functions
// in the rotated frame and H = sum_b p_b d_b^T,
//
//   (K_e p)_a = (lambda tr(H) I + mu (H + H^T)) d_a.
//
// Other elements multiply by their stored matrices.
//
// [1] J. Allard, H. Courtecuisse, F. Faure. Implicit FEM solver on GPU for interactive deformation
//     simulation. GPU Computing Gems Jade Edition (2011) 281-294,
//     doi:10.1016/B978-0-12-385963-1.00021-6.
#pragma once

#include <ossatura/kernels/krylov/resident_cg.hpp>
#include <ossatura/kernels/softbody/assembly/element_map.hpp>
#include <ossatura/kernels/softbody/elements/evaluate.hpp>

namespace ossatura::bench {

/// Frames of corotational tetrahedra.
template<class Exec>
struct TetraFrames {
  static constexpr int nodes = 4;
  std::int64_t num_elem;
  ArrayPointer<int> node;     ///< [num_elem, 4]
  ArrayPointer<double> frame; ///< [17, num_elem]: d_1, d_2, d_3, lambda and mu times the volume, G

  KOKKOS_FUNCTION void multiply(std::int64_t e, const Vector3 (&p)[4], Vector3 (&f)[4]) const {
    Vector3 d[3];
    Matrix3 h;
    for (int b = 0; b < 3; ++b) {
      for (int c = 0; c < 3; ++c)
        d[b].v[c] = frame((3 * b + c) * num_elem + e);
      const Vector3 difference = p[b + 1] - p[0];
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          h(i, j) = (b == 0 ? 0 : h(i, j)) + difference[i] * d[b][j];
    }
    const double lambda = frame(9 * num_elem + e), mu = frame(10 * num_elem + e);
    const Matrix3 stress = detail::stress_of(detail::ScaledLame{lambda, mu}, symmetric_part(h));
    Matrix3 turning;
    for (int i = 0, k = 11; i < 3; ++i)
      for (int j = i; j < 3; ++j, ++k)
        turning(i, j) = turning(j, i) = frame(k * num_elem + e);
    const Vector3 moment = turning * detail::turn_of(h);
    f[0] = Vector3{{0, 0, 0}};
    for (int b = 0; b < 3; ++b) {
      f[b + 1] = stress * d[b] + cross(moment, d[b]);
      f[0] = f[0] - f[b + 1];
    }
  }
};

/// Element matrices of any law.
template<class Exec, int num_nodes>
struct ElementMatrices {
  static constexpr int nodes = num_nodes;
  std::int64_t num_elem;
  ArrayPointer<int> node;         ///< [num_elem, nodes]
  ArrayPointer<double> stiffness; ///< [num_elem, pairs, 9]

  KOKKOS_FUNCTION void multiply(std::int64_t e, const Vector3 (&p)[nodes],
                                Vector3 (&f)[nodes]) const {
    const double* block = stiffness.data + e * (9 * nodes * (nodes + 1) / 2);
    for (int a = 0; a < nodes; ++a)
      f[a] = Vector3{{0, 0, 0}};
    for (int a = 0; a < nodes; ++a)
      for (int b = a; b < nodes; ++b, block += 9)
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j) {
            f[a].v[i] += block[3 * i + j] * p[b][j];
            if (b > a)
              f[b].v[j] += block[3 * i + j] * p[a][i];
          }
  }
};

/// Frames at x and forces with damping, as evaluate_soft_elements has them.
template<class Exec>
struct MakeFrames {
  using Element = detail::CorotationalSimplex<ElementShape::tetra, SoftRotation::polar>;
  detail::SoftInput input;
  ArrayPointer<double> frame, force;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    typename Element::State state;
    bool inverted;
    Element::prepare(input, int(e), state, inverted);
    const std::int64_t n = input.num_elem;
    for (int k = 0; k < 9; ++k)
      frame(k * n + e) = state.d[1 + k / 3][k % 3];
    frame(9 * n + e) = state.lame.lambda;
    frame(10 * n + e) = state.lame.mu;
    for (int i = 0, k = 11; i < 3; ++i)
      for (int j = i; j < 3; ++j, ++k)
        frame(k * n + e) = state.turning(i, j);
    for (int a = 0; a < 4; ++a)
      for (int c = 0; c < 3; ++c)
        force((4 * e + a) * 3 + c) = state.force[a][c];
  }
};

/// The rest of the matrix, mass and fixed nodes, and the vectors of the solve.
template<class Exec>
struct MatrixFreeNodes {
  detail::CgArrays<Exec> cg;
  ArrayPointer<std::uint8_t> fixed;
  ArrayPointer<double> mass;
  double mass_scale;

  /// q without elements.
  KOKKOS_FUNCTION double own(std::int64_t i, double p) const {
    return fixed(i / 3) ? p : mass_scale * mass(i / 3) * p;
  }
};

inline constexpr int matrix_free_elems = 128; ///< of a team

/// K_e p for the elements of a team: added to q, with sums of p . K_e p; or written to slots.
template<class Exec, class Product, bool atomics>
struct MultiplyElements {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int nodes = Product::nodes;
  Product product;
  MatrixFreeNodes<Exec> rest;
  ArrayPointer<double> slots; ///< [num_elem, nodes, 3]
  int first_part;

  KOKKOS_FUNCTION double of_element(std::int64_t e) const {
    Vector3 p[nodes], f[nodes];
    for (int a = 0; a < nodes; ++a) {
      const std::int64_t i = 3 * std::int64_t(product.node(e * nodes + a));
      p[a] = Vector3{{rest.cg.p(i), rest.cg.p(i + 1), rest.cg.p(i + 2)}};
    }
    product.multiply(e, p, f);
    double sum = 0;
    for (int a = 0; a < nodes; ++a) {
      const int node = product.node(e * nodes + a);
      if constexpr (atomics) {
        if (!rest.fixed(node))
          for (int c = 0; c < 3; ++c)
            Kokkos::atomic_add(&rest.cg.q(3 * std::int64_t(node) + c), f[a][c]);
        sum += dot(p[a], f[a]); // p is 0 at fixed nodes
      } else {
        for (int c = 0; c < 3; ++c)
          slots((e * nodes + a) * 3 + c) = f[a][c];
      }
    }
    return sum;
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (rest.cg.flags(cg_stop))
      return;
    const std::int64_t first = std::int64_t(team.league_rank()) * matrix_free_elems;
    double sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, int(matrix_free_elems)),
        [&](int k, double& partial) {
          if (first + k < product.num_elem)
            partial += of_element(first + k);
        },
        sum);
    if constexpr (atomics)
      Kokkos::single(Kokkos::PerTeam(team),
                     [&] { rest.cg.pq_parts(first_part + team.league_rank()) = sum; });
  }
};

/// p and what nodes alone give to q and p . q; elements are added later.
template<class Exec>
struct StartProduct {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  MatrixFreeNodes<Exec> rest;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const detail::CgArrays<Exec>& cg = rest.cg;
    if (cg.flags(cg_stop))
      return;
    const double rz = detail::sum_parts(team, cg.rz_parts, cg.num_rz_parts);
    const double beta = cg.flags(cg_iterations) == 0 ? 0 : rz / cg.numbers(cg_rz);
    const detail::NewDirection direction{cg.z, cg.p_before, beta};
    const std::int64_t first = 3 * std::int64_t(team.league_rank()) * detail::cg_nodes;
    double sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, 3 * int(detail::cg_nodes)),
        [&](int k, double& partial) {
          const std::int64_t i = first + k;
          if (i >= 3 * std::int64_t(cg.num_rows))
            return;
          const double p = direction(i), q = rest.own(i, p);
          cg.p(i) = p;
          cg.q(i) = q;
          partial += p * q;
        },
        sum);
    Kokkos::single(Kokkos::PerTeam(team), [&] { cg.pq_parts(team.league_rank()) = sum; });
  }
};

/// q from the slots of each node, or, without a map, added to what is there; with sums of p . q.
template<class Exec>
struct FinishProduct {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  MatrixFreeNodes<Exec> rest;
  ArrayPointer<int> around_begin;
  ArrayPointer<std::uint32_t> slot;
  ArrayPointer<double> slots;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const detail::CgArrays<Exec>& cg = rest.cg;
    if (cg.flags(cg_stop))
      return;
    const std::int64_t first = 3 * std::int64_t(team.league_rank()) * detail::cg_rows;
    double sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, 3 * int(detail::cg_rows)),
        [&](int k, double& partial) {
          const std::int64_t i = first + k;
          if (i >= 3 * std::int64_t(cg.num_rows))
            return;
          const int node = int(i / 3);
          const double p = cg.p(i);
          double q = rest.own(i, p);
          if (!rest.fixed(node))
            q += slot.data
                     ? detail::gather_sum<8>(slot.data, around_begin(node), around_begin(node + 1),
                                             slots.data, 3, int(i % 3))
                     : cg.q(i);
          cg.q(i) = q;
          partial += p * q;
        },
        sum);
    Kokkos::single(Kokkos::PerTeam(team), [&] { cg.pq_parts(team.league_rank()) = sum; });
  }
};

/// b = load - mass_damping m v.
template<class Exec>
struct DampedLoad {
  ArrayPointer<double> load, mass, v, b;
  double mass_damping;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    b(i) = load(i) - mass_damping * mass(i / 3) * v(i);
  }
};

} // namespace ossatura::bench
