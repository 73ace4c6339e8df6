// SPDX-License-Identifier: Apache-2.0
// Corotational tetrahedra [1, 2] and membrane triangles have constant strain; triangles are in
// plane stress. With the gradients D_a of the shape functions at rest, d_a = R D_a, and the volume
// V,
//
//   f_a  = V R sigma D_a,   sigma = lambda tr(e) I + 2 mu e,   e = sym(R^T F) - I,
//   K_ab = V (lambda d_a d_b^T + mu d_b d_a^T + mu (d_a . d_b) P) = R K0_ab R^T,
//
// P = I, or the projection on the plane of the triangle, whose lambda is that of plane stress. No
// K0 is kept. With the polar frame f is the exact derivative of the energy V sigma : e / 2. K has
// what tension adds as R turns (turning_stiffness.hpp), in triangles in their plane.
//
// R K0 R^T leaves a membrane without stiffness across its plane, where its waves would be stepped
// as if explicitly. What a triangle has there comes from its tension [3]. With the normal n,
//
//   K_ab += V (D_a . S D_b) n n^T,   S = the positive part of U^-1 sigma,   U = I + e.
//
// With the polar frame U^-1 sigma is the second Piola-Kirchhoff stress, and where both principal
// stresses pull K is the exact derivative of f across the plane. What pushes is left out [4], so
// that K stays positive semidefinite.
//
// [1] M. Mueller, M. Gross. Interactive virtual materials. Graphics Interface (2004).
// [2] M. Nesme, Y. Payan, F. Faure. Efficient, physically plausible finite elements. Eurographics
//     short papers (2005).
// [3] D. Baraff, A. Witkin. Large steps in cloth simulation. SIGGRAPH (1998) 43-54.
//     doi:10.1145/280814.280821
// [4] K.-J. Choi, H.-S. Ko. Stable but responsive cloth. ACM Trans. Graph. 21 (2002) 604-611.
//     doi:10.1145/566654.566624
#pragma once

#include <ossatura/kernels/softbody/elements/input.hpp>
#include <ossatura/kernels/softbody/elements/turning_stiffness.hpp>

#include <type_traits>

namespace ossatura::detail {

KOKKOS_FORCEINLINE_FUNCTION Matrix3 stress_of(const ScaledLame& lame, const Matrix3& strain) {
  Matrix3 stress = (2 * lame.mu) * strain;
  const double pressure = lame.lambda * trace(strain);
  for (int i = 0; i < 3; ++i)
    stress(i, i) += pressure;
  return stress;
}

/// lambda a b^T + mu b a^T + mu (a . b) I
KOKKOS_FORCEINLINE_FUNCTION Matrix3 linear_block(const ScaledLame& lame, const Vector3& a,
                                                 const Vector3& b) {
  const double diagonal = lame.mu * dot(a, b);
  Matrix3 k;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      k(i, j) = lame.lambda * a[i] * b[j] + lame.mu * b[i] * a[j] + (i == j ? diagonal : 0);
  return k;
}

/// A principal stress over its stretch where it pulls. A stretch of less than a tenth counts as
/// that, for the tension to stay finite.
KOKKOS_FORCEINLINE_FUNCTION double principal_tension(double stress, double stretch) {
  return fmax(stress, 0.0) / fmax(stretch, 0.1);
}

/// The positive part of U^-1 sigma of a strain in the plane with this normal: it has the principal
/// axes of the strain.
KOKKOS_INLINE_FUNCTION Matrix3 plane_tension(const ScaledLame& lame, const Matrix3& strain,
                                             const Vector3& normal) {
  const double mean = 0.5 * trace(strain), pressure = 2 * lame.lambda * mean;
  Matrix3 plane, deviator;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      plane(i, j) = (i == j ? 1 : 0) - normal[i] * normal[j];
      deviator(i, j) = strain(i, j) - mean * plane(i, j);
    }
  const double radius = sqrt(0.5 * inner(deviator, deviator));
  const double high =
      principal_tension(pressure + 2 * lame.mu * (mean + radius), 1 + mean + radius);
  const double low = principal_tension(pressure + 2 * lame.mu * (mean - radius), 1 + mean - radius);
  const double slope = radius > 0 ? 0.5 * (high - low) / radius : 0;
  return 0.5 * (high + low) * plane + slope * deviator;
}

