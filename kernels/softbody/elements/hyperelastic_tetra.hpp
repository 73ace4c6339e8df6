// SPDX-License-Identifier: Apache-2.0
// Hyperelastic tetrahedra follow a law W(I1, I2, J) of hyperelastic_laws.hpp. With the gradients
// D_a of the shape functions, F = sum of x_a D_a^T, B = F F^T, H = cof F = dJ/dF and the volume V,
// each node has
//
//   p_a = F D_a = dI1/dx_a / 2,   q_a = (I1 - B) p_a = dI2/dx_a / 2,   h_a = H D_a = dJ/dx_a,
//   f_a = V (2 W1 p_a + 2 W2 q_a + WJ h_a),
//
// and the exact tangent, symmetric, without a fourth-order tensor,
//
//   K_ab = V (4 W11 p_a p_b^T + n_a h_b^T + h_a n_b^T + 2 W1 (D_a . D_b) I
//             + 2 W2 (2 p_a p_b^T - p_b p_a^T + (I1 D_a . D_b - p_a . p_b) I - (D_a . D_b) B)
//             - WJ [F (D_a x D_b)]x),
//   n_a  = 2 W1J p_a + 2 W2J q_a + WJJ / 2 h_a.
//
// With one iteration of Newton's a step, K is that of R S in place of F = R U: S, the stretch that
// the system of the step before ended at, lacks what turning leaves in U (turning_stiffness.hpp),
// whose tension would brake whatever turns.
//
// These hold for det F <= 0, too. A law that ends there (mooney_rivlin) is replaced in elements
// with J <= least_volume by the corotational element with the moduli it has at rest, which pulls
// them back out: finite, and energy and force fit each other, though they jump at the change.
#pragma once

#include <ossatura/kernels/softbody/elements/corotational_simplex.hpp>
#include <ossatura/kernels/softbody/elements/hyperelastic_laws.hpp>

namespace ossatura::detail {

inline constexpr double least_volume = 1e-6; ///< of the volume at rest

/// An element keeps what a corotational tetrahedron does; for input.coefficient see the laws.
template<class Law>
struct HyperelasticTetra {
  static constexpr ElementShape shape = ElementShape::tetra;
  static constexpr int nodes = 4, points = 0;

  /// K_ab = pp p_a p_b^T + qq (p_b p_a^T + (p_a . p_b) I + (D_a . D_b) B) + dd (D_a . D_b) I
  ///        + n_a h_b^T + h_a n_b^T - wj [F (D_a x D_b)]x,  B = b[0..2] on the diagonal, b[3 + i]
  /// between axes i and i + 1. A team's states limit how many teams a processor holds.
  struct State {
    Vector3 d[nodes], p[nodes], n[nodes], h[nodes];
    Vector3 force[nodes];
    Matrix3 f;
    double b[6], pp, qq, dd, wj;
  };

  struct Strain {
    Matrix3 dm_inverse, f, b;
    double volume, i1, i2, j;
    bool replaced; ///< by the corotational element
  };

  static KOKKOS_INLINE_FUNCTION Strain strain_of(const SoftInput& input, int elem) {
    Strain e;
    e.dm_inverse = input.rest_matrix(elem);
    e.volume = input.rest_value(elem, 9);
    set_gradient(e, simplex_edges<shape>(input.x, input.nodes_of<shape>(elem)) * e.dm_inverse);
    e.replaced = Law::needs_volume && !(e.j > least_volume);
    return e;
  }

  static KOKKOS_INLINE_FUNCTION void set_gradient(Strain& e, const Matrix3& f) {
    e.f = f;
    e.b = times_transposed(f, f);
    e.i1 = trace(e.b);
    e.i2 = 0.5 * (e.i1 * e.i1 - inner(e.b, e.b));
    e.j = determinant(f);
  }