/// The stiffness of a triangle across its plane, and as it turns in its plane.
struct AcrossPlane {
  Vector3 normal;
  double turning;    ///< G = turning normal normal^T, as ScaledLame
  double tension[3]; ///< D_a . S D_b of nodes (0, 1), (0, 2), (1, 2), as ScaledLame

  KOKKOS_FORCEINLINE_FUNCTION double between(int a, int b) const {
    if (a != b)
      return tension[a + b - 1];
    return tension[2 - a] - (tension[0] + tension[1] + tension[2]); // rows have no sum
  }
};

struct TurningSolid {
  Matrix3 turning; ///< G, as ScaledLame
};

/// Gradient of the shape function of node a of a simplex.
template<int nodes>
KOKKOS_FORCEINLINE_FUNCTION Vector3 simplex_gradient(const Matrix3& dm_inverse, int a) {
  if (a > 0)
    return dm_inverse.row[a - 1];
  Vector3 d = -1.0 * (dm_inverse.row[0] + dm_inverse.row[1]);
  if constexpr (nodes == 4)
    d = d - dm_inverse.row[2];
  return d;
}

/// An element keeps the inverse of its edges at rest, row by row, and its volume times the factor
/// of its moduli; input.coefficient is lambda, mu.
template<ElementShape element_shape, SoftRotation rotation>
struct CorotationalSimplex {
  static constexpr ElementShape shape = element_shape;
  static constexpr int nodes = nodes_per_elem(shape), points = 0;
  static constexpr bool is_triangle = shape == ElementShape::triangle;

  struct State : std::conditional_t<is_triangle, AcrossPlane, TurningSolid> {
    ScaledLame lame; ///< times stiffness_scale, as the tension
    Vector3 d[nodes];
    Vector3 force[nodes];
  };

  /// The element as it is deformed.
  struct Frame {
    Matrix3 dm_inverse, r, strain;
    ScaledLame lame;
    bool inverted;
  };

  static KOKKOS_INLINE_FUNCTION Frame frame_of(const SoftInput& input, int elem) {
    Frame e;
    e.dm_inverse = input.rest_matrix(elem);
    const double volume = input.rest_value(elem, 9);
    e.lame = {volume * input.coefficient[0], volume * input.coefficient[1]};
    const Matrix3 edges = simplex_edges<shape>(input.x, input.nodes_of<shape>(elem));
    const Matrix3 ds = is_triangle ? with_normal(edges) : edges;
    const Matrix3 f = ds * e.dm_inverse;
    e.inverted = !is_triangle && determinant(f) <= 0;
    e.r = element_rotation<rotation>(ds, e.dm_inverse, f);
    set_strain(e, edges);
    return e;
  }

  /// That of these edges as r turns them.
  static KOKKOS_INLINE_FUNCTION void set_strain(Frame& e, const Matrix3& edges) {
    e.strain = strain_of(e, edges);
    for (int i = 0; i < 3; ++i)
      e.strain(i, i) -= 1;
    if constexpr (is_triangle) // there is no strain along the normal
      for (int i = 0; i < 3; ++i)
        e.strain.row[i] = e.strain.row[i] + e.dm_inverse(2, i) * e.dm_inverse.row[2];
  }

  /// The strain whose tension is taken, see turning_stiffness.hpp.
  static KOKKOS_INLINE_FUNCTION Matrix3 tension_strain(const SoftInput& input, int elem,
                                                       const Frame& now) {
    if (input.last_step == 0)
      return now.strain;
    const int* node = input.nodes_of<shape>(elem);
    const Matrix3 edges = simplex_edges<shape>(input.x, node);
    const Matrix3 before = edges + -input.last_step * simplex_edges<shape>(input.v, node);
    const Matrix3 ds = is_triangle ? with_normal(before) : before;
    Frame e = now;
    e.r = element_rotation<rotation>(ds, e.dm_inverse, ds * e.dm_inverse);
    set_strain(e, edges);
    return e.strain;
  }

  /// sym(R^T grad u) of displacements with these differences along edges.
  static KOKKOS_INLINE_FUNCTION Matrix3 strain_of(const Frame& e, const Matrix3& edges) {
    Matrix3 g = transposed_times(e.r, edges * e.dm_inverse);
    if constexpr (is_triangle) { // a displacement along the normal is no strain
      const Vector3 normal = e.dm_inverse.row[2], along = transpose(g) * normal;
      for (int i = 0; i < 3; ++i)
        g.row[i] = g.row[i] - normal[i] * along;
    }
    return symmetric_part(g);
  }