  /// R S of F = R U, with S = sym(R_b^T F) and R_b where the last step began, but no principal
  /// stretch of S that pushes more than U does there.
  static KOKKOS_INLINE_FUNCTION Matrix3 tangent_gradient(const SoftInput& input, int elem,
                                                         const Strain& e) {
    const Matrix3 motion =
        simplex_edges<shape>(input.v, input.nodes_of<shape>(elem)) * e.dm_inverse;
    const Matrix3 r = polar_rotation(e.f), u = symmetric_part(transposed_times(r, e.f));
    const Matrix3 last = polar_rotation(e.f + -input.last_step * motion);
    const Matrix3 s = symmetric_part(transposed_times(last, e.f));
    double stretch[3][3], axis[3][3];
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        stretch[i][j] = s(i, j);
    diagonalise(stretch, axis);
    Matrix3 f = zero_matrix();
    for (int k = 0; k < 3; ++k) {
      const Vector3 n{{axis[0][k], axis[1][k], axis[2][k]}};
      const double least = fmin(1.0, dot(n, u * n));
      const Vector3 rn = fmax(stretch[k][k], least) * (r * n);
      for (int i = 0; i < 3; ++i)
        f.row[i] = f.row[i] + rn[i] * n;
    }
    return f;
  }

  /// Lame's coefficients at rest of c1, c2, bulk.
  static KOKKOS_INLINE_FUNCTION ScaledLame rest_lame(const SoftInput& input, double volume) {
    const double mu = 2 * (input.coefficient[0] + input.coefficient[1]);
    return {volume * (input.coefficient[2] - 2.0 / 3 * mu), volume * mu};
  }

  static KOKKOS_INLINE_FUNCTION Matrix3 rest_strain(const Strain& e, const Matrix3& r) {
    Matrix3 strain = symmetric_part(transposed_times(r, e.f));
    for (int i = 0; i < 3; ++i)
      strain(i, i) -= 1;
    return strain;
  }

  /// dW/dF and, with a velocity gradient g, `scale` times its change along g.
  static KOKKOS_INLINE_FUNCTION Matrix3 stress(const Strain& e, const LawDerivatives<double>& w,
                                               const Matrix3& cofactor_f, double scale,
                                               const Matrix3& g) {
    const Matrix3 q = Law::uses_i2 ? e.i1 * e.f + (-1) * (e.b * e.f) : zero_matrix(); // dI2/dF / 2
    const double di1 = scale * 2 * inner(e.f, g);
    const double di2 = Law::uses_i2 ? scale * 2 * inner(q, g) : 0;
    const double dj = Law::uses_j ? scale * inner(cofactor_f, g) : 0;
    Matrix3 p = (2 * (w.w1 + w.w11 * di1 + w.w1j * dj)) * e.f + (2 * scale * w.w1) * g;
    if constexpr (Law::uses_i2) {
      const Matrix3 gf = times_transposed(g, e.f);
      const Matrix3 change =
          di1 * e.f + scale * (e.i1 * g + (-1) * (e.b * g + (gf + transpose(gf)) * e.f));
      p = p + (2 * (w.w2 + w.w2j * dj)) * q + (2 * w.w2) * change;
    }
    if constexpr (Law::uses_j)
      p = p + (w.wj + w.wjj * dj + w.w1j * di1 + w.w2j * di2) * cofactor_f +
          (scale * w.wj) * cofactor_change(e.f, g);
    return p;
  }