  static KOKKOS_INLINE_FUNCTION double spared_of(const SoftInput& input, const Frame& e) {
    const Matrix3& d = e.dm_inverse; // by rows of nodes 1, 2, 3
    const Vector3 first = d.row[0] + d.row[1] + d.row[2];
    const double volume = 1 / (6 * determinant(d));
    return input.spared_tension * volume / ((inner(d, d) + dot(first, first)) * nodes);
  }

  static KOKKOS_INLINE_FUNCTION void prepare(const SoftInput& input, int elem, State& state,
                                             bool& inverted) {
    const Frame e = frame_of(input, elem);
    inverted = e.inverted;
    Matrix3 p = e.r * stress_of(e.lame, e.strain);
    [[maybe_unused]] Matrix3 tension; // of triangles
    if constexpr (is_triangle) {
      const Matrix3 strain = tension_strain(input, elem, e);
      tension = plane_tension(e.lame, strain, e.dm_inverse.row[2]);
      state.normal = e.r * e.dm_inverse.row[2];
      const double sum = trace(strain);
      state.turning = 0.5 * turning_tension(2 * (e.lame.lambda + e.lame.mu) * sum, 2 + sum);
    } else {
      const double spared = spared_of(input, e);
      state.turning = zero_matrix();
      if (may_pull(e.lame, e.strain, spared))
        state.turning = times_transposed(
            e.r * turning_stiffness(e.lame, tension_strain(input, elem, e), spared), e.r);
    }
    if (input.force_scale != 0) {
      const Matrix3 edges = simplex_edges<shape>(input.v, input.nodes_of<shape>(elem));
      Matrix3 change = e.r * stress_of(e.lame, strain_of(e, edges));
      if constexpr (is_triangle) {
        const Vector3 slope = tension * (transpose(edges * e.dm_inverse) * state.normal);
        for (int i = 0; i < 3; ++i)
          change.row[i] = change.row[i] + state.normal[i] * slope;
      }
      const Vector3 turn = turn_of(times_transposed(edges * e.dm_inverse, e.r));
      Vector3 moment;
      if constexpr (is_triangle)
        moment = state.turning * dot(state.normal, turn) * state.normal;
      else
        moment = state.turning * turn;
      change = change + cross_rows(moment, e.r);
      p = p + input.force_scale * change;
    }
    for (int a = 0; a < nodes; ++a) {
      const Vector3 d = simplex_gradient<nodes>(e.dm_inverse, a);
      state.d[a] = e.r * d;
      state.force[a] = p * d;
    }
    state.lame = {input.stiffness_scale * e.lame.lambda, input.stiffness_scale * e.lame.mu};
    state.turning = input.stiffness_scale * state.turning;
    if constexpr (is_triangle)
      for (int i = 0; i < 3; ++i) // nodes (0, 1), (0, 2), (1, 2)
        state.tension[i] = input.stiffness_scale *
                           dot(simplex_gradient<nodes>(e.dm_inverse, i / 2),
                               tension * simplex_gradient<nodes>(e.dm_inverse, 1 + (i + 1) / 2));
  }

  static KOKKOS_INLINE_FUNCTION Matrix3 block(const State& state, int a, int b) {
    Matrix3 k = linear_block(state.lame, state.d[a], state.d[b]);
    if constexpr (is_triangle) {
      const double along = state.between(a, b) - state.lame.mu * dot(state.d[a], state.d[b]);
      for (int i = 0; i < 3; ++i)
        k.row[i] = k.row[i] + along * state.normal[i] * state.normal;
      const Vector3 a_turned = state.turning * cross(state.normal, state.d[a]),
                    b_turned = cross(state.normal, state.d[b]);
      for (int i = 0; i < 3; ++i)
        k.row[i] = k.row[i] + a_turned[i] * b_turned;
    } else {
      k = k + turning_block(state.turning, state.d[a], state.d[b]);
    }
    return k;
  }

  static KOKKOS_INLINE_FUNCTION double energy(const SoftInput& input, int elem) {
    const Frame e = frame_of(input, elem);
    return 0.5 * inner(stress_of(e.lame, e.strain), e.strain);
  }
};

} // namespace ossatura::detail