  static KOKKOS_INLINE_FUNCTION void prepare(const SoftInput& input, int elem, State& state,
                                             bool& inverted) {
    Strain e = strain_of(input, elem);
    inverted = e.j <= 0 || e.replaced;
    const Matrix3 velocity_gradient =
        input.force_scale != 0
            ? simplex_edges<shape>(input.v, input.nodes_of<shape>(elem)) * e.dm_inverse
            : zero_matrix();
    if (e.replaced) {
      prepare_replaced(input, e, velocity_gradient, state);
      return;
    }
    LawDerivatives<double> w = Law::derivatives(input.coefficient, e.i1, e.i2, e.j);
    Matrix3 cofactor_f = Law::uses_j ? cofactor(e.f) : zero_matrix();
    const bool own_tangent = input.last_step != 0 && e.j > 0;
    Matrix3 p = stress(e, w, cofactor_f, own_tangent ? 0 : input.force_scale, velocity_gradient);
    if (own_tangent) { // its change along v is the difference of two stresses there
      set_gradient(e, tangent_gradient(input, elem, e));
      w = Law::derivatives(input.coefficient, e.i1, e.i2, e.j);
      cofactor_f = Law::uses_j ? cofactor(e.f) : zero_matrix();
      p = p + stress(e, w, cofactor_f, input.force_scale, velocity_gradient) +
          -1.0 * stress(e, w, cofactor_f, 0, velocity_gradient);
    }
    p = e.volume * p;
    const double volume = e.volume * input.stiffness_scale;
    for (int a = 0; a < nodes; ++a) {
      const Vector3 d = simplex_gradient<nodes>(e.dm_inverse, a), pa = e.f * d;
      state.force[a] = p * d;
      state.d[a] = d;
      state.p[a] = pa;
      if constexpr (Law::uses_j) {
        const Vector3 h = cofactor_f * d;
        state.h[a] = h;
        Vector3 n = (0.5 * volume * w.wjj) * h;
        if constexpr (Law::uses_i2)
          n = n + (2 * volume * w.w1j) * pa + (2 * volume * w.w2j) * (e.i1 * pa - e.b * pa);
        state.n[a] = n;
      }
    }
    state.f = e.f;
    for (int i = 0; i < 3; ++i) {
      state.b[i] = e.b(i, i);
      state.b[3 + i] = e.b(i, (i + 1) % 3);
    }
    state.pp = volume * (4 * w.w11 + 4 * w.w2);
    state.qq = -2 * volume * w.w2;
    state.dd = 2 * volume * (w.w1 + w.w2 * e.i1);
    state.wj = volume * w.wj;
  }

  static KOKKOS_INLINE_FUNCTION void prepare_replaced(const SoftInput& input, const Strain& e,
                                                      const Matrix3& velocity_gradient,
                                                      State& state) {
    const Matrix3 r = polar_rotation(e.f);
    const ScaledLame lame = rest_lame(input, e.volume);
    const Matrix3 strain =
        rest_strain(e, r) +
        input.force_scale * symmetric_part(transposed_times(r, velocity_gradient));
    const Matrix3 p = r * stress_of(lame, strain);
    for (int a = 0; a < nodes; ++a) {
      const Vector3 d = simplex_gradient<nodes>(e.dm_inverse, a);
      state.force[a] = p * d;
      state.d[a] = d;
      state.p[a] = r * d;
      state.n[a] = state.h[a] = Vector3{{0, 0, 0}};
    }
    state.f = zero_matrix();
    for (int i = 0; i < 6; ++i)
      state.b[i] = 0;
    state.pp = input.stiffness_scale * lame.lambda;
    state.qq = input.stiffness_scale * lame.mu; // p_a . p_b = D_a . D_b
    state.dd = state.wj = 0;
  }

  static KOKKOS_INLINE_FUNCTION Matrix3 block(const State& state, int a, int b) {
    const Vector3 da = state.d[a], db = state.d[b], pa = state.p[a], pb = state.p[b];
    const double dd = dot(da, db);
    double diagonal = state.dd * dd;
    Vector3 c{{0, 0, 0}}; // of -[c]x
    if constexpr (Law::uses_i2)
      diagonal += state.qq * dot(pa, pb);
    if constexpr (Law::uses_j)
      c = state.wj * (state.f * cross(da, db));
    Matrix3 k;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        const bool ahead = j == (i + 1) % 3;
        double entry = i == j ? diagonal : ahead ? c[3 - i - j] : -c[3 - i - j];
        if constexpr (Law::uses_i2)
          entry += state.pp * pa[i] * pb[j] + state.qq * pb[i] * pa[j] +
                   state.qq * dd *
                       state.b[i == j  ? i
                               : ahead ? 3 + i
                                       : 3 + j];
        if constexpr (Law::uses_j)
          entry += state.n[a][i] * state.h[b][j] + state.h[a][i] * state.n[b][j];
        k(i, j) = entry;
      }
    return k;
  }

  static KOKKOS_INLINE_FUNCTION double energy(const SoftInput& input, int elem) {
    const Strain e = strain_of(input, elem);
    if (!e.replaced)
      return e.volume * Law::energy(input.coefficient, e.i1, e.i2, e.j);
    const Matrix3 strain = rest_strain(e, polar_rotation(e.f));
    return 0.5 * inner(stress_of(rest_lame(input, e.volume), strain), strain);
  }
};

} // namespace ossatura::detail
